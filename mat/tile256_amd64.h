// Loops over the rows of a tile for AVX2 kernels that keep C in Y0 to Y11. They are unrolled by
// macros because registers cannot be indexed. The including file defines OP, MOVE, ROW0 to ROW5,
// LOADB and NEXT.

// for i := range 6 rows { OP(registers of row i) }
#define ROWS6(OP) \
	OP(Y0, Y1) \
	OP(Y2, Y3) \
	OP(Y4, Y5) \
	OP(Y6, Y7) \
	OP(Y8, Y9) \
	OP(Y10, Y11)

// for i := range AX { MOVE(registers of row i) }, for up to 6 rows; jumps to DONE unless the last
// row was moved. MOVE must preserve the flags.
#define ROWSUPTO6(MOVE, DONE) \
	MOVE(Y0, Y1) \
	CMPQ AX, $2  \
	JLT  DONE    \
	MOVE(Y2, Y3) \
	JEQ  DONE    \
	MOVE(Y4, Y5) \
	CMPQ AX, $4  \
	JLT  DONE    \
	MOVE(Y6, Y7) \
	JEQ  DONE    \
	MOVE(Y8, Y9) \
	CMPQ AX, $6  \
	JLT  DONE    \
	MOVE(Y10, Y11)

// C0 and C1 = 0
#define CLEAR(C0, C1) \
	VXORPS C0, C0, C0 \
	VXORPS C1, C1, C1

// ADDBIAS: C += the bias in Y12 and Y13. RELU: C = max(0, C) with Y12 = 0; VMAXPS returns its last
// operand if that is NaN or both are 0, which preserves NaN and -0.
#define ADDBIAS(C0, C1) \
	VADDPS Y12, C0, C0 \
	VADDPS Y13, C1, C1
#define RELU(C0, C1) \
	VMAXPS C0, Y12, C0 \
	VMAXPS C1, Y12, C1

// jumps to the loop over k for M rows; rows1 must follow
#define TOROWS6(M) \
	CMPQ M, $6 \
	JEQ  rows6 \
	CMPQ M, $5 \
	JEQ  rows5 \
	CMPQ M, $4 \
	JEQ  rows4 \
	CMPQ M, $3 \
	JEQ  rows3 \
	CMPQ M, $2 \
	JEQ  rows2

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

// the loop over k for the rows of EACH; NEXT decrements k and sets the flags
//
//	for range k { LOADB; EACH; NEXT }
#define LOOP(rows, EACH, NEXT, ALIGN) \
	PCALIGN ALIGN \
rows: \
	LOADB         \
	EACH          \
	NEXT          \
	JNE rows
