//go:build !purego && !noasm

// Attention to pages of 16 tokens for NEON.

#include "go_asm.h"
#include "textflag.h"
#include "vec_arm64.h"

// func scoreKeysAsm(s *scoreArgs)
//
//	R0  args             R1 R2 R3  scores, q, K_i
//	R4  queries left     R6 R7 R8  rows of scores and q, stride of K
//	R5  k left           R9 R10    next element of q, next row of K
TEXT ·scoreKeysAsm(SB), NOSPLIT, $0-8
	MOVD s+0(FP), R0
	MOVD scoreArgs_scores(R0), R1
	MOVD scoreArgs_q(R0), R2
	MOVD scoreArgs_keys(R0), R3
	MOVD scoreArgs_scoresRow(R0), R6
	MOVD scoreArgs_qRow(R0), R7
	MOVD scoreArgs_next(R0), R8
	MOVD scoreArgs_n(R0), R4

query:
	MOVD R2, R9
	MOVD R3, R10
	MOVD scoreArgs_k(R0), R5
	ZERO(0)
	ZERO(1)
	ZERO(2)
	ZERO(3)
key:
	VLD1R.P 4(R9), [V8.S4]
	VLD1.P  64(R10), [V4.S4, V5.S4, V6.S4, V7.S4]
	FMLA4S(8, 4, 0)
	FMLA4S(8, 5, 1)
	FMLA4S(8, 6, 2)
	FMLA4S(8, 7, 3)
	SUBS $1, R5
	BNE  key
	VST1 [V0.S4, V1.S4, V2.S4, V3.S4], (R1)
	ADD  R6, R1
	ADD  R7, R2
	ADD  R8, R3
	SUBS $1, R4
	BNE  query
	RET

// func addValuesAsm(s *valueArgs)
//
//	R0  args             R1 R2 R3  ctx, weights, V_i
//	R4  rows left        R6 R7 R8  rows of ctx and weights, stride of V
//	R9  columns left     R10 R11   ctx and V_i from the next column on
//	R5  tokens left      R12 R13   next token and its weight
//	R14 bytes of a token's values  R15  values of a token
TEXT ·addValuesAsm(SB), NOSPLIT, $0-8
	MOVD s+0(FP), R0
	MOVD valueArgs_ctx(R0), R1
	MOVD valueArgs_weights(R0), R2
	MOVD valueArgs_values(R0), R3
	MOVD valueArgs_ctxRow(R0), R6
	MOVD valueArgs_weightsRow(R0), R7
	MOVD valueArgs_next(R0), R8
	MOVD valueArgs_token(R0), R14
	MOVD valueArgs_n(R0), R4

row:
	MOVD R1, R10
	MOVD R3, R11
	MOVD valueArgs_cols(R0), R9
cols:
	VLD1 (R10), [V0.S4, V1.S4, V2.S4, V3.S4]
	MOVD valueArgs_tokens(R0), R12
	MOVD valueArgs_count(R0), R5
	MOVD R2, R13
token:
	MOVWU.P 4(R12), R15
	AND  $15, R15
	MADD R14, R11, R15, R15
	VLD1R.P 4(R13), [V8.S4]
	VLD1 (R15), [V4.S4, V5.S4, V6.S4, V7.S4]
	FMLA4S(8, 4, 0)
	FMLA4S(8, 5, 1)
	FMLA4S(8, 6, 2)
	FMLA4S(8, 7, 3)
	SUBS $1, R5
	BNE  token
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R10)
	ADD  $64, R11
	SUBS $16, R9
	BNE  cols
	ADD  R6, R1
	ADD  R7, R2
	ADD  R8, R3
	SUBS $1, R4
	BNE  row
	RET
