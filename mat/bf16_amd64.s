//go:build !purego && !noasm

// Matrix products in bfloat16:
//
//	stripVDPBF16PS           up to 8 rows of C in pairs, AVX-512 BF16
//	stripTDPBF16PS           up to 32 rows of C in tiles, AMX
//	packAlongK, packAcrossK  rounding to bfloat16 and packing
//	transposeTiles           converts tiles of A to tiles of B and back
//	vdpbf16Loop, tdpbf16Loop peak rates

#include "textflag.h"
#include "go_asm.h"
#include "tile512_amd64.h"

// Instructions that the assembler lacks, with operands in its order and each with its disassembly,
// which a test checks. M and N are read, D is written; base and index are R8 to R15.

// vdpbf16ps %zmmM,%zmmN,%zmmD
#define VDPBF16PS(M, N, D)      LONG $(0x487EF262 ^ (D&8)<<12 ^ (D&16)<<8 ^ (M&24)<<10 ^ (N&15)<<19 ^ (N&16)<<23); WORD $(0xC052 | (D&7)<<11 | (M&7)<<8)
// vcvtne2ps2bf16 %zmmM,%zmmN,%zmmD
#define VCVTNE2PS2BF16(M, N, D) LONG $(0x487FF262 ^ (D&8)<<12 ^ (D&16)<<8 ^ (M&24)<<10 ^ (N&15)<<19 ^ (N&16)<<23); WORD $(0xC072 | (D&7)<<11 | (M&7)<<8)
#define LDTILECFG(B)            LONG $(0x4978C2C4); BYTE $(B&7) // ldtilecfg (%rB)
#define TILERELEASE             LONG $(0x4978E2C4); BYTE $(0xC0) // tilerelease
#define TILEZERO(D)             LONG $(0x497BE2C4); BYTE $(0xC0 | D<<3) // tilezero %tmmD
// tileloadd (%rB,%rX,1),%tmmD
#define TILELOADD(B, X, D)      LONG $(0x4B7B82C4); WORD $(0x0004 | D<<3 | (X&7)<<11 | (B&7)<<8)
// tilestored %tmmD,(%rB,%rX,1)
#define TILESTORED(D, B, X)     LONG $(0x4B7A82C4); WORD $(0x0004 | D<<3 | (X&7)<<11 | (B&7)<<8)
// tdpbf16ps %tmmM,%tmmN,%tmmD
#define TDPBF16PS(M, N, D)      LONG $(0x5C02E2C4 | (15-M)<<19); BYTE $(0xC0 | D<<3 | N)

// K1 and K2 = the masks of the next 32 of R13 columns of C; overwrites CX and R14
#define COLUMNS \
	MOVL    $32, CX   \
	CMPQ    R13, $32  \
	CMOVQLT R13, CX   \
	MOVQ    $1, R14   \
	SHLQ    CX, R14   \
	DECQ    R14       \
	KMOVW   R14, K1   \
	SHRQ    $16, R14  \
	KMOVW   R14, K2

// one row of the tile: C0, C1 += pair·(Z24, Z25)
#define PAIRROW(A, T, N, C0, C1) \
	VPBROADCASTD A, T       \
	VDPBF16PS(24, N, C0)    \
	VDPBF16PS(25, N, C1)

// a row of C at R14, and a step to the next row
#define LOADC(C0, C1) \
	VMOVUPS.Z (R14), K1, C0     \
	VMOVUPS.Z 64(R14), K2, C1   \
	LEAQ      (R14)(R12*1), R14
#define STOREC(C0, C1) \
	VMOVUPS C0, K1, (R14)       \
	VMOVUPS C1, K2, 64(R14)     \
	LEAQ    (R14)(R12*1), R14

// R14 = the first row of C; MOVE for each of m rows, then jump to DONE
#define EACHROW(MOVE, DONE) \
	MOVQ DX, R14   \
	ROWSUPTO8(MOVE, DONE)

// prefetches two rows of C at R14, and steps over them
#define FETCHC \
	PREFETCHT1 (R14)             \
	PREFETCHT1 64(R14)           \
	PREFETCHT1 (R14)(R12*1)      \
	PREFETCHT1 64(R14)(R12*1)    \
	LEAQ       (R14)(R12*2), R14

// At = the address that the panel prefetches first, Step = the distance to that of the next tile;
// advances the field, of type ahead, to the next panel
#define NEXTAHEAD(field, At, Step) \
	MOVQ (field+ahead_at)(DI), At      \
	MOVQ (field+ahead_panel)(DI), Step \
	ADDQ At, Step                      \
	MOVQ Step, (field+ahead_at)(DI)    \
	MOVQ (field+ahead_tile)(DI), Step

// func stripVDPBF16PS(s *bandStrip)
// Requires: AVX512F, AVX512BF16
//
// DI s          R12 s.cRow    R11 s.bBand     R10 B, k = 0    R13 columns left
// DX C          SI A          BX B            R8 tiles left   CX pairs left in the tile
// R14 row of C, then aheadA   AX m, then the step of R14      R9 aheadB   R15 its step
TEXT ·stripVDPBF16PS(SB), NOSPLIT, $0-8
	MOVQ s+0(FP), DI
	MOVQ bandStrip_b(DI), R10
	MOVQ bandStrip_c(DI), DX
	MOVQ bandStrip_cRow(DI), R12
	MOVQ bandStrip_bBand(DI), R11
	MOVQ bandStrip_m(DI), AX
	MOVQ bandStrip_n(DI), R13

panel:
	COLUMNS

	// the chains start from 0
	ROWS8(CLEAR)

	// or from C
	CMPQ bandStrip_accumulate(DI), $0
	JEQ  fetch
	EACHROW(LOADC, fetch)

	// prefetch C of the next panel or call
fetch:
	LEAQ 128(DX), R14
	CMPQ R13, $32
	CMOVQLE bandStrip_next(DI), R14
	FETCHC
	FETCHC
	FETCHC
	FETCHC
	NEXTAHEAD(bandStrip_aheadA, R14, AX)
	NEXTAHEAD(bandStrip_aheadB, R9, R15)

	MOVQ bandStrip_k(DI), R8
	MOVQ bandStrip_a(DI), SI
	MOVQ R10, BX

tile:
	PREFETCHT1 (R9)
	PREFETCHT1 64(R9)
	MOVQ bandStrip_moreA(DI), CX
	PREFETCHT1 (R14)
	PREFETCHT1 64(R14)
	PREFETCHT1 (R14)(CX*1)
	PREFETCHT1 64(R14)(CX*1)
	ADDQ R15, R9
	ADDQ AX, R14
	MOVQ $16, CX

	PCALIGN $64
pair:
	VMOVUPS (BX), Z24
	VMOVUPS (BX)(R11*1), Z25
	PAIRROW((SI), Z26, 26, 0, 1)
	PAIRROW(64(SI), Z27, 27, 2, 3)
	PAIRROW(128(SI), Z28, 28, 4, 5)
	PAIRROW(192(SI), Z29, 29, 6, 7)
	PAIRROW(256(SI), Z26, 26, 8, 9)
	PAIRROW(320(SI), Z27, 27, 10, 11)
	PAIRROW(384(SI), Z28, 28, 12, 13)
	PAIRROW(448(SI), Z29, 29, 14, 15)
	ADDQ $64, BX
	ADDQ $4, SI
	DECQ CX
	JNE  pair
	ADDQ $960, SI // the next tile, 1024 after this one
	DECQ R8
	JNE  tile

	EPILOGUE(bandStrip_c(DI), bandStrip_bias(DI), bandStrip_relu(DI), LOADBIAS, ROWS8, ADDBIAS, RELU)
	MOVQ bandStrip_m(DI), AX
	EACHROW(STOREC, next)

next:
	ADDQ $128, DX
	LEAQ (R10)(R11*2), R10
	SUBQ $32, R13
	JGT  panel
	VZEROUPPER
	RET

// palette 1: 8 tiles of 16 rows of 64 bytes
DATA tileConfig<>+0x00(SB)/8, $1
DATA tileConfig<>+0x08(SB)/8, $0
DATA tileConfig<>+0x10(SB)/8, $0x0040004000400040
DATA tileConfig<>+0x18(SB)/8, $0x0040004000400040
DATA tileConfig<>+0x20(SB)/8, $0
DATA tileConfig<>+0x28(SB)/8, $0
DATA tileConfig<>+0x30(SB)/8, $0x1010101010101010
DATA tileConfig<>+0x38(SB)/8, $0
GLOBL tileConfig<>(SB), RODATA|NOPTR, $64

// R8 to R11 = the addresses of the four tiles of C, or of the edge: at DX, BX bytes from row to row
#define CORNERS \
	MOVQ DX, R8            \
	LEAQ 64(DX), R9        \
	MOVQ BX, R10           \
	SHLQ $4, R10           \
	ADDQ DX, R10           \
	LEAQ 64(R10), R11

// func stripTDPBF16PS(s *bandStrip)
// Requires: AVX512F, AMX-TILE, AMX-BF16
//
// Tiles 0 and 1 are 16 rows of 32 columns of C, 2 and 3 the next 16 rows; 4 and 5 are two bands of
// A, 6 and 7 of B. If C has fewer rows or columns, they are copied to and from the edge.
//
// DI s          AX m          CX tiles left                R13 columns left
// SI C          R12 s.cRow    DX C or the edge             BX R12 or 128, also in R15
// R8 and R9 bands of A        R10 and R11 bands of B       R14 64
// b-8(SP) B, k = 0
TEXT ·stripTDPBF16PS(SB), NOSPLIT, $8-8
	LEAQ tileConfig<>(SB), R8
	LDTILECFG(8)
	MOVQ s+0(FP), DI
	MOVQ bandStrip_b(DI), BX
	MOVQ BX, b-8(SP)
	MOVQ bandStrip_c(DI), SI
	MOVQ bandStrip_cRow(DI), R12
	MOVQ bandStrip_m(DI), AX
	MOVQ bandStrip_n(DI), R13

panel:
	COLUMNS
	MOVQ SI, DX
	MOVQ R12, BX
	CMPQ R13, $32
	JLT  edge
	CMPQ AX, $32
	JEQ  start

edge:
	MOVQ bandStrip_edge(DI), DX
	MOVQ $128, BX
	CMPQ bandStrip_accumulate(DI), $0
	JEQ  zero
	MOVQ SI, R8
	MOVQ DX, R9
	MOVQ AX, CX

copyrow:
	VMOVUPS.Z (R8), K1, Z0
	VMOVUPS.Z 64(R8), K2, Z1
	VMOVUPS   Z0, (R9)
	VMOVUPS   Z1, 64(R9)
	ADDQ R12, R8
	ADDQ $128, R9
	DECQ CX
	JNE  copyrow

	// the chains start from C
start:
	CMPQ bandStrip_accumulate(DI), $0
	JEQ  zero
	CORNERS
	MOVQ BX, R15
	TILELOADD(8, 15, 0)
	TILELOADD(9, 15, 1)
	TILELOADD(10, 15, 2)
	TILELOADD(11, 15, 3)
	JMP  multiply

	// or from 0
zero:
	TILEZERO(0)
	TILEZERO(1)
	TILEZERO(2)
	TILEZERO(3)

multiply:
	MOVQ bandStrip_k(DI), CX
	MOVQ bandStrip_a(DI), R8
	MOVQ bandStrip_aBand(DI), R9
	ADDQ R8, R9
	CMPQ AX, $16
	CMOVQLE R8, R9 // if there is no second band of A
	MOVQ b-8(SP), R10
	MOVQ bandStrip_bBand(DI), R11
	ADDQ R10, R11
	CMPQ R13, $16
	CMOVQLE R10, R11 // or of B
	MOVQ $64, R14

	PCALIGN $64
tile:
	TILELOADD(8, 14, 4)
	TILELOADD(10, 14, 6)
	TDPBF16PS(6, 4, 0)
	TILELOADD(11, 14, 7)
	TDPBF16PS(7, 4, 1)
	TILELOADD(9, 14, 5)
	TDPBF16PS(6, 5, 2)
	TDPBF16PS(7, 5, 3)
	ADDQ $1024, R8
	ADDQ $1024, R9
	ADDQ $1024, R10
	ADDQ $1024, R11
	DECQ CX
	JNE  tile

	CORNERS
	MOVQ BX, R15
	TILESTORED(0, 8, 15)
	TILESTORED(1, 9, 15)
	TILESTORED(2, 10, 15)
	TILESTORED(3, 11, 15)

	// skip the epilogue if it is empty and C is in place
	MOVQ  bandStrip_bias(DI), R9
	MOVQ  bandStrip_relu(DI), CX
	ORQ   R9, CX
	JNE   epilogue
	CMPQ  DX, SI
	JEQ   next

	// from DX to C: + bias, then x < 0 ? 0 : x by VMAXPS with x as its last operand, which
	// preserves NaN. Without a bias it adds -0, without a ReLU the other operand is -Inf.
epilogue:
	VPTERNLOGD $0xFF, Z2, Z2, Z2
	VPSLLD $31, Z2, Z2
	VMOVAPS Z2, Z3
	TESTQ R9, R9
	JEQ   bound
	ADDQ  SI, R9
	SUBQ  bandStrip_c(DI), R9
	VMOVUPS.Z (R9), K1, Z2
	VMOVUPS.Z 64(R9), K2, Z3

bound:
	VPXORD Z4, Z4, Z4
	CMPQ bandStrip_relu(DI), $0
	JNE  rows
	VPTERNLOGD $0xFF, Z4, Z4, Z4
	VPSLLD $23, Z4, Z4

rows:
	MOVQ SI, R8
	MOVQ AX, CX

row:
	VMOVUPS (DX), Z0
	VMOVUPS 64(DX), Z1
	VADDPS Z2, Z0, Z0
	VADDPS Z3, Z1, Z1
	VMAXPS Z0, Z4, Z0
	VMAXPS Z1, Z4, Z1
	VMOVUPS Z0, K1, (R8)
	VMOVUPS Z1, K2, 64(R8)
	ADDQ BX, DX
	ADDQ R12, R8
	DECQ CX
	JNE  row

next:
	ADDQ $128, SI
	MOVQ bandStrip_bBand(DI), CX
	ADDQ CX, CX
	ADDQ CX, b-8(SP)
	SUBQ $32, R13
	JGT  panel
	TILERELEASE
	VZEROUPPER
	RET

// func packAlongK(dst *uint16, src *float32, srcRow uintptr, n, k int)
// Requires: AVX512F, AVX512BF16
//
// DI dst    SI src    R9 srcRow    R10 rows of src left    AX rows of the band left
// R11 tile  R12 src   CX k left    K1 and K2 the masks of the last tile
TEXT ·packAlongK(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ srcRow+16(FP), R9
	MOVQ n+24(FP), R10
	MOVQ k+32(FP), CX
	MOVQ $16, AX
	ANDQ $31, CX
	MOVQ $1, DX
	SHLQ CX, DX
	DECQ DX
	KMOVW DX, K1
	SHRQ $16, DX
	KMOVW DX, K2

row:
	MOVQ DI, R11
	MOVQ SI, R12
	MOVQ k+32(FP), CX
	SUBQ $32, CX
	JLT  tail

whole:
	PREFETCHT0 (R12)(R9*2)
	PREFETCHT0 64(R12)(R9*2)
	VMOVUPS (R12), Z0
	VMOVUPS 64(R12), Z1
	VCVTNE2PS2BF16(0, 1, 2)
	VMOVUPS Z2, (R11)
	ADDQ $128, R12
	ADDQ $1024, R11
	SUBQ $32, CX
	JGE  whole

tail:
	CMPQ CX, $-32
	JEQ  next
	VMOVUPS.Z (R12), K1, Z0
	VMOVUPS.Z 64(R12), K2, Z1
	VCVTNE2PS2BF16(0, 1, 2)
	VMOVUPS Z2, (R11)

next:
	ADDQ $64, DI
	ADDQ R9, SI
	DECQ AX
	DECQ R10
	JNE  row
	TESTQ AX, AX
	JEQ  done

	// zeros for the missing rows of the band
	VPXORD Z2, Z2, Z2

zero:
	MOVQ DI, R11
	MOVQ k+32(FP), CX

zerotile:
	VMOVUPS Z2, (R11)
	ADDQ $1024, R11
	SUBQ $32, CX
	JGT  zerotile
	ADDQ $64, DI
	DECQ AX
	JNE  zero

done:
	VZEROUPPER
	RET

// the order of words that interleaves the halves of a register
DATA interleave<>+0x00(SB)/8, $0x0011000100100000
DATA interleave<>+0x08(SB)/8, $0x0013000300120002
DATA interleave<>+0x10(SB)/8, $0x0015000500140004
DATA interleave<>+0x18(SB)/8, $0x0017000700160006
DATA interleave<>+0x20(SB)/8, $0x0019000900180008
DATA interleave<>+0x28(SB)/8, $0x001B000B001A000A
DATA interleave<>+0x30(SB)/8, $0x001D000D001C000C
DATA interleave<>+0x38(SB)/8, $0x001F000F001E000E
GLOBL interleave<>(SB), RODATA|NOPTR, $64

// func packAcrossK(dst *uint16, dstBand uintptr, src *float32, srcRow uintptr, n, k int)
// Requires: AVX512F, AVX512BW, AVX512BF16
//
// DI dst         R8 dstBand  SI src row 2p  R12 row 2p+1  R9 srcRow  R10 n
// CX k left      AX pairs left              R13 dst       DX n left
// K4 and K5 the masks of the two rows, none or all        K1 the mask of the last band
TEXT ·packAcrossK(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ dstBand+8(FP), R8
	MOVQ src+16(FP), SI
	MOVQ srcRow+24(FP), R9
	MOVQ n+32(FP), R10
	MOVQ R10, CX
	ANDQ $15, CX
	MOVQ $1, DX
	SHLQ CX, DX
	DECQ DX
	KMOVW DX, K1
	MOVQ k+40(FP), CX
	MOVQ $16, AX
	VMOVDQU64 interleave<>(SB), Z31
	KXNORW K4, K4, K4
	KXNORW K5, K5, K5

pair:
	SUBQ $2, CX
	JGE  both
	KXORW K5, K5, K5
	CMPQ CX, $-1
	JEQ  both
	KXORW K4, K4, K4

both:
	MOVQ SI, R11
	LEAQ (SI)(R9*1), R12
	MOVQ DI, R13
	MOVQ R10, DX
	SUBQ $16, DX
	JLT  edge

band:
	PREFETCHT0 (R11)(R9*4)
	PREFETCHT0 (R12)(R9*4)
	VMOVUPS.Z (R11), K4, Z0
	VMOVUPS.Z (R12), K5, Z1
	VCVTNE2PS2BF16(0, 1, 2)
	VPERMW  Z2, Z31, Z2
	VMOVUPS Z2, (R13)
	ADDQ $64, R11
	ADDQ $64, R12
	ADDQ R8, R13
	SUBQ $16, DX
	JGE  band

edge:
	CMPQ DX, $-16
	JEQ  next
	KANDW K1, K4, K2
	KANDW K1, K5, K3
	VMOVUPS.Z (R11), K2, Z0
	VMOVUPS.Z (R12), K3, Z1
	VCVTNE2PS2BF16(0, 1, 2)
	VPERMW  Z2, Z31, Z2
	VMOVUPS Z2, (R13)

next:
	LEAQ (SI)(R9*2), SI
	ADDQ $64, DI
	DECQ AX
	JNE  pair
	VZEROUPPER
	RET

// R0 to R3 = their transpose in each 128-bit lane
#define TRANSPOSE4(R0, R1, R2, R3, T0, T1, T2, T3) \
	VUNPCKLPS R1, R0, T0 \
	VUNPCKHPS R1, R0, T1 \
	VUNPCKLPS R3, R2, T2 \
	VUNPCKHPS R3, R2, T3 \
	VUNPCKLPD T2, T0, R0 \
	VUNPCKHPD T2, T0, R1 \
	VUNPCKLPD T3, T1, R2 \
	VUNPCKHPD T3, T1, R3

// stores columns C, C+4, C+8 and C+12 of the rows whose transposed lanes are R0 to R3
#define TRANSPOSELANES(R0, R1, R2, R3, C) \
	VSHUFF32X4 $0x88, R1, R0, Z16   \
	VSHUFF32X4 $0xDD, R1, R0, Z17   \
	VSHUFF32X4 $0x88, R3, R2, Z18   \
	VSHUFF32X4 $0xDD, R3, R2, Z19   \
	VSHUFF32X4 $0x88, Z18, Z16, Z20 \
	VSHUFF32X4 $0x88, Z19, Z17, Z21 \
	VSHUFF32X4 $0xDD, Z18, Z16, Z22 \
	VSHUFF32X4 $0xDD, Z19, Z17, Z23 \
	VMOVUPS    Z20, (C*64)(DI)      \
	VMOVUPS    Z21, (C*64+256)(DI)  \
	VMOVUPS    Z22, (C*64+512)(DI)  \
	VMOVUPS    Z23, (C*64+768)(DI)

// func transposeTiles(tiles *uint16, next uintptr, n int)
// Requires: AVX512F
TEXT ·transposeTiles(SB), NOSPLIT, $0-24
	MOVQ tiles+0(FP), DI
	MOVQ next+8(FP), SI
	MOVQ n+16(FP), CX

tile:
	VMOVUPS (DI), Z0
	VMOVUPS 64(DI), Z1
	VMOVUPS 128(DI), Z2
	VMOVUPS 192(DI), Z3
	VMOVUPS 256(DI), Z4
	VMOVUPS 320(DI), Z5
	VMOVUPS 384(DI), Z6
	VMOVUPS 448(DI), Z7
	VMOVUPS 512(DI), Z8
	VMOVUPS 576(DI), Z9
	VMOVUPS 640(DI), Z10
	VMOVUPS 704(DI), Z11
	VMOVUPS 768(DI), Z12
	VMOVUPS 832(DI), Z13
	VMOVUPS 896(DI), Z14
	VMOVUPS 960(DI), Z15
	TRANSPOSE4(Z0, Z1, Z2, Z3, Z16, Z17, Z18, Z19)
	TRANSPOSE4(Z4, Z5, Z6, Z7, Z20, Z21, Z22, Z23)
	TRANSPOSE4(Z8, Z9, Z10, Z11, Z24, Z25, Z26, Z27)
	TRANSPOSE4(Z12, Z13, Z14, Z15, Z28, Z29, Z30, Z31)
	TRANSPOSELANES(Z0, Z4, Z8, Z12, 0)
	TRANSPOSELANES(Z1, Z5, Z9, Z13, 1)
	TRANSPOSELANES(Z2, Z6, Z10, Z14, 2)
	TRANSPOSELANES(Z3, Z7, Z11, Z15, 3)
	ADDQ SI, DI
	DECQ CX
	JNE  tile
	VZEROUPPER
	RET

#define CLEAR1(C) VPXORD C, C, C

// func vdpbf16Loop(n int)
// Requires: AVX512F, AVX512BF16
TEXT ·vdpbf16Loop(SB), NOSPLIT, $0-8
	MOVQ n+0(FP), CX
	REGISTERS12(CLEAR1)
	CLEAR1(Z12)

	PCALIGN $64
again:
	VDPBF16PS(12, 12, 0)
	VDPBF16PS(12, 12, 1)
	VDPBF16PS(12, 12, 2)
	VDPBF16PS(12, 12, 3)
	VDPBF16PS(12, 12, 4)
	VDPBF16PS(12, 12, 5)
	VDPBF16PS(12, 12, 6)
	VDPBF16PS(12, 12, 7)
	VDPBF16PS(12, 12, 8)
	VDPBF16PS(12, 12, 9)
	VDPBF16PS(12, 12, 10)
	VDPBF16PS(12, 12, 11)
	DECQ CX
	JNE  again
	VZEROUPPER
	RET

// func tdpbf16Loop(n int)
// Requires: AMX-TILE, AMX-BF16
TEXT ·tdpbf16Loop(SB), NOSPLIT, $0-8
	LEAQ tileConfig<>(SB), R8
	LDTILECFG(8)
	MOVQ n+0(FP), CX
	TILEZERO(0)
	TILEZERO(1)
	TILEZERO(2)
	TILEZERO(3)
	TILEZERO(4)
	TILEZERO(5)

	PCALIGN $64
again:
	TDPBF16PS(5, 4, 0)
	TDPBF16PS(5, 4, 1)
	TDPBF16PS(5, 4, 2)
	TDPBF16PS(5, 4, 3)
	DECQ CX
	JNE  again
	TILERELEASE
	RET
