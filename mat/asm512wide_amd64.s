//go:build !purego && !noasm

// The kernel of few rows times a matrix with long contiguous rows, for AVX-512 (F, VL, BW, DQ):
//
//	stripWideAVX512  up to 8 rows of C
//
// It adds the products of 8 rows of B to all columns of C, then those of the next 8, so that B is
// read as 8 long streams. Z16 to Z23 hold 16 columns of C, one register a row.

#include "textflag.h"
#include "go_asm.h"
#include "tile512_amd64.h"

// 16 columns of the first rows of C, or zeros, which begin a chain: then K1 is 0
#define LOAD1 \
	VMOVUPS.Z (DX), K1, Z16
#define LOAD2 \
	LOAD1 \
	VMOVUPS.Z (DX)(R10*1), K1, Z17
#define LOAD3 \
	LOAD2 \
	VMOVUPS.Z (DX)(R10*2), K1, Z18
#define LOAD4 \
	LOAD3 \
	VMOVUPS.Z (R14), K1, Z19
#define LOAD5 \
	LOAD4 \
	VMOVUPS.Z (R14)(R10*1), K1, Z20
#define LOAD6 \
	LOAD5 \
	VMOVUPS.Z (R14)(R10*2), K1, Z21
#define LOAD7 \
	LOAD6 \
	VMOVUPS.Z (DX)(R11*2), K1, Z22
#define LOAD8 \
	LOAD7 \
	VMOVUPS.Z (R14)(R10*4), K1, Z23

#define STORE1 \
	VMOVUPS Z16, (DX)
#define STORE2 \
	STORE1 \
	VMOVUPS Z17, (DX)(R10*1)
#define STORE3 \
	STORE2 \
	VMOVUPS Z18, (DX)(R10*2)
#define STORE4 \
	STORE3 \
	VMOVUPS Z19, (R14)
#define STORE5 \
	STORE4 \
	VMOVUPS Z20, (R14)(R10*1)
#define STORE6 \
	STORE5 \
	VMOVUPS Z21, (R14)(R10*2)
#define STORE7 \
	STORE6 \
	VMOVUPS Z22, (DX)(R11*2)
#define STORE8 \
	STORE7 \
	VMOVUPS Z23, (R14)(R10*4)

// 16 columns of a row of B; AHEAD prefetches 4 lines further
#define ROWB(P, OFF, B, FMA) \
	VMOVUPS P, B \
	FMA(OFF, B)
#define AHEAD(P, OFF, B, FMA) \
	PREFETCHT0 256 P \
	ROWB(P, OFF, B, FMA)

// the loop over columns, 16 at a time
#define COLUMNS(columns, LOAD, FMA, STORE, ROW) \
	PCALIGN $64 \
columns: \
	LOAD \
	ROW((R8), 0, Z24, FMA) \
	ROW((R8)(R12*1), 4, Z25, FMA) \
	ROW((R8)(R12*2), 8, Z26, FMA) \
	ROW((R9), 12, Z27, FMA) \
	ROW((R9)(R12*1), 16, Z28, FMA) \
	ROW((R9)(R12*2), 20, Z29, FMA) \
	ROW((R8)(R13*2), 24, Z30, FMA) \
	ROW((R9)(R12*4), 28, Z31, FMA) \
	STORE \
	ADDQ $64, R8  \
	ADDQ $64, R9  \
	ADDQ $64, DX  \
	ADDQ $64, R14 \
	DECQ CX       \
	JNE  columns

// func stripWideAVX512(s *strip)
// Requires: AVX512F
//
// DI s           a-8(SP) A      b-16(SP) B      k-24(SP) k left     CX columns left / 16
// DX C row 0     R14 C row 3    R10 s.cRow      R11 3·s.cRow
// SI A row 0     AX A row 3     BX A row 6      R15 s.aRow
// R8 B row 0     R9 B row 3     R12 s.bK        R13 3·s.bK
TEXT ·stripWideAVX512(SB), NOSPLIT, $24-8
	MOVQ s+0(FP), DI
	MOVQ strip_a(DI), AX
	MOVQ AX, a-8(SP)
	MOVQ strip_b(DI), AX
	MOVQ AX, b-16(SP)
	MOVQ strip_k(DI), AX
	MOVQ AX, k-24(SP)
	MOVQ strip_aRow(DI), R15
	MOVQ strip_bK(DI), R12
	LEAQ (R12)(R12*2), R13
	MOVQ strip_cRow(DI), R10
	LEAQ (R10)(R10*2), R11

	// the chains start from C or from 0
	XORL  AX, AX
	CMPQ  strip_accumulate(DI), $0
	SETEQ AX
	DECL  AX
	KMOVW AX, K1

eight:
	MOVQ a-8(SP), SI
	LEAQ (R15)(R15*2), BX
	LEAQ (SI)(BX*1), AX
	ADDQ AX, BX
	MOVQ b-16(SP), R8
	LEAQ (R8)(R13*1), R9
	MOVQ strip_c(DI), DX
	LEAQ (DX)(R11*1), R14
	MOVQ strip_n(DI), CX
	SHRQ $4, CX
	CMPQ strip_ahead(DI), $0
	JNE  memory

	// one loop over columns for each number of rows
	TOROWS8(strip_m(DI))
	COLUMNS(rows1, LOAD1, FMA1, STORE1, ROWB)
	JMP next
	COLUMNS(rows2, LOAD2, FMA2, STORE2, ROWB)
	JMP next
	COLUMNS(rows3, LOAD3, FMA3, STORE3, ROWB)
	JMP next
	COLUMNS(rows4, LOAD4, FMA4, STORE4, ROWB)
	JMP next
	COLUMNS(rows5, LOAD5, FMA5, STORE5, ROWB)
	JMP next
	COLUMNS(rows6, LOAD6, FMA6, STORE6, ROWB)
	JMP next
	COLUMNS(rows7, LOAD7, FMA7, STORE7, ROWB)
	JMP next
	COLUMNS(rows8, LOAD8, FMA8, STORE8, ROWB)

next:
	MOVL  $0xFFFF, AX
	KMOVW AX, K1
	ADDQ  $32, a-8(SP)
	LEAQ  (R12*8), AX
	ADDQ  AX, b-16(SP)
	SUBQ  $8, k-24(SP)
	JGT   eight
	VZEROUPPER
	RET

	// the same with a prefetch
memory:
	MOVQ strip_m(DI), DI
	CMPQ DI, $8
	JEQ  ahead8
	CMPQ DI, $7
	JEQ  ahead7
	CMPQ DI, $6
	JEQ  ahead6
	CMPQ DI, $5
	JEQ  ahead5
	CMPQ DI, $4
	JEQ  ahead4
	CMPQ DI, $3
	JEQ  ahead3
	CMPQ DI, $2
	JEQ  ahead2
	COLUMNS(ahead1, LOAD1, FMA1, STORE1, AHEAD)
	JMP nextMemory
	COLUMNS(ahead2, LOAD2, FMA2, STORE2, AHEAD)
	JMP nextMemory
	COLUMNS(ahead3, LOAD3, FMA3, STORE3, AHEAD)
	JMP nextMemory
	COLUMNS(ahead4, LOAD4, FMA4, STORE4, AHEAD)
	JMP nextMemory
	COLUMNS(ahead5, LOAD5, FMA5, STORE5, AHEAD)
	JMP nextMemory
	COLUMNS(ahead6, LOAD6, FMA6, STORE6, AHEAD)
	JMP nextMemory
	COLUMNS(ahead7, LOAD7, FMA7, STORE7, AHEAD)
	JMP nextMemory
	COLUMNS(ahead8, LOAD8, FMA8, STORE8, AHEAD)

nextMemory:
	MOVQ s+0(FP), DI
	JMP next
