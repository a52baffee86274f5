//go:build !purego && !noasm

// The kernels of int8 for NEON:
//
//	dotSDOT      sums of up to 6 rows of a tile, with SDOT
//	dotNEON      the same without SDOT
//	finishNEON   floats from sums
//	maxAbsAsm   the largest magnitude of a row
//	quantizeNEON a row as bytes

#include "textflag.h"
#include "go_asm.h"
#include "tile_arm64.h"

// Instructions that the assembler lacks, each with its disassembly, which a test checks.
#define SDOT(M, N, D)   WORD $(0x4F80E000 | M<<16 | N<<5 | D) // sdot vD.4s, vN.16b, vM.4b[0]
#define SMULL(M, N, D)  WORD $(0x0E20C000 | M<<16 | N<<5 | D) // smull vD.8h, vN.8b, vM.8b
#define SMULL2(M, N, D) WORD $(0x4E20C000 | M<<16 | N<<5 | D) // smull2 vD.8h, vN.16b, vM.16b
#define ADDP(M, N, D)   WORD $(0x4E60BC00 | M<<16 | N<<5 | D) // addp vD.8h, vN.8h, vM.8h
#define SADALP(N, D)    WORD $(0x4E606800 | N<<5 | D)         // sadalp vD.4s, vN.8h
#define UMAXV(N, D)     WORD $(0x6EB0A800 | N<<5 | D)         // umaxv sD, vN.4s
#define SCVTF(N, D)     WORD $(0x4E21D800 | N<<5 | D)         // scvtf vD.4s, vN.4s
#define FCVTNS(N, D)    WORD $(0x4E21A800 | N<<5 | D)         // fcvtns vD.4s, vN.4s
#define XTN(N, D)       WORD $(0x0E612800 | N<<5 | D)         // xtn vD.4h, vN.4s
#define XTN2(N, D)      WORD $(0x4E612800 | N<<5 | D)         // xtn2 vD.8h, vN.4s
#define XTNB(N, D)      WORD $(0x0E212800 | N<<5 | D)         // xtn vD.8b, vN.8h
#define XTN2B(N, D)     WORD $(0x4E212800 | N<<5 | D)         // xtn2 vD.16b, vN.8h
#define FMUL(M, N, D)   WORD $(0x6E20DC00 | M<<16 | N<<5 | D) // fmul vD.4s, vN.4s, vM.4s
#define FMULS(M, N, D)  WORD $(0x4F809000 | M<<16 | N<<5 | D) // fmul vD.4s, vN.4s, vM.s[0]
#define FADD(M, N, D)   WORD $(0x4E20D400 | M<<16 | N<<5 | D) // fadd vD.4s, vN.4s, vM.4s
#define FCMLT0(N, D)    WORD $(0x4EA0E800 | N<<5 | D)         // fcmlt vD.4s, vN.4s, #0.0
#define BIC(M, N, D)    WORD $(0x4E601C00 | M<<16 | N<<5 | D) // bic vD.16b, vN.16b, vM.16b

// The sums, for either instruction: V0 to V23 are 6 rows of 16 columns, four registers a row, V24
// to V27 are a group of these columns.
//
// R0 x          R3 m          R10 groups left
// R5 A          R6 x.aRow     R12 to R15 2 to 5 times x.aRow
// R8 B          R19 group 0 of these columns
// R1 sums       R2 initial sums, R4 bytes between rows         R11 and R20 sums of a row
// R16 columns left

#define LOADB \
	FLDPQ (R8), (F24, F25)   \
	FLDPQ 32(R8), (F26, F27) \
	ADD   $128, R8
#define NEXTGROUP \
	ADD  $4, R5 \
	SUBS $1, R10

// EACHn: rows 0 to n-1 for one group. DOTROW(A, C0, C1, C2, C3) is one row, with its group at A.
// V28 to V31 are free.
#define EACH1(DOTROW) DOTROW((R5), 0, 1, 2, 3)
#define EACH2(DOTROW) \
	EACH1(DOTROW) \
	DOTROW((R5)(R6), 4, 5, 6, 7)
#define EACH3(DOTROW) \
	EACH2(DOTROW) \
	DOTROW((R5)(R12), 8, 9, 10, 11)
#define EACH4(DOTROW) \
	EACH3(DOTROW) \
	DOTROW((R5)(R13), 12, 13, 14, 15)
#define EACH5(DOTROW) \
	EACH4(DOTROW) \
	DOTROW((R5)(R14), 16, 17, 18, 19)
#define EACH6(DOTROW) \
	EACH5(DOTROW) \
	DOTROW((R5)(R15), 20, 21, 22, 23)

// the loop over the groups for the rows of EACH
//
//	for range groups { LOADB; EACH(DOTROW); NEXTGROUP }
#define LOOP(rows, EACH, DOTROW) \
rows: \
	LOADB        \
	EACH(DOTROW) \
	NEXTGROUP    \
	BNE rows

// a row of the sums at R11, and a step to the next row
#define LOADSUMS(C0, C1, C2, C3) \
	FLDPQ (R11), (C0, C1)   \
	FLDPQ 32(R11), (C2, C3) \
	ADD   R4, R11
#define STORESUMS(C0, C1, C2, C3) \
	FSTPQ (C0, C1), (R11)   \
	FSTPQ (C2, C3), 32(R11) \
	ADD   $128, R11

#define DOT(DOTROW) \
	MOVD x+0(FP), R0              \
	MOVD tileInt8_m(R0), R3       \
	MOVD tileInt8_aRow(R0), R6    \
	MOVD tileInt8_b(R0), R19      \
	MOVD tileInt8_sums(R0), R1    \
	MOVD tileInt8_start(R0), R2   \
	LSL  $1, R6, R12              \
	ADD  R6, R12, R13             \
	LSL  $2, R6, R14              \
	ADD  R6, R14, R15             \
	MOVD $32, R16                 \
	MOVD $0, R4                   \
	CBNZ R2, columns              \
	MOVD R1, R2                   \
	MOVD $128, R4                 \
columns:                          \
	MOVD R2, R11                  \
	ROWSUPTO6(LOADSUMS, loaded)   \
loaded:                           \
	MOVD tileInt8_a(R0), R5       \
	MOVD tileInt8_groups(R0), R10 \
	MOVD R19, R8                  \
	TOROWS6                       \
	LOOP(rows1, EACH1, DOTROW)    \
	B    store                    \
	LOOP(rows2, EACH2, DOTROW)    \
	B    store                    \
	LOOP(rows3, EACH3, DOTROW)    \
	B    store                    \
	LOOP(rows4, EACH4, DOTROW)    \
	B    store                    \
	LOOP(rows5, EACH5, DOTROW)    \
	B    store                    \
	LOOP(rows6, EACH6, DOTROW)    \
store:                            \
	MOVD R1, R11                  \
	ROWSUPTO6(STORESUMS, stored)  \
stored:                           \
	ADD  $64, R19                 \
	ADD  $64, R1                  \
	ADD  $64, R2                  \
	SUBS $16, R16                 \
	BNE  columns                  \
	RET

#define SDOTROW(A, C0, C1, C2, C3) \
	FMOVS A, F28     \
	SDOT(28, 24, C0) \
	SDOT(28, 25, C1) \
	SDOT(28, 26, C2) \
	SDOT(28, 27, C3)

// func dotSDOT(x *tileInt8)
TEXT ·dotSDOT(SB), NOSPLIT, $0-8
	DOT(SDOTROW)

// C += the products of 4 columns, B, with V28, which holds the group four times. The sum of two
// products fits 16 bits.
#define DOT4(B, C) \
	SMULL(28, B, 29)  \
	SMULL2(28, B, 30) \
	ADDP(30, 29, 29)  \
	SADALP(29, C)

#define SMULLROW(A, C0, C1, C2, C3) \
	FMOVS A, F28           \
	VDUP  V28.S[0], V28.S4 \
	DOT4(24, C0)           \
	DOT4(25, C1)           \
	DOT4(26, C2)           \
	DOT4(27, C3)

// func dotNEON(x *tileInt8)
TEXT ·dotNEON(SB), NOSPLIT, $0-8
	DOT(SMULLROW)

// four columns of a row: C0 = the floats of the sums C0
#define SCALE(S, C0) \
	SCVTF(C0, C0)   \
	FMUL(S, C0, C0) \
	FMULS(28, C0, C0)
// C0 = 0 where it is below 0, which preserves NaN and -0
#define RECTIFY(C0) \
	FCMLT0(C0, 29) \
	BIC(29, C0, C0)

// func finishNEON(x *tileInt8)
//
// V8 to V15 are the scales of the columns, V16 to V23 the bias.
//
// R0 x          R3 rows left  R4 row scales
// R1 sums       R2 C          R5 x.cRow     R6 x.accumulate     R7 x.bias     R8 x.relu
TEXT ·finishNEON(SB), NOSPLIT, $0-8
	MOVD  x+0(FP), R0
	MOVD  tileInt8_m(R0), R3
	MOVD  tileInt8_rowScales(R0), R4
	MOVD  tileInt8_sums(R0), R1
	MOVD  tileInt8_c(R0), R2
	MOVD  tileInt8_cRow(R0), R5
	MOVD  tileInt8_accumulate(R0), R6
	MOVD  tileInt8_bias(R0), R7
	MOVD  tileInt8_relu(R0), R8
	MOVD  tileInt8_colScales(R0), R9
	FLDPQ (R9), (F8, F9)
	FLDPQ 32(R9), (F10, F11)
	FLDPQ 64(R9), (F12, F13)
	FLDPQ 96(R9), (F14, F15)
	CBZ   R7, row
	FLDPQ (R7), (F16, F17)
	FLDPQ 32(R7), (F18, F19)
	FLDPQ 64(R7), (F20, F21)
	FLDPQ 96(R7), (F22, F23)

row:
	FMOVS.P 4(R4), F28
	FLDPQ   (R1), (F0, F1)
	FLDPQ   32(R1), (F2, F3)
	FLDPQ   64(R1), (F4, F5)
	FLDPQ   96(R1), (F6, F7)
	ADD     $128, R1
	SCALE(8, 0)
	SCALE(9, 1)
	SCALE(10, 2)
	SCALE(11, 3)
	SCALE(12, 4)
	SCALE(13, 5)
	SCALE(14, 6)
	SCALE(15, 7)

	// + C
	CBZ   R6, bias
	FLDPQ (R2), (F24, F25)
	FLDPQ 32(R2), (F26, F27)
	FADD(24, 0, 0)
	FADD(25, 1, 1)
	FADD(26, 2, 2)
	FADD(27, 3, 3)
	FLDPQ 64(R2), (F24, F25)
	FLDPQ 96(R2), (F26, F27)
	FADD(24, 4, 4)
	FADD(25, 5, 5)
	FADD(26, 6, 6)
	FADD(27, 7, 7)

bias:
	CBZ R7, relu
	FADD(16, 0, 0)
	FADD(17, 1, 1)
	FADD(18, 2, 2)
	FADD(19, 3, 3)
	FADD(20, 4, 4)
	FADD(21, 5, 5)
	FADD(22, 6, 6)
	FADD(23, 7, 7)

relu:
	CBZ R8, store
	RECTIFY(0)
	RECTIFY(1)
	RECTIFY(2)
	RECTIFY(3)
	RECTIFY(4)
	RECTIFY(5)
	RECTIFY(6)
	RECTIFY(7)

store:
	FSTPQ (F0, F1), (R2)
	FSTPQ (F2, F3), 32(R2)
	FSTPQ (F4, F5), 64(R2)
	FSTPQ (F6, F7), 96(R2)
	ADD   R5, R2
	SUBS  $1, R3
	BNE   row
	RET

// func maxAbsAsm(x *float32, n int) uint32
TEXT ·maxAbsAsm(SB), NOSPLIT, $0-20
	MOVD  x+0(FP), R0
	MOVD  n+8(FP), R1
	MOVD  $0x80000000, R2
	VDUP  R2, V31.S4
	VEOR  V0.B16, V0.B16, V0.B16
	VEOR  V1.B16, V1.B16, V1.B16
	VEOR  V2.B16, V2.B16, V2.B16
	VEOR  V3.B16, V3.B16, V3.B16

block:
	FLDPQ (R0), (F4, F5)
	FLDPQ 32(R0), (F6, F7)
	BIC(31, 4, 4)
	BIC(31, 5, 5)
	BIC(31, 6, 6)
	BIC(31, 7, 7)
	VUMAX V4.S4, V0.S4, V0.S4
	VUMAX V5.S4, V1.S4, V1.S4
	VUMAX V6.S4, V2.S4, V2.S4
	VUMAX V7.S4, V3.S4, V3.S4
	ADD   $64, R0
	SUBS  $16, R1
	BNE   block
	VUMAX V1.S4, V0.S4, V0.S4
	VUMAX V3.S4, V2.S4, V2.S4
	VUMAX V2.S4, V0.S4, V0.S4
	UMAXV(0, 0)
	FMOVS F0, ret+16(FP)
	RET

// four floats as integers
#define INTEGERS(X) \
	FMULS(28, X, X) \
	FCVTNS(X, X)

// func quantizeNEON(q *int8, x *float32, n int, r float32)
TEXT ·quantizeNEON(SB), NOSPLIT, $0-28
	MOVD  q+0(FP), R0
	MOVD  x+8(FP), R1
	MOVD  n+16(FP), R2
	FMOVS r+24(FP), F28

block:
	FLDPQ   (R1), (F0, F1)
	FLDPQ   32(R1), (F2, F3)
	ADD     $64, R1
	INTEGERS(0)
	INTEGERS(1)
	INTEGERS(2)
	INTEGERS(3)
	XTN(0, 4)
	XTN2(1, 4)
	XTN(2, 5)
	XTN2(3, 5)
	XTNB(4, 6)
	XTN2B(5, 6)
	FMOVQ.P F6, 16(R0)
	SUBS    $16, R2
	BNE     block
	RET
