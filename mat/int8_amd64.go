//go:build !purego && !noasm

package mat

import "golang.org/x/sys/cpu"

// hasDot reports whether the processor has VNNI, which sums four products of bytes. Without it the
// avx512 kernels multiply bytes as avx2 does. Only tests change it.
var hasDot = cpu.X86.HasAVX512VNNI

func int8Kernel() kernelInt8 {
	switch {
	case kernel == generic:
		return genericInt8
	case kernel == avx512 && hasDot:
		return kernelInt8{"avx512vnni", shifted, 12}
	}
	return kernelInt8{"avx2", wide, 6}
}

func (x *tileInt8) dot() {
	if kernel == avx512 && hasDot {
		dotVNNI(x)
		return
	}
	dotAVX2(x)
	if x.last != 0 {
		finishAVX2(x)
	}
}

func (f formInt8) quantizeAsm(q *int8, x *float32, n int, r float32) {
	switch f {
	case signed:
		quantizeAVX2(q, x, n, r, 0)
	case shifted:
		quantizeAVX2(q, x, n, r, 0x80808080)
	case wide:
		quantizeWideAVX2(q, x, n, r)
	}
}

// dotVNNI is both loops in tileInt8's comment, for up to 12 rows and a as unsigned bytes.
//
//go:noescape
func dotVNNI(x *tileInt8)

// dotAVX2 is the first loop, for up to 6 rows and a as 16-bit integers.
//
//go:noescape
func dotAVX2(x *tileInt8)

// finishAVX2 is the second loop.
//
//go:noescape
func finishAVX2(x *tileInt8)

// maxAbsAsm is, for a multiple of 32 elements,
//
//	top := uint32(0)
//	for j := range n {
//		top = max(top, math.Float32bits(x[j])&^(1<<31))
//	}
//	return top
//
//go:noescape
func maxAbsAsm(x *float32, n int) uint32

// quantizeAVX2 is, for a multiple of 32 elements and a flip of four equal bytes,
//
//	for j := range n {
//		q[j] = int8(math.RoundToEven(x[j]*r)) ^ int8(flip)
//	}
//
//go:noescape
func quantizeAVX2(q *int8, x *float32, n int, r float32, flip uint32)

// quantizeWideAVX2 is quantizeAVX2 with flip 0 and 16-bit integers in q.
//
//go:noescape
func quantizeWideAVX2(q *int8, x *float32, n int, r float32)
