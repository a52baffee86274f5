//go:build !purego && !noasm

// Sums over the rows of a matrix, 64 columns at a time, for AVX-512: the sums stay in four
// registers for all rows.

#include "textflag.h"

// func addRowsAVX512(sum, x *float32, row uintptr, rows int)
// Requires: AVX512F
TEXT ·addRowsAVX512(SB), NOSPLIT, $0-32
	MOVQ sum+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ row+16(FP), DX
	MOVQ rows+24(FP), CX
	VMOVUPS (DI), Z0
	VMOVUPS 64(DI), Z1
	VMOVUPS 128(DI), Z2
	VMOVUPS 192(DI), Z3
	PCALIGN $32
loop:
	VADDPS (SI), Z0, Z0
	VADDPS 64(SI), Z1, Z1
	VADDPS 128(SI), Z2, Z2
	VADDPS 192(SI), Z3, Z3
	ADDQ DX, SI
	DECQ CX
	JNE  loop
	VMOVUPS Z0, (DI)
	VMOVUPS Z1, 64(DI)
	VMOVUPS Z2, 128(DI)
	VMOVUPS Z3, 192(DI)
	VZEROUPPER
	RET

// The gradients of a norm's gain and bias, summed over the rows of a matrix, 64 columns at a time:
// the sums stay in registers, four for each gradient, for all rows.

// GRAD accumulates 16 columns of both gradients, for dy at (DX) and x at (R8), with the mean in Z10
// and rstd in Z11.
#define GRAD(at, gain, bias) \
	VMOVUPS at(R8), Z8      \ // x̂
	VSUBPS  Z10, Z8, Z8     \
	VMULPS  Z11, Z8, Z8     \
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
