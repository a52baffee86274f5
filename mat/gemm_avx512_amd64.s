//go:build !purego && !noasm

// The kernels of matrix products for AVX-512 (F, VL, BW, DQ):
//
//	stripAVX512   up to 12 rows of C
//	fmaLoopAVX512 peak rate
//
// Z0 to Z23 hold 12 rows of 32 columns of C, two registers a row; Z24 and Z25 hold a row of B. K1
// and K2 are the masks of the columns of C in the two registers.

#include "textflag.h"
#include "go_asm.h"
#include "tile512_amd64.h"

// one row of the tile: C0, C1 += a·(Z24, Z25). Every other row has a in a register, because a
// processor with two multiply-adds a cycle has no loads left for all of them.
#define FMAROW(A, C0, C1) \
	VFMADD231PS.BCST A, Z24, C0 \
	VFMADD231PS.BCST A, Z25, C1
#define FMAROWT(A, T, C0, C1) \
	VBROADCASTSS A, T           \
	VFMADD231PS  T, Z24, C0     \
	VFMADD231PS  T, Z25, C1

// rows 0 to 11 for one k
#define LOADB \
	VMOVUPS (BX), Z24           \
	VMOVUPS 64(BX), Z25

// a row of B, which is copied to DI
#define PACKB \
	VMOVUPS.Z  (BX), K1, Z24    \
	VMOVUPS.Z  64(BX), K2, Z25  \
	PREFETCHT0 (BX)(DX*1)       \
	PREFETCHT0 64(BX)(DX*1)     \
	VMOVUPS    Z24, (DI)        \
	VMOVUPS    Z25, 64(DI)      \
	ADDQ       $128, DI

#define ROW0 FMAROWT((SI), Z26, Z0, Z1)
#define ROW1 FMAROW((SI)(R9*1), Z2, Z3)
#define ROW2 FMAROWT((SI)(R9*2), Z27, Z4, Z5)
#define ROW3 FMAROW((R8), Z6, Z7)
#define ROW4 FMAROWT((R8)(R9*1), Z26, Z8, Z9)
#define ROW5 FMAROW((R8)(R9*2), Z10, Z11)
#define ROW6 FMAROWT((R15), Z27, Z12, Z13)
#define ROW7 FMAROW((R15)(R9*1), Z14, Z15)
#define ROW8 FMAROWT((R15)(R9*2), Z26, Z16, Z17)
#define ROW9 FMAROW((R14), Z18, Z19)
#define ROW10 FMAROWT((R14)(R9*1), Z27, Z20, Z21)
#define ROW11 FMAROW((R14)(R9*2), Z22, Z23)
#define NEXTA \
	ADDQ R11, BX                \
	ADDQ R10, SI                \
	ADDQ R10, R8                \
	ADDQ R10, R15               \
	ADDQ R10, R14
#define NEXTK \
	NEXTA                       \
	DECQ CX

// 1 and 4 of k of 12 rows. Prefetching B into L1 hides the time that L2 takes while it is filled.
#define ONE12 \
	LOADB                       \
	PREFETCHT0 (BX)(R11*4)      \
	PREFETCHT0 64(BX)(R11*4)    \
	EACH12                      \
	NEXTA
#define FOUR12 \
	ONE12                       \
	ONE12                       \
	ONE12                       \
	ONE12

// the next k, with a step of the walk
#define NEXTKWALK \
	PREFETCHT1 (AX)             \
	ADDQ    $64, AX             \
	LEAQ    (AX)(R13*1), DI     \
	DECQ    R12                 \
	CMOVQEQ DI, AX              \
	CMOVQEQ walk_lines(DX), R12 \
	NEXTK

// the masked lanes of a row of C at R14, and a step to the next row that preserves the flags
#define LOADC(C0, C1) \
	VMOVUPS.Z (R14), K1, C0     \
	VMOVUPS.Z 64(R14), K2, C1   \
	LEAQ      (R14)(R12*1), R14
#define STOREC(C0, C1) \
	VMOVUPS C0, K1, (R14)       \
	VMOVUPS C1, K2, 64(R14)     \
	LEAQ    (R14)(R12*1), R14

// prefetch two lines of each of 12 rows of C at P; T = 3 rows
#define PREFETCH3(P) \
	PREFETCHT0 (P)              \
	PREFETCHT0 64(P)            \
	PREFETCHT0 (P)(R12*1)       \
	PREFETCHT0 64(P)(R12*1)     \
	PREFETCHT0 (P)(R12*2)       \
	PREFETCHT0 64(P)(R12*2)
#define PREFETCHC(P, T) \
	LEAQ (R12)(R12*2), T        \
	PREFETCH3(P)                \
	ADDQ T, P                   \
	PREFETCH3(P)                \
	ADDQ T, P                   \
	PREFETCH3(P)                \
	ADDQ T, P                   \
	PREFETCH3(P)

// k after the prefetch of C for the stores
#define TAIL 24

// R14 = the first row of C; MOVE for each of m rows, then jump to DONE
#define EACHROW(MOVE, DONE) \
	MOVQ DX, R14   \
	ROWSUPTO12(MOVE, DONE)

// func stripAVX512(s *strip)
// Requires: AVX512F
//
// DI s          AX m          CX k left     R13 columns left
// DX C          R12 s.cRow    R14 row of C
// SI A row 0    R8 A row 3    R15 A row 6   R14 A row 9
// R9 s.aRow     R10 s.aK      BX B          R11 s.bK      b-8(SP) B, k = 0
//
// In the loops over k, DX is the walk, AX the next line to prefetch, R12 the lines left in the row
// and R13 the jump to the next row.
TEXT ·stripAVX512(SB), NOSPLIT, $40-8
	MOVQ s+0(FP), DI
	MOVQ strip_b(DI), BX
	MOVQ BX, b-8(SP)
	MOVQ strip_c(DI), DX
	MOVQ strip_cRow(DI), R12
	MOVQ strip_aRow(DI), R9
	MOVQ strip_aK(DI), R10
	MOVQ strip_bK(DI), R11
	MOVQ strip_m(DI), AX
	MOVQ strip_n(DI), R13

panel:
	// K1 and K2 = the columns of C in this panel
	MOVL  $32, CX
	CMPQ  R13, $32
	CMOVQLT R13, CX
	MOVQ  $1, BX
	SHLQ  CX, BX
	DECQ  BX
	KMOVW BX, K1
	SHRQ  $16, BX
	KMOVW BX, K2

	START(ROWS12, CLEAR)

multiply:
	// prefetch the C of the next panel, from which its chains start; rows after the last one do no
	// harm
	LEAQ    128(DX), R14
	MOVQ    strip_c(DI), CX
	ADDQ    strip_next(DI), CX
	CMPQ    R13, $32
	CMOVQLE CX, R14
	PREFETCHC(R14, BX)

	MOVQ  strip_k(DI), CX
	TESTQ CX, CX
	JEQ   epilogue
	MOVQ  strip_a(DI), SI
	LEAQ  (R9)(R9*2), BX
	LEAQ  (SI)(BX*1), R8
	LEAQ  (R8)(BX*1), R15
	LEAQ  (R15)(BX*1), R14
	MOVQ  b-8(SP), BX

	// the walk of this panel, or, without one, lines of A from row 0 on
	MOVQ R13, n-16(SP)
	MOVQ DX, c-24(SP)
	LEAQ strip_walks(DI), DX
	CMPQ walk_panels(DX), $0
	JNE  walk
	ADDQ $walk__size, DX
	CMPQ walk_panels(DX), $0
	JNE  walk
	MOVQ SI, AX
	MOVL $0x7FFFFFFF, R12
	JMP  rows

walk:
	DECQ walk_panels(DX)
	MOVQ walk_next(DX), AX
	MOVQ walk_left(DX), R12
	MOVQ walk_jump(DX), R13

	// one loop over k for each number of rows
rows:
	TOROWS12(strip_m(DI))
	LOOPS11(NEXTKWALK, multiplied)

	// 4 of k in each iteration
	PCALIGN $64
rows12:
	CMPQ strip_pack(DI), $0
	JNE  pack
	MOVQ $0, tail-32(SP)
	CMPQ CX, $(2*TAIL)
	JLT  rows12part
	SUBQ $TAIL, CX
	MOVQ $TAIL, tail-32(SP)

rows12part:
	SUBQ $4, CX
	JLT  rows12rest
	CMPQ walk_fast(DX), $0
	JNE  rows12fast

rows12slow:
	PREFETCHT1 (AX)
	ADDQ $64, AX
	DECQ R12
	JEQ  slowrow

rows12slowfour:
	FOUR12
	SUBQ $4, CX
	JGE  rows12slow
	JMP  rows12rest

slowrow:
	ADDQ R13, AX
	MOVQ walk_lines(DX), R12
	JMP  rows12slowfour

	PCALIGN $64
rows12fast:
	PREFETCHT1 (AX)
	PREFETCHT1 64(AX)
	PREFETCHT1 128(AX)
	PREFETCHT1 192(AX)
	ADDQ $256, AX
	SUBQ $4, R12
	JLE  fastrow

rows12fastfour:
	FOUR12
	SUBQ $4, CX
	JGE  rows12fast
	JMP  rows12rest

fastrow:
	ADDQ R13, AX
	MOVQ walk_lines(DX), R12
	JMP  rows12fastfour

rows12rest:
	ADDQ $4, CX
	JEQ  part

rows12one:
	LOADB
	EACH12
	NEXTK
	JNE rows12one

	// prefetch C for the stores, then the last of k
part:
	CMPQ tail-32(SP), $0
	JEQ  multiplied
	MOVQ R12, left-40(SP)
	MOVQ s+0(FP), DI
	MOVQ strip_cRow(DI), R12
	MOVQ c-24(SP), DI
	PREFETCHC(DI, CX)
	MOVQ left-40(SP), R12
	MOVQ tail-32(SP), CX
	MOVQ $0, tail-32(SP)
	JMP  rows12part

	// the same with a B that is packed: DI is the packed row, DX 16 rows of B, the distance of
	// their prefetch
pack:
	MOVQ DX, walk-40(SP)
	MOVQ R11, DX
	SHLQ $4, DX
	MOVQ strip_pack(DI), DI
	SUBQ $4, CX
	JLT  packrest

packfour:
	PREFETCHT1 (AX)
	ADDQ $64, AX
	DECQ R12
	JEQ  packrow

packrows:
	PACKB
	EACH12
	NEXTA
	PACKB
	EACH12
	NEXTA
	PACKB
	EACH12
	NEXTA
	PACKB
	EACH12
	NEXTA
	SUBQ $4, CX
	JGE  packfour
	JMP  packrest

packrow:
	ADDQ R13, AX
	MOVQ walk-40(SP), R12
	MOVQ walk_lines(R12), R12
	JMP  packrows

packrest:
	ADDQ $4, CX
	JEQ  packed

packone:
	PACKB
	EACH12
	NEXTK
	JNE packone

packed:
	MOVQ s+0(FP), DI
	MOVQ walk-40(SP), DX

multiplied:
	MOVQ AX, walk_next(DX)
	MOVQ R12, walk_left(DX)
	MOVQ s+0(FP), DI
	MOVQ strip_cRow(DI), R12
	MOVQ strip_m(DI), AX
	MOVQ n-16(SP), R13
	MOVQ c-24(SP), DX

epilogue:
	EPILOGUE(strip_c(DI), strip_bias(DI), strip_relu(DI), LOADBIAS, ROWS12, ADDBIAS, RELU)
	EACHROW(STOREC, next)

next:
	SUBQ $32, R13
	JLE  done
	ADDQ $128, DX
	MOVQ strip_bPanel(DI), CX
	ADDQ CX, b-8(SP)
	JMP  panel

done:
	VZEROUPPER
	RET

#define CLEAR1(C) VPXORD C, C, C
#define MULTIPLYADD(C) VFMADD231PS Z12, Z12, C

// func fmaLoopAVX512(n int)
// Requires: AVX512F
TEXT ·fmaLoopAVX512(SB), NOSPLIT, $0-8
	MOVQ n+0(FP), CX
	REGISTERS12(CLEAR1)
	CLEAR1(Z12)

	PCALIGN $64
again:
	REGISTERS12(MULTIPLYADD)
	DECQ CX
	JNE  again
	VZEROUPPER
	RET
