//go:build !purego && !noasm

// Softmax for AVX-512 (F, VL, BW, DQ): its numerators, and it and its derivative for the rows of a
// matrix, one call for many rows of one or two registers. The 16 lanes are one register.
//
// If one operand of VMAXPS or VMINPS is NaN, the result is the second, which is written first.

#include "go_asm.h"
#include "textflag.h"

#define ZERO(a) VPXORD a, a, a

#define NEGINF(Z) \
	MOVL $0xFF800000, R10   \
	VPBROADCASTD R10, Z

// FOLD combines the 16 lanes of A by op: l+8, l+4, l+2, l+1. The result is in every lane of a, the
// lowest quarter of A; y and x are the lower half and quarter of a scratch register.
#define FOLD(op, A, ya, a, y, x) \
	VEXTRACTF64X4 $1, A, y   \
	op            y, ya, ya  \
	VEXTRACTF128  $1, ya, x  \
	op            x, a, a    \
	VPERMILPS     $0x4E, a, x \
	op            x, a, a    \
	VPERMILPS     $0xB1, a, x \
	op            x, a, a

// EXP replaces Z0 with its exp, by the operations of exp.go. It uses Z2 to Z4, and EXPCONST in Z14
// to Z17. The last two coefficients are equal.
#define EXP \
	VMAXPS           Z0, Z14, Z0   \
	VMINPS           Z0, Z15, Z0   \
	VMOVAPS          Z0, Z2        \ // z = round(t·log2 e) + 1.5·2^23 + 126
	VFMADD213PS      Z17, Z16, Z2  \
	VSUBPS           Z17, Z2, Z4   \ // k
	VFNMADD231PS.BCST ·expConst+const_expLn2Hi*4(SB), Z4, Z0 \ // r = t - k·ln 2
	VFNMADD231PS.BCST ·expConst+const_expLn2Lo*4(SB), Z4, Z0 \
	VPSLLD           $23, Z2, Z2   \ // 2^(k-1)
	VBROADCASTSS     ·expConst+const_expPoly*4(SB), Z4            \ // 2·e^r
	VFMADD213PS.BCST ·expConst+(const_expPoly+1)*4(SB), Z0, Z4    \
	VFMADD213PS.BCST ·expConst+(const_expPoly+2)*4(SB), Z0, Z4    \
	VFMADD213PS.BCST ·expConst+(const_expPoly+3)*4(SB), Z0, Z4    \
	VFMADD213PS.BCST ·expConst+(const_expPoly+4)*4(SB), Z0, Z4    \
	VFMADD213PS.BCST ·expConst+(const_expPoly+5)*4(SB), Z0, Z4    \
	VFMADD213PS.BCST ·expConst+(const_expPoly+5)*4(SB), Z0, Z4    \
	VMULPS           Z2, Z4, Z0

#define EXPCONST \
	VBROADCASTSS ·expConst+const_expMin*4(SB), Z14   \
	VBROADCASTSS ·expConst+const_expMax*4(SB), Z15   \
	VBROADCASTSS ·expConst+const_expLog2E*4(SB), Z16 \
	VBROADCASTSS ·expConst+const_expRound*4(SB), Z17

// Rows of softmax, each in one or two registers. R8 is s, R9 the rows left, R11 the
// unmasked elements of a row, R12 its elements; Z18 is 0, X19 1, X20 -MaxFloat32.

// EXPROW computes Z0 = exp((Z0 - Z8)·Z9) in the lanes of K, 0 elsewhere.
#define EXPROW(K) \
	VSUBPS Z8, Z0, Z0    \
	VMULPS Z9, Z0, Z0    \
	EXP                  \
	VMOVAPS.Z Z0, K, Z0

// MASKS sets K and K2 to the masks of the first n ≤ 32 lanes of two registers.
#define MASKS(n, K, K2) \
	MOVQ  n, CX          \
	MOVL  $1, AX         \
	SHLQ  CX, AX         \
	DECQ  AX             \
	KMOVW AX, K          \
	SHRQ  $16, AX        \
	KMOVW AX, K2

// DX is the elements left.
//
// func expSumAVX512(y, x *float32, n int, shift, scale float32) float32
TEXT ·expSumAVX512(SB), NOSPLIT, $0-36
	MOVQ y+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), DX
	VBROADCASTSS shift+24(FP), Z8
	VBROADCASTSS scale+28(FP), Z9
	EXPCONST
	ZERO(Z10)
	KXNORW K1, K1, K1 // all lanes

loop:
	SUBQ $16, DX
	JGE  whole
	ADDQ $16, DX
	MASKS(DX, K1, K2)
	XORL DX, DX

whole:
	VMOVUPS.Z (SI), K1, Z0
	EXPROW(K1)
	VMOVUPS Z0, K1, (DI)
	VADDPS Z0, Z10, Z10
	ADDQ $64, SI
	ADDQ $64, DI
	TESTQ DX, DX
	JNE  loop
	FOLD(VADDPS, Z10, Y10, X10, Y11, X11)
	VMOVSS X10, ret+32(FP)
	VZEROUPPER
	RET

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
