// Loops over the rows of a tile for AVX-512 kernels that keep C in Z0 to Z23. They are unrolled by
// macros because registers cannot be indexed. The including file defines OP, MOVE, ROW0 to ROW11,
// LOADB and NEXT.

// for i := range 8, 12 or 6 rows { OP(registers of row i) }
#define ROWS8(OP) \
	OP(Z0, Z1)   \
	OP(Z2, Z3)   \
	OP(Z4, Z5)   \
	OP(Z6, Z7)   \
	OP(Z8, Z9)   \
	OP(Z10, Z11) \
	OP(Z12, Z13) \
	OP(Z14, Z15)
#define ROWS12(OP) \
	ROWS8(OP)    \
	OP(Z16, Z17) \
	OP(Z18, Z19) \
	OP(Z20, Z21) \
	OP(Z22, Z23)
#define ROWS6OF4(OP) \
	OP(Z0, Z1, Z2, Z3)     \
	OP(Z4, Z5, Z6, Z7)     \
	OP(Z8, Z9, Z10, Z11)   \
	OP(Z12, Z13, Z14, Z15) \
	OP(Z16, Z17, Z18, Z19) \
	OP(Z20, Z21, Z22, Z23)

// for i := range 12 { OP(register i) }
#define REGISTERS12(OP) \
	OP(Z0)  \
	OP(Z1)  \
	OP(Z2)  \
	OP(Z3)  \
	OP(Z4)  \
	OP(Z5)  \
	OP(Z6)  \
	OP(Z7)  \
	OP(Z8)  \
	OP(Z9)  \
	OP(Z10) \
	OP(Z11)

// for i := range AX { MOVE(registers of row i) }, for up to 8 or 12 rows; jumps to DONE unless the
// last row was moved. MOVE must preserve the flags.
#define ROWSUPTO8(MOVE, DONE) \
	MOVE(Z0, Z1)   \
	CMPQ AX, $2    \
	JLT  DONE      \
	MOVE(Z2, Z3)   \
	JEQ  DONE      \
	MOVE(Z4, Z5)   \
	CMPQ AX, $4    \
	JLT  DONE      \
	MOVE(Z6, Z7)   \
	JEQ  DONE      \
	MOVE(Z8, Z9)   \
	CMPQ AX, $6    \
	JLT  DONE      \
	MOVE(Z10, Z11) \
	JEQ  DONE      \
	MOVE(Z12, Z13) \
	CMPQ AX, $8    \
	JLT  DONE      \
	MOVE(Z14, Z15)
#define ROWSUPTO12(MOVE, DONE) \
	ROWSUPTO8(MOVE, DONE) \
	JEQ  DONE      \
	MOVE(Z16, Z17) \
	CMPQ AX, $10   \
	JLT  DONE      \
	MOVE(Z18, Z19) \
	JEQ  DONE      \
	MOVE(Z20, Z21) \
	CMPQ AX, $12   \
	JLT  DONE      \
	MOVE(Z22, Z23)

// CLEAR: C = 0. ADDBIAS: C += the bias in Z24 and Z25. RELU: C = max(0, C) with Z24 = 0; VMAXPS
// returns its last operand if that is NaN or both are 0, which preserves NaN and -0.
#define CLEAR(C0, C1) \
	VPXORD C0, C0, C0 \
	VPXORD C1, C1, C1
#define ADDBIAS(C0, C1) \
	VADDPS Z24, C0, C0 \
	VADDPS Z25, C1, C1
#define RELU(C0, C1) \
	VMAXPS C0, Z24, C0 \
	VMAXPS C1, Z24, C1

// the same for rows of four registers, with the bias in Z24 to Z27
#define CLEAR4(C0, C1, C2, C3) \
	CLEAR(C0, C1) \
	CLEAR(C2, C3)
#define ADDBIAS4(C0, C1, C2, C3) \
	ADDBIAS(C0, C1)    \
	VADDPS Z26, C2, C2 \
	VADDPS Z27, C3, C3
#define RELU4(C0, C1, C2, C3) \
	RELU(C0, C1) \
	RELU(C2, C3)

// LOADBIAS: the bias at SI, under the masks of the columns; LOADBIAS4 without masks
#define LOADBIAS \
	VMOVUPS.Z (SI), K1, Z24 \
	VMOVUPS.Z 64(SI), K2, Z25
#define LOADBIAS4 \
	VMOVUPS (SI), Z24    \
	VMOVUPS 64(SI), Z25  \
	VMOVUPS 128(SI), Z26 \
	VMOVUPS 192(SI), Z27

// START: the chains of a strip start from C, or from 0. multiply must follow.
#define START(ROWS, CLEARS) \
	CMPQ strip_accumulate(DI), $0 \
	JEQ  zero                \
	EACHROW(LOADC, multiply) \
	JMP  multiply            \
zero: \
	ROWS(CLEARS)

// EPILOGUE: + bias if there is one, then x < 0 ? 0 : x, in all rows. DX is C of the panel; BIAS
// begins at the column of FIRSTC.
#define EPILOGUE(FIRSTC, BIAS, RELUS, LOAD, ROWS, ADD, MAX) \
	MOVQ  BIAS, SI         \
	TESTQ SI, SI           \
	JEQ   relu             \
	ADDQ  DX, SI           \
	SUBQ  FIRSTC, SI       \
	LOAD                   \
	ROWS(ADD)              \
relu: \
	CMPQ   RELUS, $0       \
	JEQ    store           \
	VPXORD Z24, Z24, Z24   \
	ROWS(MAX)              \
store:

// rows of one register, Z16 to Z23: the first rows of C += A·B for one k, at offset OFF of A. SI,
// AX and BX are rows 0, 3 and 6 of A, R15 is the distance of rows.
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

// jumps to the loop over k for M rows; rows1 must follow
#define TOROWS6(M) \
	CMPQ M, $6  \
	JEQ  rows6  \
	CMPQ M, $5  \
	JEQ  rows5  \
	CMPQ M, $4  \
	JEQ  rows4  \
	CMPQ M, $3  \
	JEQ  rows3  \
	CMPQ M, $2  \
	JEQ  rows2
#define TOROWS8(M) \
	CMPQ M, $8  \
	JEQ  rows8  \
	CMPQ M, $7  \
	JEQ  rows7  \
	TOROWS6(M)
#define TOROWS12(M) \
	CMPQ M, $12  \
	JEQ  rows12  \
	CMPQ M, $11  \
	JEQ  rows11  \
	CMPQ M, $10  \
	JEQ  rows10  \
	CMPQ M, $9   \
	JEQ  rows9   \
	TOROWS8(M)

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
#define EACH7 \
	EACH6 \
	ROW6
#define EACH8 \
	EACH7 \
	ROW7
#define EACH9 \
	EACH8 \
	ROW8
#define EACH10 \
	EACH9 \
	ROW9
#define EACH11 \
	EACH10 \
	ROW10
#define EACH12 \
	EACH11 \
	ROW11

// the loop over k for the rows of EACH; NEXT decrements k and sets the flags
//
//	for range k { LOADB; EACH; NEXT }
#define LOOP(rows, EACH, NEXT) \
	PCALIGN $64 \
rows: \
	LOADB       \
	EACH        \
	NEXT        \
	JNE rows

// the loops for 1 to 5 and 1 to 11 rows, each followed by a jump to DONE
#define LOOPS5(NEXT, DONE) \
	LOOP(rows1, EACH1, NEXT) \
	JMP DONE                 \
	LOOP(rows2, EACH2, NEXT) \
	JMP DONE                 \
	LOOP(rows3, EACH3, NEXT) \
	JMP DONE                 \
	LOOP(rows4, EACH4, NEXT) \
	JMP DONE                 \
	LOOP(rows5, EACH5, NEXT) \
	JMP DONE
#define LOOPS11(NEXT, DONE) \
	LOOPS5(NEXT, DONE)         \
	LOOP(rows6, EACH6, NEXT)   \
	JMP DONE                   \
	LOOP(rows7, EACH7, NEXT)   \
	JMP DONE                   \
	LOOP(rows8, EACH8, NEXT)   \
	JMP DONE                   \
	LOOP(rows9, EACH9, NEXT)   \
	JMP DONE                   \
	LOOP(rows10, EACH10, NEXT) \
	JMP DONE                   \
	LOOP(rows11, EACH11, NEXT) \
	JMP DONE
