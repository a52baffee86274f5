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
