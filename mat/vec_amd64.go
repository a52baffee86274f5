//go:build !purego && !noasm

package mat

// The functions of vec512_amd64.s, which only those of vec_amd64.s call: they are declared so that go vet knows
// their arguments.

func dotAVX512(x, y *float32, n int) float32
func sumSquaredDiffAVX512(x *float32, n int, mean float32) float32
func maxAVX512(x *float32, n int) float32
func addAVX512(y, x *float32, n int)
func axpyAVX512(y, x *float32, n int, a float32)
func scaleAVX512(y *float32, n int, a float32)
func scaleShiftAVX512(y *float32, n int, a, b float32)
func scaleAddAVX512(y, x, z *float32, n int, a float32)
func expSumAVX512(y, x *float32, n int, shift, scale float32) float32
func softmaxAVX512(y, x *float32, n int, scale float32)
func softmaxGradAVX512(dx, p, dp *float32, n int, dot, scale float32)
func normalizeAVX512(y, x, gain, bias *float32, n int, mean, rstd float32)
func normalizeSumsAVX512(dy, x, gain *float32, n int, mean, rstd float32) (sum, sumX float32)
func normalizeGradAVX512(dx, dy, x, gain *float32, n int, mean, rstd, meanG, meanGX float32)
func normalizeParamGradAVX512(dgain, dbias, dy, x *float32, n int, mean, rstd float32)
func adamAVX512(a *Adam, w, dw, m, v *float32, n int)
func dropoutAVX512(y, x, r *float32, n int, counter, key, last uint32, scale float32)
func reluAVX512(y, x *float32, n int)
func reluGradAVX512(dx, x *float32, n int)
func geluAVX512(y, x *float32, n int)
func geluGradAVX512(dx, x *float32, n int)
func geluTanhAVX512(y, x *float32, n int)
func geluTanhGradAVX512(dx, x *float32, n int)
func siluAVX512(y, x *float32, n int)
func siluGradAVX512(dx, x *float32, n int)
