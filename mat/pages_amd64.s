//go:build !purego && !noasm

// Attention to pages of 16 tokens, for AVX2 and FMA.

#include "go_asm.h"
#include "textflag.h"

// Registers of scoreKeysAsm:
//
//	DX R12    scores and their row     SI R9   q and its row     BX R11   K_0 and the stride of K
//	AX CX     queries left, k left     DI      args
//	R15 R10   q and K of the first query of a loop

// START begins a loop over k: R8 is row 3 of q, R13 is K_3.
#define START \
	MOVQ R15, SI               \
	MOVQ R10, BX               \
	LEAQ (R9)(R9*2), R8        \
	ADDQ SI, R8                \
	LEAQ (R11)(R11*2), R13     \
	ADDQ BX, R13               \
	MOVQ scoreArgs_k(DI), CX

// func scoreKeysAsm(s *scoreArgs)
TEXT ·scoreKeysAsm(SB), NOSPLIT, $0-8
	MOVQ s+0(FP), DI
	MOVQ scoreArgs_scores(DI), DX
	MOVQ scoreArgs_q(DI), R15
	MOVQ scoreArgs_keys(DI), R10
	MOVQ scoreArgs_scoresRow(DI), R12
	MOVQ scoreArgs_qRow(DI), R9
	MOVQ scoreArgs_next(DI), R11
	MOVQ scoreArgs_n(DI), AX

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
	LEAQ (DX)(R12*4), DX
	LEAQ (R15)(R9*4), R15
	LEAQ (R10)(R11*4), R10
	SUBQ $4, AX
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
	ADDQ R12, DX
	ADDQ R9, R15
	ADDQ R11, R10
	DECQ AX
	JMP one

done:
	VZEROUPPER
	RET

// Registers of addValuesAsm:
//
//	R10 BX  ctx, V_i                    SI R13  weights and their row
//	R8 R9   tokens and their number     R11     bytes of a token's values
//	AX R14  rows left, columns left     DI      args
//	DX R12  ctx and V_i from the next column on
//	CX R15  index of a token, its values

// SUM adds the weighted values of all tokens to the columns of EACHCOL. R15 is the values of token
// CX.
#define SUM(loop, EACHCOL) \
	EACHCOL(LOADC)              \
	XORL CX, CX                 \
loop:                           \
	MOVL  (R8)(CX*4), R15       \
	ANDL  $15, R15              \
	IMULQ R11, R15              \
	ADDQ  R12, R15              \
	VBROADCASTSS (SI)(CX*4), Y8 \
	EACHCOL(ADD)                \
	INCQ CX                     \
	CMPQ CX, R9                 \
	JNE  loop                   \
	EACHCOL(STOREC)

#define LOADC(at, C) VMOVUPS at(DX), C
#define STOREC(at, C) VMOVUPS C, at(DX)
#define ADD(at, C) VFMADD231PS at(R15), Y8, C

#define EACH16(OP) \
	OP(0, Y0)  \
	OP(32, Y1)
#define EACH32(OP) \
	EACH16(OP) \
	OP(64, Y2)  \
	OP(96, Y3)
#define EACH64(OP) \
	EACH32(OP)  \
	OP(128, Y4) \
	OP(160, Y5) \
	OP(192, Y6) \
	OP(224, Y7)

// func addValuesAsm(s *valueArgs)
TEXT ·addValuesAsm(SB), NOSPLIT, $0-8
	MOVQ s+0(FP), DI
	MOVQ valueArgs_ctx(DI), R10
	MOVQ valueArgs_weights(DI), SI
	MOVQ valueArgs_weightsRow(DI), R13
	MOVQ valueArgs_values(DI), BX
	MOVQ valueArgs_token(DI), R11
	MOVQ valueArgs_tokens(DI), R8
	MOVQ valueArgs_count(DI), R9
	MOVQ valueArgs_n(DI), AX

row:
	MOVQ R10, DX
	MOVQ BX, R12
	MOVQ valueArgs_cols(DI), R14
cols64: // 8 chains of multiply-adds, as many as run at once
	CMPQ R14, $64
	JLT  cols32
	SUM(tokens64, EACH64)
	ADDQ $256, DX
	ADDQ $256, R12
	SUBQ $64, R14
	JMP cols64

cols32:
	CMPQ R14, $32
	JLT  cols16
	SUM(tokens32, EACH32)
	ADDQ $128, DX
	ADDQ $128, R12
	SUBQ $32, R14

cols16:
	TESTQ R14, R14
	JEQ   next
	SUM(tokens16, EACH16)

next:
	ADDQ valueArgs_ctxRow(DI), R10
	ADDQ R13, SI
	ADDQ valueArgs_next(DI), BX
	DECQ AX
	JNE row
	VZEROUPPER
	RET
