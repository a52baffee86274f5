// The transposition of 16 of k of 16 columns of B in registers, for AVX-512. A cache line of B is
// read at once, because the columns may share a set of L1.
//
// R8, R9 and R10 are columns 0, 2 and 7; R12 and R13 are 1 and 3 times the distance of columns.

// 16 of k of columns I and J: LO = k 0 to 7 of both, HI = k 8 to 15 of both
#define PAIR(I, J, LOY, LO, HIY, HI) \
	VMOVUPS      I, LOY        \
	VMOVUPS      32 I, HIY     \
	VINSERTF64X4 $1, J, LO, LO \
	VINSERTF64X4 $1, 32 J, HI, HI

// the pairs of 16 columns
#define PAIR0 PAIR((R8), (R8)(R12*4), Y0, Z0, Y12, Z12)
#define PAIR1 PAIR((R8)(R12*1), (R9)(R13*1), Y1, Z1, Y13, Z13)
#define PAIR2 PAIR((R8)(R12*2), (R8)(R13*2), Y2, Z2, Y14, Z14)
#define PAIR3 PAIR((R8)(R13*1), (R10), Y3, Z3, Y15, Z15)
#define PAIR4 PAIR((R8)(R12*8), (R8)(R13*4), Y24, Z24, Y28, Z28)
#define PAIR5 PAIR((R10)(R12*2), (R10)(R13*2), Y25, Z25, Y29, Z29)
#define PAIR6 PAIR((R10)(R13*1), (R9)(R13*4), Y26, Z26, Y30, Z30)
#define PAIR7 PAIR((R10)(R12*4), (R10)(R12*8), Y27, Z27, Y31, Z31)
#define PAIRS \
	PAIR0 \
	PAIR1 \
	PAIR2 \
	PAIR3 \
	PAIR4 \
	PAIR5 \
	PAIR6 \
	PAIR7

// UNPACKPS, then UNPACKPD transpose the 4 × 4 elements in each 128-bit lane of B0 to B3
#define UNPACKPS(B0, B1, B2, B3, T0, T1, T2, T3) \
	VUNPCKLPS B1, B0, T0 \
	VUNPCKHPS B1, B0, T1 \
	VUNPCKLPS B3, B2, T2 \
	VUNPCKHPS B3, B2, T3
#define UNPACKPD(B0, B1, B2, B3, T0, T1, T2, T3) \
	VUNPCKLPD T2, T0, B0 \
	VUNPCKHPD T2, T0, B1 \
	VUNPCKLPD T3, T1, B2 \
	VUNPCKHPD T3, T1, B3

// D0 to D3 = the lanes of 4 of k, of A0 to A3 and of B0 to B3: $0x88 selects the first 4, $0xDD
// the next 4
#define LANES(SELECT, A0, A1, A2, A3, B0, B1, B2, B3, D0, D1, D2, D3) \
	VSHUFF32X4 SELECT, B0, A0, D0 \
	VSHUFF32X4 SELECT, B1, A1, D1 \
	VSHUFF32X4 SELECT, B2, A2, D2 \
	VSHUFF32X4 SELECT, B3, A3, D3
