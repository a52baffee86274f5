//go:build (!amd64 && !arm64) || purego || noasm

package mat

// In builds without assembly the kernel is always generic, so no function that panics is called.

const noAsm = "mat: kernel not built in"

func native() []isa { return nil }

func features() []Feature { return nil }

func pause() {}

func fmaLoop(n int) float64 { return fmaLoopGeneric(n) }

// Packing does nothing: plans of portable Go pack nothing.

func copyPanel(dst *float32, dstK uintptr, src *float32, srcK uintptr, w, k int) {}

func transposePanel(dst *float32, dstK uintptr, src *float32, srcRow uintptr, w, k int) {}

func sumAsm(x *float32, n int) float32                                  { panic(noAsm) }
func dotAsm(x, y *float32, n int) float32                               { panic(noAsm) }
func sumSquaredDiffAsm(x *float32, n int, mean float32) float32         { panic(noAsm) }
func maxAsm(x *float32, n int) float32                                  { panic(noAsm) }
func addAsm(y, x *float32, n int)                                       { panic(noAsm) }
func axpyAsm(y, x *float32, n int, a float32)                           { panic(noAsm) }
func scalAsm(x *float32, n int, a float32)                              { panic(noAsm) }
func scaleShiftAsm(y *float32, n int, a, b float32)                     { panic(noAsm) }
func axpyToAsm(dst, x, y *float32, n int, a float32)                    { panic(noAsm) }
func expSumAsm(y, x *float32, n int, shift, scale float32) float32      { panic(noAsm) }
func softmaxAsm(y, x *float32, n int, scale float32)                    { panic(noAsm) }
func softmaxGradAsm(dx, p, dp *float32, n int, dot, scale float32)      { panic(noAsm) }
func layerNormAsm(y, x, gain, bias *float32, n int, mean, rstd float32) { panic(noAsm) }
func layerNormGradSumsAsm(dy, x, gain *float32, n int, mean, rstd float32) (sum, sumX float32) {
	panic(noAsm)
}
func layerNormGradAsm(dx, dy, x, gain *float32, n int, mean, rstd, meanG, meanGX float32) {
	panic(noAsm)
}
func layerNormParamGradAsm(dgain, dbias, dy, x *float32, n int, mean, rstd float32) { panic(noAsm) }
func adamAsm(a *Adam, w, grad, m, v *float32, n int)                                { panic(noAsm) }
func dropoutAsm(y, x, r *float32, n int, counter, key, last uint32, scale float32)  { panic(noAsm) }
func reluAsm(y, x *float32, n int)                                                  { panic(noAsm) }
func reluGradAsm(dx, x *float32, n int)                                             { panic(noAsm) }
func geluAsm(y, x *float32, n int)                                                  { panic(noAsm) }
func geluGradAsm(dx, x *float32, n int)                                             { panic(noAsm) }
func geluTanhAsm(y, x *float32, n int)                                              { panic(noAsm) }
func geluTanhGradAsm(dx, x *float32, n int)                                         { panic(noAsm) }
func siluAsm(y, x *float32, n int)                                                  { panic(noAsm) }
func siluGradAsm(dx, x *float32, n int)                                             { panic(noAsm) }
func scoreKeysAsm(s *scoreArgs)                                                     { panic(noAsm) }
func addValuesAsm(s *valueArgs)                                                     { panic(noAsm) }

var hasDot = false

func int8Kernel() kernelInt8 { return genericInt8 }

func (t *productInt8) block(i0, i1, j0, j1 int) { t.blockGeneric(i0, i1, j0, j1) }

func maxAbsAsm(x *float32, n int) uint32 { panic(noAsm) }

func (formInt8) quantizeAsm(q *int8, x *float32, n int, r float32) { panic(noAsm) }

func sumGroups(sums []int32, panel []int8) { sumGroupsGeneric(sums, panel) }
