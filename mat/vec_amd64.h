// The vector kernels for AVX2 and FMA. The 16 lanes are a pair of registers, lanes 0 to 7 and 8 to
// 15.
//
// A kernel is a block, a macro that processes 16 elements, and EACH, which applies it to whole
// vectors: first to full blocks, then to the remaining 1 to 15 elements, under a mask. A block has
// parameters for its loads, its stores, and for keeping unused lanes out of a reduction, and is
// expanded once for full blocks and once for the remainder.
//
//	DI SI DX R8 R9  the vectors, in the order of the arguments
//	AX              offset of the block, in bytes
//	BX CX           bytes in full blocks, elements of the remainder
//	Y14 Y15         the mask of the remainder
//	Y13             the values that KEEP puts into unused lanes
//
// Every function of the files that include this one requires AVX2 and FMA.

// 16 lanes on, 16 lanes off
DATA lanesOn<>+0(SB)/8, $-1
DATA lanesOn<>+8(SB)/8, $-1
DATA lanesOn<>+16(SB)/8, $-1
DATA lanesOn<>+24(SB)/8, $-1
DATA lanesOn<>+32(SB)/8, $-1
DATA lanesOn<>+40(SB)/8, $-1
DATA lanesOn<>+48(SB)/8, $-1
DATA lanesOn<>+56(SB)/8, $-1
GLOBL lanesOn<>(SB), RODATA|NOPTR, $128

#define LOAD(p, a, b) \
	VMOVUPS (p)(AX*1), a   \
	VMOVUPS 32(p)(AX*1), b
#define STORE(a, b, p) \
	VMOVUPS a, (p)(AX*1)   \
	VMOVUPS b, 32(p)(AX*1)
#define ALL(a, b)

#define LOADREST(p, a, b) \
	VMASKMOVPS (p)(AX*1), Y14, a   \
	VMASKMOVPS 32(p)(AX*1), Y15, b
#define STOREREST(a, b, p) \
	VMASKMOVPS a, Y14, (p)(AX*1)   \
	VMASKMOVPS b, Y15, 32(p)(AX*1)
#define KEEPREST(a, b) \
	VBLENDVPS Y14, a, Y13, a \
	VBLENDVPS Y15, b, Y13, b
#define NOSTORE(a, b, p)

// SPLIT takes the number of elements in CX and sets BX, CX and the mask.
#define SPLIT \
	MOVQ CX, BX              \
	ANDQ $15, CX             \
	SUBQ CX, BX              \
	SHLQ $2, BX              \
	LEAQ lanesOn<>+64(SB), R10 \
	SHLQ $2, CX              \
	SUBQ CX, R10             \
	VMOVUPS (R10), Y14       \
	VMOVUPS 32(R10), Y15

#define WHOLE(block, loop, rest) \
	XORL  AX, AX             \
	TESTQ BX, BX             \
	JEQ   rest               \
	PCALIGN $64              \
loop: \
	block(LOAD, STORE, ALL)  \
	ADDQ  $64, AX            \
	CMPQ  AX, BX             \
	JLT   loop               \
rest:

#define EACH(block, loop, rest, end) \
	WHOLE(block, loop, rest) \
	TESTQ CX, CX             \
	JEQ   end                \
	block(LOADREST, STOREREST, KEEPREST) \
end:

// ELEMENTWISE is the body of a kernel f(y, x *float32, n int). CONSTANTS sets its other registers.
#define ELEMENTWISE(CONSTANTS, block) \
	MOVQ y+0(FP), DI         \
	MOVQ x+8(FP), SI         \
	MOVQ n+16(FP), CX        \
	CONSTANTS                \
	SPLIT                    \
	EACH(block, loop, rest, end) \
	VZEROUPPER
#define NOCONST

#define ZERO(a) VXORPS a, a, a

// FOLD adds the 16 lanes of A and B: l+8, l+4, l+2, l+1. The sum is in every lane of the lower half
// of A. a and b are the lower halves of A and B.
#define FOLD(A, B, a, b) \
	VADDPS       B, A, A      \
	VEXTRACTF128 $1, A, b     \
	VADDPS       b, a, a      \
	VPERMILPS    $0x4E, a, b  \
	VADDPS       b, a, a      \
	VPERMILPS    $0xB1, a, b  \
	VADDPS       b, a, a

// FOLDMAX is FOLD with the maximum instead of the sum.
#define FOLDMAX(A, B, a, b) \
	VMAXPS       B, A, A      \
	VEXTRACTF128 $1, A, b     \
	VMAXPS       b, a, a      \
	VPERMILPS    $0x4E, a, b  \
	VMAXPS       b, a, a      \
	VPERMILPS    $0xB1, a, b  \
	VMAXPS       b, a, a

// Blocks that softmax also uses.

// VMAXPS drops a NaN in its first operand, so Y10 records the NaNs.
#define MAX(LD, ST, KEEP) \
	LARGER(LD, ST, KEEP)    \
	VCMPPS $3, Y0, Y1, Y0   \
	VORPS  Y0, Y10, Y10

#define LARGER(LD, ST, KEEP) \
	LD(SI, Y0, Y1)          \
	KEEP(Y0, Y1)            \
	VMAXPS Y0, Y8, Y8       \
	VMAXPS Y1, Y9, Y9

#define NEGINF(X, Y) \
	MOVL $0xFF800000, R10   \
	VMOVD R10, X             \
	VBROADCASTSS X, Y

#define SCALE(LD, ST, KEEP) \
	LD(DI, Y0, Y1)      \
	VMULPS Y8, Y0, Y0   \
	VMULPS Y8, Y1, Y1   \
	ST(Y0, Y1, DI)
