//go:build !purego && !noasm

// The vector kernels of Transformers for AVX-512 (F, VL, BW, DQ): softmax, norms, activations, Adam
// and dropout.

#include "go_asm.h"
#include "textflag.h"
#include "vec512_amd64.h"

// Softmax.

// EXP replaces Z0 with its exp, by the operations of exp.go. It uses Z2 to Z4, and EXPCONST in Z14
// to Z17.
#define EXP \
	VMAXPS Z0, Z14, Z0   \
	VMINPS Z0, Z15, Z0   \
	POWER(NOLOW)

// POWER is EXP without its range check. LOW adds the low-order part of the exponent to the
// remainder. The last two coefficients are equal.
#define POWER(LOW) \
	VMOVAPS          Z0, Z2        \ // z = round(t·log2 e) + 1.5·2^23 + 126
	VFMADD213PS      Z17, Z16, Z2  \
	VSUBPS           Z17, Z2, Z4   \ // k
	VFNMADD231PS.BCST ·expConst+const_expLn2Hi*4(SB), Z4, Z0 \ // r = t - k·ln 2
	VFNMADD231PS.BCST ·expConst+const_expLn2Lo*4(SB), Z4, Z0 \
	LOW                            \
	VPSLLD           $23, Z2, Z2   \ // 2^(k-1)
	VBROADCASTSS     ·expConst+const_expPoly*4(SB), Z4            \ // 2·e^r
	VFMADD213PS.BCST ·expConst+(const_expPoly+1)*4(SB), Z0, Z4    \
	VFMADD213PS.BCST ·expConst+(const_expPoly+2)*4(SB), Z0, Z4    \
	VFMADD213PS.BCST ·expConst+(const_expPoly+3)*4(SB), Z0, Z4    \
	VFMADD213PS.BCST ·expConst+(const_expPoly+4)*4(SB), Z0, Z4    \
	VFMADD213PS.BCST ·expConst+(const_expPoly+5)*4(SB), Z0, Z4    \
	VFMADD213PS.BCST ·expConst+(const_expPoly+5)*4(SB), Z0, Z4    \
	VMULPS           Z2, Z4, Z0
#define NOLOW

#define EXPCONST \
	VBROADCASTSS ·expConst+const_expMin*4(SB), Z14   \
	VBROADCASTSS ·expConst+const_expMax*4(SB), Z15   \
	VBROADCASTSS ·expConst+const_expLog2E*4(SB), Z16 \
	VBROADCASTSS ·expConst+const_expRound*4(SB), Z17

// Z8 is the shift, Z9 the scale, Z10 the lanes of the sum.
#define EXPSUM(LD, ST, KEEP) \
	LD(SI, Z0)           \
	VSUBPS Z8, Z0, Z0    \
	VMULPS Z9, Z0, Z0    \
	EXP                  \
	KEEP(Z0)             \
	ST(Z0, DI)           \
	VADDPS Z0, Z10, Z10

// func expSumAVX512(y, x *float32, n int, shift, scale float32) float32
TEXT ·expSumAVX512(SB), NOSPLIT, $0-36
	MOVQ y+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	VBROADCASTSS shift+24(FP), Z8
	VBROADCASTSS scale+28(FP), Z9
	EXPCONST
	SPLIT
	ZERO(Z10)
	ZERO(Z13)
	EACH(EXPSUM, loop, rest, end)
	FOLD(VADDPS, Z10, Y10, X10, Y11, X11)
	VMOVSS X10, ret+32(FP)
	VZEROUPPER
	RET

// func softmaxAVX512(y, x *float32, n int, scale float32)
TEXT ·softmaxAVX512(SB), NOSPLIT, $0-28
	MOVQ y+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	SPLIT

	// the maximum, at least -MaxFloat32, into Z8
	NEGINF(Z13)
	VMOVAPS Z13, Z8
	EACH(LARGER, loop1, rest1, end1)
	FOLD(VMAXPS, Z8, Y8, X8, Y9, X9)
	MOVL $0xFF7FFFFF, R10
	VMOVD R10, X9
	VMAXSS X8, X9, X8
	VBROADCASTSS X8, Z8

	// the exponentials and the lanes of their sum; those of the remainder stay in Z0
	VBROADCASTSS scale+24(FP), Z9
	EXPCONST
	ZERO(Z10)
	ZERO(Z13)
	WHOLE(EXPSUM, loop2, rest2)
	TESTQ CX, CX
	JEQ  end2
	EXPSUM(LOADREST, NOSTORE, KEEPREST)
end2:
	FOLD(VADDPS, Z10, Y10, X10, Y11, X11)

	// 1/max(sum, 1) into Z8
	MOVL $0x3F800000, R10
	VMOVD R10, X9
	VMAXSS X10, X9, X10
	VDIVSS X10, X9, X8
	VBROADCASTSS X8, Z8
	VMULPS Z8, Z0, Z0
	TESTQ CX, CX
	JEQ  end3
	MOVQ BX, AX
	STOREREST(Z0, DI)
end3:
	WHOLE(SCALE, loop4, rest4)
	VZEROUPPER
	RET

// Rows of softmax; rows of one or two registers stay in them. R8 is s, R9 the rows left, R11 the
// unmasked elements of a row, R12 its elements; Z18 is 0, X19 1, X20 -MaxFloat32.

// EXPROW is EXPSUM in registers: Z0 = exp((Z0 - Z8)·Z9) in the lanes of K, 0 elsewhere.
#define EXPROW(K) \
	VSUBPS Z8, Z0, Z0    \
	VMULPS Z9, Z0, Z0    \
	EXP                  \
	VMOVAPS.Z Z0, K, Z0

// SHIFT replaces Z8 with the maximum of its lanes, at least -MaxFloat32.
#define SHIFT \
	FOLD(VMAXPS, Z8, Y8, X8, Y7, X7) \
	VMAXSS X8, X20, X8               \
	VBROADCASTSS X8, Z8

// FACTOR sets Z8 to 1/max(sum of Z10, 1).
#define FACTOR \
	FOLD(VADDPS, Z10, Y10, X10, Y11, X11) \
	VMAXSS X10, X19, X10                  \
	VDIVSS X10, X19, X8                   \
	VBROADCASTSS X8, Z8

// MASKS sets K and K2 to the masks of the first n ≤ 32 lanes of two registers.
#define MASKS(n, K, K2) \
	MOVQ  n, CX          \
	MOVL  $1, AX         \
	SHLQ  CX, AX         \
	DECQ  AX             \
	KMOVW AX, K          \
	SHRQ  $16, AX        \
	KMOVW AX, K2

// func softmaxRowsAVX512(s *rowsArgs)
TEXT ·softmaxRowsAVX512(SB), NOSPLIT, $0-8
	MOVQ s+0(FP), R8
	MOVQ rowsArgs_y(R8), DI
	MOVQ rowsArgs_x(R8), SI
	MOVQ rowsArgs_rows(R8), R9
	MOVQ rowsArgs_first(R8), R11
	MOVQ rowsArgs_cols(R8), R12
	VBROADCASTSS rowsArgs_scale(R8), Z9
	EXPCONST
	NEGINF(Z13)
	ZERO(Z18)
	MOVL $0x3F800000, R10
	VMOVD R10, X19
	MOVL $0xFF7FFFFF, R10
	VMOVD R10, X20
	CMPQ R12, $32
	JGT  long
	MASKS(R12, K3, K4)

row:
	MOVQ R11, CX
	CMPQ R12, CX
	CMOVQLT R12, CX
	MASKS(CX, K1, K2)
	CMPQ R12, $16
	JGT  two
	VMOVUPS.Z (SI), K1, Z0
	VBLENDMPS Z0, Z13, K1, Z8
	SHIFT
	EXPROW(K1)
	VMOVAPS Z0, Z10
	FACTOR
	VMULPS.Z Z8, Z0, K1, Z0
	VMOVUPS Z0, K3, (DI)
	JMP  next

two:
	VMOVUPS.Z (SI), K1, Z0
	VMOVUPS.Z 64(SI), K2, Z5
	VBLENDMPS Z0, Z13, K1, Z8
	VBLENDMPS Z5, Z13, K2, Z1
	VMAXPS Z1, Z8, Z8
	SHIFT
	EXPROW(K1)
	VMOVAPS Z0, Z6
	VMOVAPS Z5, Z0
	EXPROW(K2)
	VADDPS Z0, Z6, Z10
	FACTOR
	VMULPS.Z Z8, Z6, K1, Z6
	VMULPS.Z Z8, Z0, K2, Z0
	VMOVUPS Z6, (DI)
	VMOVUPS Z0, K4, 64(DI)

next:
	INCQ R11
	ADDQ rowsArgs_yRow(R8), DI
	ADDQ rowsArgs_xRow(R8), SI
	DECQ R9
	JNE  row
	VZEROUPPER
	RET

long:
	MOVQ R11, CX
	CMPQ R12, CX
	CMOVQLT R12, CX

	// like softmaxAVX512
	SPLIT
	NEGINF(Z13)
	VMOVAPS Z13, Z8
	EACH(LARGER, loop1, rest1, end1)
	SHIFT
	ZERO(Z10)
	ZERO(Z13)
	WHOLE(EXPSUM, loop2, rest2)
	TESTQ CX, CX
	JEQ  end2
	EXPSUM(LOADREST, NOSTORE, KEEPREST)
end2:
	FACTOR
	VMULPS Z8, Z0, Z0
	TESTQ CX, CX
	JEQ  end3
	MOVQ BX, AX
	STOREREST(Z0, DI)
end3:
	WHOLE(SCALE, loop4, rest4)

	// zeros after the unmasked elements, block by block, without storing into the next row
	MOVQ BX, AX
	LEAQ (R12*4), R13
	SUBQ BX, R13
	KNOTW K1, K2
zeros:
	CMPQ R13, $64
	JLT  lastZeros
	VMOVUPS Z18, K2, (DI)(AX*1)
	KXNORW K2, K2, K2
	ADDQ $64, AX
	SUBQ $64, R13
	JMP  zeros
lastZeros:
	SHRQ $2, R13
	MOVQ R13, CX
	MOVL $1, R10
	SHLL CX, R10
	DECL R10
	KMOVW R10, K3
	KANDW K2, K3, K3
	VMOVUPS Z18, K3, (DI)(AX*1)

	INCQ R11
	ADDQ rowsArgs_yRow(R8), DI
	ADDQ rowsArgs_xRow(R8), SI
	DECQ R9
	JNE  long
	VZEROUPPER
	RET

#define SOFTMAXGRAD(LD, ST, KEEP) \
	LD(SI, Z0)           \
	LD(DX, Z1)           \
	VSUBPS Z8, Z1, Z1    \
	VMULPS Z1, Z0, Z0    \
	VMULPS Z9, Z0, Z0    \
	ST(Z0, DI)

// func softmaxGradAVX512(dx, p, dp *float32, n int, dot, scale float32)
TEXT ·softmaxGradAVX512(SB), NOSPLIT, $0-40
	MOVQ dx+0(FP), DI
	MOVQ p+8(FP), SI
	MOVQ dp+16(FP), DX
	MOVQ n+24(FP), CX
	VBROADCASTSS dot+32(FP), Z8
	VBROADCASTSS scale+36(FP), Z9
	SPLIT
	EACH(SOFTMAXGRAD, loop, rest, end)
	VZEROUPPER
	RET

#define DOTROW(LD, ST, KEEP) \
	LD(SI, Z0)              \
	LD(DX, Z1)              \
	VFMADD231PS Z0, Z1, Z8

// FOLDDOT replaces Z8 with the sum of its lanes, +0 instead of -0.
#define FOLDDOT \
	FOLD(VADDPS, Z8, Y8, X8, Y7, X7) \
	VADDSS X18, X8, X8               \
	VBROADCASTSS X8, Z8

// func softmaxGradRowsAVX512(s *rowsArgs)
TEXT ·softmaxGradRowsAVX512(SB), NOSPLIT, $0-8
	MOVQ s+0(FP), R8
	MOVQ rowsArgs_y(R8), DI
	MOVQ rowsArgs_x(R8), SI
	MOVQ rowsArgs_z(R8), DX
	MOVQ rowsArgs_rows(R8), R9
	MOVQ rowsArgs_cols(R8), R12
	VBROADCASTSS rowsArgs_scale(R8), Z9
	ZERO(Z18)
	CMPQ R12, $32
	JGT  long
	MASKS(R12, K1, K2)
	CMPQ R12, $16
	JGT  two

one:
	VMOVUPS.Z (SI), K1, Z0
	VMOVUPS.Z (DX), K1, Z1
	ZERO(Z8)
	VFMADD231PS Z0, Z1, Z8
	FOLDDOT
	VSUBPS Z8, Z1, Z1
	VMULPS Z1, Z0, Z0
	VMULPS Z9, Z0, Z0
	VMOVUPS Z0, K1, (DI)
	ADDQ rowsArgs_yRow(R8), DI
	ADDQ rowsArgs_xRow(R8), SI
	ADDQ rowsArgs_zRow(R8), DX
	DECQ R9
	JNE  one
	VZEROUPPER
	RET

two:
	VMOVUPS (SI), Z0
	VMOVUPS (DX), Z1
	VMOVUPS.Z 64(SI), K2, Z2
	VMOVUPS.Z 64(DX), K2, Z3
	ZERO(Z8)
	VFMADD231PS Z0, Z1, Z8
	VFMADD231PS Z2, Z3, Z8
	FOLDDOT
	VSUBPS Z8, Z1, Z1
	VSUBPS Z8, Z3, Z3
	VMULPS Z1, Z0, Z0
	VMULPS Z3, Z2, Z2
	VMULPS Z9, Z0, Z0
	VMULPS Z9, Z2, Z2
	VMOVUPS Z0, (DI)
	VMOVUPS Z2, K2, 64(DI)
	ADDQ rowsArgs_yRow(R8), DI
	ADDQ rowsArgs_xRow(R8), SI
	ADDQ rowsArgs_zRow(R8), DX
	DECQ R9
	JNE  two
	VZEROUPPER
	RET

long:
	MOVQ R12, CX
	SPLIT
	ZERO(Z8)
	EACH(DOTROW, loop1, rest1, end1)
	FOLDDOT
	EACH(SOFTMAXGRAD, loop2, rest2, end2)
	ADDQ rowsArgs_yRow(R8), DI
	ADDQ rowsArgs_xRow(R8), SI
	ADDQ rowsArgs_zRow(R8), DX
	DECQ R9
	JNE  long
	VZEROUPPER
	RET

// Layer norm. Z10 is the mean, Z11 is rstd.

#define XHAT(a) \
	VSUBPS Z10, a, a   \
	VMULPS Z11, a, a

// GANDXHAT loads g = dy·gain into Z0 and x̂ into Z1.
#define GANDXHAT(LD, dy, x, gain) \
	LD(dy, Z0)              \
	LD(gain, Z1)            \
	VMULPS Z1, Z0, Z0       \
	LD(x, Z1)               \
	XHAT(Z1)

#define NORMALIZE(LD, ST, KEEP) \
	LD(SI, Z0)              \
	XHAT(Z0)                \
	LD(DX, Z1)              \
	LD(R8, Z2)              \
	VFMADD213PS Z2, Z1, Z0  \
	ST(Z0, DI)

// func layerNormAVX512(y, x, gain, bias *float32, n int, mean, rstd float32)
TEXT ·layerNormAVX512(SB), NOSPLIT, $0-48
	MOVQ y+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ gain+16(FP), DX
	MOVQ bias+24(FP), R8
	MOVQ n+32(FP), CX
	VBROADCASTSS mean+40(FP), Z10
	VBROADCASTSS rstd+44(FP), Z11
	SPLIT
	EACH(NORMALIZE, loop, rest, end)
	VZEROUPPER
	RET

#define SUM(LD, ST, KEEP) \
	LD(SI, Z0)              \
	VADDPS Z0, Z8, Z8
#define SQUARES(LD, ST, KEEP) \
	LD(SI, Z0)              \
	VSUBPS Z10, Z0, Z0      \
	KEEP(Z0)                \
	VFMADD231PS Z0, Z0, Z8

// func layerNormRowsAVX512(s *normArgs)
TEXT ·layerNormRowsAVX512(SB), NOSPLIT, $0-8
	MOVQ s+0(FP), R9
	MOVQ normArgs_y(R9), DI
	MOVQ normArgs_x(R9), SI
	MOVQ normArgs_gain(R9), DX
	MOVQ normArgs_bias(R9), R8
	MOVQ normArgs_mean(R9), R11
	MOVQ normArgs_rstd(R9), R12
	MOVQ normArgs_rows(R9), R13
	MOVQ normArgs_cols(R9), CX
	VMOVSS normArgs_d(R9), X16
	MOVQ $0x3FF0000000000000, AX // 1
	VMOVQ AX, X17
	ZERO(Z13)
	SPLIT
row:
	ZERO(Z8)
	EACH(SUM, loop1, rest1, end1)
	FOLD(VADDPS, Z8, Y8, X8, Y7, X7)
	VDIVSS X16, X8, X8
	VMOVSS X8, (R11)
	VBROADCASTSS X8, Z10

	ZERO(Z8)
	EACH(SQUARES, loop2, rest2, end2)
	FOLD(VADDPS, Z8, Y8, X8, Y7, X7)
	VDIVSS X16, X8, X8
	VADDSS normArgs_eps(R9), X8, X8
	VCVTSS2SD X8, X8, X8
	VSQRTSD X8, X8, X8
	VDIVSD X8, X17, X8
	VCVTSD2SS X8, X8, X8
	VMOVSS X8, (R12)
	VBROADCASTSS X8, Z11

	EACH(NORMALIZE, loop3, rest3, end3)
	ADDQ normArgs_yRow(R9), DI
	ADDQ normArgs_xRow(R9), SI
	ADDQ $4, R11
	ADDQ $4, R12
	DECQ R13
	JNE  row
	VZEROUPPER
	RET

// The lanes of Σ g are in Z6, those of Σ g·x̂ in Z8.
#define NORMALIZESUMS(LD, ST, KEEP) \
	GANDXHAT(LD, DI, SI, DX) \
	KEEP(Z1)                \
	VADDPS Z0, Z6, Z6       \
	VFMADD231PS Z1, Z0, Z8

// func layerNormGradSumsAVX512(dy, x, gain *float32, n int, mean, rstd float32) (sum, sumX float32)
TEXT ·layerNormGradSumsAVX512(SB), NOSPLIT, $0-48
	MOVQ dy+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ gain+16(FP), DX
	MOVQ n+24(FP), CX
	VBROADCASTSS mean+32(FP), Z10
	VBROADCASTSS rstd+36(FP), Z11
	SPLIT
	ZERO(Z6)
	ZERO(Z8)
	ZERO(Z13)
	EACH(NORMALIZESUMS, loop, rest, end)
	FOLD(VADDPS, Z6, Y6, X6, Y7, X7)
	FOLD(VADDPS, Z8, Y8, X8, Y9, X9)
	VMOVSS X6, sum+40(FP)
	VMOVSS X8, sumX+44(FP)
	VZEROUPPER
	RET

// Z8 and Z9 are the means of the sums.
#define NORMALIZEGRAD(LD, ST, KEEP) \
	GANDXHAT(LD, SI, DX, R8) \
	VFNMADD231PS Z9, Z1, Z0  \
	VSUBPS Z8, Z0, Z0        \
	VMULPS Z11, Z0, Z0       \
	ST(Z0, DI)

// func layerNormGradAVX512(dx, dy, x, gain *float32, n int, mean, rstd, meanG, meanGX float32)
TEXT ·layerNormGradAVX512(SB), NOSPLIT, $0-56
	MOVQ dx+0(FP), DI
	MOVQ dy+8(FP), SI
	MOVQ x+16(FP), DX
	MOVQ gain+24(FP), R8
	MOVQ n+32(FP), CX
	VBROADCASTSS mean+40(FP), Z10
	VBROADCASTSS rstd+44(FP), Z11
	VBROADCASTSS meanG+48(FP), Z8
	VBROADCASTSS meanGX+52(FP), Z9
	SPLIT
	EACH(NORMALIZEGRAD, loop, rest, end)
	VZEROUPPER
	RET

#define NORMALIZEPARAMGRAD(LD, ST, KEEP) \
	LD(DX, Z0)              \
	LD(R8, Z1)              \
	XHAT(Z1)                \
	LD(DI, Z2)              \
	VFMADD231PS Z1, Z0, Z2  \
	LD(SI, Z1)              \
	VADDPS Z0, Z1, Z1       \
	ST(Z2, DI)              \
	ST(Z1, SI)

// func layerNormParamGradAVX512(dgain, dbias, dy, x *float32, n int, mean, rstd float32)
TEXT ·layerNormParamGradAVX512(SB), NOSPLIT, $0-48
	MOVQ dgain+0(FP), DI
	MOVQ dbias+8(FP), SI
	MOVQ dy+16(FP), DX
	MOVQ x+24(FP), R8
	MOVQ n+32(FP), CX
	VBROADCASTSS mean+40(FP), Z10
	VBROADCASTSS rstd+44(FP), Z11
	SPLIT
	EACH(NORMALIZEPARAMGRAD, loop, rest, end)
	VZEROUPPER
	RET

// Activations. Z12 is 0.

#define RELU(LD, ST, KEEP) \
	LD(SI, Z0)               \
	VMAXPS Z0, Z12, Z0       \
	ST(Z0, DI)

// func reluAVX512(y, x *float32, n int)
TEXT ·reluAVX512(SB), NOSPLIT, $0-24
	MOVQ y+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	ZERO(Z12)
	SPLIT
	EACH(RELU, loop, rest, end)
	VZEROUPPER
	RET

#define RELUGRAD(LD, ST, KEEP) \
	LD(DI, Z0)               \
	LD(SI, Z1)               \
	VCMPPS $14, Z12, Z1, K2  \ // x > 0, false for NaN
	VMOVAPS.Z Z0, K2, Z0     \
	ST(Z0, DI)

// func reluGradAVX512(dx, x *float32, n int)
TEXT ·reluGradAVX512(SB), NOSPLIT, $0-24
	MOVQ dx+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	ZERO(Z12)
	SPLIT
	EACH(RELUGRAD, loop, rest, end)
	VZEROUPPER
	RET

// The other activations perform the operations of activation.go. Z11 is 2^-32, Z13 -0, Z14 the
// limit, Z15 1; Z16 and Z17 are as in EXPCONST. n is in Z5, tl in Z6 or Z9, e and its successors in
// Z0.
#define ACTCONST(limit) \
	VBROADCASTSS ·expConst+const_expLog2E*4(SB), Z16  \
	VBROADCASTSS ·actConst+const_actRound*4(SB), Z17  \
	VBROADCASTSS ·actConst+const_actShrink*4(SB), Z11 \
	VBROADCASTSS ·actConst+const_actOne*4(SB), Z15    \
	VBROADCASTSS ·actConst+limit*4(SB), Z14           \
	ZERO(Z12)                                         \
	VPTERNLOGD   $0xFF, Z13, Z13, Z13                 \
	VPSLLD       $31, Z13, Z13

#define NEGATIVE(LD) \
	LD(SI, Z5)               \
	VPORD  Z13, Z5, Z5       \
	VMAXPS Z5, Z14, Z5

#define LOW6 VADDPS Z6, Z0, Z0
#define LOW9 VADDPS Z9, Z0, Z0

// y = fma(Z0, 2^-32, max(x, 0))
#define VALUE(LD, ST) \
	LD(SI, Z1)               \
	VMAXPS Z12, Z1, Z1       \
	VFMADD231PS Z11, Z0, Z1  \
	ST(Z1, DI)

// dx = dx·f'(x), with g·2^32 in Z0
#define SLOPE(LD, ST) \
	LD(SI, Z1)               \
	VPMOVD2M Z1, K2          \
	VMOVAPS Z15, Z2          \
	VFNMADD231PS Z11, Z0, Z2 \
	VFMADD213PS Z12, Z11, Z0 \
	VMOVAPS Z0, K2, Z2       \
	LD(DI, Z1)               \
	VMULPS Z2, Z1, Z1        \
	ST(Z1, DI)

// Z0 = e, Z1 = d
#define SILUPARTS(LD) \
	NEGATIVE(LD)             \
	VMOVAPS Z5, Z0           \
	POWER(NOLOW)             \
	VMOVAPS Z15, Z1          \
	VFMADD231PS Z11, Z0, Z1

#define SILU(LD, ST, KEEP) \
	SILUPARTS(LD)            \
	VMULPS Z5, Z0, Z0        \
	VDIVPS Z1, Z0, Z0        \
	VALUE(LD, ST)

// func siluAVX512(y, x *float32, n int)
TEXT ·siluAVX512(SB), NOSPLIT, $0-24
	MOVQ y+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	ACTCONST(const_siluLimit)
	SPLIT
	EACH(SILU, loop, rest, end)
	VZEROUPPER
	RET

#define SILUGRAD(LD, ST, KEEP) \
	SILUPARTS(LD)            \
	VADDPS Z5, Z1, Z2        \
	VMULPS Z2, Z0, Z0        \
	VMULPS Z1, Z1, Z1        \
	VDIVPS Z1, Z0, Z0        \
	SLOPE(LD, ST)

// func siluGradAVX512(dx, x *float32, n int)
TEXT ·siluGradAVX512(SB), NOSPLIT, $0-24
	MOVQ dx+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	ACTCONST(const_siluLimit)
	SPLIT
	EACH(SILUGRAD, loop, rest, end)
	VZEROUPPER
	RET

// Z0 = e, Z1 = r
#define GELUPARTS(LD) \
	NEGATIVE(LD)                \
	VMULPS.BCST ·actConst+const_geluHalf*4(SB), Z5, Z6       \
	VMULPS Z6, Z5, Z0           \
	VFMSUB213PS Z0, Z5, Z6      \
	VBROADCASTSS ·actConst+const_geluP*4(SB), Z1             \
	VFMADD213PS.BCST ·actConst+(const_geluP+1)*4(SB), Z5, Z1 \
	VFMADD213PS.BCST ·actConst+(const_geluP+2)*4(SB), Z5, Z1 \
	VFMADD213PS.BCST ·actConst+(const_geluP+3)*4(SB), Z5, Z1 \
	VFMADD213PS.BCST ·actConst+(const_geluP+4)*4(SB), Z5, Z1 \
	VBROADCASTSS ·actConst+const_geluQ*4(SB), Z3             \
	VFMADD213PS.BCST ·actConst+(const_geluQ+1)*4(SB), Z5, Z3 \
	VFMADD213PS.BCST ·actConst+(const_geluQ+2)*4(SB), Z5, Z3 \
	VFMADD213PS.BCST ·actConst+(const_geluQ+3)*4(SB), Z5, Z3 \
	VFMADD213PS.BCST ·actConst+(const_geluQ+4)*4(SB), Z5, Z3 \
	VFMADD213PS Z15, Z5, Z3     \
	VDIVPS Z3, Z1, Z1           \
	POWER(LOW6)

#define GELU(LD, ST, KEEP) \
	GELUPARTS(LD)            \
	VMULPS Z5, Z0, Z0        \
	VMULPS Z1, Z0, Z0        \
	VALUE(LD, ST)

// func geluAVX512(y, x *float32, n int)
TEXT ·geluAVX512(SB), NOSPLIT, $0-24
	MOVQ y+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	ACTCONST(const_geluLimit)
	SPLIT
	EACH(GELU, loop, rest, end)
	VZEROUPPER
	RET

#define GELUGRAD(LD, ST, KEEP) \
	GELUPARTS(LD)            \
	VFMADD231PS.BCST ·actConst+const_geluDensity*4(SB), Z5, Z1 \
	VMULPS Z1, Z0, Z0        \
	SLOPE(LD, ST)

// func geluGradAVX512(dx, x *float32, n int)
TEXT ·geluGradAVX512(SB), NOSPLIT, $0-24
	MOVQ dx+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	ACTCONST(const_geluLimit)
	SPLIT
	EACH(GELUGRAD, loop, rest, end)
	VZEROUPPER
	RET

// Z0 = e, Z1 = d, Z7 = s. Z8 is q, Z9 is c1 - q and then l.
#define TANHPARTS(LD) \
	NEGATIVE(LD)                \
	VMULPS Z5, Z5, Z7           \
	VMOVAPS Z5, Z6              \
	VFMSUB213PS Z7, Z5, Z6      \
	VBROADCASTSS ·actConst+const_tanhC3*4(SB), Z10 \
	VBROADCASTSS ·actConst+const_tanhC1*4(SB), Z9  \
	VMOVAPS Z9, Z8              \
	VFMADD231PS Z10, Z7, Z8     \
	VSUBPS Z8, Z9, Z9           \
	VFMADD231PS Z10, Z7, Z9     \
	VFMADD231PS.BCST ·actConst+const_tanhC3Lo*4(SB), Z7, Z9 \
	VFMADD231PS Z10, Z6, Z9     \
	VADDPS.BCST ·actConst+const_tanhC1Lo*4(SB), Z9, Z9      \
	VMULPS Z8, Z5, Z0           \
	VFMSUB213PS Z0, Z5, Z8      \
	VFMADD213PS Z8, Z5, Z9      \
	POWER(LOW9)                \
	VMOVAPS Z15, Z1             \
	VFMADD231PS Z11, Z0, Z1

#define GELUTANH(LD, ST, KEEP) \
	TANHPARTS(LD)            \
	VMULPS Z5, Z0, Z0        \
	VDIVPS Z1, Z0, Z0        \
	VALUE(LD, ST)

// func geluTanhAVX512(y, x *float32, n int)
TEXT ·geluTanhAVX512(SB), NOSPLIT, $0-24
	MOVQ y+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	ACTCONST(const_tanhLimit)
	SPLIT
	EACH(GELUTANH, loop, rest, end)
	VZEROUPPER
	RET

#define GELUTANHGRAD(LD, ST, KEEP) \
	TANHPARTS(LD)            \
	VBROADCASTSS ·actConst+const_tanhC1*4(SB), Z2 \
	VFMADD231PS.BCST ·actConst+const_tanh3C3*4(SB), Z7, Z2 \
	VFMADD213PS Z1, Z5, Z2   \
	VMULPS Z2, Z0, Z0        \
	VMULPS Z1, Z1, Z1        \
	VDIVPS Z1, Z0, Z0        \
	SLOPE(LD, ST)

// func geluTanhGradAVX512(dx, x *float32, n int)
TEXT ·geluTanhGradAVX512(SB), NOSPLIT, $0-24
	MOVQ dx+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	ACTCONST(const_tanhLimit)
	SPLIT
	EACH(GELUTANHGRAD, loop, rest, end)
	VZEROUPPER
	RET

// Adam. Z4 Beta1, Z5 1-Beta1, Z6 Beta2, Z7 1-Beta2, Z8 Eps, Z9 StepSize, Z10 VScale, Z11 GradScale.

#define ADAM(LD, ST, KEEP) \
	LD(SI, Z0)               \
	VMULPS Z11, Z0, Z0       \
	LD(DX, Z1)               \ // m
	VMULPS Z5, Z0, Z2        \
	VFMADD213PS Z2, Z4, Z1   \
	ST(Z1, DX)               \
	VMULPS Z9, Z1, Z1        \
	VMULPS Z7, Z0, Z2        \ // ((1-Beta2)·g')·g'
	VMULPS Z0, Z2, Z2        \
	LD(R8, Z0)               \ // v
	VFMADD213PS Z2, Z6, Z0   \
	ST(Z0, R8)               \
	VMULPS Z10, Z0, Z0       \
	VSQRTPS Z0, Z0           \
	VADDPS Z8, Z0, Z0        \
	VDIVPS Z0, Z1, Z1        \
	LD(DI, Z0)               \ // w
	VSUBPS Z1, Z0, Z0        \
	ST(Z0, DI)

// func adamAVX512(a *Adam, w, dw, m, v *float32, n int)
TEXT ·adamAVX512(SB), NOSPLIT, $0-48
	MOVQ a+0(FP), R9
	MOVQ w+8(FP), DI
	MOVQ dw+16(FP), SI
	MOVQ m+24(FP), DX
	MOVQ v+32(FP), R8
	MOVQ n+40(FP), CX
	VBROADCASTSS Adam_Beta1(R9), Z4
	VBROADCASTSS Adam_Beta2(R9), Z6
	VBROADCASTSS Adam_Eps(R9), Z8
	VBROADCASTSS Adam_StepSize(R9), Z9
	VBROADCASTSS Adam_VScale(R9), Z10
	VBROADCASTSS Adam_GradScale(R9), Z11
	MOVL $0x3F800000, R10 // 1
	VPBROADCASTD R10, Z0
	VSUBPS Z4, Z0, Z5
	VSUBPS Z6, Z0, Z7
	SPLIT
	EACH(ADAM, loop, rest, end)
	VZEROUPPER
	RET

// Dropout. Z8 holds the counters, Z10 and Z11 the multipliers, Z12 the upper half of the key, Z13
// the largest h>>1 of a kept element, Z6 the scale, Z7 the increment of the counters.

// KEPT sets Z0 to x for kept elements and to 0 for the others.
#define KEPT(LD) \
	VPSRLD $16, Z8, Z0      \
	VPXORD Z8, Z0, Z0       \
	VPADDD Z7, Z8, Z8       \
	VPMULLD Z10, Z0, Z0     \
	VPXORD Z12, Z0, Z0      \
	VPSRLD $15, Z0, Z1      \
	VPXORD Z1, Z0, Z0       \
	VPMULLD Z11, Z0, Z0     \
	VPSRLD $15, Z0, Z1      \
	VPXORD Z1, Z0, Z0       \
	VPSRLD $1, Z0, Z0       \
	VPCMPD $2, Z13, Z0, K2  \ // h>>1 ≤ last
	LD(SI, Z0)              \
	VMOVAPS.Z Z0, K2, Z0

#define DROPOUTADD(LD, ST, KEEP) \
	KEPT(LD)                \
	LD(DX, Z1)              \
	VFMADD213PS Z1, Z6, Z0  \
	ST(Z0, DI)

#define DROPOUT(LD, ST, KEEP) \
	KEPT(LD)                \
	VMULPS Z6, Z0, Z0       \
	ST(Z0, DI)

DATA laneIndex<>+0(SB)/8, $0x0000000100000000
DATA laneIndex<>+8(SB)/8, $0x0000000300000002
DATA laneIndex<>+16(SB)/8, $0x0000000500000004
DATA laneIndex<>+24(SB)/8, $0x0000000700000006
DATA laneIndex<>+32(SB)/8, $0x0000000900000008
DATA laneIndex<>+40(SB)/8, $0x0000000b0000000a
DATA laneIndex<>+48(SB)/8, $0x0000000d0000000c
DATA laneIndex<>+56(SB)/8, $0x0000000f0000000e
GLOBL laneIndex<>(SB), RODATA|NOPTR, $64

#define BROADCAST(c, Z) \
	MOVL c, R10             \
	VPBROADCASTD R10, Z

// func dropoutAVX512(y, x, r *float32, n int, counter, key, last uint32, scale float32)
TEXT ·dropoutAVX512(SB), NOSPLIT, $0-48
	MOVQ y+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ r+16(FP), DX
	MOVQ n+24(FP), CX
	VBROADCASTSS counter+32(FP), Z8
	VBROADCASTSS key+36(FP), Z12
	VBROADCASTSS last+40(FP), Z13
	VBROADCASTSS scale+44(FP), Z6
	BROADCAST($const_dropoutMul1, Z10)
	BROADCAST($const_dropoutMul2, Z11)
	BROADCAST($16, Z7)
	VPADDD laneIndex<>(SB), Z8, Z8
	SPLIT
	TESTQ DX, DX
	JEQ  alone
	EACH(DROPOUTADD, loop1, rest1, end1)
	VZEROUPPER
	RET
alone:
	EACH(DROPOUT, loop2, rest2, end2)
	VZEROUPPER
	RET

// The gradients of a norm's gain and bias, summed over the rows of a matrix, 64 columns at a time:
// the sums stay in registers, four for each gradient, for all rows.

// GRAD accumulates 16 columns of both gradients, for dy at (DX) and x at (R8), with the mean in Z10
// and rstd in Z11.
#define GRAD(at, gain, bias) \
	VMOVUPS at(R8), Z8      \
	XHAT(Z8)                \
	VMOVUPS at(DX), Z9      \
	VFMADD231PS Z8, Z9, gain \
	VADDPS  Z9, bias, bias

// func layerNormParamGradRowsAVX512(dgain, dbias, dy, x *float32, dyRow, xRow uintptr,
//	mean, rstd *float32, rows int)
// Requires: AVX512F
TEXT ·layerNormParamGradRowsAVX512(SB), NOSPLIT, $0-72
	MOVQ dgain+0(FP), DI
	MOVQ dbias+8(FP), SI
	MOVQ dy+16(FP), DX
	MOVQ x+24(FP), R8
	MOVQ dyRow+32(FP), R9
	MOVQ xRow+40(FP), R10
	MOVQ mean+48(FP), R11
	MOVQ rstd+56(FP), R12
	MOVQ rows+64(FP), CX
	VMOVUPS (DI), Z0
	VMOVUPS 64(DI), Z1
	VMOVUPS 128(DI), Z2
	VMOVUPS 192(DI), Z3
	VMOVUPS (SI), Z4
	VMOVUPS 64(SI), Z5
	VMOVUPS 128(SI), Z6
	VMOVUPS 192(SI), Z7
	PCALIGN $32
loop:
	VBROADCASTSS (R11), Z10
	VBROADCASTSS (R12), Z11
	GRAD(0, Z0, Z4)
	GRAD(64, Z1, Z5)
	GRAD(128, Z2, Z6)
	GRAD(192, Z3, Z7)
	ADDQ R9, DX
	ADDQ R10, R8
	ADDQ $4, R11
	ADDQ $4, R12
	DECQ CX
	JNE  loop
	VMOVUPS Z0, (DI)
	VMOVUPS Z1, 64(DI)
	VMOVUPS Z2, 128(DI)
	VMOVUPS Z3, 192(DI)
	VMOVUPS Z4, (SI)
	VMOVUPS Z5, 64(SI)
	VMOVUPS Z6, 128(SI)
	VMOVUPS Z7, 192(SI)
	VZEROUPPER
	RET
