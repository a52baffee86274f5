//go:build !purego && !noasm

// The kernel of few rows times a matrix whose columns are contiguous, for AVX2 and FMA:
//
//	stripTAVX2  up to 4 rows of C
//
// Y0 to Y7 hold 16 columns of C, two registers a row.
// So that the chains of all columns advance over k together, the kernel transposes 4 of k of 8
// columns of B at a time in registers. 16 of k of 8 columns follow one another, a cache line of
// each, because the columns may share a set of L1.

#include "textflag.h"
#include "go_asm.h"
#include "tile256_amd64.h"

// Y8 to Y11 = 4 of k of 8 columns of B, the first at P, the fifth at Q, at offset OFF. The loads
// put columns i and 4+i into the 128-bit lanes of register i; then each lane is transposed.
#define QUAD(OFF, P, Q) \
	VMOVUPS     OFF(P), X8 \
	VMOVUPS     OFF(P)(R12*1), X9 \
	VMOVUPS     OFF(P)(R12*2), X10 \
	VMOVUPS     OFF(P)(R13*1), X11 \
	VINSERTF128 $1, OFF(Q), Y8, Y8 \
	VINSERTF128 $1, OFF(Q)(R12*1), Y9, Y9 \
	VINSERTF128 $1, OFF(Q)(R12*2), Y10, Y10 \
	VINSERTF128 $1, OFF(Q)(R13*1), Y11, Y11 \
	VUNPCKLPS   Y9, Y8, Y12 \
	VUNPCKHPS   Y9, Y8, Y13 \
	VUNPCKLPS   Y11, Y10, Y14 \
	VUNPCKHPS   Y11, Y10, Y15 \
	VUNPCKLPD   Y14, Y12, Y8 \
	VUNPCKHPD   Y14, Y12, Y9 \
	VUNPCKLPD   Y15, Y13, Y10 \
	VUNPCKHPD   Y15, Y13, Y11

// a row of C for one k
#define FMA(A, B, T, C) \
	VBROADCASTSS A, T \
	VFMADD231PS  T, B, C

// the first rows of C += A·B for one k, at offset OFF of A: LO for columns 0 to 7, HI for 8 to 15
#define LO1(OFF, B) \
	FMA(OFF(SI), B, Y12, Y0)
#define LO2(OFF, B) \
	LO1(OFF, B) \
	FMA(OFF(SI)(R15*1), B, Y13, Y2)
#define LO3(OFF, B) \
	LO2(OFF, B) \
	FMA(OFF(SI)(R15*2), B, Y14, Y4)
#define LO4(OFF, B) \
	LO3(OFF, B) \
	FMA(OFF(AX), B, Y15, Y6)
#define HI1(OFF, B) \
	FMA(OFF(SI), B, Y12, Y1)
#define HI2(OFF, B) \
	HI1(OFF, B) \
	FMA(OFF(SI)(R15*1), B, Y13, Y3)
#define HI3(OFF, B) \
	HI2(OFF, B) \
	FMA(OFF(SI)(R15*2), B, Y14, Y5)
#define HI4(OFF, B) \
	HI3(OFF, B) \
	FMA(OFF(AX), B, Y15, Y7)

// prefetch a line of 4 columns, R14 bytes after P
#define FETCH4(P) \
	LEAQ       (P)(R14*1), BX \
	PREFETCHT1 (BX)           \
	PREFETCHT1 (BX)(R12*1)    \
	PREFETCHT1 (BX)(R12*2)    \
	PREFETCHT1 (BX)(R13*1)

// 16 of k of 8 columns
#define QUADFMA(OFF, O0, O1, O2, O3, P, Q, F) \
	QUAD(OFF, P, Q) \
	F(O0, Y8)  \
	F(O1, Y9)  \
	F(O2, Y10) \
	F(O3, Y11)
#define SIXTEEN(P, Q, F) \
	QUADFMA(0, 0, 4, 8, 12, P, Q, F)     \
	QUADFMA(16, 16, 20, 24, 28, P, Q, F) \
	QUADFMA(32, 32, 36, 40, 44, P, Q, F) \
	QUADFMA(48, 48, 52, 56, 60, P, Q, F) \
	ADDQ $64, P \
	ADDQ $64, Q

// the loop over k
#define WIDE(rows, fetched, LO, HI) \
	PCALIGN $32  \
rows: \
	TESTQ R14, R14 \
	JEQ   fetched  \
	FETCH4(R8)     \
	FETCH4(R9)     \
	FETCH4(R10)    \
	FETCH4(R11)    \
fetched: \
	SIXTEEN(R8, R9, LO)   \
	SIXTEEN(R10, R11, HI) \
	ADDQ $64, SI \
	ADDQ $64, AX \
	DECQ CX      \
	JNE  rows

// R14 = the first row of C; MOVE for each of m rows, then jump to DONE
#define EACHROW(MOVE, DONE) \
	MOVQ DX, R14              \
	MOVQ strip_m(DI), AX      \
	MOVQ strip_cRow(DI), BX   \
	MOVE(Y0, Y1) \
	DECQ AX \
	JEQ  DONE \
	MOVE(Y2, Y3) \
	DECQ AX \
	JEQ  DONE \
	MOVE(Y4, Y5) \
	DECQ AX \
	JEQ  DONE \
	MOVE(Y6, Y7)
#define LOADC(C0, C1) \
	VMOVUPS (R14), C0   \
	VMOVUPS 32(R14), C1 \
	ADDQ    BX, R14
#define STOREC(C0, C1) \
	VMOVUPS C0, (R14)   \
	VMOVUPS C1, 32(R14) \
	ADDQ    BX, R14

// func stripTAVX2(s *strip)
// Requires: AVX2, FMA
//
// DI s           DX C            CX k left / 16     n-8(SP) columns left
// R8 to R11 columns 0, 4, 8 and 12 of B             R12 s.bPanel    R13 3·s.bPanel
// SI A row 0     AX A row 3      R15 s.aRow
// R14 row of C   BX s.cRow; in the loops over k, s.ahead and columns to prefetch
TEXT ·stripTAVX2(SB), NOSPLIT, $8-8
	MOVQ s+0(FP), DI
	MOVQ strip_c(DI), DX
	MOVQ strip_b(DI), R8
	MOVQ strip_bPanel(DI), R12
	LEAQ (R12)(R12*2), R13
	MOVQ strip_aRow(DI), R15
	MOVQ strip_n(DI), AX
	MOVQ AX, n-8(SP)

columns:
	// the chains start from C
	CMPQ strip_accumulate(DI), $0
	JEQ  zero
	EACHROW(LOADC, multiply)
	JMP  multiply

	// or from 0
zero:
	ROWS4(CLEAR)

multiply:
	LEAQ (R8)(R12*4), R9
	LEAQ (R9)(R12*4), R10
	LEAQ (R10)(R12*4), R11
	MOVQ strip_a(DI), SI
	LEAQ (R15)(R15*2), AX
	ADDQ SI, AX
	MOVQ strip_k(DI), CX
	SHRQ $4, CX
	MOVQ strip_ahead(DI), R14

	// one loop over k for each number of rows
	CMPQ strip_m(DI), $4
	JEQ  rows4
	CMPQ strip_m(DI), $3
	JEQ  rows3
	CMPQ strip_m(DI), $2
	JEQ  rows2
	WIDE(rows1, fetched1, LO1, HI1)
	JMP epilogue
	WIDE(rows2, fetched2, LO2, HI2)
	JMP epilogue
	WIDE(rows3, fetched3, LO3, HI3)
	JMP epilogue
	WIDE(rows4, fetched4, LO4, HI4)

epilogue:
	// + bias
	MOVQ  strip_bias(DI), SI
	TESTQ SI, SI
	JEQ   relu
	ADDQ  DX, SI
	SUBQ  strip_c(DI), SI
	VMOVUPS (SI), Y12
	VMOVUPS 32(SI), Y13
	ROWS4(ADDBIAS)

	// x < 0 ? 0 : x
relu:
	CMPQ   strip_relu(DI), $0
	JEQ    store
	VXORPS Y12, Y12, Y12
	ROWS4(RELU)

store:
	EACHROW(STOREC, next)

	// the next 16 columns; R11 is at the end of its columns of B
next:
	MOVQ strip_k(DI), AX
	SHLQ $2, AX
	LEAQ (R11)(R12*4), R8
	SUBQ AX, R8
	ADDQ $64, DX
	SUBQ $16, n-8(SP)
	JGT  columns
	VZEROUPPER
	RET
