//go:build !purego && !noasm

package mat

// The functions of vec512_amd64.s, which only those of vec_amd64.s call. They are declared so that
// go vet checks their arguments.

func dotAVX512(x, y *float32, n int) float32
func sumSquaredDiffAVX512(x *float32, n int, mean float32) float32
func maxAVX512(x *float32, n int) float32
func addAVX512(y, x *float32, n int)
func axpyAVX512(y, x *float32, n int, a float32)
func scalAVX512(x *float32, n int, a float32)
func scaleShiftAVX512(y *float32, n int, a, b float32)
func axpyToAVX512(dst, x, y *float32, n int, a float32)
