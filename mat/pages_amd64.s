//go:build !purego && !noasm

// Attention to pages of 16 tokens: for AVX-512 (F), and for AVX2 and FMA.

#include "go_asm.h"
#include "textflag.h"
#include "vec_amd64.h"

// SCOREARGS loads the arguments.
//
//	DX R12    scores and their row     SI R9   q and its row     BX R11   K_0 and the stride of K
//	AX CX     queries left, k left     DI      args
//	R15 R10   q and K of the first query of a loop
#define SCOREARGS \
	MOVQ s+0(FP), DI                  \
	MOVQ scoreArgs_scores(DI), DX     \
	MOVQ scoreArgs_q(DI), R15         \
	MOVQ scoreArgs_keys(DI), R10      \
	MOVQ scoreArgs_scoresRow(DI), R12 \
	MOVQ scoreArgs_qRow(DI), R9       \
	MOVQ scoreArgs_next(DI), R11      \
	MOVQ scoreArgs_n(DI), AX

// START begins a loop over k: R8 is row 3 of q, R13 is K_3.
#define START \
	MOVQ R15, SI               \
	MOVQ R10, BX               \
	LEAQ (R9)(R9*2), R8        \
	ADDQ SI, R8                \
	LEAQ (R11)(R11*2), R13     \
	ADDQ BX, R13               \
	MOVQ scoreArgs_k(DI), CX

// NEXT4 and NEXT1 go to the next queries.
#define NEXT4 \
	LEAQ (DX)(R12*4), DX   \
	LEAQ (R15)(R9*4), R15  \
	LEAQ (R10)(R11*4), R10 \
	SUBQ $4, AX

#define NEXT1 \
	ADDQ R12, DX  \
	ADDQ R9, R15  \
	ADDQ R11, R10 \
	DECQ AX

// func scoreKeysAsm(s *scoreArgs)
TEXT ·scoreKeysAsm(SB), NOSPLIT, $0-8
	AVX512(·scoreKeysAVX512)
	SCOREARGS

four:
	CMPQ AX, $4
	JLT  one
	START
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	PCALIGN $32
fourK:
	VBROADCASTSS (SI), Y8
	VBROADCASTSS (SI)(R9*1), Y9
	VBROADCASTSS (SI)(R9*2), Y10
	VBROADCASTSS (R8), Y11
	VFMADD231PS  (BX), Y8, Y0
	VFMADD231PS  32(BX), Y8, Y1
	VFMADD231PS  (BX)(R11*1), Y9, Y2
	VFMADD231PS  32(BX)(R11*1), Y9, Y3
	VFMADD231PS  (BX)(R11*2), Y10, Y4
	VFMADD231PS  32(BX)(R11*2), Y10, Y5
	VFMADD231PS  (R13), Y11, Y6
	VFMADD231PS  32(R13), Y11, Y7
	ADDQ $4, SI
	ADDQ $4, R8
	ADDQ $64, BX
	ADDQ $64, R13
	DECQ CX
	JNE  fourK
	LEAQ (R12)(R12*2), R14
	VMOVUPS Y0, (DX)
	VMOVUPS Y1, 32(DX)
	VMOVUPS Y2, (DX)(R12*1)
	VMOVUPS Y3, 32(DX)(R12*1)
	VMOVUPS Y4, (DX)(R12*2)
	VMOVUPS Y5, 32(DX)(R12*2)
	VMOVUPS Y6, (DX)(R14*1)
	VMOVUPS Y7, 32(DX)(R14*1)
	NEXT4
	JMP four

one:
	TESTQ AX, AX
	JEQ   done
	START
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
oneK:
	VBROADCASTSS (SI), Y8
	VFMADD231PS  (BX), Y8, Y0
	VFMADD231PS  32(BX), Y8, Y1
	ADDQ $4, SI
	ADDQ $64, BX
	DECQ CX
	JNE  oneK
	VMOVUPS Y0, (DX)
	VMOVUPS Y1, 32(DX)
	NEXT1
	JMP one

done:
	VZEROUPPER
	RET

// func scoreKeysAVX512(s *scoreArgs)
// Requires: AVX512F
TEXT ·scoreKeysAVX512(SB), NOSPLIT, $0-8
	SCOREARGS

four:
	CMPQ AX, $4
	JLT  one
	START
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	PCALIGN $32
fourK:
	VMOVUPS (BX), Z4
	VMOVUPS (BX)(R11*1), Z5
	VMOVUPS (BX)(R11*2), Z6
	VMOVUPS (R13), Z7
	VFMADD231PS.BCST (SI), Z4, Z0
	VFMADD231PS.BCST (SI)(R9*1), Z5, Z1
	VFMADD231PS.BCST (SI)(R9*2), Z6, Z2
	VFMADD231PS.BCST (R8), Z7, Z3
	ADDQ $4, SI
	ADDQ $4, R8
	ADDQ $64, BX
	ADDQ $64, R13
	DECQ CX
	JNE  fourK
	LEAQ (R12)(R12*2), R14
	VMOVUPS Z0, (DX)
	VMOVUPS Z1, (DX)(R12*1)
	VMOVUPS Z2, (DX)(R12*2)
	VMOVUPS Z3, (DX)(R14*1)
	NEXT4
	JMP four

one:
	TESTQ AX, AX
	JEQ   done
	START
	VPXORD Z0, Z0, Z0
oneK:
	VMOVUPS (BX), Z4
	VFMADD231PS.BCST (SI), Z4, Z0
	ADDQ $4, SI
	ADDQ $64, BX
	DECQ CX
	JNE  oneK
	VMOVUPS Z0, (DX)
	NEXT1
	JMP one

done:
	VZEROUPPER
	RET

// VALUEARGS loads the arguments.
//
//	R10 BX  ctx, V_i                    SI R13  weights and their row
//	R8 R9   tokens and their number     R11     bytes of a token's values
//	AX R14  rows left, columns left     DI      args
//	DX R12  ctx and V_i from the next column on
//	CX R15  index of a token, its values
#define VALUEARGS \
	MOVQ s+0(FP), DI                   \
	MOVQ valueArgs_ctx(DI), R10        \
	MOVQ valueArgs_weights(DI), SI     \
	MOVQ valueArgs_weightsRow(DI), R13 \
	MOVQ valueArgs_values(DI), BX      \
	MOVQ valueArgs_token(DI), R11      \
	MOVQ valueArgs_tokens(DI), R8      \
	MOVQ valueArgs_count(DI), R9       \
	MOVQ valueArgs_n(DI), AX

#define ROW \
	MOVQ R10, DX                 \
	MOVQ BX, R12                 \
	MOVQ valueArgs_cols(DI), R14

// TOKEN sets R15 to the values of token CX.
#define TOKEN \
	MOVL  (R8)(CX*4), R15 \
	ANDL  $15, R15        \
	IMULQ R11, R15        \
	ADDQ  R12, R15

// SUM adds the weighted values of all tokens to the columns of EACHCOL. ADD is that of the kernel
// and the weight in W.
#define SUM(loop, EACHCOL, W, ADD) \
	EACHCOL(LOADC)             \
	XORL CX, CX                \
loop:                          \
	TOKEN                      \
	VBROADCASTSS (SI)(CX*4), W \
	EACHCOL(ADD)               \
	INCQ CX                    \
	CMPQ CX, R9                \
	JNE  loop                  \
	EACHCOL(STOREC)

#define LOADC(at, C) VMOVUPS at(DX), C
#define STOREC(at, C) VMOVUPS C, at(DX)
#define ADDY(at, C) VFMADD231PS at(R15), Y4, C
#define ADDZ(at, C) VFMADD231PS at(R15), Z4, C

#define EACHY16(OP) \
	OP(0, Y0)  \
	OP(32, Y1)
#define EACHY32(OP) \
	EACHY16(OP) \
	OP(64, Y2)  \
	OP(96, Y3)
#define EACHZ16(OP) \
	OP(0, Z0)
#define EACHZ32(OP) \
	EACHZ16(OP) \
	OP(64, Z1)
#define EACHZ64(OP) \
	EACHZ32(OP)  \
	OP(128, Z2) \
	OP(192, Z3)

#define NEXTCOLS(n) \
	ADDQ $(4*n), DX  \
	ADDQ $(4*n), R12 \
	SUBQ $n, R14

#define NEXTROW \
	ADDQ valueArgs_ctxRow(DI), R10 \
	ADDQ R13, SI                   \
	ADDQ valueArgs_next(DI), BX    \
	DECQ AX

// func addValuesAsm(s *valueArgs)
TEXT ·addValuesAsm(SB), NOSPLIT, $0-8
	AVX512(·addValuesAVX512)
	VALUEARGS

row:
	ROW
cols32:
	CMPQ R14, $32
	JLT  cols16
	SUM(tokens32, EACHY32, Y4, ADDY)
	NEXTCOLS(32)
	JMP cols32

cols16:
	TESTQ R14, R14
	JEQ   next
	SUM(tokens16, EACHY16, Y4, ADDY)

next:
	NEXTROW
	JNE row
	VZEROUPPER
	RET

// func addValuesAVX512(s *valueArgs)
// Requires: AVX512F
TEXT ·addValuesAVX512(SB), NOSPLIT, $0-8
	VALUEARGS

row:
	ROW
cols64:
	CMPQ R14, $64
	JLT  cols32
	SUM(tokens64, EACHZ64, Z4, ADDZ)
	NEXTCOLS(64)
	JMP cols64

cols32:
	CMPQ R14, $32
	JLT  cols16
	SUM(tokens32, EACHZ32, Z4, ADDZ)
	NEXTCOLS(32)

cols16:
	TESTQ R14, R14
	JEQ   next
	SUM(tokens16, EACHZ16, Z4, ADDZ)

next:
	NEXTROW
	JNE row
	VZEROUPPER
	RET
