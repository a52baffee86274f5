//go:build !purego && !noasm

// The kernels of matrix products for AVX2 and FMA:
//
//	stripAVX2          up to 6 rows of C
//	copyPanel          packing of rows
//	transposePanelAVX2 packing of columns
//	fmaLoopAVX2        peak rate
//	pause              hint of waiting loops
//
// Y0 to Y11 hold 6 rows of 16 columns of C, two registers a row.

#include "textflag.h"
#include "go_asm.h"
#include "tile256_amd64.h"

// 16 lanes on, 16 lanes off: loading from n lanes before the middle gives a mask of the first n
DATA lanes<>+0x00(SB)/8, $-1
DATA lanes<>+0x08(SB)/8, $-1
DATA lanes<>+0x10(SB)/8, $-1
DATA lanes<>+0x18(SB)/8, $-1
DATA lanes<>+0x20(SB)/8, $-1
DATA lanes<>+0x28(SB)/8, $-1
DATA lanes<>+0x30(SB)/8, $-1
DATA lanes<>+0x38(SB)/8, $-1
DATA lanes<>+0x40(SB)/8, $0
DATA lanes<>+0x48(SB)/8, $0
DATA lanes<>+0x50(SB)/8, $0
DATA lanes<>+0x58(SB)/8, $0
DATA lanes<>+0x60(SB)/8, $0
DATA lanes<>+0x68(SB)/8, $0
DATA lanes<>+0x70(SB)/8, $0
DATA lanes<>+0x78(SB)/8, $0
GLOBL lanes<>(SB), RODATA|NOPTR, $128

// Y14 and Y15 = the mask of the first N of 16 lanes; overwrites T
#define MASKS(N, T) \
	LEAQ    lanes<>+64(SB), T   \
	NEGQ    N                   \
	VMOVUPS (T)(N*4), Y14       \
	VMOVUPS 32(T)(N*4), Y15     \
	NEGQ    N

// one row of the tile: C0, C1 += a·(Y12, Y13)
#define FMAROW(A, T, C0, C1) \
	VBROADCASTSS A, T           \
	VFMADD231PS  T, Y12, C0     \
	VFMADD231PS  T, Y13, C1

// rows 0 to 5 for one k
#define LOADB \
	VMOVUPS (BX), Y12           \
	VMOVUPS 32(BX), Y13
#define ROW0 FMAROW((SI), Y14, Y0, Y1)
#define ROW1 FMAROW((SI)(R9*1), Y15, Y2, Y3)
#define ROW2 FMAROW((SI)(R9*2), Y14, Y4, Y5)
#define ROW3 FMAROW((R8), Y15, Y6, Y7)
#define ROW4 FMAROW((R8)(R9*1), Y14, Y8, Y9)
#define ROW5 FMAROW((R8)(R9*2), Y15, Y10, Y11)
#define NEXTAB \
	ADDQ R11, BX                \
	ADDQ R10, SI                \
	ADDQ R10, R8
#define NEXTK \
	NEXTAB                      \
	DECQ CX

// the next k, with a copy of the row of B and a step of the walk
#define NEXTKPACK \
	VMOVUPS Y12, (DX)           \
	VMOVUPS Y13, 32(DX)         \
	ADDQ    $64, DX             \
	PREFETCHT1 (R14)            \
	ADDQ    $64, R14            \
	LEAQ    (R14)(AX*1), R13    \
	DECQ    R15                 \
	CMOVQEQ R13, R14            \
	CMOVQEQ walk_lines(DI), R15 \
	NEXTK

// a row of C at R14, all lanes or those of Y14 and Y15, and a step to the next row that preserves
// the flags
#define LOADC(C0, C1) \
	VMOVUPS (R14), C0           \
	VMOVUPS 32(R14), C1         \
	LEAQ    (R14)(R12*1), R14
#define LOADCMASKED(C0, C1) \
	VMASKMOVPS (R14), Y14, C0   \
	VMASKMOVPS 32(R14), Y15, C1 \
	LEAQ       (R14)(R12*1), R14
#define STOREC(C0, C1) \
	VMOVUPS C0, (R14)           \
	VMOVUPS C1, 32(R14)         \
	LEAQ    (R14)(R12*1), R14
#define STORECMASKED(C0, C1) \
	VMASKMOVPS C0, Y14, (R14)   \
	VMASKMOVPS C1, Y15, 32(R14) \
	LEAQ       (R14)(R12*1), R14

// R14 = the first row of C; MOVE for each of m rows, then jump to DONE
#define EACHROW(MOVE, DONE) \
	MOVQ DX, R14   \
	ROWSUPTO6(MOVE, DONE)

// func stripAVX2(s *strip)
// Requires: AVX2, FMA
//
// DI s          AX m          CX k left     R13 columns left
// DX C          R12 s.cRow    R14 row of C
// SI A row 0    R8 A row 3    R9 s.aRow     R10 s.aK
// BX B          R11 s.bK      b-8(SP) B, k = 0
//
// In the loops for 6 rows, DI is the walk, R14 the next line to prefetch, R15 the lines left in the
// row, AX the jump to the next row and DX the packed row of B.
TEXT ·stripAVX2(SB), NOSPLIT, $24-8
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
	// the chains start from C
	CMPQ strip_accumulate(DI), $0
	JEQ  zero
	CMPQ R13, $16
	JLT  loadedge
	EACHROW(LOADC, multiply)
	JMP  multiply

loadedge:
	MASKS(R13, CX)
	EACHROW(LOADCMASKED, multiply)
	JMP multiply

	// or from 0
zero:
	ROWS6(CLEAR)

multiply:
	// prefetch the C of the next panel, from which its chains start
	LEAQ        64(DX), R14
	MOVQ        strip_c(DI), CX
	ADDQ        strip_next(DI), CX
	CMPQ        R13, $16
	CMOVQLE     CX, R14
	PREFETCHT0  (R14)
	PREFETCHT0  (R14)(R12*1)
	LEAQ        (R14)(R12*2), R14
	PREFETCHT0  (R14)
	PREFETCHT0  (R14)(R12*1)
	LEAQ        (R14)(R12*2), R14
	PREFETCHT0  (R14)
	PREFETCHT0  (R14)(R12*1)

	MOVQ  strip_k(DI), CX
	TESTQ CX, CX
	JEQ   epilogue
	MOVQ  strip_a(DI), SI
	LEAQ  (SI)(R9*2), R8
	ADDQ  R9, R8
	MOVQ  b-8(SP), BX

	// one loop over k for each number of rows
	TOROWS6(AX)
	LOOP(rows1, EACH1, NEXTK, $32)
	JMP epilogue
	LOOP(rows2, EACH2, NEXTK, $32)
	JMP epilogue
	LOOP(rows3, EACH3, NEXTK, $32)
	JMP epilogue
	LOOP(rows4, EACH4, NEXTK, $32)
	JMP epilogue
	LOOP(rows5, EACH5, NEXTK, $32)
	JMP epilogue

	// the walk of this panel, or, without one, lines of A from row 0 on
rows6:
	MOVQ R13, n-16(SP)
	MOVQ DX, c-24(SP)
	MOVQ strip_pack(DI), DX
	LEAQ strip_walks(DI), DI
	CMPQ walk_panels(DI), $0
	JNE  walk
	ADDQ $walk__size, DI
	CMPQ walk_panels(DI), $0
	JNE  walk
	MOVQ SI, R14
	MOVL $0x7FFFFFFF, R15
	JMP  rows6k

walk:
	DECQ walk_panels(DI)
	MOVQ walk_next(DI), R14
	MOVQ walk_left(DI), R15
	MOVQ walk_jump(DI), AX

rows6k:
	TESTQ DX, DX
	JNE   pack

	// 4 of k in each iteration
	SUBQ $4, CX
	JLT  rows6rest

	PCALIGN $32
rows6four:
	PREFETCHT1 (R14)
	ADDQ $64, R14
	DECQ R15
	JEQ  row

rows6row:
	LOADB
	EACH6
	NEXTAB
	LOADB
	EACH6
	NEXTAB
	LOADB
	EACH6
	NEXTAB
	LOADB
	EACH6
	NEXTAB
	SUBQ $4, CX
	JGE  rows6four
	JMP  rows6rest

row:
	ADDQ AX, R14
	MOVQ walk_lines(DI), R15
	JMP  rows6row

rows6rest:
	ADDQ $4, CX
	JEQ  multiplied

rows6one:
	LOADB
	EACH6
	NEXTK
	JNE rows6one
	JMP multiplied

	// the same with a B that is packed
	LOOP(pack, EACH6, NEXTKPACK, $32)

multiplied:
	MOVQ R14, walk_next(DI)
	MOVQ R15, walk_left(DI)
	MOVQ s+0(FP), DI
	MOVQ strip_m(DI), AX
	MOVQ n-16(SP), R13
	MOVQ c-24(SP), DX

epilogue:
	// + bias
	MOVQ  strip_bias(DI), SI
	TESTQ SI, SI
	JEQ   relu
	ADDQ  DX, SI
	SUBQ  strip_c(DI), SI
	CMPQ  R13, $16
	JLT   biasedge
	VMOVUPS (SI), Y12
	VMOVUPS 32(SI), Y13
	JMP   addbias

biasedge:
	MASKS(R13, CX)
	VMASKMOVPS (SI), Y14, Y12
	VMASKMOVPS 32(SI), Y15, Y13

addbias:
	ROWS6(ADDBIAS)

	// x < 0 ? 0 : x
relu:
	CMPQ   strip_relu(DI), $0
	JEQ    store
	VXORPS Y12, Y12, Y12
	ROWS6(RELU)

store:
	CMPQ R13, $16
	JLT  storeedge
	EACHROW(STOREC, next)

next:
	SUBQ $16, R13
	JLE  done
	ADDQ $64, DX
	MOVQ strip_bPanel(DI), CX
	ADDQ CX, b-8(SP)
	JMP  panel

storeedge:
	MASKS(R13, CX)
	EACHROW(STORECMASKED, done)

done:
	VZEROUPPER
	RET

#undef FMAROW
#undef LOADB
#undef ROW0
#undef ROW1
#undef ROW2
#undef ROW3
#undef ROW4
#undef ROW5
#undef NEXTAB
#undef NEXTK
#undef NEXTKPACK
#undef LOADC
#undef LOADCMASKED
#undef STOREC
#undef STORECMASKED
#undef EACHROW

// func copyPanel(dst *float32, dstK uintptr, src *float32, srcK uintptr, w, k int)
// Requires: AVX2
TEXT ·copyPanel(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ dstK+8(FP), R8
	MOVQ src+16(FP), SI
	MOVQ srcK+24(FP), R9
	MOVQ w+32(FP), AX
	MOVQ k+40(FP), CX
	CMPQ AX, $16
	JEQ  whole
	MASKS(AX, DX)
	CMPQ AX, $8
	JLE  half

	// 9 to 15 lanes
edge:
	VMASKMOVPS (SI), Y14, Y0
	VMASKMOVPS 32(SI), Y15, Y1
	VMOVUPS    Y0, (DI)
	VMOVUPS    Y1, 32(DI)
	ADDQ       R9, SI
	ADDQ       R8, DI
	DECQ       CX
	JNE        edge
	VZEROUPPER
	RET

	// 1 to 8 lanes
half:
	VMASKMOVPS (SI), Y14, Y0
	VMOVUPS    Y0, (DI)
	ADDQ       R9, SI
	ADDQ       R8, DI
	DECQ       CX
	JNE        half
	VZEROUPPER
	RET

	// 16 lanes
whole:
	VMOVUPS (SI), Y0
	VMOVUPS 32(SI), Y1
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	ADDQ    R9, SI
	ADDQ    R8, DI
	DECQ    CX
	JNE     whole
	VZEROUPPER
	RET

// transposes the 4 × 4 floats in each half of Y0 to Y3
#define UNPACKQUAD \
	VUNPCKLPS Y1, Y0, Y4        \
	VUNPCKHPS Y1, Y0, Y5        \
	VUNPCKLPS Y3, Y2, Y6        \
	VUNPCKHPS Y3, Y2, Y7        \
	VUNPCKLPD Y6, Y4, Y0        \
	VUNPCKHPD Y6, Y4, Y1        \
	VUNPCKLPD Y7, Y5, Y2        \
	VUNPCKHPD Y7, Y5, Y3

// Y0 to Y3 = the transpose of the 4 × 8 floats in Y0 to Y3, with columns k and k+4 in the halves of
// register k, stored to 8 rows at DI
#define TRANSPOSE \
	UNPACKQUAD                  \
	LEAQ         (DI)(DX*4), R13 \
	VMOVUPS      X0, (DI)       \
	VMOVUPS      X1, (DI)(DX*1) \
	VMOVUPS      X2, (DI)(DX*2) \
	VEXTRACTF128 $1, Y0, (R13)  \
	VEXTRACTF128 $1, Y1, (R13)(DX*1) \
	VEXTRACTF128 $1, Y2, (R13)(DX*2) \
	ADDQ         DX, DI         \
	ADDQ         DX, R13        \
	VMOVUPS      X3, (DI)(DX*2) \
	VEXTRACTF128 $1, Y3, (R13)(DX*2)

// Y0 to Y3 = 4 floats, at offset OFF, of 8 rows: rows 0 to 3 at R10, rows 4 to 7 at R11
#define LOADQUAD(OFF) \
	VMOVUPS     OFF(R10), X0                      \
	VMOVUPS     OFF(R10)(R14*1), X1               \
	VMOVUPS     OFF(R10)(R14*2), X2               \
	VMOVUPS     OFF(R10)(R15*1), X3               \
	VINSERTF128 $1, OFF(R11), Y0, Y0              \
	VINSERTF128 $1, OFF(R11)(R14*1), Y1, Y1       \
	VINSERTF128 $1, OFF(R11)(R14*2), Y2, Y2       \
	VINSERTF128 $1, OFF(R11)(R15*1), Y3, Y3

// stores the transpose of the 4 × 4 floats in each half of Y0 to Y3 to 4 rows at DI, and moves DI
// to the next row
#define TRANSPOSEQUAD \
	UNPACKQUAD                  \
	VMOVUPS   Y0, (DI)          \
	VMOVUPS   Y1, (DI)(DX*1)    \
	VMOVUPS   Y2, (DI)(DX*2)    \
	VMOVUPS   Y3, (DI)(R13*1)   \
	LEAQ      (DI)(DX*4), DI

// func transposePanelAVX2(dst *float32, dstK uintptr, src *float32, srcRow uintptr, w, k int)
// Requires: AVX2
//
// Rows of src are columns of dst.
TEXT ·transposePanelAVX2(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), R12
	MOVQ dstK+8(FP), DX
	MOVQ src+16(FP), R8
	MOVQ w+32(FP), AX
	CMPQ AX, $8
	JLT  rows
	MOVQ srcRow+24(FP), R14
	LEAQ (R14)(R14*2), R15
	LEAQ (DX)(DX*2), R13

	// 8 rows from R10 and R11 on; the last 8 may overlap those before
eightrows:
	SUBQ $8, AX
	JGE  eight8
	IMULQ AX, R14
	ADDQ R14, R8
	MOVQ srcRow+24(FP), R14
	LEAQ (R12)(AX*4), R12
	XORL AX, AX

eight8:
	MOVQ R8, R10
	LEAQ (R8)(R14*4), R11
	LEAQ (R8)(R14*8), R8
	MOVQ R8, SI // the next 8 rows, to prefetch
	LEAQ (R8)(R14*4), R9
	MOVQ R12, DI
	MOVQ k+40(FP), CX
	SUBQ $16, CX
	JLT  rest8

	PCALIGN $64
sixteen8:
	PREFETCHT0 (SI)
	PREFETCHT0 (SI)(R14*1)
	PREFETCHT0 (SI)(R14*2)
	PREFETCHT0 (SI)(R15*1)
	PREFETCHT0 (R9)
	PREFETCHT0 (R9)(R14*1)
	PREFETCHT0 (R9)(R14*2)
	PREFETCHT0 (R9)(R15*1)
	ADDQ $64, SI
	ADDQ $64, R9
	LOADQUAD(0)
	TRANSPOSEQUAD
	LOADQUAD(16)
	TRANSPOSEQUAD
	LOADQUAD(32)
	TRANSPOSEQUAD
	LOADQUAD(48)
	TRANSPOSEQUAD
	ADDQ $64, R10
	ADDQ $64, R11
	SUBQ $16, CX
	JGE  sixteen8

rest8:
	ADDQ $12, CX
	JLT  tail8
four8:
	LOADQUAD(0)
	TRANSPOSEQUAD
	ADDQ $16, R10
	ADDQ $16, R11
	SUBQ $4, CX
	JGE  four8

tail8:
	ADDQ $4, CX
	JEQ  nexteight
	MASKS(CX, BX)
	VMASKMOVPS (R10), X14, X0
	VMASKMOVPS (R10)(R14*1), X14, X1
	VMASKMOVPS (R10)(R14*2), X14, X2
	VMASKMOVPS (R10)(R15*1), X14, X3
	VMASKMOVPS (R11), X14, X4
	VMASKMOVPS (R11)(R14*1), X14, X5
	VMASKMOVPS (R11)(R14*2), X14, X6
	VMASKMOVPS (R11)(R15*1), X14, X7
	VINSERTF128 $1, X4, Y0, Y0
	VINSERTF128 $1, X5, Y1, Y1
	VINSERTF128 $1, X6, Y2, Y2
	VINSERTF128 $1, X7, Y3, Y3
	TRANSPOSEQUAD

nexteight:
	ADDQ  $32, R12
	TESTQ AX, AX
	JNE   eightrows
	VZEROUPPER
	RET

	// R8 to R11 are 4 rows; beyond w rows the last one is repeated
rows:
	MOVQ    srcRow+24(FP), R14
	LEAQ    (R8)(R14*1), R9
	CMPQ    AX, $2
	CMOVQLT R8, R9
	LEAQ    (R9)(R14*1), R10
	CMPQ    AX, $3
	CMOVQLT R9, R10
	LEAQ    (R10)(R14*1), R11
	CMPQ    AX, $4
	CMOVQLT R10, R11
	LEAQ    (R11)(R14*1), SI // the next 4 rows, to prefetch
	MOVQ    R12, DI
	MOVQ    k+40(FP), CX
	XORL    BX, BX           // byte offset in the rows
	SUBQ    $8, CX
	JLT     tail

eight:
	LEAQ       (SI)(BX*1), R13
	PREFETCHT0 (R13)
	PREFETCHT0 (R13)(R14*1)
	LEAQ       (R13)(R14*2), R13
	PREFETCHT0 (R13)
	PREFETCHT0 (R13)(R14*1)
	VMOVUPS (R8)(BX*1), Y0
	VMOVUPS (R9)(BX*1), Y1
	VMOVUPS (R10)(BX*1), Y2
	VMOVUPS (R11)(BX*1), Y3
	TRANSPOSE
	LEAQ    (R13)(DX*2), DI
	ADDQ    DX, DI
	ADDQ    $32, BX
	SUBQ    $8, CX
	JGE     eight

tail:
	ADDQ       $8, CX
	JEQ        nextrows
	MASKS(CX, SI)
	VMASKMOVPS (R8)(BX*1), Y14, Y0
	VMASKMOVPS (R9)(BX*1), Y14, Y1
	VMASKMOVPS (R10)(BX*1), Y14, Y2
	VMASKMOVPS (R11)(BX*1), Y14, Y3
	TRANSPOSE

nextrows:
	MOVQ srcRow+24(FP), R14
	LEAQ (R11)(R14*1), R8
	ADDQ $16, R12
	SUBQ $4, AX
	JGT  rows
	VZEROUPPER
	RET

#undef UNPACKQUAD
#undef LOADQUAD
#undef TRANSPOSEQUAD
#undef TRANSPOSE
#undef MASKS

#define MULTIPLYADD(C0, C1) \
	VFMADD231PS Y12, Y12, C0 \
	VFMADD231PS Y12, Y12, C1

// func fmaLoopAVX2(n int)
// Requires: AVX2, FMA
TEXT ·fmaLoopAVX2(SB), NOSPLIT, $0-8
	MOVQ   n+0(FP), CX
	ROWS6(CLEAR)
	VXORPS Y12, Y12, Y12

	PCALIGN $32
again:
	ROWS6(MULTIPLYADD)
	DECQ CX
	JNE  again
	VZEROUPPER
	RET

// func pause()
TEXT ·pause(SB), NOSPLIT, $0-0
	PAUSE
	RET
