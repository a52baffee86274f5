//go:build !purego && !noasm

// Sums, maxima and linear combinations of vectors for NEON.

#include "go_asm.h"
#include "textflag.h"
#include "vec_arm64.h"

// Reductions.

#define SUM(LD, ST, KEEP, s) \
	LD(0, 0)         \
	FADD4S(0, s, s)

// func sumAsm(x *float32, n int) float32
TEXT ·sumAsm(SB), NOSPLIT, $0-20
	MOVD x+0(FP), R0
	MOVD n+8(FP), R6
	ZERO4
	EACH(SUM, ROTATE, loop, few, four, rest, end)
	FOLD(FADD4S)
	FMOVS F16, ret+16(FP)
	RET

#define DOT(LD, ST, KEEP, s) \
	LD(0, 0)         \
	LD(1, 1)         \
	FMLA4S(0, 1, s)

// func dotAsm(x, y *float32, n int) float32
TEXT ·dotAsm(SB), NOSPLIT, $0-28
	MOVD x+0(FP), R0
	MOVD y+8(FP), R1
	MOVD n+16(FP), R6
	ZERO4
	EACH(DOT, ROTATE, loop, few, four, rest, end)
	FOLD(FADD4S)
	FMOVS F16, ret+24(FP)
	RET

#define SQUAREDDIFF(LD, ST, KEEP, s) \
	LD(0, 0)         \
	FSUB4S(25, 0, 0) \
	KEEP(0)          \
	FMLA4S(0, 0, s)

// func sumSquaredDiffAsm(x *float32, n int, mean float32) float32
TEXT ·sumSquaredDiffAsm(SB), NOSPLIT, $0-28
	MOVD x+0(FP), R0
	MOVD n+8(FP), R6
	FMOVS mean+16(FP), F25
	VDUP V25.S[0], V25.S4
	ZERO4
	ZERO(30)
	EACH(SQUAREDDIFF, ROTATE, loop, few, four, rest, end)
	FOLD(FADD4S)
	FMOVS F16, ret+24(FP)
	RET

// func maxAsm(x *float32, n int) float32
TEXT ·maxAsm(SB), NOSPLIT, $0-20
	MOVD x+0(FP), R1
	MOVD n+8(FP), R6
	NEGINF4
	EACH(MAX, ROTATE, loop, few, four, rest, end)
	FOLD(FMAX4S)
	ZERO(0)
	FADD4S(0, 16, 16) // -0 becomes +0
	FMOVS F16, ret+16(FP)
	RET

// Elementwise kernels of one operation.

#define PLUS(LD, ST, KEEP, s) \
	LD(0, 0)         \
	LD(1, 1)         \
	FADD4S(1, 0, 0)  \
	ST(0, 0)

// func addAsm(y, x *float32, n int)
TEXT ·addAsm(SB), NOSPLIT, $0-24
	ELEMENTWISE(NOCONST, PLUS)
	RET

#define AXPY(LD, ST, KEEP, s) \
	LD(0, 0)         \
	LD(1, 1)         \
	FMLA4S(25, 1, 0) \
	ST(0, 0)

// func axpyAsm(y, x *float32, n int, a float32)
TEXT ·axpyAsm(SB), NOSPLIT, $0-28
	MOVD y+0(FP), R0
	MOVD x+8(FP), R1
	MOVD n+16(FP), R6
	FMOVS a+24(FP), F25
	VDUP V25.S[0], V25.S4
	EACH(AXPY, STAY, loop, few, four, rest, end)
	RET

// func scalAsm(x *float32, n int, a float32)
TEXT ·scalAsm(SB), NOSPLIT, $0-20
	MOVD x+0(FP), R0
	MOVD n+8(FP), R6
	FMOVS a+16(FP), F25
	VDUP V25.S[0], V25.S4
	EACH(SCALE, STAY, loop, few, four, rest, end)
	RET

#define SCALESHIFT(LD, ST, KEEP, s) \
	LD(0, 0)         \
	MOV16B(26, 1)    \
	FMLA4S(25, 0, 1) \
	ST(1, 0)

// func scaleShiftAsm(y *float32, n int, a, b float32)
TEXT ·scaleShiftAsm(SB), NOSPLIT, $0-24
	MOVD y+0(FP), R0
	MOVD n+8(FP), R6
	FMOVS a+16(FP), F25
	FMOVS b+20(FP), F26
	VDUP V25.S[0], V25.S4
	VDUP V26.S[0], V26.S4
	EACH(SCALESHIFT, STAY, loop, few, four, rest, end)
	RET

#define SCALEADD(LD, ST, KEEP, s) \
	LD(1, 0)         \
	LD(2, 1)         \
	FMLA4S(25, 0, 1) \
	ST(1, 0)

// func axpyToAsm(dst, x, y *float32, n int, a float32)
TEXT ·axpyToAsm(SB), NOSPLIT, $0-36
	MOVD dst+0(FP), R0
	MOVD x+8(FP), R1
	MOVD y+16(FP), R2
	MOVD n+24(FP), R6
	FMOVS a+32(FP), F25
	VDUP V25.S[0], V25.S4
	EACH(SCALEADD, STAY, loop, few, four, rest, end)
	RET
