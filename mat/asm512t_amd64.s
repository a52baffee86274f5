//go:build !purego && !noasm

// The kernel of few rows times a matrix whose columns are contiguous, for AVX-512 (F, VL, BW, DQ):
//
//	stripTAVX512  up to 8 rows of C
//
// Z16 to Z23 hold 16 columns of C, one register a row. So that the chains of all columns advance
// over k together, the kernel transposes 4 of k of the 16 columns of B at a time in registers,
// which costs less than reading them.

#include "textflag.h"
#include "go_asm.h"
#include "tile512_amd64.h"

// B0 to B3 = 4 of k of the 16 columns of B, at offset OFF. The loads put columns i, 4+i, 8+i and
// 12+i into the 128-bit lanes of register i; then each lane is transposed.
#define QUAD(OFF, X0, X1, X2, X3, B0, B1, B2, B3, T0, T1, T2, T3) \
	VMOVUPS         OFF(R8), X0 \
	VMOVUPS         OFF(R8)(R12*1), X1 \
	VMOVUPS         OFF(R8)(R12*2), X2 \
	VMOVUPS         OFF(R8)(R13*1), X3 \
	VBROADCASTF32X4 OFF(R9), K1, B0 \
	VBROADCASTF32X4 OFF(R9)(R12*1), K1, B1 \
	VBROADCASTF32X4 OFF(R9)(R12*2), K1, B2 \
	VBROADCASTF32X4 OFF(R9)(R13*1), K1, B3 \
	VBROADCASTF32X4 OFF(R10), K2, B0 \
	VBROADCASTF32X4 OFF(R10)(R12*1), K2, B1 \
	VBROADCASTF32X4 OFF(R10)(R12*2), K2, B2 \
	VBROADCASTF32X4 OFF(R10)(R13*1), K2, B3 \
	VBROADCASTF32X4 OFF(R11), K3, B0 \
	VBROADCASTF32X4 OFF(R11)(R12*1), K3, B1 \
	VBROADCASTF32X4 OFF(R11)(R12*2), K3, B2 \
	VBROADCASTF32X4 OFF(R11)(R13*1), K3, B3 \
	VUNPCKLPS       B1, B0, T0 \
	VUNPCKHPS       B1, B0, T1 \
	VUNPCKLPS       B3, B2, T2 \
	VUNPCKHPS       B3, B2, T3 \
	VUNPCKLPD       T2, T0, B0 \
	VUNPCKHPD       T2, T0, B1 \
	VUNPCKLPD       T3, T1, B2 \
	VUNPCKHPD       T3, T1, B3
#define QUADEVEN(OFF) QUAD(OFF, X0, X1, X2, X3, Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7)
#define QUADODD(OFF) QUAD(OFF, X8, X9, X10, X11, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15)

// the first rows of C += A·B for one k, at offset OFF of A
#define FMA1(OFF, B) \
	VFMADD231PS.BCST OFF(SI), B, Z16
#define FMA2(OFF, B) \
	FMA1(OFF, B) \
	VFMADD231PS.BCST OFF(SI)(R15*1), B, Z17
#define FMA3(OFF, B) \
	FMA2(OFF, B) \
	VFMADD231PS.BCST OFF(SI)(R15*2), B, Z18
#define FMA4(OFF, B) \
	FMA3(OFF, B) \
	VFMADD231PS.BCST OFF(AX), B, Z19
#define FMA5(OFF, B) \
	FMA4(OFF, B) \
	VFMADD231PS.BCST OFF(AX)(R15*1), B, Z20
#define FMA6(OFF, B) \
	FMA5(OFF, B) \
	VFMADD231PS.BCST OFF(AX)(R15*2), B, Z21
#define FMA7(OFF, B) \
	FMA6(OFF, B) \
	VFMADD231PS.BCST OFF(BX), B, Z22
#define FMA8(OFF, B) \
	FMA7(OFF, B) \
	VFMADD231PS.BCST OFF(BX)(R15*1), B, Z23

// 16 of k
#define SIXTEEN(FMA) \
	QUADEVEN(0) \
	FMA(0, Z0) \
	FMA(4, Z1) \
	FMA(8, Z2) \
	FMA(12, Z3) \
	QUADODD(16) \
	FMA(16, Z8) \
	FMA(20, Z9) \
	FMA(24, Z10) \
	FMA(28, Z11) \
	QUADEVEN(32) \
	FMA(32, Z0) \
	FMA(36, Z1) \
	FMA(40, Z2) \
	FMA(44, Z3) \
	QUADODD(48) \
	FMA(48, Z8) \
	FMA(52, Z9) \
	FMA(56, Z10) \
	FMA(60, Z11) \
	ADDQ $64, R8 \
	ADDQ $64, R9 \
	ADDQ $64, R10 \
	ADDQ $64, R11 \
	ADDQ $64, SI \
	ADDQ $64, AX \
	ADDQ $64, BX \
	DECQ CX

// the loop over k for the rows of FMA
#define SIXTEENS(rows, FMA) \
	PCALIGN $64  \
rows: \
	SIXTEEN(FMA) \
	JNE rows

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
#define CLEAR1(C) VPXORD C, C, C
#define ADDBIAS1(C) VADDPS Z0, C, C
#define RELU1(C) VMAXPS C, Z0, C

// R14 = the first row of C; MOVE for each of m rows, then jump to DONE
#define EACHROW(MOVE, DONE) \
	MOVQ DX, R14              \
	MOVQ strip_m(DI), AX      \
	MOVQ strip_cRow(DI), BX   \
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

// func stripTAVX512(s *strip)
// Requires: AVX512F, AVX512DQ
//
// DI s           DX C            CX k left / 16     n-8(SP) columns left
// R8 to R11 columns 0, 4, 8 and 12 of B              R12 s.bPanel    R13 3·s.bPanel
// SI A row 0     AX A row 3      BX A row 6          R15 s.aRow      R14 row of C
//
// There is no prefetching, because the processor does better with 16 streams.
TEXT ·stripTAVX512(SB), NOSPLIT, $16-8
	MOVQ  s+0(FP), DI
	MOVQ  strip_c(DI), DX
	MOVQ  strip_b(DI), R8
	MOVQ  strip_bPanel(DI), R12
	LEAQ  (R12)(R12*2), R13
	MOVQ  strip_aRow(DI), R15
	MOVQ  strip_n(DI), AX
	MOVQ  AX, n-8(SP)
	MOVL  $0x00F0, AX
	KMOVW AX, K1
	MOVL  $0x0F00, AX
	KMOVW AX, K2
	MOVL  $0xF000, AX
	KMOVW AX, K3

columns:
	// the chains start from C
	CMPQ strip_accumulate(DI), $0
	JEQ  zero
	EACHROW(LOADC, multiply)
	JMP  multiply

	// or from 0
zero:
	EACHOF8(CLEAR1)

multiply:
	LEAQ (R8)(R12*4), R9
	LEAQ (R9)(R12*4), R10
	LEAQ (R10)(R12*4), R11
	MOVQ strip_a(DI), SI
	LEAQ (R15)(R15*2), BX
	LEAQ (SI)(BX*1), AX
	LEAQ (AX)(BX*1), BX
	MOVQ strip_k(DI), CX
	SHRQ $4, CX

	// one loop over k for each number of rows
	TOROWS8(strip_m(DI))
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
	MOVQ  strip_bias(DI), SI
	TESTQ SI, SI
	JEQ   relu
	ADDQ  DX, SI
	SUBQ  strip_c(DI), SI
	VMOVUPS (SI), Z0
	EACHOF8(ADDBIAS1)

	// x < 0 ? 0 : x by VMAXPS with x as its last operand, which preserves NaN and -0
relu:
	CMPQ   strip_relu(DI), $0
	JEQ    store
	VPXORD Z0, Z0, Z0
	EACHOF8(RELU1)

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
