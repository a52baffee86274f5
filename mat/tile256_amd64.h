// Ladders of the kernels for AVX2 that keep a tile of C in Y0 to Y11: a macro for each loop over
// rows that cannot be a loop because registers have no index. OP, MOVE, ROW0 to ROW5, LOADB and
// NEXT are macros of the file that includes this one.

// for i := range 4 or 6 rows { OP(the registers of row i) }
#define ROWS4(OP) \
	OP(Y0, Y1) \
	OP(Y2, Y3) \
	OP(Y4, Y5) \
	OP(Y6, Y7)
#define ROWS6(OP) \
	ROWS4(OP)  \
	OP(Y8, Y9) \
	OP(Y10, Y11)

// for i := range AX of at most 6 rows { MOVE(the registers of row i) }, then to DONE unless there
// are all. MOVE leaves the flags alone.
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

// to the loop over k for AX rows: rows1 follows
#define TOROWS6 \
	CMPQ AX, $6 \
	JEQ  rows6  \
	CMPQ AX, $5 \
	JEQ  rows5  \
	CMPQ AX, $4 \
	JEQ  rows4  \
	CMPQ AX, $3 \
	JEQ  rows3  \
	CMPQ AX, $2 \
	JEQ  rows2

// one k of so many rows
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

// the loop over k for so many rows; NEXT counts k down and sets the flags
//
//	for range k { LOADB; EACH; NEXT }
#define LOOP(rows, EACH, NEXT, ALIGN) \
	PCALIGN ALIGN \
rows: \
	LOADB         \
	EACH          \
	NEXT          \
	JNE rows
