//go:build !purego && !noasm

// The kernel of few rows times a matrix with long contiguous rows, for AVX2 and FMA:
//
//	stripWideAVX2  1 or 2 rows of C
//
// It adds the products of 8 or 4 rows of B to all columns of C, then those of the next ones, so
// that B is read as a few long streams. Y0 to Y7 hold their elements of A.

#include "textflag.h"
#include "go_asm.h"

// 8 columns, at offset OFF, of one row of C and 8 rows of B, or of two rows of C and 4 rows of B
#define EIGHT1(OFF) \
	VMOVUPS     OFF(DX), Y8             \
	VFMADD231PS OFF(R8), Y0, Y8         \
	VFMADD231PS OFF(R8)(R12*1), Y1, Y8  \
	VFMADD231PS OFF(R8)(R12*2), Y2, Y8  \
	VFMADD231PS OFF(R9), Y3, Y8         \
	VFMADD231PS OFF(R9)(R12*1), Y4, Y8  \
	VFMADD231PS OFF(R9)(R12*2), Y5, Y8  \
	VFMADD231PS OFF(R8)(R13*2), Y6, Y8  \
	VFMADD231PS OFF(R9)(R12*4), Y7, Y8  \
	VMOVUPS     Y8, OFF(DX)
#define ROWB(B, A0, A1) \
	VMOVUPS     B, Y10                  \
	VFMADD231PS A0, Y10, Y8             \
	VFMADD231PS A1, Y10, Y9
#define EIGHT2(OFF) \
	VMOVUPS OFF(DX), Y8                 \
	VMOVUPS OFF(DX)(R10*1), Y9          \
	ROWB(OFF(R8), Y0, Y4)               \
	ROWB(OFF(R8)(R12*1), Y1, Y5)        \
	ROWB(OFF(R8)(R12*2), Y2, Y6)        \
	ROWB(OFF(R9), Y3, Y7)               \
	VMOVUPS Y8, OFF(DX)                 \
	VMOVUPS Y9, OFF(DX)(R10*1)

// prefetches 4 or 8 rows of B, 4 lines ahead
#define AHEAD2 \
	PREFETCHT0 256(R8)                  \
	PREFETCHT0 256(R8)(R12*1)           \
	PREFETCHT0 256(R8)(R12*2)           \
	PREFETCHT0 256(R9)
#define AHEAD1 \
	AHEAD2                              \
	PREFETCHT0 256(R9)(R12*1)           \
	PREFETCHT0 256(R9)(R12*2)           \
	PREFETCHT0 256(R8)(R13*2)           \
	PREFETCHT0 256(R9)(R12*4)
#define NOTHING

// the loop over columns, 16 at a time
#define COLUMNS(columns, EIGHT, AHEAD) \
	PCALIGN $64  \
columns: \
	AHEAD        \
	EIGHT(0)     \
	EIGHT(32)    \
	ADDQ $64, R8 \
	ADDQ $64, R9 \
	ADDQ $64, DX \
	DECQ CX      \
	JNE  columns

// func stripWideAVX2(s *strip)
// Requires: AVX2, FMA
//
// DI s           SI A           BX B            R14 k left      CX columns left / 16
// DX C           R10 s.cRow     R15 s.aRow      AX rows of B in a pass
// R8 B row 0     R9 B row 3     R12 s.bK        R13 3·s.bK
TEXT ·stripWideAVX2(SB), NOSPLIT, $0-8
	MOVQ s+0(FP), DI
	MOVQ strip_a(DI), SI
	MOVQ strip_b(DI), BX
	MOVQ strip_k(DI), R14
	MOVQ strip_aRow(DI), R15
	MOVQ strip_bK(DI), R12
	LEAQ (R12)(R12*2), R13
	MOVQ strip_cRow(DI), R10

pass:
	MOVQ BX, R8
	LEAQ (BX)(R13*1), R9
	MOVQ strip_c(DI), DX
	MOVQ strip_n(DI), CX
	SHRQ $4, CX
	VBROADCASTSS (SI), Y0
	VBROADCASTSS 4(SI), Y1
	VBROADCASTSS 8(SI), Y2
	VBROADCASTSS 12(SI), Y3
	CMPQ strip_m(DI), $2
	JEQ  two
	VBROADCASTSS 16(SI), Y4
	VBROADCASTSS 20(SI), Y5
	VBROADCASTSS 24(SI), Y6
	VBROADCASTSS 28(SI), Y7
	MOVL $8, AX
	CMPQ strip_ahead(DI), $0
	JNE  ahead1
	COLUMNS(columns1, EIGHT1, NOTHING)
	JMP  next
	COLUMNS(ahead1, EIGHT1, AHEAD1)
	JMP  next

two:
	VBROADCASTSS (SI)(R15*1), Y4
	VBROADCASTSS 4(SI)(R15*1), Y5
	VBROADCASTSS 8(SI)(R15*1), Y6
	VBROADCASTSS 12(SI)(R15*1), Y7
	MOVL $4, AX
	CMPQ strip_ahead(DI), $0
	JNE  ahead2
	COLUMNS(columns2, EIGHT2, NOTHING)
	JMP  next
	COLUMNS(ahead2, EIGHT2, AHEAD2)

	// the next rows of B
next:
	LEAQ  (SI)(AX*4), SI
	SUBQ  AX, R14
	IMULQ R12, AX
	ADDQ  AX, BX
	TESTQ R14, R14
	JNE   pass
	VZEROUPPER
	RET
