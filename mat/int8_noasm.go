//go:build (!amd64 && !arm64) || purego || noasm

package mat

var hasDot = false

// KernelInt8 names the kernel of GemmInt8: "generic", for portable Go.
func KernelInt8() string { return Kernel() }

func formOfKernel() formInt8 { return signed }

func rowsInt8() int { return 1 }

func (t *productInt8) block(i0, i1, j0, j1 int) { t.blockGeneric(i0, i1, j0, j1) }

func maxAbsAsm(x *float32, n int) uint32 { panic(noAsm) }

func (formInt8) quantizeAsm(q *int8, x *float32, n int, r float32) { panic(noAsm) }

func sumGroups(sums []int32, panel []int8) { sumGroupsGeneric(sums, panel) }
