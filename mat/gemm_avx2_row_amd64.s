//go:build !purego && !noasm

// The kernel of one row times a matrix with long contiguous rows, for AVX2 and FMA:
//
//	rowAVX2  one row of C
//
// It adds the products of 8 rows of B to all columns of C, then those of the next 8, so that B is
// read as 8 long streams. Y0 to Y7 hold their elements of A. Registers of AVX-512 would not make it
// faster, because B comes from L2 or beyond.

#include "textflag.h"
#include "go_asm.h"

// 8 columns, at offset OFF, of C and 8 rows of B
#define EIGHT(OFF) \
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
// prefetches 8 rows of B, 4 lines ahead
#define AHEAD \
	PREFETCHT0 256(R8)                  \
	PREFETCHT0 256(R8)(R12*1)           \
	PREFETCHT0 256(R8)(R12*2)           \
	PREFETCHT0 256(R9)                  \
	PREFETCHT0 256(R9)(R12*1)           \
	PREFETCHT0 256(R9)(R12*2)           \
	PREFETCHT0 256(R8)(R13*2)           \
	PREFETCHT0 256(R9)(R12*4)
#define NOTHING

// the loop over columns, 16 at a time
#define COLUMNS(columns, FETCH) \
	PCALIGN $64  \
columns: \
	FETCH        \
	EIGHT(0)     \
	EIGHT(32)    \
	ADDQ $64, R8 \
	ADDQ $64, R9 \
	ADDQ $64, DX \
	DECQ CX      \
	JNE  columns

// func rowAVX2(r *rowArgs)
// Requires: AVX2, FMA
//
// DI r           SI A            BX B row 0     AX k left      CX columns left / 16
// DX C           R12 r.bRow      R13 3·r.bRow   R8 and R9 rows 0 and 3 of B
TEXT ·rowAVX2(SB), NOSPLIT, $0-8
	MOVQ r+0(FP), DI
	MOVQ rowArgs_a(DI), SI
	MOVQ rowArgs_b(DI), BX
	MOVQ rowArgs_k(DI), AX
	MOVQ rowArgs_bRow(DI), R12
	LEAQ (R12)(R12*2), R13

eight:
	MOVQ BX, R8
	LEAQ (BX)(R13*1), R9
	MOVQ rowArgs_c(DI), DX
	MOVQ rowArgs_n(DI), CX
	SHRQ $4, CX
	VBROADCASTSS (SI), Y0
	VBROADCASTSS 4(SI), Y1
	VBROADCASTSS 8(SI), Y2
	VBROADCASTSS 12(SI), Y3
	VBROADCASTSS 16(SI), Y4
	VBROADCASTSS 20(SI), Y5
	VBROADCASTSS 24(SI), Y6
	VBROADCASTSS 28(SI), Y7
	CMPB rowArgs_fetch(DI), $0
	JNE  ahead
	COLUMNS(columns, NOTHING)
	JMP  next
	COLUMNS(ahead, AHEAD)

	// the next 8 rows of B
next:
	ADDQ $32, SI
	LEAQ (BX)(R12*8), BX
	SUBQ $8, AX
	JGT  eight
	VZEROUPPER
	RET
