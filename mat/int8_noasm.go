//go:build (!amd64 && !arm64) || purego || noasm

package mat

var hasDot = false

func int8Kernel() kernelInt8 { return genericInt8 }

func (t *productInt8) block(i0, i1, j0, j1 int) { t.blockGeneric(i0, i1, j0, j1) }

func maxAbsAsm(x *float32, n int) uint32 { panic(noAsm) }

func (formInt8) quantizeAsm(q *int8, x *float32, n int, r float32) { panic(noAsm) }

func sumGroups(sums []int32, panel []int8) { sumGroupsGeneric(sums, panel) }
