// Loops over the rows of a tile for NEON kernels that keep C in V0 to V23. They are unrolled by
// macros because registers cannot be indexed. The including file defines OP and MOVE.

// for i := range 6 { OP(the numbers of the registers of row i) }
#define ROWS6(OP) \
	OP(0, 1, 2, 3)     \
	OP(4, 5, 6, 7)     \
	OP(8, 9, 10, 11)   \
	OP(12, 13, 14, 15) \
	OP(16, 17, 18, 19) \
	OP(20, 21, 22, 23)

// for i := range R3 { MOVE(registers of row i) }, for up to 6 rows; jumps to DONE unless the last
// row was moved. MOVE must preserve the flags.
#define ROWSUPTO6(MOVE, DONE) \
	MOVE(F0, F1, F2, F3)     \
	CMP  $2, R3              \
	BLT  DONE                \
	MOVE(F4, F5, F6, F7)     \
	BEQ  DONE                \
	MOVE(F8, F9, F10, F11)   \
	CMP  $4, R3              \
	BLT  DONE                \
	MOVE(F12, F13, F14, F15) \
	BEQ  DONE                \
	MOVE(F16, F17, F18, F19) \
	CMP  $6, R3              \
	BLT  DONE                \
	MOVE(F20, F21, F22, F23)

// for i := range 24 { OP(register i) }
#define REGISTERS24(OP) \
	OP(V0)  \
	OP(V1)  \
	OP(V2)  \
	OP(V3)  \
	OP(V4)  \
	OP(V5)  \
	OP(V6)  \
	OP(V7)  \
	OP(V8)  \
	OP(V9)  \
	OP(V10) \
	OP(V11) \
	OP(V12) \
	OP(V13) \
	OP(V14) \
	OP(V15) \
	OP(V16) \
	OP(V17) \
	OP(V18) \
	OP(V19) \
	OP(V20) \
	OP(V21) \
	OP(V22) \
	OP(V23)
#define CLEAR(C) VEOR C.B16, C.B16, C.B16

// jumps to the loop over k for R3 rows; rows1 must follow
#define TOROWS6 \
	CMP $6, R3 \
	BEQ rows6  \
	CMP $5, R3 \
	BEQ rows5  \
	CMP $4, R3 \
	BEQ rows4  \
	CMP $3, R3 \
	BEQ rows3  \
	CMP $2, R3 \
	BEQ rows2
