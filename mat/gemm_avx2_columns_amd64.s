//go:build !purego && !noasm

// The kernel of few rows times a matrix whose columns are contiguous, for AVX2 and FMA:
//
//	columnsAVX2  up to 8 rows of C, 12 columns at a time
//
// The lanes of a register are the rows of a column of C, so B is read where it is and only C is
// transposed. Y0 to Y11 hold 12 columns; Y12 holds a column of A.

#include "textflag.h"
#include "go_asm.h"
#include "tile256_amd64.h"

// a column of C += 8 rows of A (Y12) times B, which may be one of 4 of k
#define COLUMN(B, C) \
	VBROADCASTSS B, Y13 \
	VFMADD231PS  Y13, Y12, C
#define COLUMNOF4(Q, B, C) \
	VPERMILPS   Q, B, Y13 \
	VFMADD231PS Y13, Y12, C

// three columns, the first at P
#define COLUMNS3(OFF, P, C0, C1, C2) \
	COLUMN(OFF(P), C0)        \
	COLUMN(OFF(P)(R12*1), C1) \
	COLUMN(OFF(P)(R12*2), C2)

// 12 columns for the k at offset OFF of B and AT of A. Two of the columns come from Y14 and Y15,
// because loads limit the rate.
#define COLUMNS12(OFF, AT, Q) \
	VMOVUPS AT(SI), Y12              \
	COLUMNS3(OFF, R8, Y0, Y1, Y2)    \
	COLUMNOF4(Q, Y14, Y6)            \
	COLUMNS3(OFF, R9, Y3, Y4, Y5)    \
	COLUMNOF4(Q, Y15, Y7)            \
	COLUMN(OFF(R10)(R12*2), Y8)      \
	COLUMNS3(OFF, R11, Y9, Y10, Y11)

// prefetch a line of three columns of the next 12, R15 bytes after P
#define FETCH3(P) \
	LEAQ       (P)(R15*1), R13 \
	PREFETCHT1 (R13)           \
	PREFETCHT1 (R13)(R12*1)    \
	PREFETCHT1 (R13)(R12*2)

// 4 of k
#define FOUR(O0, O1, O2, O3, AT0, AT1, AT2, AT3) \
	VBROADCASTF128 O0(R10), Y14        \
	VBROADCASTF128 O0(R10)(R12*1), Y15 \
	COLUMNS12(O0, AT0, $0x00) \
	COLUMNS12(O1, AT1, $0x55) \
	COLUMNS12(O2, AT2, $0xAA) \
	COLUMNS12(O3, AT3, $0xFF)

// transposes the 4 × 4 floats in each half of Y0 to Y3
#define TRANSPOSE4 \
	VUNPCKLPS Y1, Y0, Y12  \
	VUNPCKHPS Y1, Y0, Y13  \
	VUNPCKLPS Y3, Y2, Y14  \
	VUNPCKHPS Y3, Y2, Y15  \
	VUNPCKLPD Y14, Y12, Y0 \
	VUNPCKHPD Y14, Y12, Y1 \
	VUNPCKLPD Y15, Y13, Y2 \
	VUNPCKHPD Y15, Y13, Y3

#define MOVE4(A0, A1, A2, A3, B0, B1, B2, B3) \
	VMOVAPS A0, B0 \
	VMOVAPS A1, B1 \
	VMOVAPS A2, B2 \
	VMOVAPS A3, B3

#define EACHOF4(OP) \
	OP(Y0) \
	OP(Y1) \
	OP(Y2) \
	OP(Y3)
#define ADDBIAS1(C) VADDPS Y12, C, C
#define RELU1(C) VMAXPS C, Y12, C

// registers 0 to 3 = rows 0 to 3 at P, and rows 4 to 7 at Q, of 4 columns; jumps to DONE after the
// last row
#define EACHROW(P, Q, ROW, ROWHIGH, DONE) \
	ROW((P), X0)              \
	CMPQ columnsArgs_m(DI), $2  \
	JLT  DONE                 \
	ROW((P)(BX*1), X1)        \
	JEQ  DONE                 \
	ROW((P)(BX*2), X2)        \
	CMPQ columnsArgs_m(DI), $4  \
	JLT  DONE                 \
	ROW((P)(R13*1), X3)       \
	JEQ  DONE                 \
	ROWHIGH((Q), Y0)          \
	CMPQ columnsArgs_m(DI), $6  \
	JLT  DONE                 \
	ROWHIGH((Q)(BX*1), Y1)    \
	JEQ  DONE                 \
	ROWHIGH((Q)(BX*2), Y2)    \
	CMPQ columnsArgs_m(DI), $8  \
	JLT  DONE                 \
	ROWHIGH((Q)(R13*1), Y3)
#define LOAD(P, C) VMOVUPS P, C
#define LOADHIGH(P, C) VINSERTF128 $1, P, C, C
#define STORE(P, C) VMOVUPS C, P
#define STOREHIGH(P, C) VEXTRACTF128 $1, C, P

// func columnsAVX2(s *columnsArgs)
// Requires: AVX2, FMA
//
// DI s           DX C            CX k left / 16     n-8(SP) columns left
// R8 to R11 columns 0, 3, 6 and 9 of B              R12 s.bCol
// SI A           R13 columns to prefetch, R15 bytes ahead
// AX columns left of the tile    BX s.cRow          R13 3·s.cRow
// R14 and R15 rows 0 and 4 of 4 columns of C
TEXT ·columnsAVX2(SB), NOSPLIT, $8-8
	MOVQ s+0(FP), DI
	MOVQ columnsArgs_c(DI), DX
	MOVQ columnsArgs_b(DI), R8
	MOVQ columnsArgs_bCol(DI), R12
	MOVQ columnsArgs_cRow(DI), BX
	MOVQ columnsArgs_n(DI), AX
	MOVQ AX, n-8(SP)

tile:
	ROWS6(CLEAR)
	CMPQ columnsArgs_accumulate(DI), $0
	JEQ  multiply

	// the chains start from C; 4 columns at a time, the last ones first
	LEAQ 32(DX), R14
	LEAQ (BX)(BX*2), R13
	MOVQ $3, CX

load:
	MOVE4(Y4, Y5, Y6, Y7, Y8, Y9, Y10, Y11)
	MOVE4(Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7)
	LEAQ (R14)(BX*4), R15
	EACHROW(R14, R15, LOAD, LOADHIGH, loaded)

loaded:
	TRANSPOSE4
	SUBQ $16, R14
	DECQ CX
	JNE  load

multiply:
	LEAQ (R12)(R12*2), R15
	LEAQ (R8)(R15*1), R9
	LEAQ (R9)(R15*1), R10
	LEAQ (R10)(R15*1), R11
	SHLQ $2, R15
	MOVQ columnsArgs_a(DI), SI
	MOVQ columnsArgs_k(DI), CX
	SHRQ $4, CX

	PCALIGN $64
sixteen:
	FETCH3(R8)
	FOUR(0, 4, 8, 12, 0, 32, 64, 96)
	FETCH3(R9)
	FOUR(16, 20, 24, 28, 128, 160, 192, 224)
	FETCH3(R10)
	FOUR(32, 36, 40, 44, 256, 288, 320, 352)
	FETCH3(R11)
	FOUR(48, 52, 56, 60, 384, 416, 448, 480)
	ADDQ $512, SI
	ADDQ $64, R8
	ADDQ $64, R9
	ADDQ $64, R10
	ADDQ $64, R11
	DECQ CX
	JNE  sixteen

	// the next columns of B
	LEAQ (R11)(R12*2), R8
	ADDQ R12, R8
	MOVQ columnsArgs_k(DI), CX
	SHLQ $2, CX
	SUBQ CX, R8
	LEAQ (BX)(BX*2), R13
	MOVQ $3, AX

	// rows i and 4+i of 4 columns of C in register i
group:
	TRANSPOSE4

	// + bias
	MOVQ  columnsArgs_bias(DI), SI
	TESTQ SI, SI
	JEQ   relu
	ADDQ  DX, SI
	SUBQ  columnsArgs_c(DI), SI
	VBROADCASTF128 (SI), Y12
	EACHOF4(ADDBIAS1)

	// x < 0 ? 0 : x by VMAXPS with x as its last operand, which preserves NaN and -0
relu:
	CMPQ   columnsArgs_relu(DI), $0
	JEQ    store
	VXORPS Y12, Y12, Y12
	EACHOF4(RELU1)

store:
	LEAQ (DX)(BX*4), R15
	EACHROW(DX, R15, STORE, STOREHIGH, next)

next:
	MOVE4(Y4, Y5, Y6, Y7, Y0, Y1, Y2, Y3)
	MOVE4(Y8, Y9, Y10, Y11, Y4, Y5, Y6, Y7)
	ADDQ $16, DX
	DECQ AX
	JNE  group
	SUBQ $12, n-8(SP)
	JGT  tile
	VZEROUPPER
	RET
