//go:build !purego && !noasm

// The kernel of matrix products with few rows, for AVX-512 (F, VL, BW, DQ):
//
//	stripFewAVX512  up to 6 rows of C, 64 columns at a time
//
// The loop of stripAVX512 with fewer than 4 rows waits for its own results. Here Z0 to Z23 hold 6
// rows of 64 columns of C, four registers a row; Z24 to Z27 hold a row of two panels of B.

#include "textflag.h"
#include "go_asm.h"
#include "tile512_amd64.h"

// one row of the tile: C0 to C3 += a·(Z24 to Z27)
#define FMAROW(A, T, C0, C1, C2, C3) \
	VBROADCASTSS A, T            \
	VFMADD231PS  T, Z24, C0      \
	VFMADD231PS  T, Z25, C1      \
	VFMADD231PS  T, Z26, C2      \
	VFMADD231PS  T, Z27, C3

// rows 0 to 5 for one k
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

// a row of C at R14, and a step to the next row
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

// R14 = the first row of C; MOVE for each of m rows, then jump to DONE
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
	START(ROWS6OF4, CLEAR4)

multiply:
	MOVQ  strip_k(DI), CX
	TESTQ CX, CX
	JEQ   epilogue
	MOVQ  strip_a(DI), SI
	LEAQ  (R9)(R9*2), R8
	ADDQ  SI, R8
	MOVQ  b-8(SP), BX

	// one loop over k for each number of rows
	TOROWS6(AX)
	LOOPS5(NEXTK, epilogue)
	LOOP(rows6, EACH6, NEXTK)

epilogue:
	EPILOGUE(strip_c(DI), strip_bias(DI), strip_relu(DI), LOADBIAS4, ROWS6OF4, ADDBIAS4, RELU4)
	EACHROW(STOREC, next)

next:
	LEAQ (R15)(R15*1), CX
	ADDQ CX, b-8(SP)
	ADDQ $256, DX
	SUBQ $64, R13
	JGT  panels
	VZEROUPPER
	RET
