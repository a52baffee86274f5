//go:build !purego && !noasm

// Sums, maxima and linear combinations of vectors for AVX-512 (F, VL, BW, DQ).

#include "go_asm.h"
#include "textflag.h"
#include "vec512_amd64.h"

// Reductions. Z8 holds the lanes.

#define DOT(LD, ST, KEEP) \
	LD(DI, Z0)              \
	LD(SI, Z1)              \
	VFMADD231PS Z0, Z1, Z8

// func dotAVX512(x, y *float32, n int) float32
TEXT ·dotAVX512(SB), NOSPLIT, $0-28
	MOVQ x+0(FP), DI
	MOVQ y+8(FP), SI
	MOVQ n+16(FP), CX
	SPLIT
	ZERO(Z8)
	EACH(DOT, loop, rest, end)
	FOLD(VADDPS, Z8, Y8, X8, Y9, X9)
	VMOVSS X8, ret+24(FP)
	VZEROUPPER
	RET

#define SQUAREDDIFF(LD, ST, KEEP) \
	LD(DI, Z0)              \
	VSUBPS Z10, Z0, Z0      \
	KEEP(Z0)                \
	VFMADD231PS Z0, Z0, Z8

// func sumSquaredDiffAVX512(x *float32, n int, mean float32) float32
TEXT ·sumSquaredDiffAVX512(SB), NOSPLIT, $0-28
	MOVQ x+0(FP), DI
	MOVQ n+8(FP), CX
	VBROADCASTSS mean+16(FP), Z10
	SPLIT
	ZERO(Z8)
	ZERO(Z13)
	EACH(SQUAREDDIFF, loop, rest, end)
	FOLD(VADDPS, Z8, Y8, X8, Y9, X9)
	VMOVSS X8, ret+24(FP)
	VZEROUPPER
	RET

// func maxAVX512(x *float32, n int) float32
TEXT ·maxAVX512(SB), NOSPLIT, $0-20
	MOVQ x+0(FP), SI
	MOVQ n+8(FP), CX
	SPLIT
	NEGINF(Z13)
	VMOVAPS Z13, Z8
	KXORW K2, K2, K2
	EACH(MAX, loop, rest, end)
	FOLD(VMAXPS, Z8, Y8, X8, Y9, X9)
	// -0 becomes +0; a recorded NaN, all ones, replaces the maximum
	ZERO(X0)
	VADDSS X0, X8, X8
	KORTESTW K2, K2
	JEQ   number
	VPTERNLOGD $0xFF, X8, X8, X8
number:
	VMOVSS X8, ret+16(FP)
	VZEROUPPER
	RET

// Elementwise kernels of one operation.

#define PLUS(LD, ST, KEEP) \
	LD(DI, Z0)         \
	LD(SI, Z1)         \
	VADDPS Z1, Z0, Z0  \
	ST(Z0, DI)

// func addAVX512(y, x *float32, n int)
TEXT ·addAVX512(SB), NOSPLIT, $0-24
	MOVQ y+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	SPLIT
	EACH(PLUS, loop, rest, end)
	VZEROUPPER
	RET

#define AXPY(LD, ST, KEEP) \
	LD(DI, Z0)              \
	LD(SI, Z1)              \
	VFMADD231PS Z8, Z1, Z0  \
	ST(Z0, DI)

// func axpyAVX512(y, x *float32, n int, a float32)
TEXT ·axpyAVX512(SB), NOSPLIT, $0-28
	MOVQ y+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	VBROADCASTSS a+24(FP), Z8
	SPLIT
	EACH(AXPY, loop, rest, end)
	VZEROUPPER
	RET

// func scalAVX512(x *float32, n int, a float32)
TEXT ·scalAVX512(SB), NOSPLIT, $0-20
	MOVQ x+0(FP), DI
	MOVQ n+8(FP), CX
	VBROADCASTSS a+16(FP), Z8
	SPLIT
	EACH(SCALE, loop, rest, end)
	VZEROUPPER
	RET

#define SCALESHIFT(LD, ST, KEEP) \
	LD(DI, Z0)              \
	VFMADD213PS Z9, Z8, Z0  \
	ST(Z0, DI)

// func scaleShiftAVX512(y *float32, n int, a, b float32)
TEXT ·scaleShiftAVX512(SB), NOSPLIT, $0-24
	MOVQ y+0(FP), DI
	MOVQ n+8(FP), CX
	VBROADCASTSS a+16(FP), Z8
	VBROADCASTSS b+20(FP), Z9
	SPLIT
	EACH(SCALESHIFT, loop, rest, end)
	VZEROUPPER
	RET

#define SCALEADD(LD, ST, KEEP) \
	LD(SI, Z0)              \
	LD(DX, Z1)              \
	VFMADD213PS Z1, Z8, Z0  \
	ST(Z0, DI)

// func axpyToAVX512(dst, x, y *float32, n int, a float32)
TEXT ·axpyToAVX512(SB), NOSPLIT, $0-36
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ y+16(FP), DX
	MOVQ n+24(FP), CX
	VBROADCASTSS a+32(FP), Z8
	SPLIT
	EACH(SCALEADD, loop, rest, end)
	VZEROUPPER
	RET
