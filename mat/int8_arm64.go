//go:build !purego && !noasm

package mat

import "golang.org/x/sys/cpu"

// hasDot reports whether the processor has SDOT, which sums four products of bytes. Only tests
// change it.
var hasDot = cpu.ARM64.HasASIMDDP

// KernelInt8 names the kernel of GemmInt8: "avx512vnni", "avx2", "sdot", "neon", or "generic" for
// portable Go. It is selected as for Kernel; avx512vnni and sdot are used if the processor has
// those instructions.
func KernelInt8() string {
	if kernel == neon && hasDot {
		return "sdot"
	}
	return Kernel()
}

func formOfKernel() formInt8 { return signed }

// rowsInt8 returns the rows of a tile.
func rowsInt8() int {
	if kernel == generic {
		return 1
	}
	return 6
}

func (x *tileInt8) dot() {
	if hasDot {
		dotSDOT(x)
	} else {
		dotNEON(x)
	}
	if x.last != 0 {
		finishNEON(x)
	}
}

func maxAbsAsm(x *float32, n int) uint32 { return maxAbsNEON(x, n) }

func (formInt8) quantizeAsm(q *int8, x *float32, n int, r float32) { quantizeNEON(q, x, n, r) }

// dotSDOT is the first loop in tileInt8's comment, for up to 6 rows.
//
//go:noescape
func dotSDOT(x *tileInt8)

// dotNEON is dotSDOT for machines without SDOT.
//
//go:noescape
func dotNEON(x *tileInt8)

// finishNEON is the second loop.
//
//go:noescape
func finishNEON(x *tileInt8)

// maxAbsNEON is, for a multiple of 16 elements,
//
//	top := uint32(0)
//	for j := range n {
//		top = max(top, math.Float32bits(x[j])&^(1<<31))
//	}
//	return top
//
//go:noescape
func maxAbsNEON(x *float32, n int) uint32

// quantizeNEON is, for a multiple of 16 elements,
//
//	for j := range n {
//		q[j] = int8(math.RoundToEven(x[j] * r))
//	}
//
//go:noescape
func quantizeNEON(q *int8, x *float32, n int, r float32)
