//go:build !purego && !noasm

// The vector kernels of Transformers for NEON: softmax, norms, activations, Adam and dropout.

#include "go_asm.h"
#include "textflag.h"
#include "vec_arm64.h"

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

// EXP replaces V0 with its exp, by the operations of exp.go. It uses V1 to V3.
#define EXP \
	FMAX4S(4, 0, 0)   \
	FMIN4S(5, 0, 0)   \
	POWER(NOLOW)

// POWER is EXP without its range check. LOW adds the low-order part of the exponent to the
// remainder.
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

// Layer norm. V25 is the mean, V26 is rstd.

#define XHAT(a) \
	FSUB4S(25, a, a) \
	FMUL4S(26, a, a)

// GANDXHAT loads g = dy·gain into V0 and x̂ into V1.
#define GANDXHAT(LD, dy, x, gain) \
	LD(dy, 0)        \
	LD(gain, 1)      \
	FMUL4S(1, 0, 0)  \
	LD(x, 1)         \
	XHAT(1)

#define NORMALIZE(LD, ST, KEEP, s) \
	LD(1, 0)         \
	XHAT(0)          \
	LD(2, 1)         \
	LD(3, 2)         \
	FMLA4S(1, 0, 2)  \
	ST(2, 0)

// func layerNormAsm(y, x, gain, bias *float32, n int, mean, rstd float32)
TEXT ·layerNormAsm(SB), NOSPLIT, $0-48
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

// The lanes of Σ g are in V20 to V23, those of Σ g·x̂ in V16 to V19.
#define NORMALIZESUMS(LD, ST, KEEP, s) \
	GANDXHAT(LD, 0, 1, 2) \
	KEEP(1)          \
	FADD4S(0, ((s)+4), ((s)+4)) \
	FMLA4S(1, 0, s)

// func layerNormGradSumsAsm(dy, x, gain *float32, n int, mean, rstd float32) (sum, sumX float32)
TEXT ·layerNormGradSumsAsm(SB), NOSPLIT, $0-48
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
	GANDXHAT(LD, 1, 2, 3) \
	FMLS4S(28, 1, 0) \
	FSUB4S(27, 0, 0) \
	FMUL4S(26, 0, 0) \
	ST(0, 0)

// func layerNormGradAsm(dx, dy, x, gain *float32, n int, mean, rstd, meanG, meanGX float32)
TEXT ·layerNormGradAsm(SB), NOSPLIT, $0-56
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

// func layerNormParamGradAsm(dgain, dbias, dy, x *float32, n int, mean, rstd float32)
TEXT ·layerNormParamGradAsm(SB), NOSPLIT, $0-48
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

#define RELUCONST ZERO(25)

#define RELU(LD, ST, KEEP, s) \
	LD(1, 0)          \
	FCMGT4S(0, 25, 1) \ // x < 0, false for NaN
	BIC16B(1, 0, 0)   \
	ST(0, 0)

// func reluAsm(y, x *float32, n int)
TEXT ·reluAsm(SB), NOSPLIT, $0-24
	ELEMENTWISE(RELUCONST, RELU)
	RET

#define RELUGRAD(LD, ST, KEEP, s) \
	LD(0, 0)          \
	LD(1, 1)          \
	FCMGT4S(25, 1, 1) \ // x > 0, false for NaN
	AND16B(1, 0, 0)   \
	ST(0, 0)

// func reluGradAsm(dx, x *float32, n int)
TEXT ·reluGradAsm(SB), NOSPLIT, $0-24
	ELEMENTWISE(RELUCONST, RELUGRAD)
	RET

// The other activations perform the operations of activation.go. n is in V29, tl in V30, e and its
// successors in V0, d or r in V1. V4 is the limit; V6 to V15 are as in EXPCONST except for the
// rounding constant; V16 is 2^-32, V17 1.
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
	ELEMENTWISE(SILUCONST, SILU)
	RET

#define SILUGRAD(LD, ST, KEEP, s) \
	SILUPARTS(LD)     \
	FADD4S(29, 1, 2)  \
	QUOTIENTGRAD      \
	SLOPE(LD, ST)

// func siluGradAsm(dx, x *float32, n int)
TEXT ·siluGradAsm(SB), NOSPLIT, $0-24
	ELEMENTWISE(SILUCONST, SILUGRAD)
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
	ELEMENTWISE(GELUCONST, GELU)
	RET

#define GELUGRAD(LD, ST, KEEP, s) \
	GELUPARTS(LD)     \
	FMLA4S(5, 29, 1)  \
	FMUL4S(1, 0, 0)   \
	SLOPE(LD, ST)

// func geluGradAsm(dx, x *float32, n int)
TEXT ·geluGradAsm(SB), NOSPLIT, $0-24
	ELEMENTWISE(GELUCONST, GELUGRAD)
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

// V1 is s, V23 its rounding error, V2 q, V3 l
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
	ELEMENTWISE(TANHCONST, GELUTANH)
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
	ELEMENTWISE(TANHCONST, GELUTANHGRAD)
	RET

// Adam. V16 is Beta1, V17 1-Beta1, V18 Beta2, V19 1-Beta2, V20 Eps, V21 StepSize, V22 VScale and
// V23 GradScale.

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
	MOVD grad+16(FP), R1
	MOVD m+24(FP), R2
	MOVD v+32(FP), R3
	MOVD n+40(FP), R6
	FMOVS Adam_Beta1(R9), F16
	FMOVS Adam_Beta2(R9), F18
	FMOVS Adam_Eps(R9), F20
	FMOVS Adam_StepSize(R9), F21
	FMOVS Adam_VScale(R9), F22
	FMOVS Adam_GradScale(R9), F23
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

// Dropout. V16 holds the counters, V17 and V18 the multipliers, V19 the upper half of the key, V20
// the largest h>>1 of a kept element, V21 the scale, V22 the increment of the counters.

// KEPT sets V0 to x for kept elements and to 0 for the others.
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
