//go:build !purego && !noasm

// The kernels of matrix products for NEON:
//
//	stripNEON          up to 6 rows of C
//	copyPanel      packing of rows
//	transposePanel packing of columns
//	fmaLoopNEON        peak rate
//	pause              hint of waiting loops
//
// V0 to V23 hold 6 rows of 16 columns of C, four registers a row.

#include "textflag.h"
#include "go_asm.h"
#include "tile_arm64.h"

// Instructions that the assembler lacks, each with its disassembly, which a test checks.
#define FMLA(M, N, D) WORD $(0x4F801000 | M<<16 | N<<5 | D) // fmla vD.4s, vN.4s, vM.s[0]
#define FADD(M, N, D) WORD $(0x4E20D400 | M<<16 | N<<5 | D) // fadd vD.4s, vN.4s, vM.4s
#define FCMLT0(N, D)  WORD $(0x4EA0E800 | N<<5 | D)         // fcmlt vD.4s, vN.4s, #0.0
#define BIC(M, N, D)  WORD $(0x4E601C00 | M<<16 | N<<5 | D) // bic vD.16b, vN.16b, vM.16b

// one row of the tile: VC0 to VC3 += a·(V24 to V27), with a in VA
#define FMAROW(A, C0, C1, C2, C3) \
	FMLA(A, 24, C0) \
	FMLA(A, 25, C1) \
	FMLA(A, 26, C2) \
	FMLA(A, 27, C3)

// rows 0 to 5 for one k
#define LOADB \
	FLDPQ (R8), (F24, F25)   \
	FLDPQ 32(R8), (F26, F27) \
	ADD   R9, R8
#define ROW0 \
	FMOVS (R5), F28 \
	FMAROW(28, 0, 1, 2, 3)
#define ROW1 \
	FMOVS (R5)(R6), F29 \
	FMAROW(29, 4, 5, 6, 7)
#define ROW2 \
	FMOVS (R5)(R12), F30 \
	FMAROW(30, 8, 9, 10, 11)
#define ROW3 \
	FMOVS (R5)(R13), F31 \
	FMAROW(31, 12, 13, 14, 15)
#define ROW4 \
	FMOVS (R5)(R14), F28 \
	FMAROW(28, 16, 17, 18, 19)
#define ROW5 \
	FMOVS (R5)(R15), F29 \
	FMAROW(29, 20, 21, 22, 23)
#define NEXTK \
	ADD  R7, R5  \
	SUBS $1, R10

// a row of C at R11, and a step to the next row
#define LOADC(C0, C1, C2, C3) \
	FLDPQ (R11), (C0, C1)   \
	FLDPQ 32(R11), (C2, C3) \
	ADD   R2, R11
#define STOREC(C0, C1, C2, C3) \
	FSTPQ (C0, C1), (R11)   \
	FSTPQ (C2, C3), 32(R11) \
	ADD   R2, R11

// R11 = the first row of C; MOVE for each of m rows, then jump to DONE
#define EACHROW(MOVE, DONE) \
	MOVD R1, R11 \
	ROWSUPTO6(MOVE, DONE)

// EACHn: rows 0 to n-1 for one k
#define EACH1 ROW0
#define EACH2 \
	EACH1 \
	ROW1
#define EACH3 \
	EACH2 \
	ROW2
#define EACH4 \
	EACH3 \
	ROW3
#define EACH5 \
	EACH4 \
	ROW4
#define EACH6 \
	EACH5 \
	ROW5

// the loop over k for the rows of EACH
//
//	for range k { LOADB; EACH; NEXTK }
#define LOOP(rows, EACH) \
	PCALIGN $16 \
rows: \
	LOADB    \
	EACH     \
	NEXTK    \
	BNE rows

// C += bias; C = 0 where it is below 0, which preserves NaN and -0
#define ADDBIAS(C0, C1, C2, C3) \
	FADD(24, C0, C0) \
	FADD(25, C1, C1) \
	FADD(26, C2, C2) \
	FADD(27, C3, C3)
#define RELU(C0, C1, C2, C3, T0, T1, T2, T3) \
	FCMLT0(C0, T0)  \
	BIC(T0, C0, C0) \
	FCMLT0(C1, T1)  \
	BIC(T1, C1, C1) \
	FCMLT0(C2, T2)  \
	BIC(T2, C2, C2) \
	FCMLT0(C3, T3)  \
	BIC(T3, C3, C3)

// copies N < 16 floats from FROM to TO and advances both past all of them except the last
#define COPYEDGE(N, FROM, TO) \
	TBZ     $3, N, 3(PC)       \
	FLDPQ.P 32(FROM), (F24, F25) \
	FSTPQ.P (F24, F25), 32(TO) \
	TBZ     $2, N, 3(PC)       \
	FMOVQ.P 16(FROM), F24      \
	FMOVQ.P F24, 16(TO)        \
	TBZ     $1, N, 3(PC)       \
	FMOVD.P 8(FROM), F24       \
	FMOVD.P F24, 8(TO)         \
	TBZ     $0, N, 3(PC)       \
	FMOVS   (FROM), F24        \
	FMOVS   F24, (TO)

// func stripNEON(s *strip)
//
// R0 s          R3 m          R10 k left    R4 columns left
// R1 C          R2 s.cRow     R11 row of C
// R5 A          R6 s.aRow     R12 to R15 2 to 5 times s.aRow     R7 s.aK
// R8 B          R9 s.bK       R19 B, k = 0  R21 bias
//
// For the last, fewer than 16, columns, edge on the stack replaces C and the bias.
TEXT ·stripNEON(SB), NOSPLIT, $448-8
	MOVD s+0(FP), R0
	MOVD strip_c(R0), R1
	MOVD strip_cRow(R0), R2
	MOVD strip_m(R0), R3
	MOVD strip_n(R0), R4
	MOVD strip_aRow(R0), R6
	MOVD strip_aK(R0), R7
	MOVD strip_bK(R0), R9
	MOVD strip_b(R0), R19
	MOVD strip_bias(R0), R21
	LSL  $1, R6, R12
	ADD  R6, R12, R13
	LSL  $2, R6, R14
	ADD  R6, R14, R15

panel:
	CMP  $16, R4
	BGE  start
	MOVD R1, R22 // C
	MOVD $edge-448(SP), R1
	CBZ  R21, copyin
	MOVD $edge-64(SP), R20
	COPYEDGE(R4, R21, R20)
	MOVD $edge-64(SP), R21

copyin:
	MOVD strip_accumulate(R0), R20
	CBZ  R20, copied
	MOVD R22, R23
	MOVD R1, R24
	MOVD R3, R25

copyrow:
	MOVD R23, R11
	MOVD R24, R20
	COPYEDGE(R4, R11, R20)
	ADD  R2, R23
	ADD  $64, R24
	SUBS $1, R25
	BNE  copyrow

copied:
	MOVD $64, R2

	// the chains start from C
start:
	MOVD strip_accumulate(R0), R20
	CBZ  R20, zero
	EACHROW(LOADC, multiply)
	B    multiply

	// or from 0
zero:
	REGISTERS24(CLEAR)

multiply:
	// prefetch the C of the next panel, from which its chains start
	MOVD strip_cRow(R0), R25
	ADD  $64, R1, R20
	CMP  $16, R4
	BGT  fetch
	MOVD strip_c(R0), R20
	MOVD strip_next(R0), R11
	ADD  R11, R20

fetch:
	PRFM (R20), PLDL1KEEP
	ADD  R25, R20
	PRFM (R20), PLDL1KEEP
	ADD  R25, R20
	PRFM (R20), PLDL1KEEP
	ADD  R25, R20
	PRFM (R20), PLDL1KEEP
	ADD  R25, R20
	PRFM (R20), PLDL1KEEP
	ADD  R25, R20
	PRFM (R20), PLDL1KEEP

	MOVD strip_k(R0), R10
	CBZ  R10, epilogue
	MOVD strip_a(R0), R5
	MOVD R19, R8

	// one loop over k for each number of rows
	TOROWS6
	LOOP(rows1, EACH1)
	B epilogue
	LOOP(rows2, EACH2)
	B epilogue
	LOOP(rows3, EACH3)
	B epilogue
	LOOP(rows4, EACH4)
	B epilogue
	LOOP(rows5, EACH5)
	B epilogue
	LOOP(rows6, EACH6)

epilogue:
	// + bias
	CBZ   R21, relu
	FLDPQ (R21), (F24, F25)
	FLDPQ 32(R21), (F26, F27)
	ADD   $64, R21
	ROWS6(ADDBIAS)

	// x < 0 ? 0 : x
relu:
	MOVD strip_relu(R0), R20
	CBZ  R20, store
	RELU(0, 1, 2, 3, 24, 25, 26, 27)
	RELU(4, 5, 6, 7, 28, 29, 30, 31)
	RELU(8, 9, 10, 11, 24, 25, 26, 27)
	RELU(12, 13, 14, 15, 28, 29, 30, 31)
	RELU(16, 17, 18, 19, 24, 25, 26, 27)
	RELU(20, 21, 22, 23, 28, 29, 30, 31)

store:
	EACHROW(STOREC, stored)

stored:
	CMP  $16, R4
	BLT  copyout
	SUBS $16, R4
	BLE  done
	ADD  $64, R1
	MOVD strip_bPanel(R0), R20
	ADD  R20, R19
	B    panel

	// copy the edge of C from the stack
copyout:
	MOVD strip_cRow(R0), R2

nextrow:
	MOVD R1, R11
	MOVD R22, R20
	COPYEDGE(R4, R11, R20)
	ADD  $64, R1
	ADD  R2, R22
	SUBS $1, R3
	BNE  nextrow

done:
	RET
#undef FMAROW
#undef LOADB
#undef ROW0
#undef ROW1
#undef ROW2
#undef ROW3
#undef ROW4
#undef ROW5
#undef NEXTK
#undef LOADC
#undef STOREC
#undef EACHROW

// func copyPanel(dst *float32, dstK uintptr, src *float32, srcK uintptr, w, k int)
TEXT ·copyPanel(SB), NOSPLIT, $0-48
	MOVD dst+0(FP), R0
	MOVD dstK+8(FP), R1
	MOVD src+16(FP), R2
	MOVD srcK+24(FP), R3
	MOVD w+32(FP), R4
	MOVD k+40(FP), R5
	CMP  $16, R4
	BEQ  whole

edge:
	MOVD R2, R6
	MOVD R0, R7
	COPYEDGE(R4, R6, R7)
	ADD  R3, R2
	ADD  R1, R0
	SUBS $1, R5
	BNE  edge
	RET

whole:
	FLDPQ (R2), (F0, F1)
	FLDPQ 32(R2), (F2, F3)
	FSTPQ (F0, F1), (R0)
	FSTPQ (F2, F3), 32(R0)
	ADD   R3, R2
	ADD   R1, R0
	SUBS  $1, R5
	BNE   whole
	RET

#undef COPYEDGE

// func transposePanel(dst *float32, dstK uintptr, src *float32, srcRow uintptr, w, k int)
//
// R8 to R11 are 4 rows of src; beyond w rows the last one is repeated.
TEXT ·transposePanel(SB), NOSPLIT, $0-48
	MOVD dst+0(FP), R0
	MOVD dstK+8(FP), R1
	MOVD src+16(FP), R8
	MOVD srcRow+24(FP), R3
	MOVD w+32(FP), R4

rows:
	ADD  R3, R8, R9
	CMP  $2, R4
	CSEL LT, R8, R9, R9
	ADD  R3, R9, R10
	CMP  $3, R4
	CSEL LT, R9, R10, R10
	ADD  R3, R10, R11
	CMP  $4, R4
	CSEL LT, R10, R11, R11
	ADD  R3, R11, R12 // the next 4 rows
	MOVD R0, R6
	MOVD k+40(FP), R5
	SUBS $4, R5
	BLT  tail

four:
	FMOVQ.P 16(R8), F0
	FMOVQ.P 16(R9), F1
	FMOVQ.P 16(R10), F2
	FMOVQ.P 16(R11), F3
	VTRN1   V1.S4, V0.S4, V4.S4
	VTRN2   V1.S4, V0.S4, V5.S4
	VTRN1   V3.S4, V2.S4, V6.S4
	VTRN2   V3.S4, V2.S4, V7.S4
	VTRN1   V6.D2, V4.D2, V0.D2
	VTRN1   V7.D2, V5.D2, V1.D2
	VTRN2   V6.D2, V4.D2, V2.D2
	VTRN2   V7.D2, V5.D2, V3.D2
	FMOVQ   F0, (R6)
	ADD     R1, R6
	FMOVQ   F1, (R6)
	ADD     R1, R6
	FMOVQ   F2, (R6)
	ADD     R1, R6
	FMOVQ   F3, (R6)
	ADD     R1, R6
	SUBS    $4, R5
	BGE     four

tail:
	ADDS $4, R5
	BEQ  nextrows

one:
	FMOVS.P 4(R8), F0
	FMOVS.P 4(R9), F1
	FMOVS.P 4(R10), F2
	FMOVS.P 4(R11), F3
	FSTPS   (F0, F1), (R6)
	FSTPS   (F2, F3), 8(R6)
	ADD     R1, R6
	SUBS    $1, R5
	BNE     one

nextrows:
	MOVD R12, R8
	ADD  $16, R0
	SUBS $4, R4
	BGT  rows
	RET

// func fmaLoopNEON(n int)
TEXT ·fmaLoopNEON(SB), NOSPLIT, $0-8
	MOVD n+0(FP), R0
	REGISTERS24(CLEAR)
	VEOR V24.B16, V24.B16, V24.B16

	PCALIGN $16
again:
	VFMLA V24.S4, V24.S4, V0.S4
	VFMLA V24.S4, V24.S4, V1.S4
	VFMLA V24.S4, V24.S4, V2.S4
	VFMLA V24.S4, V24.S4, V3.S4
	VFMLA V24.S4, V24.S4, V4.S4
	VFMLA V24.S4, V24.S4, V5.S4
	VFMLA V24.S4, V24.S4, V6.S4
	VFMLA V24.S4, V24.S4, V7.S4
	VFMLA V24.S4, V24.S4, V8.S4
	VFMLA V24.S4, V24.S4, V9.S4
	VFMLA V24.S4, V24.S4, V10.S4
	VFMLA V24.S4, V24.S4, V11.S4
	VFMLA V24.S4, V24.S4, V12.S4
	VFMLA V24.S4, V24.S4, V13.S4
	VFMLA V24.S4, V24.S4, V14.S4
	VFMLA V24.S4, V24.S4, V15.S4
	VFMLA V24.S4, V24.S4, V16.S4
	VFMLA V24.S4, V24.S4, V17.S4
	VFMLA V24.S4, V24.S4, V18.S4
	VFMLA V24.S4, V24.S4, V19.S4
	VFMLA V24.S4, V24.S4, V20.S4
	VFMLA V24.S4, V24.S4, V21.S4
	VFMLA V24.S4, V24.S4, V22.S4
	VFMLA V24.S4, V24.S4, V23.S4
	SUBS $1, R0
	BNE  again
	RET

// func pause()
TEXT ·pause(SB), NOSPLIT, $0-0
	YIELD
	RET
