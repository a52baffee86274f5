//go:build !purego && !noasm

// The kernels for a matrix whose columns are contiguous, for AVX-512 (F, VL, BW, DQ):
//
//	columnsAVX512        few rows times the matrix, up to 8 rows of C
//	transposePanelAVX512 packing of 16 columns
//
// In columnsAVX512, Z16 to Z23 hold 16 columns of C, one register a row. So that the chains of all
// columns advance over k together, the kernel transposes 16 of k of the 16 columns of B at a time
// in registers. Each cache line of B is read at once, because the columns may share a set of L1.
// Loads and transposition alternate with multiply-adds, so that they overlap.

#include "textflag.h"
#include "go_asm.h"
#include "tile512_amd64.h"

// 16 of k of columns I and J: LO = k 0 to 7 of both, HI = k 8 to 15 of both
#define PAIR(I, J, LOY, LO, HIY, HI) \
	VMOVUPS      I, LOY        \
	VMOVUPS      32 I, HIY     \
	VINSERTF64X4 $1, J, LO, LO \
	VINSERTF64X4 $1, 32 J, HI, HI

// the pairs of 16 columns
#define PAIR0 PAIR((R8), (R8)(R12*4), Y0, Z0, Y12, Z12)
#define PAIR1 PAIR((R8)(R12*1), (R9)(R13*1), Y1, Z1, Y13, Z13)
#define PAIR2 PAIR((R8)(R12*2), (R8)(R13*2), Y2, Z2, Y14, Z14)
#define PAIR3 PAIR((R8)(R13*1), (R10), Y3, Z3, Y15, Z15)
#define PAIR4 PAIR((R8)(R12*8), (R8)(R13*4), Y24, Z24, Y28, Z28)
#define PAIR5 PAIR((R10)(R12*2), (R10)(R13*2), Y25, Z25, Y29, Z29)
#define PAIR6 PAIR((R10)(R13*1), (R9)(R13*4), Y26, Z26, Y30, Z30)
#define PAIR7 PAIR((R10)(R12*4), (R10)(R12*8), Y27, Z27, Y31, Z31)
#define PAIRS \
	PAIR0 \
	PAIR1 \
	PAIR2 \
	PAIR3 \
	PAIR4 \
	PAIR5 \
	PAIR6 \
	PAIR7

// UNPACKPS, then UNPACKPD transpose the 4 × 4 elements in each 128-bit lane of B0 to B3
#define UNPACKPS(B0, B1, B2, B3, T0, T1, T2, T3) \
	VUNPCKLPS B1, B0, T0 \
	VUNPCKHPS B1, B0, T1 \
	VUNPCKLPS B3, B2, T2 \
	VUNPCKHPS B3, B2, T3
#define UNPACKPD(B0, B1, B2, B3, T0, T1, T2, T3) \
	VUNPCKLPD T2, T0, B0 \
	VUNPCKHPD T2, T0, B1 \
	VUNPCKLPD T3, T1, B2 \
	VUNPCKHPD T3, T1, B3

// D0 to D3 = the lanes of 4 of k, of A0 to A3 and of B0 to B3: $0x88 selects the first 4, $0xDD
// the next 4
#define LANES(SELECT, A0, A1, A2, A3, B0, B1, B2, B3, D0, D1, D2, D3) \
	VSHUFF32X4 SELECT, B0, A0, D0 \
	VSHUFF32X4 SELECT, B1, A1, D1 \
	VSHUFF32X4 SELECT, B2, A2, D2 \
	VSHUFF32X4 SELECT, B3, A3, D3

// prefetch 16 of k of 4 columns
#define FETCH4 \
	PREFETCHT1 (R11)        \
	PREFETCHT1 (R11)(R12*1) \
	PREFETCHT1 (R11)(R12*2) \
	PREFETCHT1 (R11)(R13*1) \
	LEAQ       (R11)(R12*4), R11

// 16 of k of the columns, k 0 to 7 in Z0 to Z3 and Z24 to Z27, k 8 to 15 in Z12 to Z15 and Z28 to
// Z31. The next 16 of k are loaded meanwhile; after the last ones, these again.
#define COLUMNS16(FMA) \
	UNPACKPS(Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7)         \
	UNPACKPD(Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7)         \
	UNPACKPS(Z24, Z25, Z26, Z27, Z8, Z9, Z10, Z11)   \
	UNPACKPD(Z24, Z25, Z26, Z27, Z8, Z9, Z10, Z11)   \
	LANES($0x88, Z0, Z1, Z2, Z3, Z24, Z25, Z26, Z27, Z4, Z5, Z6, Z7) \
	FMA(0, Z4)  \
	LANES($0xDD, Z0, Z1, Z2, Z3, Z24, Z25, Z26, Z27, Z0, Z1, Z2, Z3) \
	FMA(4, Z5)  \
	FETCH4  \
	UNPACKPS(Z12, Z13, Z14, Z15, Z8, Z9, Z10, Z11)   \
	FMA(8, Z6)  \
	UNPACKPD(Z12, Z13, Z14, Z15, Z8, Z9, Z10, Z11)   \
	FMA(12, Z7) \
	FETCH4  \
	UNPACKPS(Z28, Z29, Z30, Z31, Z24, Z25, Z26, Z27) \
	FMA(16, Z0) \
	UNPACKPD(Z28, Z29, Z30, Z31, Z24, Z25, Z26, Z27) \
	FMA(20, Z1) \
	FETCH4  \
	LANES($0x88, Z12, Z13, Z14, Z15, Z28, Z29, Z30, Z31, Z8, Z9, Z10, Z11) \
	FMA(24, Z2) \
	LANES($0xDD, Z12, Z13, Z14, Z15, Z28, Z29, Z30, Z31, Z4, Z5, Z6, Z7) \
	FMA(28, Z3) \
	FETCH4  \
	DECQ    CX       \
	SETNE   R11      \
	MOVBLZX R11, R11 \
	SHLL    $6, R11  \
	ADDQ    R11, R8  \
	ADDQ    R11, R9  \
	ADDQ    R11, R10 \
	FMA(32, Z8)         \
	PAIR0   \
	FMA(36, Z9)         \
	PAIR1   \
	FMA(40, Z10)        \
	PAIR2   \
	FMA(44, Z11)        \
	PAIR3   \
	FMA(48, Z4)         \
	PAIR4   \
	FMA(52, Z5)         \
	PAIR5   \
	FMA(56, Z6)         \
	PAIR6   \
	FMA(60, Z7)         \
	PAIR7

// the loop over k for the rows of FMA; the pointers to B stay at the last of k
#define SIXTEENS(rows, FMA) \
	PCALIGN $64         \
rows: \
	LEAQ  (R8)(R14*1), R11 \
	COLUMNS16(FMA)      \
	ADDQ  $64, SI       \
	ADDQ  $64, AX       \
	ADDQ  $64, BX       \
	TESTQ CX, CX        \
	JNE   rows

#define CLEAR1(C) VPXORD C, C, C
#define ADDBIAS1(C) VADDPS Z0, C, C
#define RELU1(C) VMAXPS C, Z0, C

// for i := range 8 rows { OP(the register of row i) }
#define EACHOF8(OP) \
	OP(Z16) \
	OP(Z17) \
	OP(Z18) \
	OP(Z19) \
	OP(Z20) \
	OP(Z21) \
	OP(Z22) \
	OP(Z23)

// R14 = the first row of C; MOVE for each of m rows, then jump to DONE
#define EACHROW(MOVE, DONE) \
	MOVQ DX, R14              \
	MOVQ columnsArgs_m(DI), AX      \
	MOVQ columnsArgs_cRow(DI), BX   \
	MOVE(Z16) \
	DECQ AX \
	JEQ  DONE \
	MOVE(Z17) \
	DECQ AX \
	JEQ  DONE \
	MOVE(Z18) \
	DECQ AX \
	JEQ  DONE \
	MOVE(Z19) \
	DECQ AX \
	JEQ  DONE \
	MOVE(Z20) \
	DECQ AX \
	JEQ  DONE \
	MOVE(Z21) \
	DECQ AX \
	JEQ  DONE \
	MOVE(Z22) \
	DECQ AX \
	JEQ  DONE \
	MOVE(Z23)
#define LOADC(C) \
	VMOVUPS (R14), C \
	ADDQ    BX, R14
#define STOREC(C) \
	VMOVUPS C, (R14) \
	ADDQ    BX, R14
// func columnsAVX512(s *columnsArgs)
// Requires: AVX512F
//
// DI s           DX C            CX k left / 16     n-8(SP) columns left
// R8, R9, R10 columns 0, 2 and 7 of B    R11 columns to prefetch
// R12 s.bCol   R13 3·s.bCol          R14 row of C; in the loops over k, 16·s.bCol or 0
// SI A row 0     AX A row 3      BX A row 6         R15 s.aRow
TEXT ·columnsAVX512(SB), NOSPLIT, $8-8
	MOVQ s+0(FP), DI
	MOVQ columnsArgs_c(DI), DX
	MOVQ columnsArgs_b(DI), R8
	MOVQ columnsArgs_bCol(DI), R12
	LEAQ (R12)(R12*2), R13
	MOVQ columnsArgs_aRow(DI), R15
	MOVQ columnsArgs_n(DI), AX
	MOVQ AX, n-8(SP)

columns:
	// the chains start from C
	CMPQ columnsArgs_accumulate(DI), $0
	JEQ  zero
	EACHROW(LOADC, multiply)
	JMP  multiply

	// or from 0
zero:
	EACHOF8(CLEAR1)

multiply:
	MOVQ columnsArgs_a(DI), SI
	LEAQ (R15)(R15*2), BX
	LEAQ (SI)(BX*1), AX
	LEAQ (AX)(BX*1), BX
	XORL R14, R14
	CMPB columnsArgs_fetch(DI), $0
	JEQ  fetched
	MOVQ R12, R14
	SHLQ $4, R14

fetched:
	LEAQ (R8)(R12*2), R9
	LEAQ (R9)(R12*4), R10
	ADDQ R12, R10
	MOVQ columnsArgs_k(DI), CX
	SHRQ $4, CX
	PAIRS

	// one loop over k for each number of rows
	TOROWS8(columnsArgs_m(DI))
	SIXTEENS(rows1, FMA1)
	JMP epilogue
	SIXTEENS(rows2, FMA2)
	JMP epilogue
	SIXTEENS(rows3, FMA3)
	JMP epilogue
	SIXTEENS(rows4, FMA4)
	JMP epilogue
	SIXTEENS(rows5, FMA5)
	JMP epilogue
	SIXTEENS(rows6, FMA6)
	JMP epilogue
	SIXTEENS(rows7, FMA7)
	JMP epilogue
	SIXTEENS(rows8, FMA8)

epilogue:
	// + bias
	MOVQ  columnsArgs_bias(DI), SI
	TESTQ SI, SI
	JEQ   relu
	ADDQ  DX, SI
	SUBQ  columnsArgs_c(DI), SI
	VMOVUPS (SI), Z0
	EACHOF8(ADDBIAS1)

	// x < 0 ? 0 : x by VMAXPS with x as its last operand, which preserves NaN and -0
relu:
	CMPQ   columnsArgs_relu(DI), $0
	JEQ    store
	VPXORD Z0, Z0, Z0
	EACHOF8(RELU1)

store:
	EACHROW(STOREC, next)

	// the next 16 columns; R8 is at the last 16 of k
next:
	MOVQ columnsArgs_k(DI), AX
	SHLQ $2, AX
	MOVQ R12, BX
	SHLQ $4, BX
	LEAQ 64(R8)(BX*1), R8
	SUBQ AX, R8
	ADDQ $64, DX
	SUBQ $16, n-8(SP)
	JGT  columns
	VZEROUPPER
	RET

// 4 of k of 16 columns, stored at DI
#define STORE4(C0, C1, C2, C3) \
	VMOVUPS C0, (DI)        \
	VMOVUPS C1, (DI)(DX*1)  \
	VMOVUPS C2, (DI)(DX*2)  \
	VMOVUPS C3, (DI)(R14*1) \
	LEAQ    (DI)(DX*4), DI

// func transposePanelAVX512(dst *float32, dstK uintptr, src *float32, srcRow uintptr, k int)
// Requires: AVX512F, AVX512DQ
//
// R14 is 3 times dstK, R15 16 times srcRow. R11 prefetches the next 16 columns.
TEXT ·transposePanelAVX512(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ dstK+8(FP), DX
	LEAQ (DX)(DX*2), R14
	MOVQ src+16(FP), R8
	MOVQ srcRow+24(FP), R12
	MOVQ k+32(FP), CX
	LEAQ (R12)(R12*2), R13
	LEAQ (R8)(R12*2), R9
	LEAQ (R8)(R13*2), R10
	ADDQ R12, R10
	MOVQ R12, R15
	SHLQ $4, R15

	PCALIGN $64
sixteen:
	PAIRS
	LEAQ (R8)(R15*1), R11
	FETCH4
	UNPACKPS(Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7)
	UNPACKPD(Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7)
	UNPACKPS(Z24, Z25, Z26, Z27, Z8, Z9, Z10, Z11)
	UNPACKPD(Z24, Z25, Z26, Z27, Z8, Z9, Z10, Z11)
	FETCH4
	LANES($0x88, Z0, Z1, Z2, Z3, Z24, Z25, Z26, Z27, Z4, Z5, Z6, Z7)
	STORE4(Z4, Z5, Z6, Z7)
	LANES($0xDD, Z0, Z1, Z2, Z3, Z24, Z25, Z26, Z27, Z4, Z5, Z6, Z7)
	STORE4(Z4, Z5, Z6, Z7)
	FETCH4
	UNPACKPS(Z12, Z13, Z14, Z15, Z0, Z1, Z2, Z3)
	UNPACKPD(Z12, Z13, Z14, Z15, Z0, Z1, Z2, Z3)
	UNPACKPS(Z28, Z29, Z30, Z31, Z8, Z9, Z10, Z11)
	UNPACKPD(Z28, Z29, Z30, Z31, Z8, Z9, Z10, Z11)
	FETCH4
	LANES($0x88, Z12, Z13, Z14, Z15, Z28, Z29, Z30, Z31, Z4, Z5, Z6, Z7)
	STORE4(Z4, Z5, Z6, Z7)
	LANES($0xDD, Z12, Z13, Z14, Z15, Z28, Z29, Z30, Z31, Z4, Z5, Z6, Z7)
	STORE4(Z4, Z5, Z6, Z7)
	ADDQ $64, R8
	ADDQ $64, R9
	ADDQ $64, R10
	SUBQ $16, CX
	JGT  sixteen
	VZEROUPPER
	RET
