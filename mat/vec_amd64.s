//go:build !purego && !noasm

// Sums, maxima and linear combinations of vectors for AVX2 and FMA.

#include "go_asm.h"
#include "textflag.h"
#include "vec_amd64.h"

// Reductions. Y8 and Y9 are the lanes.

#define SUM(LD, ST, KEEP) \
	LD(DI, Y0, Y1)      \
	VADDPS Y0, Y8, Y8   \
	VADDPS Y1, Y9, Y9

// func sumAsm(x *float32, n int) float32
TEXT ·sumAsm(SB), NOSPLIT, $0-20
	MOVQ  x+0(FP), DI
	MOVQ  n+8(FP), CX
	SPLIT
	ZERO(Y8)
	ZERO(Y9)
	EACH(SUM, loop, rest, end)
	FOLD(Y8, Y9, X8, X9)
	VMOVSS X8, ret+16(FP)
	VZEROUPPER
	RET

#define DOT(LD, ST, KEEP) \
	LD(DI, Y0, Y1)           \
	LD(SI, Y2, Y3)           \
	VFMADD231PS Y0, Y2, Y8   \
	VFMADD231PS Y1, Y3, Y9

// func dotAsm(x, y *float32, n int) float32
TEXT ·dotAsm(SB), NOSPLIT, $0-28
	MOVQ  x+0(FP), DI
	MOVQ  y+8(FP), SI
	MOVQ  n+16(FP), CX
	SPLIT
	ZERO(Y8)
	ZERO(Y9)
	EACH(DOT, loop, rest, end)
	FOLD(Y8, Y9, X8, X9)
	VMOVSS X8, ret+24(FP)
	VZEROUPPER
	RET

#define SQUAREDDIFF(LD, ST, KEEP) \
	LD(DI, Y0, Y1)           \
	VSUBPS Y10, Y0, Y0       \
	VSUBPS Y10, Y1, Y1       \
	KEEP(Y0, Y1)             \
	VFMADD231PS Y0, Y0, Y8   \
	VFMADD231PS Y1, Y1, Y9

// func sumSquaredDiffAsm(x *float32, n int, mean float32) float32
TEXT ·sumSquaredDiffAsm(SB), NOSPLIT, $0-28
	MOVQ  x+0(FP), DI
	MOVQ  n+8(FP), CX
	VBROADCASTSS mean+16(FP), Y10
	SPLIT
	ZERO(Y8)
	ZERO(Y9)
	ZERO(Y13)
	EACH(SQUAREDDIFF, loop, rest, end)
	FOLD(Y8, Y9, X8, X9)
	VMOVSS X8, ret+24(FP)
	VZEROUPPER
	RET

// func maxAsm(x *float32, n int) float32
TEXT ·maxAsm(SB), NOSPLIT, $0-20
	MOVQ  x+0(FP), SI
	MOVQ  n+8(FP), CX
	SPLIT
	NEGINF(X13, Y13)
	VMOVAPS Y13, Y8
	VMOVAPS Y13, Y9
	ZERO(Y10)
	EACH(MAX, loop, rest, end)
	FOLDMAX(Y8, Y9, X8, X9)
	// -0 becomes +0; a recorded NaN, all ones, replaces the maximum
	ZERO(Y0)
	VADDSS X0, X8, X8
	VMOVMSKPS Y10, AX
	TESTL AX, AX
	JEQ   number
	VCMPSS $15, X8, X8, X8
number:
	VMOVSS X8, ret+16(FP)
	VZEROUPPER
	RET

// Elementwise kernels of one operation.

#define PLUS(LD, ST, KEEP) \
	LD(DI, Y0, Y1)      \
	LD(SI, Y2, Y3)      \
	VADDPS Y2, Y0, Y0   \
	VADDPS Y3, Y1, Y1   \
	ST(Y0, Y1, DI)

// func addAsm(y, x *float32, n int)
TEXT ·addAsm(SB), NOSPLIT, $0-24
	ELEMENTWISE(NOCONST, PLUS)
	RET

#define AXPY(LD, ST, KEEP) \
	LD(DI, Y0, Y1)           \
	LD(SI, Y2, Y3)           \
	VFMADD231PS Y8, Y2, Y0   \
	VFMADD231PS Y8, Y3, Y1   \
	ST(Y0, Y1, DI)

// func axpyAsm(y, x *float32, n int, a float32)
TEXT ·axpyAsm(SB), NOSPLIT, $0-28
	MOVQ y+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	VBROADCASTSS a+24(FP), Y8
	SPLIT
	EACH(AXPY, loop, rest, end)
	VZEROUPPER
	RET

// func scalAsm(x *float32, n int, a float32)
TEXT ·scalAsm(SB), NOSPLIT, $0-20
	MOVQ x+0(FP), DI
	MOVQ n+8(FP), CX
	VBROADCASTSS a+16(FP), Y8
	SPLIT
	EACH(SCALE, loop, rest, end)
	VZEROUPPER
	RET

#define SCALESHIFT(LD, ST, KEEP) \
	LD(DI, Y0, Y1)           \
	VFMADD213PS Y9, Y8, Y0   \
	VFMADD213PS Y9, Y8, Y1   \
	ST(Y0, Y1, DI)

// func scaleShiftAsm(y *float32, n int, a, b float32)
TEXT ·scaleShiftAsm(SB), NOSPLIT, $0-24
	MOVQ y+0(FP), DI
	MOVQ n+8(FP), CX
	VBROADCASTSS a+16(FP), Y8
	VBROADCASTSS b+20(FP), Y9
	SPLIT
	EACH(SCALESHIFT, loop, rest, end)
	VZEROUPPER
	RET

#define SCALEADD(LD, ST, KEEP) \
	LD(SI, Y0, Y1)           \
	LD(DX, Y2, Y3)           \
	VFMADD213PS Y2, Y8, Y0   \
	VFMADD213PS Y3, Y8, Y1   \
	ST(Y0, Y1, DI)

// func axpyToAsm(dst, x, y *float32, n int, a float32)
TEXT ·axpyToAsm(SB), NOSPLIT, $0-36
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ y+16(FP), DX
	MOVQ n+24(FP), CX
	VBROADCASTSS a+32(FP), Y8
	SPLIT
	EACH(SCALEADD, loop, rest, end)
	VZEROUPPER
	RET
