//go:build !purego && !noasm

package mat

import "golang.org/x/sys/cpu"

// hasDot reports whether the processor has SDOT, which sums four products of bytes. Only tests
// change it.
var hasDot = cpu.ARM64.HasASIMDDP

func int8Kernel() kernelInt8 {
	switch {
	case kernel == generic:
		return genericInt8
	case hasDot:
		return kernelInt8{"sdot", signed, 6}
	}
	return kernelInt8{"neon", signed, 6}
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

// maxAbsAsm is, for a multiple of 16 elements,
//
//	top := uint32(0)
//	for j := range n {
//		top = max(top, math.Float32bits(x[j])&^(1<<31))
//	}
//	return top
//
//go:noescape
func maxAbsAsm(x *float32, n int) uint32

// quantizeNEON is, for a multiple of 16 elements,
//
//	for j := range n {
//		q[j] = int8(math.RoundToEven(x[j] * r))
//	}
//
//go:noescape
func quantizeNEON(q *int8, x *float32, n int, r float32)
