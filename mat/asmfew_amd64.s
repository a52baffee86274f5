//go:build !purego && !noasm

// The kernel of few rows times a matrix with contiguous rows, for AVX2 and FMA:
//
//	stripFewAVX2  2 to 4 rows and 48 columns of C
//
// The loop of stripAVX2 with fewer than 5 rows waits for its own results. Here Y0 to Y11 hold 4
// rows of 24 columns of C, three registers a row; Y12 to Y14 hold 24 columns of B, a panel.

#include "textflag.h"
#include "go_asm.h"
#include "tile256_amd64.h"

// one row of the tile: C0 to C2 += a·(Y12 to Y14)
#define FMAROW(A, C0, C1, C2) \
	VBROADCASTSS A, Y15          \
	VFMADD231PS  Y15, Y12, C0    \
	VFMADD231PS  Y15, Y13, C1    \
	VFMADD231PS  Y15, Y14, C2

// rows 0 to 3 for one k
#define LOADB \
	PREFETCHT1 (R15)             \
	VMOVUPS (BX), Y12            \
	VMOVUPS 32(BX), Y13          \
	VMOVUPS 64(BX), Y14
#define ROW0 FMAROW((SI), Y0, Y1, Y2)
#define ROW1 FMAROW((SI)(R9*1), Y3, Y4, Y5)
#define ROW2 FMAROW((SI)(R9*2), Y6, Y7, Y8)
#define ROW3 FMAROW((SI)(R8*1), Y9, Y10, Y11)
#define NEXTK \
	ADDQ R11, BX                 \
	ADDQ R10, SI                 \
	ADDQ AX, R15                 \
	DECQ CX

// the same with a copy of 48 columns of B to two panels
#define COPYB \
	VMOVUPS Y12, (R14)           \
	VMOVUPS Y13, 32(R14)         \
	VMOVUPS Y14, 64(R14)         \
	VMOVUPS 96(BX), Y12          \
	VMOVUPS 128(BX), Y13         \
	VMOVUPS 160(BX), Y14         \
	VMOVUPS Y12, (R14)(R13*1)    \
	VMOVUPS Y13, 32(R14)(R13*1)  \
	VMOVUPS Y14, 64(R14)(R13*1)  \
	ADDQ    $96, R14             \
	NEXTK

// a row of C at BX, and a step to the next row
#define LOADC(C0, C1, C2) \
	VMOVUPS (BX), C0             \
	VMOVUPS 32(BX), C1           \
	VMOVUPS 64(BX), C2           \
	ADDQ    R12, BX
#define STOREC(C0, C1, C2) \
	VMOVUPS C0, (BX)             \
	VMOVUPS C1, 32(BX)           \
	VMOVUPS C2, 64(BX)           \
	ADDQ    R12, BX

// BX = the first row of C; MOVE for each of m rows, then jump to DONE
#define EACHROW(MOVE, DONE) \
	MOVQ DX, BX                  \
	MOVQ strip_m(DI), CX         \
	MOVE(Y0, Y1, Y2)             \
	MOVE(Y3, Y4, Y5)             \
	SUBQ $2, CX                  \
	JEQ  DONE                    \
	MOVE(Y6, Y7, Y8)             \
	DECQ CX                      \
	JEQ  DONE                    \
	MOVE(Y9, Y10, Y11)

// func stripFewAVX2(s *strip)
// Requires: AVX2, FMA
//
// DI s            CX m, k left    DX C            R12 s.cRow      left-8(SP) panels left
// SI A            R9 s.aRow       R8 3·s.aRow     R10 s.aK
// BX B, row of C  R11 s.bK        R13 s.bPanel    R14 row of the copy
// R15 line to prefetch            AX s.aheadK
TEXT ·stripFewAVX2(SB), NOSPLIT, $8-8
	MOVQ s+0(FP), DI
	MOVQ strip_c(DI), DX
	MOVQ strip_cRow(DI), R12
	MOVQ strip_aRow(DI), R9
	LEAQ (R9)(R9*2), R8
	MOVQ strip_aK(DI), R10
	MOVQ strip_bK(DI), R11
	MOVQ strip_bPanel(DI), R13
	MOVQ strip_ahead(DI), R15
	MOVQ strip_aheadK(DI), AX
	MOVQ $2, left-8(SP)

panel:
	// the chains start from C
	CMPQ strip_accumulate(DI), $0
	JEQ  zero
	EACHROW(LOADC, multiply)
	JMP  multiply

	// or from 0
zero:
	ROWS6(CLEAR)

multiply:
	MOVQ  strip_a(DI), SI
	MOVQ  strip_b(DI), BX
	MOVQ  strip_pack(DI), R14
	MOVQ  strip_k(DI), CX
	CMPQ  left-8(SP), $2
	JEQ   first

	// the second panel of B or of the copy
	TESTQ R14, R14
	JEQ   second
	MOVQ  R14, BX
	MOVL  $96, R11

second:
	ADDQ R13, BX
	JMP  rows

first:
	TESTQ R14, R14
	JNE  copy

	// one loop over k for each number of rows
rows:
	CMPQ strip_m(DI), $4
	JEQ  rows4
	CMPQ strip_m(DI), $3
	JEQ  rows3
	LOOP(rows2, EACH2, NEXTK, $32)
	JMP store
	LOOP(rows3, EACH3, NEXTK, $32)
	JMP store
	LOOP(copy, EACH4, COPYB, $32)
	JMP store
	LOOP(rows4, EACH4, NEXTK, $32)

store:
	EACHROW(STOREC, next)

	// the second panel prefetches the next lines
next:
	MOVQ strip_ahead(DI), R15
	ADDQ $64, R15
	ADDQ $96, DX
	DECQ left-8(SP)
	JNE  panel
	VZEROUPPER
	RET
