//go:build !purego && !noasm

// The kernel of small products for AVX-512, such as those of the heads of attention:
//
//	smallAVX512  all of C, for any strides of A and B
//
// Nothing is packed: 32 columns of C, the lanes of two registers, are computed 8 rows at a time,
// from B in place. If the columns of B are contiguous, they are first transposed onto the stack,
// once for all rows of C. Lanes after the last column are masked.

#include "textflag.h"
#include "funcdata.h"
#include "go_asm.h"
#include "tile512_amd64.h"

// Z0 to Z3 = 4 of k of up to 16 columns of B; R8 to R11 are columns 0, 4, 8 and 12. The 128-bit
// lanes of Zi hold column i of each group of four. Missing columns of the last group are replaced
// by others.
#define FIRST(P, A, B, C) \
	VMOVUPS (P), X0        \
	VMOVUPS (P)(A*1), X1   \
	VMOVUPS (P)(B), X2     \
	VMOVUPS (P)(C*1), X3
#define NEXT(P, A, B, C, K) \
	VBROADCASTF32X4 (P), K, Z0      \
	VBROADCASTF32X4 (P)(A*1), K, Z1 \
	VBROADCASTF32X4 (P)(B), K, Z2   \
	VBROADCASTF32X4 (P)(C*1), K, Z3
#define GROUP1 FIRST(R8, SI, R14*1, R15)
#define GROUP2 \
	FIRST(R8, R12, R12*2, R13)       \
	NEXT(R9, SI, R14*1, R15, K1)
#define GROUP3 \
	FIRST(R8, R12, R12*2, R13)       \
	NEXT(R9, R12, R12*2, R13, K1)    \
	NEXT(R10, SI, R14*1, R15, K2)
#define GROUP4 \
	FIRST(R8, R12, R12*2, R13)       \
	NEXT(R9, R12, R12*2, R13, K1)    \
	NEXT(R10, R12, R12*2, R13, K2)   \
	NEXT(R11, SI, R14*1, R15, K3)

// stores k rows of 16 columns at DX, 4 at a time; if k is not a multiple of 4, the last 4 overlap
// those before
#define TRANSPOSE(GROUPS, loop) \
loop: \
	GROUPS               \
	VUNPCKLPS Z1, Z0, Z4 \
	VUNPCKHPS Z1, Z0, Z5 \
	VUNPCKLPS Z3, Z2, Z6 \
	VUNPCKHPS Z3, Z2, Z7 \
	VUNPCKLPD Z6, Z4, Z0 \
	VUNPCKHPD Z6, Z4, Z1 \
	VUNPCKLPD Z7, Z5, Z2 \
	VUNPCKHPD Z7, Z5, Z3 \
	VMOVUPS   Z0, (DX)   \
	VMOVUPS   Z1, 128(DX) \
	VMOVUPS   Z2, 256(DX) \
	VMOVUPS   Z3, 384(DX) \
	SUBQ      $4, CX     \
	JLE       transposed \
	MOVL      $4, AX     \
	CMPQ      CX, AX     \
	CMOVQLT   CX, AX     \
	SHLQ      $2, AX     \
	ADDQ      AX, R8     \
	ADDQ      AX, R9     \
	ADDQ      AX, R10    \
	ADDQ      AX, R11    \
	SHLQ      $5, AX     \
	ADDQ      AX, DX     \
	JMP       loop

// a row of C for one k: one register, or two
#define FMA1(A, C, D) \
	VFMADD231PS.BCST A, Z30, C
#define FMA2(A, C, D) \
	VBROADCASTSS A, Z28       \
	VFMADD231PS  Z28, Z30, C  \
	VFMADD231PS  Z28, Z31, D

#define EACHOF1(FMA) FMA((SI), Z0, Z8)
#define EACHOF2(FMA) \
	EACHOF1(FMA)                  \
	FMA((SI)(R8*1), Z1, Z9)
#define EACHOF3(FMA) \
	EACHOF2(FMA)                  \
	FMA((SI)(R8*2), Z2, Z10)
#define EACHOF4(FMA) \
	EACHOF3(FMA)                  \
	FMA((SI)(R9*1), Z3, Z11)
#define EACHOF5(FMA) \
	EACHOF4(FMA)                  \
	FMA((SI)(R8*4), Z4, Z12)
#define EACHOF6(FMA) \
	EACHOF5(FMA)                  \
	FMA((SI)(R10*1), Z5, Z13)
#define EACHOF7(FMA) \
	EACHOF6(FMA)                  \
	FMA((SI)(R9*2), Z6, Z14)
#define EACHOF8(FMA) \
	EACHOF7(FMA)                  \
	FMA((SI)(R11*1), Z7, Z15)

#define LOADB1 VMOVUPS.Z (BX), K5, Z30
#define LOADB2 \
	VMOVUPS   (BX), Z30         \
	VMOVUPS.Z 64(BX), K5, Z31

#define MULTIPLY(LOADB, ROWS, FMA, loop) \
loop: \
	LOADB        \
	ROWS(FMA)    \
	ADDQ R12, SI \
	ADDQ R13, BX \
	DECQ CX      \
	JNE  loop    \
	JMP  store

// MOVE for each of CX rows of C, then jump to done
#define EACHROW(MOVE, done) \
	MOVE(Z0, Z8)   \
	DECQ CX        \
	JEQ  done      \
	MOVE(Z1, Z9)   \
	DECQ CX        \
	JEQ  done      \
	MOVE(Z2, Z10)  \
	DECQ CX        \
	JEQ  done      \
	MOVE(Z3, Z11)  \
	DECQ CX        \
	JEQ  done      \
	MOVE(Z4, Z12)  \
	DECQ CX        \
	JEQ  done      \
	MOVE(Z5, Z13)  \
	DECQ CX        \
	JEQ  done      \
	MOVE(Z6, Z14)  \
	DECQ CX        \
	JEQ  done      \
	MOVE(Z7, Z15)

#define LOAD1(C, D) \
	VMOVUPS.Z (AX), K5, C \
	ADDQ      SI, AX
#define LOAD2(C, D) \
	VMOVUPS   (AX), C       \
	VMOVUPS.Z 64(AX), K5, D \
	ADDQ      SI, AX
#define STORE1(C, D) \
	VMOVUPS C, K5, (AX) \
	ADDQ    SI, AX
#define STORE2(C, D) \
	VMOVUPS C, (AX)       \
	VMOVUPS D, K5, 64(AX) \
	ADDQ    SI, AX

// func smallAVX512(s *smallProduct)
// Requires: AVX512F
//
// DI s       CX k left, rows left to move   R15 rows left
// DX C       AX row of C                    R14 rows of the strip
// SI A       R8 to R11 1, 3, 5 and 7 times s.aRow
// BX B       R12 s.aK    R13 from one row of B to the next
//
// The transposed rows of B are 128 bytes apart.
TEXT ·smallAVX512(SB), 0, $8288-8
	NO_LOCAL_POINTERS
	MOVQ s+0(FP), DI

panels:
	// K5 = the mask of the last of one or two registers
	MOVQ  smallProduct_n(DI), CX
	MOVL  $32, AX
	CMPQ  CX, AX
	CMOVQGT AX, CX
	MOVQ  CX, width-8(SP)
	DECQ  CX
	ANDQ  $15, CX
	MOVL  $2, AX
	SHLL  CX, AX
	DECL  AX
	KMOVW AX, K5

	MOVQ smallProduct_b(DI), BX
	MOVQ BX, b-16(SP)
	MOVQ smallProduct_bK(DI), R13
	MOVQ smallProduct_bCol(DI), R12
	TESTQ R12, R12
	JEQ  multiply

	// transpose up to 16 columns of B, then the next ones
	MOVL  $0x00F0, AX
	KMOVW AX, K1
	MOVL  $0x0F00, AX
	KMOVW AX, K2
	MOVL  $0xF000, AX
	KMOVW AX, K3
	LEAQ  (R12)(R12*2), R13
	LEAQ  rows-8225(SP), DX // 63 above the lowest address
	ANDQ  $-64, DX
	MOVQ  DX, b-16(SP)
	MOVQ  width-8(SP), BX // columns left
	MOVQ  smallProduct_b(DI), R8
transpose:
	MOVQ DX, to-24(SP)
	LEAQ (R8)(R12*4), R9
	LEAQ (R9)(R12*4), R10
	LEAQ (R10)(R12*4), R11
	// SI, R14, R15 = offsets of the other columns of the last group from its first
	XORL SI, SI
	XORL R14, R14
	XORL R15, R15
	MOVQ BX, AX
	ANDQ $3, AX
	CMPQ AX, $1
	JEQ  short
	MOVQ R12, SI
	MOVQ R12, R14
	MOVQ R12, R15
	CMPQ AX, $2
	JEQ  short
	ADDQ R14, R14
	ADDQ R15, R15
	CMPQ AX, $3
	JEQ  short
	ADDQ R12, R15
short:
	MOVQ R8, from-32(SP)
	MOVQ smallProduct_k(DI), CX
	CMPQ BX, $12
	JGT  four
	CMPQ BX, $8
	JGT  three
	CMPQ BX, $4
	JGT  two
	TRANSPOSE(GROUP1, loop1)
two:
	TRANSPOSE(GROUP2, loop2)
three:
	TRANSPOSE(GROUP3, loop3)
four:
	CMPQ BX, $16
	JLE  last
	MOVQ R12, SI // the group is complete
	LEAQ (R12)(R12*1), R14
	MOVQ R13, R15
last:
	TRANSPOSE(GROUP4, loop4)
transposed:
	SUBQ $16, BX
	JLE  whole
	MOVQ from-32(SP), R8
	MOVQ R12, AX
	SHLQ $4, AX
	ADDQ AX, R8
	MOVQ to-24(SP), DX
	ADDQ $64, DX
	JMP  transpose
whole:
	MOVL $128, R13

multiply:
	MOVQ smallProduct_a(DI), SI
	MOVQ SI, a-24(SP)
	MOVQ smallProduct_aRow(DI), R8
	LEAQ (R8)(R8*2), R9
	LEAQ (R8)(R8*4), R10
	LEAQ (R9)(R8*4), R11
	MOVQ smallProduct_aK(DI), R12
	MOVQ smallProduct_c(DI), DX
	MOVQ smallProduct_m(DI), R15

strips:
	// 8 rows, or half of the remainder if that is below 16
	MOVQ R15, R14
	CMPQ R15, $8
	JLE  zero
	INCQ R14
	SHRQ $1, R14
	CMPQ R14, $8
	JLE  zero
	MOVL $8, R14

zero:
	ROWS8(CLEAR)
	CMPQ   smallProduct_accumulate(DI), $0
	JEQ    chains

	// the chains start from C
	MOVQ DX, AX
	MOVQ smallProduct_cRow(DI), SI
	MOVQ R14, CX
	CMPQ width-8(SP), $16
	JGT  load2
	EACHROW(LOAD1, chains)
	JMP  chains
load2:
	EACHROW(LOAD2, chains)

chains:
	MOVQ a-24(SP), SI
	MOVQ b-16(SP), BX
	MOVQ smallProduct_k(DI), CX
	CMPQ width-8(SP), $16
	JGT  wide
	CMPQ R14, $8
	JEQ  eight1
	CMPQ R14, $7
	JEQ  seven1
	CMPQ R14, $6
	JEQ  six1
	CMPQ R14, $5
	JEQ  five1
	CMPQ R14, $4
	JEQ  four1
	CMPQ R14, $3
	JEQ  three1
	CMPQ R14, $2
	JEQ  two1
	MULTIPLY(LOADB1, EACHOF1, FMA1, one1)
	MULTIPLY(LOADB1, EACHOF2, FMA1, two1)
	MULTIPLY(LOADB1, EACHOF3, FMA1, three1)
	MULTIPLY(LOADB1, EACHOF4, FMA1, four1)
	MULTIPLY(LOADB1, EACHOF5, FMA1, five1)
	MULTIPLY(LOADB1, EACHOF6, FMA1, six1)
	MULTIPLY(LOADB1, EACHOF7, FMA1, seven1)
	MULTIPLY(LOADB1, EACHOF8, FMA1, eight1)
wide:
	CMPQ R14, $8
	JEQ  eight2
	CMPQ R14, $7
	JEQ  seven2
	CMPQ R14, $6
	JEQ  six2
	CMPQ R14, $5
	JEQ  five2
	CMPQ R14, $4
	JEQ  four2
	CMPQ R14, $3
	JEQ  three2
	CMPQ R14, $2
	JEQ  two2
	MULTIPLY(LOADB2, EACHOF1, FMA2, one2)
	MULTIPLY(LOADB2, EACHOF2, FMA2, two2)
	MULTIPLY(LOADB2, EACHOF3, FMA2, three2)
	MULTIPLY(LOADB2, EACHOF4, FMA2, four2)
	MULTIPLY(LOADB2, EACHOF5, FMA2, five2)
	MULTIPLY(LOADB2, EACHOF6, FMA2, six2)
	MULTIPLY(LOADB2, EACHOF7, FMA2, seven2)
	MULTIPLY(LOADB2, EACHOF8, FMA2, eight2)

store:
	MOVQ DX, AX
	MOVQ smallProduct_cRow(DI), SI
	MOVQ R14, CX
	CMPQ width-8(SP), $16
	JGT  store2
	EACHROW(STORE1, stored)
	JMP  stored
store2:
	EACHROW(STORE2, stored)

stored:
	MOVQ  AX, DX
	MOVQ  R8, AX
	IMULQ R14, AX
	ADDQ  AX, a-24(SP)
	SUBQ  R14, R15
	JNE   strips

	// the next columns
	SUBQ  $32, smallProduct_n(DI)
	JLE   done
	ADDQ  $128, smallProduct_c(DI)
	MOVL  $128, AX
	MOVQ  smallProduct_bCol(DI), R12
	TESTQ R12, R12
	JEQ   rowsB
	MOVQ  R12, AX
	SHLQ  $5, AX
rowsB:
	ADDQ AX, smallProduct_b(DI)
	JMP  panels

done:
	VZEROUPPER
	RET
