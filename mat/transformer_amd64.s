//go:build !purego && !noasm

// The vector kernels of Transformers for AVX2 and FMA: softmax, norms, activations, Adam and
// dropout.

#include "go_asm.h"
#include "textflag.h"
#include "vec_amd64.h"

// Softmax.

// EXP replaces Y0 and Y1 with their exp, by the operations of exp.go. It uses Y2 to Y6, and log2(e)
// in Y12. A NaN survives the minimum and the maximum because it is in their second operand.
#define EXP \
	VBROADCASTSS ·expConst+const_expMin*4(SB), Y6     \
	VMAXPS       Y0, Y6, Y0      \
	VMAXPS       Y1, Y6, Y1      \
	VBROADCASTSS ·expConst+const_expMax*4(SB), Y6     \
	VMINPS       Y0, Y6, Y0      \
	VMINPS       Y1, Y6, Y1      \
	POWER(·expConst+const_expRound*4(SB), NOLOW)

// POWER is EXP without its range check. LOW adds the low-order part of the exponent to the
// remainders.
#define POWER(round, LOW) \
	VBROADCASTSS round, Y6       \ // z = round(t·log2 e) + 1.5·2^23 + 126
	VMOVAPS      Y6, Y2          \
	VMOVAPS      Y6, Y3          \
	VFMADD231PS  Y12, Y0, Y2     \
	VFMADD231PS  Y12, Y1, Y3     \
	VSUBPS       Y6, Y2, Y4      \ // k
	VSUBPS       Y6, Y3, Y5      \
	VBROADCASTSS ·expConst+const_expLn2Hi*4(SB), Y6   \ // r = t - k·ln 2
	VFNMADD231PS Y6, Y4, Y0      \
	VFNMADD231PS Y6, Y5, Y1      \
	VBROADCASTSS ·expConst+const_expLn2Lo*4(SB), Y6   \
	VFNMADD231PS Y6, Y4, Y0      \
	VFNMADD231PS Y6, Y5, Y1      \
	LOW                          \
	VPSLLD       $23, Y2, Y2     \ // 2^(k-1)
	VPSLLD       $23, Y3, Y3     \
	VBROADCASTSS ·expConst+const_expPoly*4(SB), Y4    \ // 2·e^r
	VMOVAPS      Y4, Y5          \
	HORNER(·expConst+(const_expPoly+1)*4(SB), Y0, Y1, Y4, Y5) \
	HORNER(·expConst+(const_expPoly+2)*4(SB), Y0, Y1, Y4, Y5) \
	HORNER(·expConst+(const_expPoly+3)*4(SB), Y0, Y1, Y4, Y5) \
	HORNER(·expConst+(const_expPoly+4)*4(SB), Y0, Y1, Y4, Y5) \
	HORNER(·expConst+(const_expPoly+5)*4(SB), Y0, Y1, Y4, Y5) \
	VFMADD213PS  Y6, Y0, Y4      \ // the last two coefficients are equal
	VFMADD213PS  Y6, Y1, Y5      \
	VMULPS       Y2, Y4, Y0      \
	VMULPS       Y3, Y5, Y1
#define NOLOW

// HORNER computes p = fma(p, x, c) for p in A and B, x in a and b.
#define HORNER(c, a, b, A, B) \
	VBROADCASTSS c, Y6           \
	VFMADD213PS  Y6, a, A        \
	VFMADD213PS  Y6, b, B

// Y8 is the shift, Y9 the scale, Y10 and Y11 the lanes of the sum.
#define EXPSUM(LD, ST, KEEP) \
	LD(SI, Y0, Y1)          \
	VSUBPS Y8, Y0, Y0       \
	VSUBPS Y8, Y1, Y1       \
	VMULPS Y9, Y0, Y0       \
	VMULPS Y9, Y1, Y1       \
	EXP                     \
	KEEP(Y0, Y1)            \
	ST(Y0, Y1, DI)          \
	VADDPS Y0, Y10, Y10     \
	VADDPS Y1, Y11, Y11

// func expSumAsm(y, x *float32, n int, shift, scale float32) float32
TEXT ·expSumAsm(SB), NOSPLIT, $0-36
	CMPB ·kernel(SB), $const_avx512
	JNE  narrow
	JMP  ·expSumAVX512(SB)

narrow:
	MOVQ y+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	VBROADCASTSS shift+24(FP), Y8
	VBROADCASTSS scale+28(FP), Y9
	VBROADCASTSS ·expConst+const_expLog2E*4(SB), Y12
	SPLIT
	ZERO(Y10)
	ZERO(Y11)
	ZERO(Y13)
	EACH(EXPSUM, loop, rest, end)
	FOLD(Y10, Y11, X10, X11)
	VMOVSS X10, ret+32(FP)
	VZEROUPPER
	RET

// func softmaxAsm(y, x *float32, n int, scale float32)
TEXT ·softmaxAsm(SB), NOSPLIT, $0-28
	MOVQ y+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	SPLIT

	// the maximum, at least -MaxFloat32, into Y8
	NEGINF(X13, Y13)
	VMOVAPS Y13, Y8
	VMOVAPS Y13, Y9
	EACH(LARGER, loop1, rest1, end1)
	FOLDMAX(Y8, Y9, X8, X9)
	MOVL $0xFF7FFFFF, R10
	VMOVD R10, X9
	VMAXSS X8, X9, X8
	VBROADCASTSS X8, Y8

	// the exponentials and the lanes of their sum; those of the remainder stay in Y0 and Y1
	VBROADCASTSS scale+24(FP), Y9
	VBROADCASTSS ·expConst+const_expLog2E*4(SB), Y12
	ZERO(Y10)
	ZERO(Y11)
	ZERO(Y13)
	WHOLE(EXPSUM, loop2, rest2)
	TESTQ CX, CX
	JEQ  end2
	EXPSUM(LOADREST, NOSTORE, KEEPREST)
end2:
	FOLD(Y10, Y11, X10, X11)

	// 1/max(sum, 1) into Y8
	MOVL $0x3F800000, R10
	VMOVD R10, X9
	VMAXSS X10, X9, X10
	VDIVSS X10, X9, X8
	VBROADCASTSS X8, Y8
	VMULPS Y8, Y0, Y0
	VMULPS Y8, Y1, Y1
	TESTQ CX, CX
	JEQ  end3
	MOVQ BX, AX
	STOREREST(Y0, Y1, DI)
end3:
	WHOLE(SCALE, loop4, rest4)
	VZEROUPPER
	RET

#define SOFTMAXGRAD(LD, ST, KEEP) \
	LD(SI, Y0, Y1)       \
	LD(DX, Y2, Y3)       \
	VSUBPS Y8, Y2, Y2    \
	VSUBPS Y8, Y3, Y3    \
	VMULPS Y2, Y0, Y0    \
	VMULPS Y3, Y1, Y1    \
	VMULPS Y9, Y0, Y0    \
	VMULPS Y9, Y1, Y1    \
	ST(Y0, Y1, DI)

// func softmaxGradAsm(dx, p, dp *float32, n int, dot, scale float32)
TEXT ·softmaxGradAsm(SB), NOSPLIT, $0-40
	MOVQ dx+0(FP), DI
	MOVQ p+8(FP), SI
	MOVQ dp+16(FP), DX
	MOVQ n+24(FP), CX
	VBROADCASTSS dot+32(FP), Y8
	VBROADCASTSS scale+36(FP), Y9
	SPLIT
	EACH(SOFTMAXGRAD, loop, rest, end)
	VZEROUPPER
	RET

// Layer norm. Y10 is the mean, Y11 is rstd.

#define XHAT(a, b) \
	VSUBPS Y10, a, a   \
	VSUBPS Y10, b, b   \
	VMULPS Y11, a, a   \
	VMULPS Y11, b, b

// GANDXHAT loads g = dy·gain into Y0 and Y1, and x̂ into Y2 and Y3.
#define GANDXHAT(LD, dy, x, gain) \
	LD(dy, Y0, Y1)           \
	LD(gain, Y2, Y3)         \
	VMULPS Y2, Y0, Y0        \
	VMULPS Y3, Y1, Y1        \
	LD(x, Y2, Y3)            \
	XHAT(Y2, Y3)

#define NORMALIZE(LD, ST, KEEP) \
	LD(SI, Y0, Y1)           \
	XHAT(Y0, Y1)             \
	LD(DX, Y2, Y3)           \
	LD(R8, Y4, Y5)           \
	VFMADD213PS Y4, Y2, Y0   \
	VFMADD213PS Y5, Y3, Y1   \
	ST(Y0, Y1, DI)

// func layerNormAsm(y, x, gain, bias *float32, n int, mean, rstd float32)
TEXT ·layerNormAsm(SB), NOSPLIT, $0-48
	MOVQ y+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ gain+16(FP), DX
	MOVQ bias+24(FP), R8
	MOVQ n+32(FP), CX
	VBROADCASTSS mean+40(FP), Y10
	VBROADCASTSS rstd+44(FP), Y11
	SPLIT
	EACH(NORMALIZE, loop, rest, end)
	VZEROUPPER
	RET

#define ROWSUM(LD, ST, KEEP) \
	LD(SI, Y0, Y1)           \
	VADDPS Y0, Y8, Y8        \
	VADDPS Y1, Y9, Y9
#define ROWSQUARES(LD, ST, KEEP) \
	LD(SI, Y0, Y1)           \
	VSUBPS Y10, Y0, Y0       \
	VSUBPS Y10, Y1, Y1       \
	KEEP(Y0, Y1)             \
	VFMADD231PS Y0, Y0, Y8   \
	VFMADD231PS Y1, Y1, Y9

// func layerNormRowsAsm(s *normArgs)
TEXT ·layerNormRowsAsm(SB), NOSPLIT, $0-8
	MOVQ s+0(FP), R9
	MOVQ normArgs_y(R9), DI
	MOVQ normArgs_x(R9), SI
	MOVQ normArgs_gain(R9), DX
	MOVQ normArgs_bias(R9), R8
	MOVQ normArgs_mean(R9), R11
	MOVQ normArgs_rstd(R9), R12
	MOVQ normArgs_rows(R9), R13
	MOVQ normArgs_cols(R9), CX
	VMOVSS normArgs_d(R9), X6
	MOVQ $0x3FF0000000000000, AX // 1
	VMOVQ AX, X7
	ZERO(Y13)
	SPLIT
row:
	ZERO(Y8)
	ZERO(Y9)
	EACH(ROWSUM, loop1, rest1, end1)
	FOLD(Y8, Y9, X8, X9)
	VDIVSS X6, X8, X8
	VMOVSS X8, (R11)
	VBROADCASTSS X8, Y10

	ZERO(Y8)
	ZERO(Y9)
	EACH(ROWSQUARES, loop2, rest2, end2)
	FOLD(Y8, Y9, X8, X9)
	VDIVSS X6, X8, X8
	VADDSS normArgs_eps(R9), X8, X8
	VCVTSS2SD X8, X8, X8
	VSQRTSD X8, X8, X8
	VDIVSD X8, X7, X8
	VCVTSD2SS X8, X8, X8
	VMOVSS X8, (R12)
	VBROADCASTSS X8, Y11

	EACH(NORMALIZE, loop3, rest3, end3)
	ADDQ normArgs_yRow(R9), DI
	ADDQ normArgs_xRow(R9), SI
	ADDQ $4, R11
	ADDQ $4, R12
	DECQ R13
	JNE  row
	VZEROUPPER
	RET

// The lanes of Σ g are in Y6 and Y7, those of Σ g·x̂ in Y8 and Y9.
#define NORMALIZESUMS(LD, ST, KEEP) \
	GANDXHAT(LD, DI, SI, DX) \
	KEEP(Y2, Y3)             \
	VADDPS Y0, Y6, Y6        \
	VADDPS Y1, Y7, Y7        \
	VFMADD231PS Y2, Y0, Y8   \
	VFMADD231PS Y3, Y1, Y9

// func layerNormGradSumsAsm(dy, x, gain *float32, n int, mean, rstd float32) (sum, sumX float32)
TEXT ·layerNormGradSumsAsm(SB), NOSPLIT, $0-48
	MOVQ dy+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ gain+16(FP), DX
	MOVQ n+24(FP), CX
	VBROADCASTSS mean+32(FP), Y10
	VBROADCASTSS rstd+36(FP), Y11
	SPLIT
	ZERO(Y6)
	ZERO(Y7)
	ZERO(Y8)
	ZERO(Y9)
	ZERO(Y13)
	EACH(NORMALIZESUMS, loop, rest, end)
	FOLD(Y6, Y7, X6, X7)
	FOLD(Y8, Y9, X8, X9)
	VMOVSS X6, sum+40(FP)
	VMOVSS X8, sumX+44(FP)
	VZEROUPPER
	RET

// Y8 and Y9 are the means of the sums.
#define NORMALIZEGRAD(LD, ST, KEEP) \
	GANDXHAT(LD, SI, DX, R8)  \
	VFNMADD231PS Y9, Y2, Y0   \
	VFNMADD231PS Y9, Y3, Y1   \
	VSUBPS Y8, Y0, Y0         \
	VSUBPS Y8, Y1, Y1         \
	VMULPS Y11, Y0, Y0        \
	VMULPS Y11, Y1, Y1        \
	ST(Y0, Y1, DI)

// func layerNormGradAsm(dx, dy, x, gain *float32, n int, mean, rstd, meanG, meanGX float32)
TEXT ·layerNormGradAsm(SB), NOSPLIT, $0-56
	MOVQ dx+0(FP), DI
	MOVQ dy+8(FP), SI
	MOVQ x+16(FP), DX
	MOVQ gain+24(FP), R8
	MOVQ n+32(FP), CX
	VBROADCASTSS mean+40(FP), Y10
	VBROADCASTSS rstd+44(FP), Y11
	VBROADCASTSS meanG+48(FP), Y8
	VBROADCASTSS meanGX+52(FP), Y9
	SPLIT
	EACH(NORMALIZEGRAD, loop, rest, end)
	VZEROUPPER
	RET

#define NORMALIZEPARAMGRAD(LD, ST, KEEP) \
	LD(DX, Y0, Y1)           \
	LD(R8, Y2, Y3)           \
	XHAT(Y2, Y3)             \
	LD(DI, Y4, Y5)           \
	VFMADD231PS Y2, Y0, Y4   \
	VFMADD231PS Y3, Y1, Y5   \
	LD(SI, Y2, Y3)           \
	VADDPS Y0, Y2, Y2        \
	VADDPS Y1, Y3, Y3        \
	ST(Y4, Y5, DI)           \
	ST(Y2, Y3, SI)

// func layerNormParamGradAsm(dgain, dbias, dy, x *float32, n int, mean, rstd float32)
TEXT ·layerNormParamGradAsm(SB), NOSPLIT, $0-48
	MOVQ dgain+0(FP), DI
	MOVQ dbias+8(FP), SI
	MOVQ dy+16(FP), DX
	MOVQ x+24(FP), R8
	MOVQ n+32(FP), CX
	VBROADCASTSS mean+40(FP), Y10
	VBROADCASTSS rstd+44(FP), Y11
	SPLIT
	EACH(NORMALIZEPARAMGRAD, loop, rest, end)
	VZEROUPPER
	RET

// Activations.

#define RELUCONST ZERO(Y8)

#define RELU(LD, ST, KEEP) \
	LD(SI, Y0, Y1)           \
	VMAXPS Y0, Y8, Y0        \
	VMAXPS Y1, Y8, Y1        \
	ST(Y0, Y1, DI)

// func reluAsm(y, x *float32, n int)
TEXT ·reluAsm(SB), NOSPLIT, $0-24
	ELEMENTWISE(RELUCONST, RELU)
	RET

#define RELUGRAD(LD, ST, KEEP) \
	LD(DI, Y0, Y1)            \
	LD(SI, Y2, Y3)            \
	VCMPPS $14, Y8, Y2, Y2    \ // x > 0, false for NaN
	VCMPPS $14, Y8, Y3, Y3    \
	VANDPS Y2, Y0, Y0         \
	VANDPS Y3, Y1, Y1         \
	ST(Y0, Y1, DI)

// func reluGradAsm(dx, x *float32, n int)
TEXT ·reluGradAsm(SB), NOSPLIT, $0-24
	ELEMENTWISE(RELUCONST, RELUGRAD)
	RET

// The other activations perform the operations of activation.go. n is in Y9 and Y10, tl in Y7 and
// Y8, e and its successors in Y0 and Y1, d or r in Y2 and Y3; Y11 is 2^-32, Y12 log2(e), Y13 1.
#define ACTCONST \
	VBROADCASTSS ·actConst+const_actShrink*4(SB), Y11 \
	VBROADCASTSS ·expConst+const_expLog2E*4(SB), Y12  \
	VBROADCASTSS ·actConst+const_actOne*4(SB), Y13

#define NEGATIVE(LD, limit) \
	LD(SI, Y9, Y10)          \
	VPCMPEQD Y6, Y6, Y6      \
	VPSLLD $31, Y6, Y6       \
	VORPS  Y6, Y9, Y9        \
	VORPS  Y6, Y10, Y10      \
	VBROADCASTSS ·actConst+limit*4(SB), Y6 \
	VMAXPS Y9, Y6, Y9        \
	VMAXPS Y10, Y6, Y10

#define LOW \
	VADDPS Y7, Y0, Y0        \
	VADDPS Y8, Y1, Y1

// y = fma(Y0, 2^-32, max(x, 0))
#define VALUE(LD, ST) \
	LD(SI, Y2, Y3)           \
	ZERO(Y6)                 \
	VMAXPS Y6, Y2, Y2        \
	VMAXPS Y6, Y3, Y3        \
	VFMADD231PS Y11, Y0, Y2  \
	VFMADD231PS Y11, Y1, Y3  \
	ST(Y2, Y3, DI)

// dx = dx·f'(x), with g·2^32 in Y0 and Y1
#define SLOPE(LD, ST) \
	VMOVAPS Y13, Y2          \
	VMOVAPS Y13, Y3          \
	VFNMADD231PS Y11, Y0, Y2 \
	VFNMADD231PS Y11, Y1, Y3 \
	ZERO(Y6)                 \
	VFMADD213PS Y6, Y11, Y0  \
	VFMADD213PS Y6, Y11, Y1  \
	LD(SI, Y4, Y5)           \
	VBLENDVPS Y4, Y0, Y2, Y0 \
	VBLENDVPS Y5, Y1, Y3, Y1 \
	LD(DI, Y2, Y3)           \
	VMULPS Y0, Y2, Y2        \
	VMULPS Y1, Y3, Y3        \
	ST(Y2, Y3, DI)

#define DENOMINATOR \
	VMOVAPS Y13, Y2          \
	VMOVAPS Y13, Y3          \
	VFMADD231PS Y11, Y0, Y2  \
	VFMADD231PS Y11, Y1, Y3

// n·e/d
#define QUOTIENT \
	VMULPS Y9, Y0, Y0        \
	VMULPS Y10, Y1, Y1       \
	VDIVPS Y2, Y0, Y0        \
	VDIVPS Y3, Y1, Y1

// e·(Y4, Y5)/d²
#define QUOTIENTGRAD \
	VMULPS Y4, Y0, Y0        \
	VMULPS Y5, Y1, Y1        \
	VMULPS Y2, Y2, Y2        \
	VMULPS Y3, Y3, Y3        \
	VDIVPS Y2, Y0, Y0        \
	VDIVPS Y3, Y1, Y1

#define SILUPARTS(LD) \
	NEGATIVE(LD, const_siluLimit) \
	VMOVAPS Y9, Y0           \
	VMOVAPS Y10, Y1          \
	POWER(·actConst+const_actRound*4(SB), NOLOW) \
	DENOMINATOR

#define SILU(LD, ST, KEEP) \
	SILUPARTS(LD)            \
	QUOTIENT                 \
	VALUE(LD, ST)

// func siluAsm(y, x *float32, n int)
TEXT ·siluAsm(SB), NOSPLIT, $0-24
	ELEMENTWISE(ACTCONST, SILU)
	RET

#define SILUGRAD(LD, ST, KEEP) \
	SILUPARTS(LD)            \
	VADDPS Y9, Y2, Y4        \
	VADDPS Y10, Y3, Y5       \
	QUOTIENTGRAD             \
	SLOPE(LD, ST)

// func siluGradAsm(dx, x *float32, n int)
TEXT ·siluGradAsm(SB), NOSPLIT, $0-24
	ELEMENTWISE(ACTCONST, SILUGRAD)
	RET

#define GELUPARTS(LD) \
	NEGATIVE(LD, const_geluLimit) \
	VBROADCASTSS ·actConst+const_geluHalf*4(SB), Y6  \
	VMULPS Y6, Y9, Y7        \
	VMULPS Y6, Y10, Y8       \
	VMULPS Y7, Y9, Y0        \
	VMULPS Y8, Y10, Y1       \
	VFMSUB213PS Y0, Y9, Y7   \
	VFMSUB213PS Y1, Y10, Y8  \
	POWER(·actConst+const_actRound*4(SB), LOW)       \
	VBROADCASTSS ·actConst+const_geluP*4(SB), Y2     \
	VMOVAPS Y2, Y3           \
	HORNER(·actConst+(const_geluP+1)*4(SB), Y9, Y10, Y2, Y3) \
	HORNER(·actConst+(const_geluP+2)*4(SB), Y9, Y10, Y2, Y3) \
	HORNER(·actConst+(const_geluP+3)*4(SB), Y9, Y10, Y2, Y3) \
	HORNER(·actConst+(const_geluP+4)*4(SB), Y9, Y10, Y2, Y3) \
	VBROADCASTSS ·actConst+const_geluQ*4(SB), Y4     \
	VMOVAPS Y4, Y5           \
	HORNER(·actConst+(const_geluQ+1)*4(SB), Y9, Y10, Y4, Y5) \
	HORNER(·actConst+(const_geluQ+2)*4(SB), Y9, Y10, Y4, Y5) \
	HORNER(·actConst+(const_geluQ+3)*4(SB), Y9, Y10, Y4, Y5) \
	HORNER(·actConst+(const_geluQ+4)*4(SB), Y9, Y10, Y4, Y5) \
	VFMADD213PS Y13, Y9, Y4  \
	VFMADD213PS Y13, Y10, Y5 \
	VDIVPS Y4, Y2, Y2        \
	VDIVPS Y5, Y3, Y3

#define GELU(LD, ST, KEEP) \
	GELUPARTS(LD)            \
	VMULPS Y9, Y0, Y0        \
	VMULPS Y10, Y1, Y1       \
	VMULPS Y2, Y0, Y0        \
	VMULPS Y3, Y1, Y1        \
	VALUE(LD, ST)

// func geluAsm(y, x *float32, n int)
TEXT ·geluAsm(SB), NOSPLIT, $0-24
	ELEMENTWISE(ACTCONST, GELU)
	RET

#define GELUGRAD(LD, ST, KEEP) \
	GELUPARTS(LD)            \
	VBROADCASTSS ·actConst+const_geluDensity*4(SB), Y6 \
	VFMADD231PS Y6, Y9, Y2   \
	VFMADD231PS Y6, Y10, Y3  \
	VMULPS Y2, Y0, Y0        \
	VMULPS Y3, Y1, Y1        \
	SLOPE(LD, ST)

// func geluGradAsm(dx, x *float32, n int)
TEXT ·geluGradAsm(SB), NOSPLIT, $0-24
	ELEMENTWISE(ACTCONST, GELUGRAD)
	RET

// TANHEXPONENT sets t and tl from n, and uses Y6, s and q.
#define TANHEXPONENT(n, t, tl, s, q) \
	VMULPS n, n, s           \
	VBROADCASTSS ·actConst+const_tanhC1*4(SB), q     \
	VMOVAPS q, tl            \
	VBROADCASTSS ·actConst+const_tanhC3*4(SB), Y6    \
	VFMADD231PS Y6, s, q     \
	VSUBPS q, tl, tl         \
	VFMADD231PS Y6, s, tl    \
	VBROADCASTSS ·actConst+const_tanhC3Lo*4(SB), t   \
	VFMADD231PS t, s, tl     \
	VMOVAPS n, t             \ // the rounding error of s
	VFMSUB213PS s, n, t      \
	VFMADD231PS Y6, t, tl    \
	VBROADCASTSS ·actConst+const_tanhC1Lo*4(SB), Y6  \
	VADDPS Y6, tl, tl        \
	VMULPS q, n, t           \
	VFMSUB213PS t, n, q      \
	VFMADD213PS q, n, tl

#define TANHPARTS(LD) \
	NEGATIVE(LD, const_tanhLimit)       \
	TANHEXPONENT(Y9, Y0, Y7, Y2, Y3)    \
	TANHEXPONENT(Y10, Y1, Y8, Y4, Y5)   \
	POWER(·actConst+const_actRound*4(SB), LOW) \
	DENOMINATOR

#define GELUTANH(LD, ST, KEEP) \
	TANHPARTS(LD)            \
	QUOTIENT                 \
	VALUE(LD, ST)

// func geluTanhAsm(y, x *float32, n int)
TEXT ·geluTanhAsm(SB), NOSPLIT, $0-24
	ELEMENTWISE(ACTCONST, GELUTANH)
	RET

#define GELUTANHGRAD(LD, ST, KEEP) \
	TANHPARTS(LD)            \
	VMULPS Y9, Y9, Y7        \ // s
	VMULPS Y10, Y10, Y8      \
	VBROADCASTSS ·actConst+const_tanhC1*4(SB), Y4    \
	VMOVAPS Y4, Y5           \
	VBROADCASTSS ·actConst+const_tanh3C3*4(SB), Y6   \
	VFMADD231PS Y6, Y7, Y4   \
	VFMADD231PS Y6, Y8, Y5   \
	VFMADD213PS Y2, Y9, Y4   \
	VFMADD213PS Y3, Y10, Y5  \
	QUOTIENTGRAD             \
	SLOPE(LD, ST)

// func geluTanhGradAsm(dx, x *float32, n int)
TEXT ·geluTanhGradAsm(SB), NOSPLIT, $0-24
	ELEMENTWISE(ACTCONST, GELUTANHGRAD)
	RET

// Adam. Y4 Beta1, Y5 1-Beta1, Y6 Beta2, Y7 1-Beta2, Y8 Eps, Y9 StepSize, Y10 VScale, Y11 GradScale.

#define ADAM(LD, ST, KEEP) \
	LD(SI, Y0, Y1)            \
	VMULPS Y11, Y0, Y0        \
	VMULPS Y11, Y1, Y1        \
	LD(DX, Y2, Y3)            \ // m
	VMULPS Y5, Y0, Y12        \
	VMULPS Y5, Y1, Y13        \
	VFMADD213PS Y12, Y4, Y2   \
	VFMADD213PS Y13, Y4, Y3   \
	ST(Y2, Y3, DX)            \
	VMULPS Y9, Y2, Y2         \
	VMULPS Y9, Y3, Y3         \
	VMULPS Y7, Y0, Y12        \ // ((1-Beta2)·g')·g'
	VMULPS Y7, Y1, Y13        \
	VMULPS Y0, Y12, Y12       \
	VMULPS Y1, Y13, Y13       \
	LD(R8, Y0, Y1)            \ // v
	VFMADD213PS Y12, Y6, Y0   \
	VFMADD213PS Y13, Y6, Y1   \
	ST(Y0, Y1, R8)            \
	VMULPS Y10, Y0, Y0        \
	VMULPS Y10, Y1, Y1        \
	VSQRTPS Y0, Y0            \
	VSQRTPS Y1, Y1            \
	VADDPS Y8, Y0, Y0         \
	VADDPS Y8, Y1, Y1         \
	VDIVPS Y0, Y2, Y2         \
	VDIVPS Y1, Y3, Y3         \
	LD(DI, Y0, Y1)            \ // w
	VSUBPS Y2, Y0, Y0         \
	VSUBPS Y3, Y1, Y1         \
	ST(Y0, Y1, DI)

// func adamAsm(a *Adam, w, dw, m, v *float32, n int)
TEXT ·adamAsm(SB), NOSPLIT, $0-48
	MOVQ a+0(FP), R9
	MOVQ w+8(FP), DI
	MOVQ grad+16(FP), SI
	MOVQ m+24(FP), DX
	MOVQ v+32(FP), R8
	MOVQ n+40(FP), CX
	VBROADCASTSS Adam_Beta1(R9), Y4
	VBROADCASTSS Adam_Beta2(R9), Y6
	VBROADCASTSS Adam_Eps(R9), Y8
	VBROADCASTSS Adam_StepSize(R9), Y9
	VBROADCASTSS Adam_VScale(R9), Y10
	VBROADCASTSS Adam_GradScale(R9), Y11
	MOVL $0x3F800000, R10 // 1
	VMOVD R10, X0
	VBROADCASTSS X0, Y0
	VSUBPS Y4, Y0, Y5
	VSUBPS Y6, Y0, Y7
	SPLIT
	EACH(ADAM, loop, rest, end)
	VZEROUPPER
	RET

// Dropout. Y8 and Y9 are the counters, Y10 and Y11 the multipliers, Y12 the upper half of the key,
// Y13 the largest h>>1 of a kept element, Y6 the scale, Y7 the increment of the counters.

// KEPT sets Y0 and Y1 to x for kept elements and to 0 for the others.
#define KEPT(LD) \
	VPSRLD $16, Y8, Y0      \
	VPSRLD $16, Y9, Y1      \
	VPXOR  Y8, Y0, Y0       \
	VPXOR  Y9, Y1, Y1       \
	VPADDD Y7, Y8, Y8       \
	VPADDD Y7, Y9, Y9       \
	VPMULLD Y10, Y0, Y0     \
	VPMULLD Y10, Y1, Y1     \
	VPXOR  Y12, Y0, Y0      \
	VPXOR  Y12, Y1, Y1      \
	VPSRLD $15, Y0, Y2      \
	VPSRLD $15, Y1, Y3      \
	VPXOR  Y2, Y0, Y0       \
	VPXOR  Y3, Y1, Y1       \
	VPMULLD Y11, Y0, Y0     \
	VPMULLD Y11, Y1, Y1     \
	VPSRLD $15, Y0, Y2      \
	VPSRLD $15, Y1, Y3      \
	VPXOR  Y2, Y0, Y0       \
	VPXOR  Y3, Y1, Y1       \
	VPSRLD $1, Y0, Y0       \
	VPSRLD $1, Y1, Y1       \
	VPCMPGTD Y13, Y0, Y0    \
	VPCMPGTD Y13, Y1, Y1    \
	LD(SI, Y2, Y3)          \
	VANDNPS Y2, Y0, Y0      \
	VANDNPS Y3, Y1, Y1

#define DROPOUTADD(LD, ST, KEEP) \
	KEPT(LD)                 \
	LD(DX, Y2, Y3)           \
	VFMADD213PS Y2, Y6, Y0   \
	VFMADD213PS Y3, Y6, Y1   \
	ST(Y0, Y1, DI)

#define DROPOUT(LD, ST, KEEP) \
	KEPT(LD)                 \
	VMULPS Y6, Y0, Y0        \
	VMULPS Y6, Y1, Y1        \
	ST(Y0, Y1, DI)

DATA laneIndex<>+0(SB)/8, $0x0000000100000000
DATA laneIndex<>+8(SB)/8, $0x0000000300000002
DATA laneIndex<>+16(SB)/8, $0x0000000500000004
DATA laneIndex<>+24(SB)/8, $0x0000000700000006
GLOBL laneIndex<>(SB), RODATA|NOPTR, $32

#define BROADCAST(c, X, Y) \
	MOVL c, R10             \
	VMOVD R10, X             \
	VPBROADCASTD X, Y

// func dropoutAsm(y, x, r *float32, n int, counter, key, last uint32, scale float32)
TEXT ·dropoutAsm(SB), NOSPLIT, $0-48
	MOVQ y+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ r+16(FP), DX
	MOVQ n+24(FP), CX
	VBROADCASTSS counter+32(FP), Y8
	VBROADCASTSS key+36(FP), Y12
	VBROADCASTSS last+40(FP), Y13
	VBROADCASTSS scale+44(FP), Y6
	BROADCAST($const_dropoutMul1, X10, Y10)
	BROADCAST($const_dropoutMul2, X11, Y11)
	BROADCAST($8, X7, Y7)
	VPADDD laneIndex<>(SB), Y8, Y8
	VPADDD Y7, Y8, Y9
	VPADDD Y7, Y7, Y7
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
