//go:build !purego && !noasm

// The kernels of int8 for AVX2 and AVX-512:
//
//	dotVNNI          up to 12 rows of a tile, with AVX-512 VNNI
//	dotAVX2          sums of up to 6 rows
//	finishAVX2       floats from sums
//	maxAbsAsm       the largest magnitude of a row
//	quantizeAVX2     a row as bytes
//	quantizeWideAVX2 a row as 16-bit integers

#include "textflag.h"
#include "go_asm.h"
#include "tile512_amd64.h"

// The registers of dotVNNI. Z0 to Z23 are the sums of 12 rows, two registers a row; Z24 and Z25 are
// a group of the panel.
//
// DI x          AX m          CX groups left
// SI A row 0    R8 A row 3    R15 A row 6   R14 A row 9
// R9 x.aRow     BX B          DX sums
// R12 R13  next line to prefetch and x.aheadGroup; then C and x.cRow, with R10 the row scales

// one row: C0, C1 += four products of A with Z24 and Z25
#define DOTROW(A, T, C0, C1) \
	VPBROADCASTD A, T       \
	VPDPBUSD     Z24, T, C0 \
	VPDPBUSD     Z25, T, C1
// rows 0 to 11 for one group
#define LOADB \
	VMOVDQU32 (BX), Z24   \
	VMOVDQU32 64(BX), Z25 \
	PREFETCHT1 (R12)      \
	PREFETCHT1 64(R12)
#define ROW0 DOTROW((SI), Z26, Z0, Z1)
#define ROW1 DOTROW((SI)(R9*1), Z27, Z2, Z3)
#define ROW2 DOTROW((SI)(R9*2), Z28, Z4, Z5)
#define ROW3 DOTROW((R8), Z29, Z6, Z7)
#define ROW4 DOTROW((R8)(R9*1), Z30, Z8, Z9)
#define ROW5 DOTROW((R8)(R9*2), Z31, Z10, Z11)
#define ROW6 DOTROW((R15), Z26, Z12, Z13)
#define ROW7 DOTROW((R15)(R9*1), Z27, Z14, Z15)
#define ROW8 DOTROW((R15)(R9*2), Z28, Z16, Z17)
#define ROW9 DOTROW((R14), Z29, Z18, Z19)
#define ROW10 DOTROW((R14)(R9*1), Z30, Z20, Z21)
#define ROW11 DOTROW((R14)(R9*2), Z31, Z22, Z23)
#define NEXTGROUP \
	ADDQ R13, R12 \
	ADDQ $128, BX \
	ADDQ $4, SI   \
	ADDQ $4, R8   \
	ADDQ $4, R15  \
	ADDQ $4, R14  \
	DECQ CX

// the sums of a row at DX, and a step to the next row
#define LOADSUMS(C0, C1) \
	VMOVDQU32 (DX), C0   \
	VMOVDQU32 64(DX), C1 \
	ADDQ      $128, DX
#define STARTSUMS(C0, C1) \
	VMOVDQA32 Z24, C0 \
	VMOVDQA32 Z25, C1
#define STORESUMS(C0, C1) \
	VMOVDQU32 C0, (DX)   \
	VMOVDQU32 C1, 64(DX) \
	ADDQ      $128, DX

// floats from the sums of a row, with the scales of the columns in Z24 and Z25
#define CONVERT(C0, C1) \
	VCVTDQ2PS   C0, C0        \
	VCVTDQ2PS   C1, C1        \
	VMULPS      Z24, C0, C0   \
	VMULPS      Z25, C1, C1   \
	VMULPS.BCST (R10), C0, C0 \
	VMULPS.BCST (R10), C1, C1 \
	ADDQ        $4, R10
// a row of C at R12, and a step to the next row
#define ADDC(C0, C1) \
	VADDPS (R12), C0, C0   \
	VADDPS 64(R12), C1, C1 \
	ADDQ   R13, R12
#define STOREC(C0, C1) \
	VMOVUPS C0, (R12)   \
	VMOVUPS C1, 64(R12) \
	ADDQ    R13, R12

// MOVE for each of m rows, then jump to DONE; MOVE may change the flags
#define EACHROW(MOVE, DONE) \
	MOVE(Z0, Z1)   \
	CMPQ AX, $2    \
	JLT  DONE      \
	MOVE(Z2, Z3)   \
	CMPQ AX, $3    \
	JLT  DONE      \
	MOVE(Z4, Z5)   \
	CMPQ AX, $4    \
	JLT  DONE      \
	MOVE(Z6, Z7)   \
	CMPQ AX, $5    \
	JLT  DONE      \
	MOVE(Z8, Z9)   \
	CMPQ AX, $6    \
	JLT  DONE      \
	MOVE(Z10, Z11) \
	CMPQ AX, $7    \
	JLT  DONE      \
	MOVE(Z12, Z13) \
	CMPQ AX, $8    \
	JLT  DONE      \
	MOVE(Z14, Z15) \
	CMPQ AX, $9    \
	JLT  DONE      \
	MOVE(Z16, Z17) \
	CMPQ AX, $10   \
	JLT  DONE      \
	MOVE(Z18, Z19) \
	CMPQ AX, $11   \
	JLT  DONE      \
	MOVE(Z20, Z21) \
	CMPQ AX, $12   \
	JLT  DONE      \
	MOVE(Z22, Z23)

// func dotVNNI(x *tileInt8)
// Requires: AVX512F, AVX512_VNNI
TEXT ·dotVNNI(SB), NOSPLIT, $0-8
	MOVQ  x+0(FP), DI
	MOVQ  tileInt8_a(DI), SI
	MOVQ  tileInt8_aRow(DI), R9
	MOVQ  tileInt8_b(DI), BX
	MOVQ  tileInt8_groups(DI), CX
	MOVQ  tileInt8_m(DI), AX
	MOVQ  tileInt8_sums(DI), DX
	LEAQ  (R9)(R9*2), R10
	LEAQ  (SI)(R10*1), R8
	LEAQ  (R8)(R10*1), R15
	LEAQ  (R15)(R10*1), R14

	// the sums start from sums, or from start
	MOVQ  tileInt8_start(DI), R11
	TESTQ R11, R11
	JNE   first
	EACHROW(LOADSUMS, multiply)
	JMP   multiply

first:
	VMOVDQU32 (R11), Z24
	VMOVDQU32 64(R11), Z25
	EACHROW(STARTSUMS, multiply)

	// prefetch C
multiply:
	MOVQ tileInt8_c(DI), R11
	MOVQ tileInt8_cRow(DI), R12
	MOVQ AX, DX

fetch:
	PREFETCHT0 (R11)
	PREFETCHT0 64(R11)
	ADDQ R12, R11
	DECQ DX
	JNE  fetch
	MOVQ tileInt8_ahead(DI), R12
	MOVQ tileInt8_aheadGroup(DI), R13

	// one loop over the groups for each number of rows
	TOROWS12(AX)
	LOOPS11(NEXTGROUP, store)
	LOOP(rows12, EACH12, NEXTGROUP)

store:
	CMPQ tileInt8_last(DI), $0
	JNE  convert
	MOVQ tileInt8_sums(DI), DX
	EACHROW(STORESUMS, done)
	JMP  done

convert:
	MOVQ    tileInt8_rowScales(DI), R10
	MOVQ    tileInt8_colScales(DI), R11
	VMOVUPS (R11), Z24
	VMOVUPS 64(R11), Z25
	EACHROW(CONVERT, add)

	// + C
add:
	MOVQ tileInt8_cRow(DI), R13
	CMPQ tileInt8_accumulate(DI), $0
	JEQ  bias
	MOVQ tileInt8_c(DI), R12
	EACHROW(ADDC, bias)

bias:
	MOVQ    tileInt8_bias(DI), R11
	TESTQ   R11, R11
	JEQ     relu
	VMOVUPS (R11), Z24
	VMOVUPS 64(R11), Z25
	ROWS12(ADDBIAS)

	// x < 0 ? 0 : x
relu:
	CMPQ   tileInt8_relu(DI), $0
	JEQ    storeC
	VPXORD Z24, Z24, Z24
	ROWS12(RELU)

storeC:
	MOVQ tileInt8_c(DI), R12
	EACHROW(STOREC, done)

done:
	VZEROUPPER
	RET
#undef DOTROW
#undef LOADB
#undef ROW0
#undef ROW1
#undef ROW2
#undef ROW3
#undef ROW4
#undef ROW5
#undef ROW6
#undef ROW7
#undef ROW8
#undef ROW9
#undef ROW10
#undef ROW11
#undef NEXTGROUP
#undef LOADSUMS
#undef STARTSUMS
#undef STORESUMS
#undef CONVERT
#undef ADDC
#undef STOREC
#undef EACHROW

// The registers of dotAVX2. A column has two lanes of sums, one for each pair of a group. Y0 to Y11
// hold 6 rows of 8 columns, two registers a row, or one row of 32 columns in 8 registers.
//
// DI x          AX m          CX groups left     R13 columns left
// SI A row 0    R8 A row 3    R9 x.aRow
// BX B          R12 group 0 of these columns
// DX sums       R11 initial sums of row 0, R10 bytes between rows; R8 row 3
// R14 + 4·SI  line to prefetch: each 8 columns prefetch a quarter of as much as they read

// four columns: C += the products of W and A, which holds a group in each 64 bits
#define DOT4(A, W, T, C) \
	VPMADDWD A, W, T \
	VPADDD   T, C, C

// one row of 8 columns
#define DOTROW(A, C0, C1) \
	VPBROADCASTQ A, Y14     \
	DOT4(Y14, Y12, Y15, C0) \
	DOT4(Y14, Y13, Y14, C1)

#define LOADB \
	VPMOVSXBW (BX), Y12   \
	VPMOVSXBW 16(BX), Y13 \
	PREFETCHT1 (R14)(SI*4)
#define ROW0 DOTROW((SI), Y0, Y1)
#define ROW1 DOTROW((SI)(R9*1), Y2, Y3)
#define ROW2 DOTROW((SI)(R9*2), Y4, Y5)
#define ROW3 DOTROW((R8), Y6, Y7)
#define ROW4 DOTROW((R8)(R9*1), Y8, Y9)
#define ROW5 DOTROW((R8)(R9*2), Y10, Y11)
#define NEXTGROUP \
	ADDQ $128, BX \
	ADDQ $8, SI   \
	ADDQ $8, R8   \
	DECQ CX

// TO = FROM + the sums of 8 columns, whose pairs are in C0 and C1
#define STORE8(C0, C1, FROM, TO) \
	VPHADDD C1, C0, C0    \
	VPERMQ  $0xD8, C0, C0 \
	VPADDD  FROM, C0, C0  \
	VMOVDQU C0, TO

// func dotAVX2(x *tileInt8)
// Requires: AVX2
TEXT ·dotAVX2(SB), NOSPLIT, $0-8
	MOVQ  x+0(FP), DI
	MOVQ  tileInt8_m(DI), AX
	MOVQ  tileInt8_aRow(DI), R9
	MOVQ  tileInt8_b(DI), R12
	MOVQ  tileInt8_sums(DI), DX


	// the sums of each row start from start, or from sums
	XORL  R10, R10
	MOVQ  tileInt8_start(DI), R11
	TESTQ R11, R11
	JNE   divide
	MOVQ  DX, R11
	MOVQ  $128, R10

divide:
	CMPQ AX, $1
	JEQ  single
	MOVQ $32, R13

	// what follows these groups in memory is prefetched evenly by all columns
	MOVQ tileInt8_groups(DI), CX
	SHLQ $5, CX
	LEAQ (R12)(CX*4), R14
	MOVQ tileInt8_a(DI), SI
	SHLQ $2, SI
	SUBQ SI, R14

columns:
	MOVQ  tileInt8_a(DI), SI
	LEAQ  (R9)(R9*2), R8
	ADDQ  SI, R8
	MOVQ  R12, BX
	MOVQ  tileInt8_groups(DI), CX
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	VPXOR Y4, Y4, Y4
	VPXOR Y5, Y5, Y5
	VPXOR Y6, Y6, Y6
	VPXOR Y7, Y7, Y7
	VPXOR Y8, Y8, Y8
	VPXOR Y9, Y9, Y9
	VPXOR Y10, Y10, Y10
	VPXOR Y11, Y11, Y11

	// one loop over the groups for each number of rows
	CMPQ AX, $6
	JEQ  rows6
	CMPQ AX, $5
	JEQ  rows5
	CMPQ AX, $4
	JEQ  rows4
	CMPQ AX, $3
	JEQ  rows3
	LOOP(rows2, EACH2, NEXTGROUP)
	JMP store
	LOOP(rows3, EACH3, NEXTGROUP)
	JMP store
	LOOP(rows4, EACH4, NEXTGROUP)
	JMP store
	LOOP(rows5, EACH5, NEXTGROUP)
	JMP store
	LOOP(rows6, EACH6, NEXTGROUP)

store:
	LEAQ (R10)(R10*2), R8
	ADDQ R11, R8
	STORE8(Y0, Y1, (R11), (DX))
	STORE8(Y2, Y3, (R11)(R10*1), 128(DX))
	CMPQ AX, $3
	JLT  next
	STORE8(Y4, Y5, (R11)(R10*2), 256(DX))
	JEQ  next
	STORE8(Y6, Y7, (R8), 384(DX))
	CMPQ AX, $5
	JLT  next
	STORE8(Y8, Y9, (R8)(R10*1), 512(DX))
	JEQ  next
	STORE8(Y10, Y11, (R8)(R10*2), 640(DX))

next:
	MOVQ tileInt8_groups(DI), CX
	SHLQ $5, CX
	ADDQ CX, R14
	ADDQ $32, R12
	ADDQ $32, R11
	ADDQ $32, DX
	SUBQ $8, R13
	JNE  columns
	VZEROUPPER
	RET

	// one row: all columns together, so that each group is read once
single:
	MOVQ tileInt8_a(DI), SI
	MOVQ tileInt8_groups(DI), CX
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	VPXOR Y4, Y4, Y4
	VPXOR Y5, Y5, Y5
	VPXOR Y6, Y6, Y6
	VPXOR Y7, Y7, Y7

	PCALIGN $64
rows1:
	PREFETCHT0 4096(R12)
	PREFETCHT0 4160(R12)
	VPBROADCASTQ (SI), Y14
	VPMOVSXBW (R12), Y8
	DOT4(Y14, Y8, Y8, Y0)
	VPMOVSXBW 16(R12), Y9
	DOT4(Y14, Y9, Y9, Y1)
	VPMOVSXBW 32(R12), Y10
	DOT4(Y14, Y10, Y10, Y2)
	VPMOVSXBW 48(R12), Y11
	DOT4(Y14, Y11, Y11, Y3)
	VPMOVSXBW 64(R12), Y8
	DOT4(Y14, Y8, Y8, Y4)
	VPMOVSXBW 80(R12), Y9
	DOT4(Y14, Y9, Y9, Y5)
	VPMOVSXBW 96(R12), Y10
	DOT4(Y14, Y10, Y10, Y6)
	VPMOVSXBW 112(R12), Y11
	DOT4(Y14, Y11, Y11, Y7)
	ADDQ $128, R12
	ADDQ $8, SI
	DECQ CX
	JNE  rows1
	STORE8(Y0, Y1, (R11), (DX))
	STORE8(Y2, Y3, 32(R11), 32(DX))
	STORE8(Y4, Y5, 64(R11), 64(DX))
	STORE8(Y6, Y7, 96(R11), 96(DX))
	VZEROUPPER
	RET

// func finishAVX2(x *tileInt8)
// Requires: AVX2
//
// Y4 to Y7 are the scales of the columns, Y8 to Y11 the bias.
//
// DI x          AX rows left  CX row scales
// SI sums       DX C          R8 x.cRow     R9 x.accumulate     R10 x.bias     R11 x.relu
TEXT ·finishAVX2(SB), NOSPLIT, $0-8
	MOVQ    x+0(FP), DI
	MOVQ    tileInt8_m(DI), AX
	MOVQ    tileInt8_rowScales(DI), CX
	MOVQ    tileInt8_sums(DI), SI
	MOVQ    tileInt8_c(DI), DX
	MOVQ    tileInt8_cRow(DI), R8
	MOVQ    tileInt8_accumulate(DI), R9
	MOVQ    tileInt8_bias(DI), R10
	MOVQ    tileInt8_relu(DI), R11
	MOVQ    tileInt8_colScales(DI), BX
	VMOVUPS (BX), Y4
	VMOVUPS 32(BX), Y5
	VMOVUPS 64(BX), Y6
	VMOVUPS 96(BX), Y7
	VXORPS  Y12, Y12, Y12
	TESTQ   R10, R10
	JEQ     row
	VMOVUPS (R10), Y8
	VMOVUPS 32(R10), Y9
	VMOVUPS 64(R10), Y10
	VMOVUPS 96(R10), Y11

row:
	VBROADCASTSS (CX), Y13
	VCVTDQ2PS    (SI), Y0
	VCVTDQ2PS    32(SI), Y1
	VCVTDQ2PS    64(SI), Y2
	VCVTDQ2PS    96(SI), Y3
	VMULPS       Y4, Y0, Y0
	VMULPS       Y5, Y1, Y1
	VMULPS       Y6, Y2, Y2
	VMULPS       Y7, Y3, Y3
	VMULPS       Y13, Y0, Y0
	VMULPS       Y13, Y1, Y1
	VMULPS       Y13, Y2, Y2
	VMULPS       Y13, Y3, Y3

	// + C
	TESTQ  R9, R9
	JEQ    bias
	VADDPS (DX), Y0, Y0
	VADDPS 32(DX), Y1, Y1
	VADDPS 64(DX), Y2, Y2
	VADDPS 96(DX), Y3, Y3

bias:
	TESTQ  R10, R10
	JEQ    relu
	VADDPS Y8, Y0, Y0
	VADDPS Y9, Y1, Y1
	VADDPS Y10, Y2, Y2
	VADDPS Y11, Y3, Y3

	// x < 0 ? 0 : x by VMAXPS with x as its last operand, which preserves NaN and -0
relu:
	TESTQ  R11, R11
	JEQ    store
	VMAXPS Y0, Y12, Y0
	VMAXPS Y1, Y12, Y1
	VMAXPS Y2, Y12, Y2
	VMAXPS Y3, Y12, Y3

store:
	VMOVUPS Y0, (DX)
	VMOVUPS Y1, 32(DX)
	VMOVUPS Y2, 64(DX)
	VMOVUPS Y3, 96(DX)
	ADDQ    $128, SI
	ADDQ    $4, CX
	ADDQ    R8, DX
	DECQ    AX
	JNE     row
	VZEROUPPER
	RET

// func maxAbsAsm(x *float32, n int) uint32
// Requires: AVX2
TEXT ·maxAbsAsm(SB), NOSPLIT, $0-20
	MOVQ     x+0(FP), SI
	MOVQ     n+8(FP), CX
	VPCMPEQD Y15, Y15, Y15
	VPSRLD   $1, Y15, Y15 // all bits except the sign
	VPXOR    Y0, Y0, Y0
	VPXOR    Y1, Y1, Y1
	VPXOR    Y2, Y2, Y2
	VPXOR    Y3, Y3, Y3

block:
	VPAND   (SI), Y15, Y4
	VPAND   32(SI), Y15, Y5
	VPAND   64(SI), Y15, Y6
	VPAND   96(SI), Y15, Y7
	VPMAXUD Y4, Y0, Y0
	VPMAXUD Y5, Y1, Y1
	VPMAXUD Y6, Y2, Y2
	VPMAXUD Y7, Y3, Y3
	ADDQ    $128, SI
	SUBQ    $32, CX
	JNE     block

	// the maximum of the lanes
	VPMAXUD      Y1, Y0, Y0
	VPMAXUD      Y3, Y2, Y2
	VPMAXUD      Y2, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPMAXUD      X1, X0, X0
	VPSHUFD      $0x4E, X0, X1
	VPMAXUD      X1, X0, X0
	VPSHUFD      $0xB1, X0, X1
	VPMAXUD      X1, X0, X0
	VMOVD        X0, AX
	MOVL         AX, ret+16(FP)
	VZEROUPPER
	RET

// 32 floats at SI as integers, with a prefetch of those n later, the next row if rows have no gaps
#define INTEGERS \
	PREFETCHT0 (DX)           \
	PREFETCHT0 64(DX)         \
	ADDQ      $128, DX        \
	VMULPS    (SI), Y15, Y0   \
	VMULPS    32(SI), Y15, Y1 \
	VMULPS    64(SI), Y15, Y2 \
	VMULPS    96(SI), Y15, Y3 \
	VCVTPS2DQ Y0, Y0          \
	VCVTPS2DQ Y1, Y1          \
	VCVTPS2DQ Y2, Y2          \
	VCVTPS2DQ Y3, Y3          \
	VPACKSSDW Y1, Y0, Y0      \
	VPACKSSDW Y3, Y2, Y2

// the order of dwords that undoes packing within 128-bit lanes
DATA fours<>+0x00(SB)/8, $0x0000000400000000
DATA fours<>+0x08(SB)/8, $0x0000000500000001
DATA fours<>+0x10(SB)/8, $0x0000000600000002
DATA fours<>+0x18(SB)/8, $0x0000000700000003
GLOBL fours<>(SB), RODATA|NOPTR, $32

// func quantizeAVX2(q *int8, x *float32, n int, r float32, flip uint32)
// Requires: AVX2
TEXT ·quantizeAVX2(SB), NOSPLIT, $0-32
	MOVQ         q+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSS r+24(FP), Y15
	LEAQ         (SI)(CX*4), DX
	MOVL         flip+28(FP), AX
	VMOVD        AX, X14
	VPBROADCASTD X14, Y14
	VMOVDQU      fours<>(SB), Y13

block:
	INTEGERS
	VPACKSSWB Y2, Y0, Y0
	VPERMD    Y0, Y13, Y0
	VPXOR     Y14, Y0, Y0
	VMOVDQU   Y0, (DI)
	ADDQ      $128, SI
	ADDQ      $32, DI
	SUBQ      $32, CX
	JNE       block
	VZEROUPPER
	RET

// func quantizeWideAVX2(q *int8, x *float32, n int, r float32)
// Requires: AVX2
TEXT ·quantizeWideAVX2(SB), NOSPLIT, $0-28
	MOVQ         q+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSS r+24(FP), Y15
	LEAQ         (SI)(CX*4), DX

block:
	INTEGERS
	VPERMQ  $0xD8, Y0, Y0
	VPERMQ  $0xD8, Y2, Y2
	VMOVDQU Y0, (DI)
	VMOVDQU Y2, 32(DI)
	ADDQ    $128, SI
	ADDQ    $64, DI
	SUBQ    $32, CX
	JNE     block
	VZEROUPPER
	RET
