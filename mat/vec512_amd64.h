// The vector kernels for AVX-512 (F, VL, BW, DQ), with the structure of vec_amd64.h, whose kernels
// jump to these. The 16 lanes are one register, and the remaining 1 to 15 elements are the lanes of
// a mask. There is no kernel for Sum: its chains of additions determine the time, and the latency
// of a wide addition is longer.
//
//	DI SI DX R8 R9  the vectors, in the order of the arguments
//	AX              offset of the block, in bytes
//	BX CX           bytes in full blocks, elements of the remainder
//	K1              the mask of the remainder
//	Z13             the values that KEEP puts into unused lanes
//
// If one operand of VMAXPS or VMINPS is NaN, the result is the second, which is written first.

#define LOAD(p, a) VMOVUPS (p)(AX*1), a
#define STORE(a, p) VMOVUPS a, (p)(AX*1)
#define ALL(a)

#define LOADREST(p, a) VMOVUPS.Z (p)(AX*1), K1, a
#define STOREREST(a, p) VMOVUPS a, K1, (p)(AX*1)
#define KEEPREST(a) VBLENDMPS a, Z13, K1, a
#define NOSTORE(a, p)

// SPLIT takes the number of elements in CX and sets BX, CX and the mask.
#define SPLIT \
	MOVQ  CX, BX            \
	ANDQ  $15, CX           \
	SUBQ  CX, BX            \
	SHLQ  $2, BX            \
	MOVL  $1, R10           \
	SHLL  CX, R10           \
	DECL  R10               \
	KMOVW R10, K1

#define WHOLE(block, loop, rest) \
	XORL  AX, AX            \
	TESTQ BX, BX            \
	JEQ   rest              \
	PCALIGN $64             \
loop: \
	block(LOAD, STORE, ALL) \
	ADDQ  $64, AX           \
	CMPQ  AX, BX            \
	JLT   loop              \
rest:

#define EACH(block, loop, rest, end) \
	WHOLE(block, loop, rest) \
	TESTQ CX, CX            \
	JEQ   end               \
	block(LOADREST, STOREREST, KEEPREST) \
end:

#define ZERO(a) VPXORD a, a, a

// FOLD combines the 16 lanes of A by op: l+8, l+4, l+2, l+1. The result is in every lane of a, the
// lowest quarter of A; y and x are the lower half and quarter of a scratch register.
#define FOLD(op, A, ya, a, y, x) \
	VEXTRACTF64X4 $1, A, y   \
	op            y, ya, ya  \
	VEXTRACTF128  $1, ya, x  \
	op            x, a, a    \
	VPERMILPS     $0x4E, a, x \
	op            x, a, a    \
	VPERMILPS     $0xB1, a, x \
	op            x, a, a

// Blocks that softmax also uses.

// VMAXPS drops a NaN in its first operand, so K2 records the NaNs.
#define MAX(LD, ST, KEEP) \
	LARGER(LD, ST, KEEP)     \
	VCMPPS $3, Z0, Z0, K3    \
	KORW   K3, K2, K2

#define LARGER(LD, ST, KEEP) \
	LD(SI, Z0)           \
	KEEP(Z0)             \
	VMAXPS Z0, Z8, Z8

#define NEGINF(Z) \
	MOVL $0xFF800000, R10   \
	VPBROADCASTD R10, Z

#define SCALE(LD, ST, KEEP) \
	LD(DI, Z0)         \
	VMULPS Z8, Z0, Z0  \
	ST(Z0, DI)
