//go:build !purego && !noasm

// The kernels of 3 to 8 rows times a matrix whose columns are contiguous, for AVX2 and FMA:
//
//	stripTLanesAVX2   5 to 8 rows of C
//	stripTHalvesAVX2  3 or 4 rows of C
//
// The lanes of a register are the rows of a column of C, so B is read where it is and only C is
// transposed. stripTLanesAVX2 holds 12 columns in Y0 to Y11 and broadcasts one float of B at a
// time. stripTHalvesAVX2 holds columns i and 8+i in the halves of register i, for i up to 7.

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

// 8 or 12 columns for the k at offset OFF of B and AT of A. Two of the columns come from Y14 and
// Y15, because loads limit the rate.
#define COLUMNS8(OFF, AT, Q) \
	VMOVUPS AT(SI), Y12           \
	COLUMNS3(OFF, R8, Y0, Y1, Y2) \
	COLUMNOF4(Q, Y14, Y6)         \
	COLUMNS3(OFF, R9, Y3, Y4, Y5) \
	COLUMNOF4(Q, Y15, Y7)
#define COLUMNS12(OFF, AT, Q) \
	COLUMNS8(OFF, AT, Q)          \
	COLUMN(OFF(R10)(R12*2), Y8)   \
	COLUMNS3(OFF, R11, Y9, Y10, Y11)

// prefetch a line of three columns, R15 bytes after P
#define FETCH3(P) \
	LEAQ       (P)(R15*1), R13 \
	PREFETCHT1 (R13)           \
	PREFETCHT1 (R13)(R12*1)    \
	PREFETCHT1 (R13)(R12*2)

// 4 of k
#define FOUR(COLUMNS, O0, O1, O2, O3, AT0, AT1, AT2, AT3) \
	VBROADCASTF128 O0(R10), Y14        \
	VBROADCASTF128 O0(R10)(R12*1), Y15 \
	COLUMNS(O0, AT0, $0x00) \
	COLUMNS(O1, AT1, $0x55) \
	COLUMNS(O2, AT2, $0xAA) \
	COLUMNS(O3, AT3, $0xFF)

// the loop over k
#define LANES(columns, COLUMNS) \
	PCALIGN $64 \
columns: \
	FETCH3(R8)    \
	FOUR(COLUMNS, 0, 4, 8, 12, 0, 32, 64, 96)         \
	FETCH3(R9)    \
	FOUR(COLUMNS, 16, 20, 24, 28, 128, 160, 192, 224) \
	FETCH3(R10)   \
	FOUR(COLUMNS, 32, 36, 40, 44, 256, 288, 320, 352) \
	FETCH3(R11)   \
	FOUR(COLUMNS, 48, 52, 56, 60, 384, 416, 448, 480) \
	ADDQ $512, SI \
	ADDQ $64, R8  \
	ADDQ $64, R9  \
	ADDQ $64, R10 \
	ADDQ $64, R11 \
	DECQ CX       \
	JNE  columns

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

// func stripTLanesAVX2(s *strip)
// Requires: AVX2, FMA
//
// DI s           DX C            CX k left / 16     n-8(SP) columns left
// R8 to R11 columns 0, 3, 6 and 9 of B              R12 s.bPanel
// SI A           R13 columns to prefetch, R15 bytes ahead
// AX columns of the tile         BX s.cRow          R13 3·s.cRow
// R14 and R15 rows 0 and 4 of 4 columns of C, CX rows or columns left
TEXT ·stripTLanesAVX2(SB), NOSPLIT, $8-8
	MOVQ s+0(FP), DI
	MOVQ strip_c(DI), DX
	MOVQ strip_b(DI), R8
	MOVQ strip_bPanel(DI), R12
	MOVQ strip_cRow(DI), BX
	MOVQ strip_n(DI), AX
	MOVQ AX, n-8(SP)

	// 12 columns, or 8 of the last 8 or 16, or of those that share a set of L1
tile:
	MOVQ  $8, AX
	TESTQ $0xFFF, R12
	JEQ   start
	CMPQ  n-8(SP), $8
	JEQ   start
	CMPQ  n-8(SP), $16
	JEQ   start
	MOVQ  $12, AX

start:
	CMPQ strip_accumulate(DI), $0
	JEQ  zero

	// the chains start from C; 4 columns at a time, the last ones first
	LEAQ -16(DX)(AX*4), R14
	LEAQ (BX)(BX*2), R13
	MOVQ AX, CX

load:
	MOVE4(Y4, Y5, Y6, Y7, Y8, Y9, Y10, Y11)
	MOVE4(Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7)
	LEAQ    (R14)(BX*4), R15
	VMOVUPS (R14), X0
	VMOVUPS (R14)(BX*1), X1
	VMOVUPS (R14)(BX*2), X2
	VMOVUPS (R14)(R13*1), X3
	VINSERTF128 $1, (R15), Y0, Y0
	CMPQ strip_m(DI), $6
	JLT  loaded
	VINSERTF128 $1, (R15)(BX*1), Y1, Y1
	JEQ  loaded
	VINSERTF128 $1, (R15)(BX*2), Y2, Y2
	CMPQ strip_m(DI), $8
	JLT  loaded
	VINSERTF128 $1, (R15)(R13*1), Y3, Y3

loaded:
	TRANSPOSE4
	SUBQ $16, R14
	SUBQ $4, CX
	JGT  load
	JMP  multiply

	// or from 0
zero:
	ROWS6(CLEAR)

multiply:
	LEAQ (R12)(R12*2), R15
	LEAQ (R8)(R15*1), R9
	LEAQ (R9)(R15*1), R10
	LEAQ (R10)(R15*1), R11
	MOVQ strip_a(DI), SI
	MOVQ strip_k(DI), CX
	SHRQ $4, CX
	CMPQ AX, $8
	JEQ  eight
	SHLQ $2, R15
	LANES(columns12, COLUMNS12)
	LEAQ (R11)(R12*2), R8
	ADDQ R12, R8
	JMP  multiplied

eight:
	LEAQ (R12*8), R15
	LANES(columns8, COLUMNS8)
	LEAQ (R10)(R12*2), R8

	// the next columns of B
multiplied:
	MOVQ strip_k(DI), CX
	SHLQ $2, CX
	SUBQ CX, R8
	SUBQ AX, n-8(SP)
	LEAQ (BX)(BX*2), R13

	// rows i and 4+i of 4 columns of C in register i
group:
	TRANSPOSE4

	// + bias
	MOVQ  strip_bias(DI), SI
	TESTQ SI, SI
	JEQ   relu
	ADDQ  DX, SI
	SUBQ  strip_c(DI), SI
	VBROADCASTF128 (SI), Y12
	EACHOF4(ADDBIAS1)

	// x < 0 ? 0 : x by VMAXPS with x as its last operand, which preserves NaN and -0
relu:
	CMPQ   strip_relu(DI), $0
	JEQ    store
	VXORPS Y12, Y12, Y12
	EACHOF4(RELU1)

store:
	LEAQ    (DX)(BX*4), R15
	VMOVUPS X0, (DX)
	VMOVUPS X1, (DX)(BX*1)
	VMOVUPS X2, (DX)(BX*2)
	VMOVUPS X3, (DX)(R13*1)
	VEXTRACTF128 $1, Y0, (R15)
	CMPQ strip_m(DI), $6
	JLT  next
	VEXTRACTF128 $1, Y1, (R15)(BX*1)
	JEQ  next
	VEXTRACTF128 $1, Y2, (R15)(BX*2)
	CMPQ strip_m(DI), $8
	JLT  next
	VEXTRACTF128 $1, Y3, (R15)(R13*1)

next:
	MOVE4(Y4, Y5, Y6, Y7, Y0, Y1, Y2, Y3)
	MOVE4(Y8, Y9, Y10, Y11, Y4, Y5, Y6, Y7)
	ADDQ $16, DX
	SUBQ $4, AX
	JGT  group
	CMPQ n-8(SP), $0
	JGT  tile
	VZEROUPPER
	RET

// two columns for 4 of k (A in Y8 to Y11), at P and Q
#define PAIR(P, Q, C) \
	VMOVUPS     P, X12           \
	VINSERTF128 $1, Q, Y12, Y12  \
	VPERMILPS   $0x00, Y12, Y13  \
	VFMADD231PS Y13, Y8, C       \
	VPERMILPS   $0x55, Y12, Y14  \
	VFMADD231PS Y14, Y9, C       \
	VPERMILPS   $0xAA, Y12, Y13  \
	VFMADD231PS Y13, Y10, C      \
	VPERMILPS   $0xFF, Y12, Y14  \
	VFMADD231PS Y14, Y11, C

// prefetch a line of 4 columns, R15 bytes after P
#define FETCH4(P) \
	LEAQ       (P)(R15*1), AX \
	PREFETCHT1 (AX)           \
	PREFETCHT1 (AX)(R12*1)    \
	PREFETCHT1 (AX)(R12*2)    \
	PREFETCHT1 (AX)(R13*1)

// 4 of k, at offset OFF of B and AT of A
#define PAIRS8(OFF, AT, P) \
	FETCH4(P)              \
	VMOVUPS AT+0(SI), Y8   \
	VMOVUPS AT+32(SI), Y9  \
	VMOVUPS AT+64(SI), Y10 \
	VMOVUPS AT+96(SI), Y11 \
	PAIR(OFF(R8), OFF(R10), Y0)                 \
	PAIR(OFF(R8)(R12*1), OFF(R10)(R12*1), Y1)   \
	PAIR(OFF(R8)(R12*2), OFF(R10)(R12*2), Y2)   \
	PAIR(OFF(R8)(R13*1), OFF(R10)(R13*1), Y3)   \
	PAIR(OFF(R9), OFF(R11), Y4)                 \
	PAIR(OFF(R9)(R12*1), OFF(R11)(R12*1), Y5)   \
	PAIR(OFF(R9)(R12*2), OFF(R11)(R12*2), Y6)   \
	PAIR(OFF(R9)(R13*1), OFF(R11)(R13*1), Y7)

// func stripTHalvesAVX2(s *strip)
// Requires: AVX2, FMA
//
// DI s           DX C            CX k left / 16     n-8(SP) columns left
// R8 to R11 columns 0, 4, 8 and 12 of B             R12 s.bPanel   R13 3·s.bPanel
// SI A           AX columns to prefetch, R15 bytes ahead
// BX s.cRow      R14 row of C    AX 3·s.cRow        CX groups of columns left
TEXT ·stripTHalvesAVX2(SB), NOSPLIT, $8-8
	MOVQ s+0(FP), DI
	MOVQ strip_c(DI), DX
	MOVQ strip_b(DI), R8
	MOVQ strip_bPanel(DI), R12
	LEAQ (R12)(R12*2), R13
	MOVQ R12, R15
	SHLQ $4, R15
	MOVQ strip_cRow(DI), BX
	MOVQ strip_n(DI), AX
	MOVQ AX, n-8(SP)

columns:
	CMPQ strip_accumulate(DI), $0
	JEQ  zero

	// the chains start from C; columns 4 to 7 and 12 to 15 first
	LEAQ (BX)(BX*2), AX
	LEAQ 16(DX), R14
	MOVQ $2, CX

load:
	MOVE4(Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7)
	VMOVUPS (R14), X0
	VMOVUPS (R14)(BX*1), X1
	VMOVUPS (R14)(BX*2), X2
	VINSERTF128 $1, 32(R14), Y0, Y0
	VINSERTF128 $1, 32(R14)(BX*1), Y1, Y1
	VINSERTF128 $1, 32(R14)(BX*2), Y2, Y2
	CMPQ strip_m(DI), $4
	JLT  loaded
	VMOVUPS (R14)(AX*1), X3
	VINSERTF128 $1, 32(R14)(AX*1), Y3, Y3

loaded:
	TRANSPOSE4
	SUBQ $16, R14
	DECQ CX
	JNE  load
	JMP  multiply

	// or from 0
zero:
	ROWS4(CLEAR)

multiply:
	LEAQ (R8)(R12*4), R9
	LEAQ (R9)(R12*4), R10
	LEAQ (R10)(R12*4), R11
	MOVQ strip_a(DI), SI
	MOVQ strip_k(DI), CX
	SHRQ $4, CX

	PCALIGN $64
sixteen:
	PAIRS8(0, 0, R8)
	PAIRS8(16, 128, R9)
	PAIRS8(32, 256, R10)
	PAIRS8(48, 384, R11)
	ADDQ $512, SI
	ADDQ $64, R8
	ADDQ $64, R9
	ADDQ $64, R10
	ADDQ $64, R11
	DECQ CX
	JNE  sixteen

	// the next columns of B
	MOVQ strip_k(DI), CX
	SHLQ $2, CX
	LEAQ (R11)(R12*4), R8
	SUBQ CX, R8

	// row i of columns 0 to 3 and 8 to 11, then of 4 to 7 and 12 to 15, in register i
	LEAQ (BX)(BX*2), AX
	MOVQ DX, R14
	MOVQ $2, CX

group:
	TRANSPOSE4

	// + bias
	MOVQ  strip_bias(DI), SI
	TESTQ SI, SI
	JEQ   relu
	ADDQ  R14, SI
	SUBQ  strip_c(DI), SI
	VMOVUPS (SI), X12
	VINSERTF128 $1, 32(SI), Y12, Y12
	EACHOF4(ADDBIAS1)

	// x < 0 ? 0 : x
relu:
	CMPQ   strip_relu(DI), $0
	JEQ    store
	VXORPS Y12, Y12, Y12
	EACHOF4(RELU1)

store:
	VMOVUPS X0, (R14)
	VMOVUPS X1, (R14)(BX*1)
	VMOVUPS X2, (R14)(BX*2)
	VEXTRACTF128 $1, Y0, 32(R14)
	VEXTRACTF128 $1, Y1, 32(R14)(BX*1)
	VEXTRACTF128 $1, Y2, 32(R14)(BX*2)
	CMPQ strip_m(DI), $4
	JLT  next
	VMOVUPS X3, (R14)(AX*1)
	VEXTRACTF128 $1, Y3, 32(R14)(AX*1)

next:
	MOVE4(Y4, Y5, Y6, Y7, Y0, Y1, Y2, Y3)
	ADDQ $16, R14
	DECQ CX
	JNE  group
	ADDQ $64, DX
	SUBQ $16, n-8(SP)
	JGT  columns
	VZEROUPPER
	RET
