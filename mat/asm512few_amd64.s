//go:build !purego && !noasm

// The kernel of matrix products with few rows, for AVX-512 (F, VL, BW, DQ):
//
//	stripFewAVX512  up to 6 rows of C, 64 columns at a time
//
// Fewer than 4 rows of two registers each would wait for their own results. Z0 to Z23 hold 6 rows of 64 columns of
// C, four registers a row; Z24 to Z27 a row of two panels of B.

#include "textflag.h"
#include "go_asm.h"

// one row of the tile: C0 to C3 += a·(Z24 to Z27)
#define FMAROW(A, T, C0, C1, C2, C3) \
	VBROADCASTSS A, T            \
	VFMADD231PS  T, Z24, C0      \
	VFMADD231PS  T, Z25, C1      \
	VFMADD231PS  T, Z26, C2      \
	VFMADD231PS  T, Z27, C3

// one k of the rows 0 to 5
#define LOADB \
	VMOVUPS (BX), Z24            \
	VMOVUPS 64(BX), Z25          \
	VMOVUPS (BX)(R15*1), Z26     \
	VMOVUPS 64(BX)(R15*1), Z27
#define ROW0 FMAROW((SI), Z28, Z0, Z1, Z2, Z3)
#define ROW1 FMAROW((SI)(R9*1), Z29, Z4, Z5, Z6, Z7)
#define ROW2 FMAROW((SI)(R9*2), Z30, Z8, Z9, Z10, Z11)
#define ROW3 FMAROW((R8), Z31, Z12, Z13, Z14, Z15)
#define ROW4 FMAROW((R8)(R9*1), Z28, Z16, Z17, Z18, Z19)
#define ROW5 FMAROW((R8)(R9*2), Z29, Z20, Z21, Z22, Z23)
#define NEXTK \
	ADDQ R11, BX                 \
	ADDQ R10, SI                 \
	ADDQ R10, R8                 \
	DECQ CX

// a row of C at R14, and a step to the next
#define LOADC(C0, C1, C2, C3) \
	VMOVUPS (R14), C0            \
	VMOVUPS 64(R14), C1          \
	VMOVUPS 128(R14), C2         \
	VMOVUPS 192(R14), C3         \
	ADDQ    R12, R14
#define STOREC(C0, C1, C2, C3) \
	VMOVUPS C0, (R14)            \
	VMOVUPS C1, 64(R14)          \
	VMOVUPS C2, 128(R14)         \
	VMOVUPS C3, 192(R14)         \
	ADDQ    R12, R14

// R14 = the first row of C; MOVE of row after row until m are done, then to DONE
#define EACHROW(MOVE, DONE) \
	MOVQ DX, R14                 \
	MOVQ AX, CX                  \
	MOVE(Z0, Z1, Z2, Z3) \
	DECQ CX                      \
	JEQ  DONE                    \
	MOVE(Z4, Z5, Z6, Z7) \
	DECQ CX                      \
	JEQ  DONE                    \
	MOVE(Z8, Z9, Z10, Z11) \
	DECQ CX                      \
	JEQ  DONE                    \
	MOVE(Z12, Z13, Z14, Z15) \
	DECQ CX                      \
	JEQ  DONE                    \
	MOVE(Z16, Z17, Z18, Z19) \
	DECQ CX                      \
	JEQ  DONE                    \
	MOVE(Z20, Z21, Z22, Z23)

// func stripFewAVX512(s *strip)
// Requires: AVX512F
//
// DI s          AX m          CX k left     R13 columns left
// DX C          R12 s.cRow    R14 row of C
// SI A row 0    R8 A row 3    R9 s.aRow     R10 s.aK
// BX B          R11 s.bK      R15 s.bPanel  b-8(SP) B, k = 0
TEXT ·stripFewAVX512(SB), NOSPLIT, $8-8
	MOVQ s+0(FP), DI
	MOVQ strip_b(DI), BX
	MOVQ BX, b-8(SP)
	MOVQ strip_c(DI), DX
	MOVQ strip_cRow(DI), R12
	MOVQ strip_aRow(DI), R9
	MOVQ strip_aK(DI), R10
	MOVQ strip_bK(DI), R11
	MOVQ strip_bPanel(DI), R15
	MOVQ strip_m(DI), AX
	MOVQ strip_n(DI), R13

panels:
	// the chains start from C
	CMPQ strip_accumulate(DI), $0
	JEQ  zero
	EACHROW(LOADC, multiply)
	JMP  multiply

	// or from 0
zero:
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	VPXORD Z4, Z4, Z4
	VPXORD Z5, Z5, Z5
	VPXORD Z6, Z6, Z6
	VPXORD Z7, Z7, Z7
	VPXORD Z8, Z8, Z8
	VPXORD Z9, Z9, Z9
	VPXORD Z10, Z10, Z10
	VPXORD Z11, Z11, Z11
	VPXORD Z12, Z12, Z12
	VPXORD Z13, Z13, Z13
	VPXORD Z14, Z14, Z14
	VPXORD Z15, Z15, Z15
	VPXORD Z16, Z16, Z16
	VPXORD Z17, Z17, Z17
	VPXORD Z18, Z18, Z18
	VPXORD Z19, Z19, Z19
	VPXORD Z20, Z20, Z20
	VPXORD Z21, Z21, Z21
	VPXORD Z22, Z22, Z22
	VPXORD Z23, Z23, Z23

multiply:
	MOVQ  strip_k(DI), CX
	TESTQ CX, CX
	JEQ   epilogue
	MOVQ  strip_a(DI), SI
	LEAQ  (R9)(R9*2), R8
	ADDQ  SI, R8
	MOVQ  b-8(SP), BX

	// one loop over k for each number of rows
	CMPQ AX, $6
	JEQ  rows6
	CMPQ AX, $5
	JEQ  rows5
	CMPQ AX, $4
	JEQ  rows4
	CMPQ AX, $3
	JEQ  rows3
	CMPQ AX, $2
	JEQ  rows2

	PCALIGN $64
rows1:
	LOADB
	ROW0
	NEXTK
	JNE rows1
	JMP epilogue

	PCALIGN $64
rows2:
	LOADB
	ROW0
	ROW1
	NEXTK
	JNE rows2
	JMP epilogue

	PCALIGN $64
rows3:
	LOADB
	ROW0
	ROW1
	ROW2
	NEXTK
	JNE rows3
	JMP epilogue

	PCALIGN $64
rows4:
	LOADB
	ROW0
	ROW1
	ROW2
	ROW3
	NEXTK
	JNE rows4
	JMP epilogue

	PCALIGN $64
rows5:
	LOADB
	ROW0
	ROW1
	ROW2
	ROW3
	ROW4
	NEXTK
	JNE rows5
	JMP epilogue

	PCALIGN $64
rows6:
	LOADB
	ROW0
	ROW1
	ROW2
	ROW3
	ROW4
	ROW5
	NEXTK
	JNE rows6

epilogue:
	// + bias
	MOVQ  strip_bias(DI), SI
	TESTQ SI, SI
	JEQ   relu
	ADDQ  DX, SI
	SUBQ  strip_c(DI), SI
	VMOVUPS (SI), Z24
	VMOVUPS 64(SI), Z25
	VMOVUPS 128(SI), Z26
	VMOVUPS 192(SI), Z27
	VADDPS Z24, Z0, Z0
	VADDPS Z25, Z1, Z1
	VADDPS Z26, Z2, Z2
	VADDPS Z27, Z3, Z3
	VADDPS Z24, Z4, Z4
	VADDPS Z25, Z5, Z5
	VADDPS Z26, Z6, Z6
	VADDPS Z27, Z7, Z7
	VADDPS Z24, Z8, Z8
	VADDPS Z25, Z9, Z9
	VADDPS Z26, Z10, Z10
	VADDPS Z27, Z11, Z11
	VADDPS Z24, Z12, Z12
	VADDPS Z25, Z13, Z13
	VADDPS Z26, Z14, Z14
	VADDPS Z27, Z15, Z15
	VADDPS Z24, Z16, Z16
	VADDPS Z25, Z17, Z17
	VADDPS Z26, Z18, Z18
	VADDPS Z27, Z19, Z19
	VADDPS Z24, Z20, Z20
	VADDPS Z25, Z21, Z21
	VADDPS Z26, Z22, Z22
	VADDPS Z27, Z23, Z23

	// x < 0 ? 0 : x, which VMAXPS is with x as its last operand: a NaN and a -0 come out as they are
relu:
	CMPQ   strip_relu(DI), $0
	JEQ    store
	VPXORD Z24, Z24, Z24
	VMAXPS Z0, Z24, Z0
	VMAXPS Z1, Z24, Z1
	VMAXPS Z2, Z24, Z2
	VMAXPS Z3, Z24, Z3
	VMAXPS Z4, Z24, Z4
	VMAXPS Z5, Z24, Z5
	VMAXPS Z6, Z24, Z6
	VMAXPS Z7, Z24, Z7
	VMAXPS Z8, Z24, Z8
	VMAXPS Z9, Z24, Z9
	VMAXPS Z10, Z24, Z10
	VMAXPS Z11, Z24, Z11
	VMAXPS Z12, Z24, Z12
	VMAXPS Z13, Z24, Z13
	VMAXPS Z14, Z24, Z14
	VMAXPS Z15, Z24, Z15
	VMAXPS Z16, Z24, Z16
	VMAXPS Z17, Z24, Z17
	VMAXPS Z18, Z24, Z18
	VMAXPS Z19, Z24, Z19
	VMAXPS Z20, Z24, Z20
	VMAXPS Z21, Z24, Z21
	VMAXPS Z22, Z24, Z22
	VMAXPS Z23, Z24, Z23

store:
	EACHROW(STOREC, next)

next:
	LEAQ (R15)(R15*1), CX
	ADDQ CX, b-8(SP)
	ADDQ $256, DX
	SUBQ $64, R13
	JGT  panels
	VZEROUPPER
	RET
