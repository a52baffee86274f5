// The vector kernels for NEON. The 16 lanes are four registers, lanes 0 to 3, 4 to 7, 8 to 11 and
// 12 to 15.
//
// A kernel is a block, a macro that processes 4 elements, and EACH, which applies it to whole
// vectors: 16 elements at a time, then 4 at a time, then the remaining 1 to 3. A block has
// parameters for its loads, its stores, for keeping unused lanes out of a reduction, and for the
// register of its lanes. Macros of instructions take registers as numbers, in the assembler's
// order: the destination is last.
//
//	R0 R1 R2 R3 R4  the vectors, in the order of the arguments
//	R5              offset of the block, in bytes
//	R6              elements left
//	R7 R8 R9 R10    for the remainder
//	V16 to V19      the lanes of a reduction, V20 to V23 those of a second one
//	V30             the values that KEEP puts into unused lanes
//	V31             the mask of the remainder

// Instructions that the assembler lacks, and some that need parameters for registers, each with its
// disassembly, which a test checks.

#define FADD4S(M, N, D)          WORD $(0x4E20D400 | M<<16 | N<<5 | D) // fadd vD.4s, vN.4s, vM.4s
#define FSUB4S(M, N, D)          WORD $(0x4EA0D400 | M<<16 | N<<5 | D) // fsub vD.4s, vN.4s, vM.4s
#define FMUL4S(M, N, D)          WORD $(0x6E20DC00 | M<<16 | N<<5 | D) // fmul vD.4s, vN.4s, vM.4s
#define FDIV4S(M, N, D)          WORD $(0x6E20FC00 | M<<16 | N<<5 | D) // fdiv vD.4s, vN.4s, vM.4s
#define FMAX4S(M, N, D)          WORD $(0x4E20F400 | M<<16 | N<<5 | D) // fmax vD.4s, vN.4s, vM.4s
#define FMIN4S(M, N, D)          WORD $(0x4EA0F400 | M<<16 | N<<5 | D) // fmin vD.4s, vN.4s, vM.4s
#define FMLA4S(M, N, D)          WORD $(0x4E20CC00 | M<<16 | N<<5 | D) // fmla vD.4s, vN.4s, vM.4s
#define FMLS4S(M, N, D)          WORD $(0x4EA0CC00 | M<<16 | N<<5 | D) // fmls vD.4s, vN.4s, vM.4s
#define FCMGT4S(M, N, D)         WORD $(0x6EA0E400 | M<<16 | N<<5 | D) // fcmgt vD.4s, vN.4s, vM.4s
#define FABS4S(N, D)             WORD $(0x4EA0F800 | N<<5 | D) // fabs vD.4s, vN.4s
#define FNEG4S(N, D)             WORD $(0x6EA0F800 | N<<5 | D) // fneg vD.4s, vN.4s
#define FSQRT4S(N, D)            WORD $(0x6EA1F800 | N<<5 | D) // fsqrt vD.4s, vN.4s
#define MUL4S(M, N, D)           WORD $(0x4EA09C00 | M<<16 | N<<5 | D) // mul vD.4s, vN.4s, vM.4s
#define CMGT4S(M, N, D)          WORD $(0x4EA03400 | M<<16 | N<<5 | D) // cmgt vD.4s, vN.4s, vM.4s
#define SSHR31(N, D)             WORD $(0x4F210400 | N<<5 | D) // sshr vD.4s, vN.4s, #31
#define AND16B(M, N, D)          WORD $(0x4E201C00 | M<<16 | N<<5 | D) // and vD.16b, vN.16b, vM.16b
#define BIC16B(M, N, D)          WORD $(0x4E601C00 | M<<16 | N<<5 | D) // bic vD.16b, vN.16b, vM.16b
#define BIF16B(M, N, D)          WORD $(0x6EE01C00 | M<<16 | N<<5 | D) // bif vD.16b, vN.16b, vM.16b
#define EOR16B(M, N, D)          WORD $(0x6E201C00 | M<<16 | N<<5 | D) // eor vD.16b, vN.16b, vM.16b
#define MOV16B(N, D)             WORD $(0x4EA01C00 | N<<16 | N<<5 | D) // mov vD.16b, vN.16b
#define LDRQ(M, N, D)            WORD $(0x3CE06800 | M<<16 | N<<5 | D) // ldr qD, [xN, xM]
#define STRQ(M, N, D)            WORD $(0x3CA06800 | M<<16 | N<<5 | D) // str qD, [xN, xM]
#define LDRS(M, N, D)            WORD $(0xBC606800 | M<<16 | N<<5 | D) // ldr sD, [xN, xM]
#define STRS(M, N, D)            WORD $(0xBC206800 | M<<16 | N<<5 | D) // str sD, [xN, xM]
#define LD1LANE1(N, D)           WORD $(0x0D409000 | N<<5 | D) // ld1 {vD.s}[1], [xN]
#define LD1LANE2(N, D)           WORD $(0x4D408000 | N<<5 | D) // ld1 {vD.s}[2], [xN]
#define ST1LANE1(N, D)           WORD $(0x0D009000 | N<<5 | D) // st1 {vD.s}[1], [xN]
#define ST1LANE2(N, D)           WORD $(0x4D008000 | N<<5 | D) // st1 {vD.s}[2], [xN]
#define ADDX(M, N, D)            WORD $(0x8B000000 | M<<16 | N<<5 | D) // add xD, xN, xM

// 4 lanes on, 4 lanes off
DATA quadOn<>+0(SB)/8, $-1
DATA quadOn<>+8(SB)/8, $-1
GLOBL quadOn<>(SB), RODATA|NOPTR, $32

#define LOAD(p, d) LDRQ(5, p, d)
#define STORE(d, p) STRQ(5, p, d)
#define ALL(d)

// For a remainder of r = 1 to 3 elements, R7 and R8 are the offsets of min(1, r-1) and min(2, r-1):
// an earlier element replaces a missing one. It is loaded twice, and stored twice with the right
// value last.
#define LOADREST(p, d) \
	LDRS(5, p, d)      \
	ADDX(7, p, 9)      \
	LD1LANE1(9, d)     \
	ADDX(8, p, 9)      \
	LD1LANE2(9, d)     \
	AND16B(31, d, d)
#define STOREREST(d, p) \
	ADDX(8, p, 9)      \
	ST1LANE2(9, d)     \
	ADDX(7, p, 9)      \
	ST1LANE1(9, d)     \
	STRS(5, p, d)
#define KEEPREST(d) BIF16B(31, 30, d)

// REST sets R7, R8 and the mask.
#define REST \
	SUB   $1, R6, R9         \
	SUB   R9>>1, R9, R10     \
	ADD   R10<<2, R5, R7     \
	ADD   R9<<2, R5, R8      \
	MOVD  $quadOn<>+16(SB), R10 \
	SUB   R6<<2, R10, R10    \
	FMOVQ (R10), F31

// EACH applies block to the R6 elements of the vectors. After each block of 4 the lanes rotate, so
// that the next block uses V16; FOLD gives the same sum for all rotations.
#define EACH(block, rotate, loop, few, four, rest, end) \
	MOVD $0, R5              \
	SUBS $16, R6, R6         \
	BLT  few                 \
loop: \
	block(LOAD, STORE, ALL, 16) \
	ADD  $16, R5             \
	block(LOAD, STORE, ALL, 17) \
	ADD  $16, R5             \
	block(LOAD, STORE, ALL, 18) \
	ADD  $16, R5             \
	block(LOAD, STORE, ALL, 19) \
	ADD  $16, R5             \
	SUBS $16, R6, R6         \
	BGE  loop                \
few: \
	ADDS $12, R6, R6         \
	BLT  rest                \
four: \
	block(LOAD, STORE, ALL, 16) \
	ADD  $16, R5             \
	rotate                   \
	SUBS $4, R6, R6          \
	BGE  four                \
rest: \
	ADDS $4, R6, R6          \
	BEQ  end                 \
	REST                     \
	block(LOADREST, STOREREST, KEEPREST, 16) \
end:

#define STAY
#define ROTATE ROTATE4(16, 17, 18, 19)
#define ROTATE2 \
	ROTATE4(16, 17, 18, 19) \
	ROTATE4(20, 21, 22, 23)
#define ROTATE4(a, b, c, d) \
	MOV16B(a, 29)  \
	MOV16B(b, a)   \
	MOV16B(c, b)   \
	MOV16B(d, c)   \
	MOV16B(29, d)

// ELEMENTWISE is the body of a kernel f(y, x *float32, n int). CONSTANTS sets its other registers.
#define ELEMENTWISE(CONSTANTS, block) \
	MOVD y+0(FP), R0         \
	MOVD x+8(FP), R1         \
	MOVD n+16(FP), R6        \
	CONSTANTS                \
	EACH(block, STAY, loop, few, four, rest, end)
#define NOCONST

#define ZERO(a) EOR16B(a, a, a)
#define ZERO4 \
	ZERO(16) \
	ZERO(17) \
	ZERO(18) \
	ZERO(19)

// FOLD combines the lanes in V16 to V19 by op: l+8, l+4, l+2, l+1. The result is in all lanes of
// V16.
#define FOLD(op) \
	op(18, 16, 16) \
	op(19, 17, 17) \
	op(17, 16, 16) \
	VEXT $8, V16.B16, V16.B16, V17.B16 \
	op(17, 16, 16) \
	VEXT $4, V16.B16, V16.B16, V17.B16 \
	op(17, 16, 16)

// Blocks that softmax also uses.

#define MAX(LD, ST, KEEP, s) \
	LD(1, 0)         \
	KEEP(0)          \
	FMAX4S(0, s, s)

// NEGINF4 sets the lanes and the values of unused lanes to -Inf.
#define NEGINF4 \
	MOVD   $0xFF800000, R10 \
	VDUP   R10, V30.S4      \
	MOV16B(30, 16)          \
	MOV16B(30, 17)          \
	MOV16B(30, 18)          \
	MOV16B(30, 19)

#define SCALE(LD, ST, KEEP, s) \
	LD(0, 0)         \
	FMUL4S(25, 0, 0) \
	ST(0, 0)
