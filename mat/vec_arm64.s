//go:build !purego && !noasm

// The vector kernels for NEON. The 16 lanes are four registers, lanes 0 to 3, 4 to 7, 8 to 11 and 12 to 15.
//
// A kernel is a block, the macro that works on 4 elements, and EACH, which runs it over the vectors: 16
// elements at a time, then 4 at a time, then the 1 to 3 that are left. A block takes as arguments how it
// loads, how it stores, how it keeps unused lanes out of a reduction, and the register of the lanes that it
// adds to. Where an instruction is a macro, registers are written as numbers, in the assembler's order: the
// destination is the last.
//
//	R0 R1 R2 R3 R4  the vectors, in the order of the arguments
//	R5              offset of the block, in bytes
//	R6              elements that are left
//	R7 R8 R9 R10    for the rest
//	V16 to V19      the lanes of a reduction, V20 to V23 those of a second one
//	V30             what KEEP puts into unused lanes
//	V31             the mask of the rest

#include "go_asm.h"
#include "textflag.h"

// Instructions that the assembler lacks, and some that the blocks want with parameters for registers. The
// comments are what a disassembler makes of them, which a test checks.

#define FADD4S(M, N, D)          WORD $(0x4E20D400 | M<<16 | N<<5 | D) // fadd vD.4s, vN.4s, vM.4s
#define FSUB4S(M, N, D)          WORD $(0x4EA0D400 | M<<16 | N<<5 | D) // fsub vD.4s, vN.4s, vM.4s
#define FMUL4S(M, N, D)          WORD $(0x6E20DC00 | M<<16 | N<<5 | D) // fmul vD.4s, vN.4s, vM.4s
#define FDIV4S(M, N, D)          WORD $(0x6E20FC00 | M<<16 | N<<5 | D) // fdiv vD.4s, vN.4s, vM.4s
#define FMAX4S(M, N, D)          WORD $(0x4E20F400 | M<<16 | N<<5 | D) // fmax vD.4s, vN.4s, vM.4s
#define FMIN4S(M, N, D)          WORD $(0x4EA0F400 | M<<16 | N<<5 | D) // fmin vD.4s, vN.4s, vM.4s
#define FMLA4S(M, N, D)          WORD $(0x4E20CC00 | M<<16 | N<<5 | D) // fmla vD.4s, vN.4s, vM.4s
#define FMLS4S(M, N, D)          WORD $(0x4EA0CC00 | M<<16 | N<<5 | D) // fmls vD.4s, vN.4s, vM.4s
#define FCMGT4S(M, N, D)         WORD $(0x6EA0E400 | M<<16 | N<<5 | D) // fcmgt vD.4s, vN.4s, vM.4s
#define FABS4S(N, D)             WORD $(0x4EA0F800 | N<<5 | D) // fabs vD.4s, vN.4s
#define FNEG4S(N, D)             WORD $(0x6EA0F800 | N<<5 | D) // fneg vD.4s, vN.4s
#define FSQRT4S(N, D)            WORD $(0x6EA1F800 | N<<5 | D) // fsqrt vD.4s, vN.4s
#define MUL4S(M, N, D)           WORD $(0x4EA09C00 | M<<16 | N<<5 | D) // mul vD.4s, vN.4s, vM.4s
#define CMGT4S(M, N, D)          WORD $(0x4EA03400 | M<<16 | N<<5 | D) // cmgt vD.4s, vN.4s, vM.4s
#define SSHR31(N, D)             WORD $(0x4F210400 | N<<5 | D) // sshr vD.4s, vN.4s, #31
#define AND16B(M, N, D)          WORD $(0x4E201C00 | M<<16 | N<<5 | D) // and vD.16b, vN.16b, vM.16b
#define BIC16B(M, N, D)          WORD $(0x4E601C00 | M<<16 | N<<5 | D) // bic vD.16b, vN.16b, vM.16b
#define BIF16B(M, N, D)          WORD $(0x6EE01C00 | M<<16 | N<<5 | D) // bif vD.16b, vN.16b, vM.16b
#define EOR16B(M, N, D)          WORD $(0x6E201C00 | M<<16 | N<<5 | D) // eor vD.16b, vN.16b, vM.16b
#define MOV16B(N, D)             WORD $(0x4EA01C00 | N<<16 | N<<5 | D) // mov vD.16b, vN.16b
#define LDRQ(M, N, D)            WORD $(0x3CE06800 | M<<16 | N<<5 | D) // ldr qD, [xN, xM]
#define STRQ(M, N, D)            WORD $(0x3CA06800 | M<<16 | N<<5 | D) // str qD, [xN, xM]
#define LDRS(M, N, D)            WORD $(0xBC606800 | M<<16 | N<<5 | D) // ldr sD, [xN, xM]
#define STRS(M, N, D)            WORD $(0xBC206800 | M<<16 | N<<5 | D) // str sD, [xN, xM]
#define LD1LANE1(N, D)           WORD $(0x0D409000 | N<<5 | D) // ld1 {vD.s}[1], [xN]
#define LD1LANE2(N, D)           WORD $(0x4D408000 | N<<5 | D) // ld1 {vD.s}[2], [xN]
#define ST1LANE1(N, D)           WORD $(0x0D009000 | N<<5 | D) // st1 {vD.s}[1], [xN]
#define ST1LANE2(N, D)           WORD $(0x4D008000 | N<<5 | D) // st1 {vD.s}[2], [xN]
#define ADDX(M, N, D)            WORD $(0x8B000000 | M<<16 | N<<5 | D) // add xD, xN, xM

// four lanes on, four lanes off
DATA quadOn<>+0(SB)/8, $-1
DATA quadOn<>+8(SB)/8, $-1
GLOBL quadOn<>(SB), RODATA|NOPTR, $32

#define LOAD(p, d) LDRQ(5, p, d)
#define STORE(d, p) STRQ(5, p, d)
#define ALL(d)

// Of the r = 1 to 3 elements of the rest, the offsets of min(1, r-1) and min(2, r-1) are in R7 and R8: where
// there is no second or third element, an earlier one is loaded twice, and stored twice, the right value last.
#define LOADREST(p, d) \
	LDRS(5, p, d)      \
	ADDX(7, p, 9)      \
	LD1LANE1(9, d)     \
	ADDX(8, p, 9)      \
	LD1LANE2(9, d)     \
	AND16B(31, d, d)
#define STOREREST(d, p) \
	ADDX(8, p, 9)      \
	ST1LANE2(9, d)     \
	ADDX(7, p, 9)      \
	ST1LANE1(9, d)     \
	STRS(5, p, d)
#define KEEPREST(d) BIF16B(31, 30, d)

// REST sets R7, R8 and the mask.
#define REST \
	SUB   $1, R6, R9         \
	SUB   R9>>1, R9, R10     \
	ADD   R10<<2, R5, R7     \
	ADD   R9<<2, R5, R8      \
	MOVD  $quadOn<>+16(SB), R10 \
	SUB   R6<<2, R10, R10    \
	FMOVQ (R10), F31

// EACH works on the R6 elements of the vectors. After each block of 4 the lanes are rotated, so that the next one finds
// its own in V16; the fold gives the same sum for all rotations.
#define EACH(block, rotate, loop, few, four, rest, end) \
	MOVD $0, R5              \
	SUBS $16, R6, R6         \
	BLT  few                 \
loop: \
	block(LOAD, STORE, ALL, 16) \
	ADD  $16, R5             \
	block(LOAD, STORE, ALL, 17) \
	ADD  $16, R5             \
	block(LOAD, STORE, ALL, 18) \
	ADD  $16, R5             \
	block(LOAD, STORE, ALL, 19) \
	ADD  $16, R5             \
	SUBS $16, R6, R6         \
	BGE  loop                \
few: \
	ADDS $12, R6, R6         \
	BLT  rest                \
four: \
	block(LOAD, STORE, ALL, 16) \
	ADD  $16, R5             \
	rotate                   \
	SUBS $4, R6, R6          \
	BGE  four                \
rest: \
	ADDS $4, R6, R6          \
	BEQ  end                 \
	REST                     \
	block(LOADREST, STOREREST, KEEPREST, 16) \
end:

#define STAY
#define ROTATE ROTATE4(16, 17, 18, 19)
#define ROTATE2 \
	ROTATE4(16, 17, 18, 19) \
	ROTATE4(20, 21, 22, 23)
#define ROTATE4(a, b, c, d) \
	MOV16B(a, 29)  \
	MOV16B(b, a)   \
	MOV16B(c, b)   \
	MOV16B(d, c)   \
	MOV16B(29, d)

#define ZERO(a) EOR16B(a, a, a)
#define ZERO4 \
	ZERO(16) \
	ZERO(17) \
	ZERO(18) \
	ZERO(19)

// FOLD combines the lanes in V16 to V19 by op: l+8, l+4, l+2, l+1. The result is in all lanes of V16.
#define FOLD(op) \
	op(18, 16, 16) \
	op(19, 17, 17) \
	op(17, 16, 16) \
	VEXT $8, V16.B16, V16.B16, V17.B16 \
	op(17, 16, 16) \
	VEXT $4, V16.B16, V16.B16, V17.B16 \
	op(17, 16, 16)

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

#define MAX(LD, ST, KEEP, s) \
	LD(1, 0)         \
	KEEP(0)          \
	FMAX4S(0, s, s)

// NEGINF4 sets the lanes and what unused ones hold to -Inf.
#define NEGINF4 \
	MOVD   $0xFF800000, R10 \
	VDUP   R10, V30.S4      \
	MOV16B(30, 16)          \
	MOV16B(30, 17)          \
	MOV16B(30, 18)          \
	MOV16B(30, 19)

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

// Elementwise kernels of one fma or less.

#define PLUS(LD, ST, KEEP, s) \
	LD(0, 0)         \
	LD(1, 1)         \
	FADD4S(1, 0, 0)  \
	ST(0, 0)

// func addAsm(y, x *float32, n int)
TEXT ·addAsm(SB), NOSPLIT, $0-24
	MOVD y+0(FP), R0
	MOVD x+8(FP), R1
	MOVD n+16(FP), R6
	EACH(PLUS, STAY, loop, few, four, rest, end)
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

#define SCALE(LD, ST, KEEP, s) \
	LD(0, 0)         \
	FMUL4S(25, 0, 0) \
	ST(0, 0)

// func scaleAsm(y *float32, n int, a float32)
TEXT ·scaleAsm(SB), NOSPLIT, $0-20
	MOVD y+0(FP), R0
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

// func scaleAddAsm(y, x, z *float32, n int, a float32)
TEXT ·scaleAddAsm(SB), NOSPLIT, $0-36
	MOVD y+0(FP), R0
	MOVD x+8(FP), R1
	MOVD z+16(FP), R2
	MOVD n+24(FP), R6
	FMOVS a+32(FP), F25
	VDUP V25.S[0], V25.S4
	EACH(SCALEADD, STAY, loop, few, four, rest, end)
	RET

// Softmax.

// EXPCONST loads expConst into V4 to V15.
#define EXPCONST \
	MOVD $·expConst(SB), R10   \
	VLD1R.P 4(R10), [V4.S4]    \
	VLD1R.P 4(R10), [V5.S4]    \
	VLD1R.P 4(R10), [V6.S4]    \
	VLD1R.P 4(R10), [V7.S4]    \
	VLD1R.P 4(R10), [V8.S4]    \
	VLD1R.P 4(R10), [V9.S4]    \
	VLD1R.P 4(R10), [V10.S4]   \
	VLD1R.P 4(R10), [V11.S4]   \
	VLD1R.P 4(R10), [V12.S4]   \
	VLD1R.P 4(R10), [V13.S4]   \
	VLD1R.P 4(R10), [V14.S4]   \
	VLD1R.P 4(R10), [V15.S4]

// EXP replaces V0 by its exp, the sequence that exp.go describes. It uses V1 to V3.
#define EXP \
	FMAX4S(4, 0, 0)   \
	FMIN4S(5, 0, 0)   \
	POWER(NOLOW)

// POWER is all of EXP but for the range. LOW adds the lower digits of what V0 was to the remainder.
#define POWER(LOW) \
	MOV16B(7, 3)      \ // z
	FMLA4S(6, 0, 3)   \
	FSUB4S(7, 3, 1)   \ // k
	FMLS4S(8, 1, 0)   \ // r
	FMLS4S(9, 1, 0)   \
	LOW               \
	VSHL  $23, V3.S4, V3.S4   \ // 2^(k-1)
	MOV16B(11, 1)     \ // 2·e^r
	FMLA4S(10, 0, 1)  \
	MOV16B(12, 2)     \
	FMLA4S(1, 0, 2)   \
	MOV16B(13, 1)     \
	FMLA4S(2, 0, 1)   \
	MOV16B(14, 2)     \
	FMLA4S(1, 0, 2)   \
	MOV16B(15, 1)     \
	FMLA4S(2, 0, 1)   \
	MOV16B(15, 2)     \
	FMLA4S(1, 0, 2)   \
	FMUL4S(3, 2, 0)
#define NOLOW

// V24 is the shift, V25 the scale.
#define EXPSUM(LD, ST, KEEP, s) \
	LD(1, 0)          \
	FSUB4S(24, 0, 0)  \
	FMUL4S(25, 0, 0)  \
	EXP               \
	KEEP(0)           \
	ST(0, 0)          \
	FADD4S(0, s, s)

// func expSumAsm(y, x *float32, n int, shift, scale float32) float32
TEXT ·expSumAsm(SB), NOSPLIT, $0-36
	MOVD y+0(FP), R0
	MOVD x+8(FP), R1
	MOVD n+16(FP), R6
	FMOVS shift+24(FP), F24
	FMOVS scale+28(FP), F25
	VDUP V24.S[0], V24.S4
	VDUP V25.S[0], V25.S4
	EXPCONST
	ZERO4
	ZERO(30)
	EACH(EXPSUM, ROTATE, loop, few, four, rest, end)
	FOLD(FADD4S)
	FMOVS F16, ret+32(FP)
	RET

// func softmaxAsm(y, x *float32, n int, scale float32)
TEXT ·softmaxAsm(SB), NOSPLIT, $0-28
	MOVD y+0(FP), R0
	MOVD x+8(FP), R1

	// the maximum, at least -MaxFloat32, into V24
	MOVD n+16(FP), R6
	NEGINF4
	EACH(MAX, ROTATE, loop1, few1, four1, rest1, end1)
	FOLD(FMAX4S)
	MOVD $0xFF7FFFFF, R10
	VDUP R10, V24.S4
	FMAX4S(24, 16, 24)

	// the exponentials and the lanes of their sum
	MOVD n+16(FP), R6
	FMOVS scale+24(FP), F25
	VDUP V25.S[0], V25.S4
	EXPCONST
	ZERO4
	ZERO(30)
	EACH(EXPSUM, ROTATE, loop2, few2, four2, rest2, end2)
	FOLD(FADD4S)

	// times 1/max(sum, 1)
	MOVD n+16(FP), R6
	MOVD $0x3F800000, R10
	VDUP R10, V25.S4
	FMAX4S(25, 16, 16)
	FDIV4S(16, 25, 25)
	EACH(SCALE, STAY, loop3, few3, four3, rest3, end3)
	RET

#define SOFTMAXGRAD(LD, ST, KEEP, s) \
	LD(1, 0)         \
	LD(2, 1)         \
	FSUB4S(25, 1, 1) \
	FMUL4S(1, 0, 0)  \
	FMUL4S(26, 0, 0) \
	ST(0, 0)

// func softmaxGradAsm(dx, p, dp *float32, n int, dot, scale float32)
TEXT ·softmaxGradAsm(SB), NOSPLIT, $0-40
	MOVD dx+0(FP), R0
	MOVD p+8(FP), R1
	MOVD dp+16(FP), R2
	MOVD n+24(FP), R6
	FMOVS dot+32(FP), F25
	FMOVS scale+36(FP), F26
	VDUP V25.S[0], V25.S4
	VDUP V26.S[0], V26.S4
	EACH(SOFTMAXGRAD, STAY, loop, few, four, rest, end)
	RET

// Layer norm. V25 is the mean, V26 rstd.

#define XHAT(a) \
	FSUB4S(25, a, a) \
	FMUL4S(26, a, a)

#define NORMALIZE(LD, ST, KEEP, s) \
	LD(1, 0)         \
	XHAT(0)          \
	LD(2, 1)         \
	LD(3, 2)         \
	FMLA4S(1, 0, 2)  \
	ST(2, 0)

// func normalizeAsm(y, x, gain, bias *float32, n int, mean, rstd float32)
TEXT ·normalizeAsm(SB), NOSPLIT, $0-48
	MOVD y+0(FP), R0
	MOVD x+8(FP), R1
	MOVD gain+16(FP), R2
	MOVD bias+24(FP), R3
	MOVD n+32(FP), R6
	FMOVS mean+40(FP), F25
	FMOVS rstd+44(FP), F26
	VDUP V25.S[0], V25.S4
	VDUP V26.S[0], V26.S4
	EACH(NORMALIZE, STAY, loop, few, four, rest, end)
	RET

// The lanes of Σ g are V20 to V23, those of Σ g·x̂ V16 to V19.
#define NORMALIZESUMS(LD, ST, KEEP, s) \
	LD(0, 0)         \
	LD(2, 1)         \
	FMUL4S(1, 0, 0)  \
	LD(1, 1)         \
	XHAT(1)          \
	KEEP(1)          \
	FADD4S(0, ((s)+4), ((s)+4)) \
	FMLA4S(1, 0, s)

// func normalizeSumsAsm(dy, x, gain *float32, n int, mean, rstd float32) (sum, sumX float32)
TEXT ·normalizeSumsAsm(SB), NOSPLIT, $0-48
	MOVD dy+0(FP), R0
	MOVD x+8(FP), R1
	MOVD gain+16(FP), R2
	MOVD n+24(FP), R6
	FMOVS mean+32(FP), F25
	FMOVS rstd+36(FP), F26
	VDUP V25.S[0], V25.S4
	VDUP V26.S[0], V26.S4
	ZERO4
	ZERO(20)
	ZERO(21)
	ZERO(22)
	ZERO(23)
	ZERO(30)
	EACH(NORMALIZESUMS, ROTATE2, loop, few, four, rest, end)
	FOLD(FADD4S)
	FMOVS F16, sumX+44(FP)
	MOV16B(20, 16)
	MOV16B(21, 17)
	MOV16B(22, 18)
	MOV16B(23, 19)
	FOLD(FADD4S)
	FMOVS F16, sum+40(FP)
	RET

// V27 and V28 are the means of the sums.
#define NORMALIZEGRAD(LD, ST, KEEP, s) \
	LD(1, 0)         \
	LD(3, 1)         \
	FMUL4S(1, 0, 0)  \
	LD(2, 1)         \
	XHAT(1)          \
	FMLS4S(28, 1, 0) \
	FSUB4S(27, 0, 0) \
	FMUL4S(26, 0, 0) \
	ST(0, 0)

// func normalizeGradAsm(dx, dy, x, gain *float32, n int, mean, rstd, meanG, meanGX float32)
TEXT ·normalizeGradAsm(SB), NOSPLIT, $0-56
	MOVD dx+0(FP), R0
	MOVD dy+8(FP), R1
	MOVD x+16(FP), R2
	MOVD gain+24(FP), R3
	MOVD n+32(FP), R6
	FMOVS mean+40(FP), F25
	FMOVS rstd+44(FP), F26
	FMOVS meanG+48(FP), F27
	FMOVS meanGX+52(FP), F28
	VDUP V25.S[0], V25.S4
	VDUP V26.S[0], V26.S4
	VDUP V27.S[0], V27.S4
	VDUP V28.S[0], V28.S4
	EACH(NORMALIZEGRAD, STAY, loop, few, four, rest, end)
	RET

#define NORMALIZEPARAMGRAD(LD, ST, KEEP, s) \
	LD(2, 0)         \
	LD(3, 1)         \
	XHAT(1)          \
	LD(0, 2)         \
	FMLA4S(1, 0, 2)  \
	LD(1, 3)         \
	FADD4S(0, 3, 3)  \
	ST(2, 0)         \
	ST(3, 1)

// func normalizeParamGradAsm(dgain, dbias, dy, x *float32, n int, mean, rstd float32)
TEXT ·normalizeParamGradAsm(SB), NOSPLIT, $0-48
	MOVD dgain+0(FP), R0
	MOVD dbias+8(FP), R1
	MOVD dy+16(FP), R2
	MOVD x+24(FP), R3
	MOVD n+32(FP), R6
	FMOVS mean+40(FP), F25
	FMOVS rstd+44(FP), F26
	VDUP V25.S[0], V25.S4
	VDUP V26.S[0], V26.S4
	EACH(NORMALIZEPARAMGRAD, STAY, loop, few, four, rest, end)
	RET

// Activations.

#define RELU(LD, ST, KEEP, s) \
	LD(1, 0)          \
	FCMGT4S(0, 25, 1) \ // x < 0, false for NaN
	BIC16B(1, 0, 0)   \
	ST(0, 0)

// func reluAsm(y, x *float32, n int)
TEXT ·reluAsm(SB), NOSPLIT, $0-24
	MOVD y+0(FP), R0
	MOVD x+8(FP), R1
	MOVD n+16(FP), R6
	ZERO(25)
	EACH(RELU, STAY, loop, few, four, rest, end)
	RET

#define RELUGRAD(LD, ST, KEEP, s) \
	LD(0, 0)          \
	LD(1, 1)          \
	FCMGT4S(25, 1, 1) \ // x > 0, false for NaN
	AND16B(1, 0, 0)   \
	ST(0, 0)

// func reluGradAsm(dx, x *float32, n int)
TEXT ·reluGradAsm(SB), NOSPLIT, $0-24
	MOVD dx+0(FP), R0
	MOVD x+8(FP), R1
	MOVD n+16(FP), R6
	ZERO(25)
	EACH(RELUGRAD, STAY, loop, few, four, rest, end)
	RET

// The others are the sequences that activation.go describes. n is in V29, tl in V30, e and what follows from it in V0,
// d or r in V1. V4 is the limit, V6 to V15 are as in EXPCONST but for the rounding constant, V16 is 2^-32, V17 1.
#define ACTCONST \
	EXPCONST                   \
	MOVD $·actConst(SB), R10   \
	VLD1R.P 4(R10), [V7.S4]    \
	VLD1R.P 4(R10), [V16.S4]   \
	VLD1R.P 4(R10), [V17.S4]

#define NEGATIVE(LD) \
	LD(1, 29)         \
	FABS4S(29, 29)    \
	FNEG4S(29, 29)    \
	FMAX4S(4, 29, 29)

#define LOW FADD4S(30, 0, 0)

// y = fma(V0, 2^-32, max(x, 0))
#define VALUE(LD, ST) \
	LD(1, 1)          \
	ZERO(2)           \
	FMAX4S(2, 1, 1)   \
	FMLA4S(16, 0, 1)  \
	ST(1, 0)

// dx = dx·f'(x), with g·2^32 in V0
#define SLOPE(LD, ST) \
	LD(1, 1)          \
	SSHR31(1, 1)      \
	ZERO(2)           \
	FMLA4S(16, 0, 2)  \
	MOV16B(17, 3)     \
	FMLS4S(16, 0, 3)  \
	BIF16B(1, 3, 2)   \
	LD(0, 0)          \
	FMUL4S(2, 0, 0)   \
	ST(0, 0)

#define DENOMINATOR \
	MOV16B(17, 1)     \
	FMLA4S(16, 0, 1)

// n·e/d
#define QUOTIENT \
	FMUL4S(29, 0, 0)  \
	FDIV4S(1, 0, 0)

// e·V2/d²
#define QUOTIENTGRAD \
	FMUL4S(2, 0, 0)   \
	FMUL4S(1, 1, 1)   \
	FDIV4S(1, 0, 0)

#define SILUCONST \
	ACTCONST                   \
	MOVD $·actConst+const_siluLimit*4(SB), R10 \
	VLD1R (R10), [V4.S4]

#define SILUPARTS(LD) \
	NEGATIVE(LD)      \
	MOV16B(29, 0)     \
	POWER(NOLOW)      \
	DENOMINATOR

#define SILU(LD, ST, KEEP, s) \
	SILUPARTS(LD)     \
	QUOTIENT          \
	VALUE(LD, ST)

// func siluAsm(y, x *float32, n int)
TEXT ·siluAsm(SB), NOSPLIT, $0-24
	MOVD y+0(FP), R0
	MOVD x+8(FP), R1
	MOVD n+16(FP), R6
	SILUCONST
	EACH(SILU, STAY, loop, few, four, rest, end)
	RET

#define SILUGRAD(LD, ST, KEEP, s) \
	SILUPARTS(LD)     \
	FADD4S(29, 1, 2)  \
	QUOTIENTGRAD      \
	SLOPE(LD, ST)

// func siluGradAsm(dx, x *float32, n int)
TEXT ·siluGradAsm(SB), NOSPLIT, $0-24
	MOVD dx+0(FP), R0
	MOVD x+8(FP), R1
	MOVD n+16(FP), R6
	SILUCONST
	EACH(SILUGRAD, STAY, loop, few, four, rest, end)
	RET

// GELUCONST loads -1/2 into V28, 1/√(2π) into V5, P into V18 to V22 and Q into V23 to V27.
#define GELUCONST \
	ACTCONST                   \
	MOVD $·actConst+const_geluLimit*4(SB), R10 \
	VLD1R.P 4(R10), [V4.S4]    \
	VLD1R.P 4(R10), [V28.S4]   \
	VLD1R.P 4(R10), [V5.S4]    \
	VLD1R.P 4(R10), [V18.S4]   \
	VLD1R.P 4(R10), [V19.S4]   \
	VLD1R.P 4(R10), [V20.S4]   \
	VLD1R.P 4(R10), [V21.S4]   \
	VLD1R.P 4(R10), [V22.S4]   \
	VLD1R.P 4(R10), [V23.S4]   \
	VLD1R.P 4(R10), [V24.S4]   \
	VLD1R.P 4(R10), [V25.S4]   \
	VLD1R.P 4(R10), [V26.S4]   \
	VLD1R.P 4(R10), [V27.S4]

#define GELUPARTS(LD) \
	NEGATIVE(LD)      \
	FMUL4S(28, 29, 1) \
	FMUL4S(1, 29, 0)  \
	FNEG4S(0, 30)     \
	FMLA4S(1, 29, 30) \
	POWER(LOW)        \
	MOV16B(19, 1)     \ // P
	FMLA4S(18, 29, 1) \
	MOV16B(20, 2)     \
	FMLA4S(1, 29, 2)  \
	MOV16B(21, 1)     \
	FMLA4S(2, 29, 1)  \
	MOV16B(22, 2)     \
	FMLA4S(1, 29, 2)  \
	MOV16B(24, 1)     \ // Q
	FMLA4S(23, 29, 1) \
	MOV16B(25, 3)     \
	FMLA4S(1, 29, 3)  \
	MOV16B(26, 1)     \
	FMLA4S(3, 29, 1)  \
	MOV16B(27, 3)     \
	FMLA4S(1, 29, 3)  \
	MOV16B(17, 1)     \
	FMLA4S(3, 29, 1)  \
	FDIV4S(1, 2, 1)

#define GELU(LD, ST, KEEP, s) \
	GELUPARTS(LD)     \
	FMUL4S(29, 0, 0)  \
	FMUL4S(1, 0, 0)   \
	VALUE(LD, ST)

// func geluAsm(y, x *float32, n int)
TEXT ·geluAsm(SB), NOSPLIT, $0-24
	MOVD y+0(FP), R0
	MOVD x+8(FP), R1
	MOVD n+16(FP), R6
	GELUCONST
	EACH(GELU, STAY, loop, few, four, rest, end)
	RET

#define GELUGRAD(LD, ST, KEEP, s) \
	GELUPARTS(LD)     \
	FMLA4S(5, 29, 1)  \
	FMUL4S(1, 0, 0)   \
	SLOPE(LD, ST)

// func geluGradAsm(dx, x *float32, n int)
TEXT ·geluGradAsm(SB), NOSPLIT, $0-24
	MOVD dx+0(FP), R0
	MOVD x+8(FP), R1
	MOVD n+16(FP), R6
	GELUCONST
	EACH(GELUGRAD, STAY, loop, few, four, rest, end)
	RET

// TANHCONST loads c1, c3, c1Lo, c3Lo and 3·c3 into V18 to V22.
#define TANHCONST \
	ACTCONST                   \
	MOVD $·actConst+const_tanhLimit*4(SB), R10 \
	VLD1R.P 4(R10), [V4.S4]    \
	VLD1R.P 4(R10), [V18.S4]   \
	VLD1R.P 4(R10), [V19.S4]   \
	VLD1R.P 4(R10), [V20.S4]   \
	VLD1R.P 4(R10), [V21.S4]   \
	VLD1R.P 4(R10), [V22.S4]

// V1 is s, V23 what rounding has cut off from it, V2 q, V3 l
#define TANHPARTS(LD) \
	NEGATIVE(LD)      \
	FMUL4S(29, 29, 1) \
	FNEG4S(1, 23)     \
	FMLA4S(29, 29, 23) \
	MOV16B(18, 2)     \
	FMLA4S(19, 1, 2)  \
	FSUB4S(2, 18, 3)  \
	FMLA4S(19, 1, 3)  \
	FMLA4S(21, 1, 3)  \
	FMLA4S(19, 23, 3) \
	FADD4S(20, 3, 3)  \
	FMUL4S(2, 29, 0)  \
	FNEG4S(0, 30)     \
	FMLA4S(2, 29, 30) \
	FMLA4S(3, 29, 30) \
	POWER(LOW)        \
	DENOMINATOR

#define GELUTANH(LD, ST, KEEP, s) \
	TANHPARTS(LD)     \
	QUOTIENT          \
	VALUE(LD, ST)

// func geluTanhAsm(y, x *float32, n int)
TEXT ·geluTanhAsm(SB), NOSPLIT, $0-24
	MOVD y+0(FP), R0
	MOVD x+8(FP), R1
	MOVD n+16(FP), R6
	TANHCONST
	EACH(GELUTANH, STAY, loop, few, four, rest, end)
	RET

#define GELUTANHGRAD(LD, ST, KEEP, s) \
	TANHPARTS(LD)     \
	FMUL4S(29, 29, 3) \
	MOV16B(18, 30)    \
	FMLA4S(22, 3, 30) \
	MOV16B(1, 2)      \
	FMLA4S(30, 29, 2) \
	QUOTIENTGRAD      \
	SLOPE(LD, ST)

// func geluTanhGradAsm(dx, x *float32, n int)
TEXT ·geluTanhGradAsm(SB), NOSPLIT, $0-24
	MOVD dx+0(FP), R0
	MOVD x+8(FP), R1
	MOVD n+16(FP), R6
	TANHCONST
	EACH(GELUTANHGRAD, STAY, loop, few, four, rest, end)
	RET

// Adam. V16 Beta1, V17 1-Beta1, V18 Beta2, V19 1-Beta2, V20 Eps, V21 Rate, V22 Second, V23 Clip.

#define ADAM(LD, ST, KEEP, s) \
	LD(1, 0)          \ // g'
	FMUL4S(23, 0, 0)  \
	LD(2, 1)          \ // m
	FMUL4S(17, 0, 2)  \
	FMLA4S(16, 1, 2)  \
	ST(2, 2)          \
	FMUL4S(19, 0, 3)  \ // v
	FMUL4S(0, 3, 3)   \
	LD(3, 1)          \
	FMLA4S(18, 1, 3)  \
	ST(3, 3)          \
	FMUL4S(22, 3, 3)  \
	FSQRT4S(3, 3)     \
	FADD4S(20, 3, 3)  \
	FMUL4S(21, 2, 2)  \
	FDIV4S(3, 2, 2)   \
	LD(0, 0)          \ // w
	FSUB4S(2, 0, 0)   \
	ST(0, 0)

// func adamAsm(a *Adam, w, dw, m, v *float32, n int)
TEXT ·adamAsm(SB), NOSPLIT, $0-48
	MOVD a+0(FP), R9
	MOVD w+8(FP), R0
	MOVD dw+16(FP), R1
	MOVD m+24(FP), R2
	MOVD v+32(FP), R3
	MOVD n+40(FP), R6
	FMOVS Adam_Beta1(R9), F16
	FMOVS Adam_Beta2(R9), F18
	FMOVS Adam_Eps(R9), F20
	FMOVS Adam_Rate(R9), F21
	FMOVS Adam_Second(R9), F22
	FMOVS Adam_Clip(R9), F23
	VDUP V16.S[0], V16.S4
	VDUP V18.S[0], V18.S4
	VDUP V20.S[0], V20.S4
	VDUP V21.S[0], V21.S4
	VDUP V22.S[0], V22.S4
	VDUP V23.S[0], V23.S4
	MOVD $0x3F800000, R10 // 1
	VDUP R10, V0.S4
	FSUB4S(16, 0, 17)
	FSUB4S(18, 0, 19)
	EACH(ADAM, STAY, loop, few, four, rest, end)
	RET

// Dropout. V16 are the counters, V17 and V18 the multipliers, V19 the upper half of the key, V20 the largest
// h>>1 that is kept, V21 the scale, V22 the step of the counters.

// KEPT sets V0 to x where it is kept and to 0 elsewhere.
#define KEPT(LD) \
	VUSHR $16, V16.S4, V0.S4  \
	EOR16B(16, 0, 0)   \
	VADD  V22.S4, V16.S4, V16.S4  \
	MUL4S(17, 0, 0)    \
	EOR16B(19, 0, 0)   \
	VUSHR $15, V0.S4, V1.S4   \
	EOR16B(1, 0, 0)    \
	MUL4S(18, 0, 0)    \
	VUSHR $15, V0.S4, V1.S4   \
	EOR16B(1, 0, 0)    \
	VUSHR $1, V0.S4, V0.S4    \
	CMGT4S(20, 0, 1)   \
	LD(1, 0)           \
	BIC16B(1, 0, 0)

#define DROPOUTADD(LD, ST, KEEP, s) \
	KEPT(LD)           \
	LD(2, 2)           \
	FMLA4S(21, 0, 2)   \
	ST(2, 0)

#define DROPOUT(LD, ST, KEEP, s) \
	KEPT(LD)           \
	FMUL4S(21, 0, 0)   \
	ST(0, 0)

DATA laneIndex<>+0(SB)/8, $0x0000000100000000
DATA laneIndex<>+8(SB)/8, $0x0000000300000002
GLOBL laneIndex<>(SB), RODATA|NOPTR, $16

// func dropoutAsm(y, x, r *float32, n int, counter, key, last uint32, scale float32)
TEXT ·dropoutAsm(SB), NOSPLIT, $0-48
	MOVD y+0(FP), R0
	MOVD x+8(FP), R1
	MOVD r+16(FP), R2
	MOVD n+24(FP), R6
	MOVWU counter+32(FP), R10
	VDUP R10, V16.S4
	MOVWU key+36(FP), R10
	VDUP R10, V19.S4
	MOVWU last+40(FP), R10
	VDUP R10, V20.S4
	FMOVS scale+44(FP), F21
	VDUP V21.S[0], V21.S4
	MOVD $const_dropoutMul1, R10
	VDUP R10, V17.S4
	MOVD $const_dropoutMul2, R10
	VDUP R10, V18.S4
	MOVD $4, R10
	VDUP R10, V22.S4
	MOVD $laneIndex<>(SB), R10
	FMOVQ (R10), F23
	VADD  V23.S4, V16.S4, V16.S4
	CBZ  R2, alone
	EACH(DROPOUTADD, STAY, loop1, few1, four1, rest1, end1)
	RET
alone:
	EACH(DROPOUT, STAY, loop2, few2, four2, rest2, end2)
	RET
