//go:build !purego && !noasm

package mat

import "golang.org/x/sys/cpu"

// hasDot reports whether the processor has VNNI, which sums four products of bytes. Without it the
// avx512 kernels multiply bytes as avx2 does. Only tests change it.
var hasDot = cpu.X86.HasAVX512VNNI

// KernelInt8 names the kernel of GemmInt8: "avx512vnni", "avx2", "sdot", "neon", or "generic" for
// portable Go. It is selected as for Kernel; avx512vnni and sdot are used if the processor has
// those instructions.
func KernelInt8() string {
	switch formOfKernel() {
	case shifted:
		return "avx512vnni"
	case wide:
		return "avx2"
	}
	return "generic"
}

func formOfKernel() formInt8 {
	switch {
	case kernel == generic:
		return signed
	case kernel == avx512 && hasDot:
		return shifted
	}
	return wide
}

// rowsInt8 returns the rows of a tile.
func rowsInt8() int {
	switch formOfKernel() {
	case shifted:
		return 12
	case wide:
		return 6
	}
	return 1
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

func maxAbsAsm(x *float32, n int) uint32 { return maxAbsAVX2(x, n) }

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

// maxAbsAVX2 is, for a multiple of 32 elements,
//
//	top := uint32(0)
//	for j := range n {
//		top = max(top, math.Float32bits(x[j])&^(1<<31))
//	}
//	return top
//
//go:noescape
func maxAbsAVX2(x *float32, n int) uint32

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
