//go:build !purego && !noasm

// The kernels of small products for AVX-512, such as those of the heads of attention:
//
//	smallAVX512   32 columns at a time, while more than 16 are left
//	small16AVX512 up to 16 columns
//
// B is read in place. Lanes after the last column are masked.

#include "textflag.h"
#include "go_asm.h"
#include "tile512_amd64.h"

// rows 0 to 11 for one k
#define ROW0 FMAROW((SI), Z0, Z1)
#define ROW1 FMAROW((SI)(R9*1), Z2, Z3)
#define ROW2 FMAROW((SI)(R9*2), Z4, Z5)
#define ROW3 FMAROW((R8), Z6, Z7)
#define ROW4 FMAROW((R8)(R9*1), Z8, Z9)
#define ROW5 FMAROW((R8)(R9*2), Z10, Z11)
#define ROW6 FMAROW((R15), Z12, Z13)
#define ROW7 FMAROW((R15)(R9*1), Z14, Z15)
#define ROW8 FMAROW((R15)(R9*2), Z16, Z17)
#define ROW9 FMAROW((R14), Z18, Z19)
#define ROW10 FMAROW((R14)(R9*1), Z20, Z21)
#define ROW11 FMAROW((R14)(R9*2), Z22, Z23)
#define NEXTK \
	ADDQ R11, BX                \
	ADDQ R10, SI                \
	ADDQ R10, R8                \
	ADDQ R10, R15               \
	ADDQ R10, R14               \
	DECQ CX

// R14 = the first row of C; MOVE for each of AX rows, then jump to DONE
#define EACHROW(MOVE, DONE) \
	MOVQ DX, R14   \
	ROWSUPTO12(MOVE, DONE)

// K1 = the mask of the last register of n columns, or of STEP if n is larger
#define MASK(STEP) \
	MOVQ  strip_n(DI), CX       \
	MOVL  $STEP, AX             \
	CMPQ  CX, AX                \
	CMOVQGT AX, CX              \
	DECQ  CX                    \
	ANDQ  $15, CX               \
	MOVL  $2, AX                \
	SHLL  CX, AX                \
	DECL  AX                    \
	KMOVW AX, K1

// all rows of C in the registers' columns, up to 12 at a time:
//
// DI s          AX m          CX k left     R13 rows left
// DX C          R12 s.cRow    R14 row of C
// SI A row 0    R8 A row 3    R15 A row 6   R14 A row 9
// R9 s.aRow     R10 s.aK      BX B          R11 s.bK      a-8(SP) A, k = 0
#define EACHSTRIP \
	MOVQ strip_a(DI), SI        \
	MOVQ SI, a-8(SP)            \
	MOVQ strip_c(DI), DX        \
	MOVQ strip_cRow(DI), R12    \
	MOVQ strip_aRow(DI), R9     \
	MOVQ strip_aK(DI), R10      \
	MOVQ strip_bK(DI), R11      \
	MOVQ strip_m(DI), R13       \
strips:                             \
	/* 12 rows, or half of the remainder if that is below 24 */ \
	MOVQ R13, AX                \
	CMPQ R13, $12               \
	JLE  start                  \
	INCQ AX                     \
	SHRQ $1, AX                 \
	MOVL $12, CX                \
	CMPQ AX, CX                 \
	CMOVQGT CX, AX              \
start:                              \
	START(ROWS12, CLEAR)        \
multiply:                           \
	MOVQ a-8(SP), SI            \
	LEAQ (R9)(R9*2), BX         \
	LEAQ (SI)(BX*1), R8         \
	LEAQ (R8)(BX*1), R15        \
	LEAQ (R15)(BX*1), R14       \
	MOVQ strip_b(DI), BX        \
	MOVQ strip_k(DI), CX        \
	TOROWS12(AX)                \
	LOOPS11(NEXTK, store)       \
	LOOP(rows12, EACH12, NEXTK) \
store:                              \
	EACHROW(STOREC, stored)     \
stored:                             \
	MOVQ  R14, DX               \
	SUBQ  AX, R13               \
	JEQ   nextcolumns           \
	IMULQ R9, AX                \
	ADDQ  AX, a-8(SP)           \
	JMP   strips

#define FMAROW(A, C0, C1) \
	VFMADD231PS.BCST A, Z24, C0 \
	VFMADD231PS.BCST A, Z25, C1
#define LOADB \
	VMOVUPS   (BX), Z24         \
	VMOVUPS.Z 64(BX), K1, Z25
#define LOADC(C0, C1) \
	VMOVUPS   (R14), C0         \
	VMOVUPS.Z 64(R14), K1, C1   \
	LEAQ      (R14)(R12*1), R14
#define STOREC(C0, C1) \
	VMOVUPS C0, (R14)           \
	VMOVUPS C1, K1, 64(R14)     \
	LEAQ    (R14)(R12*1), R14

// func smallAVX512(s *strip)
// Requires: AVX512F
TEXT ·smallAVX512(SB), NOSPLIT, $8-8
	MOVQ s+0(FP), DI
panels:
	MASK(32)
	EACHSTRIP
nextcolumns:
	SUBQ $32, strip_n(DI)
	JLE  done
	ADDQ $128, strip_c(DI)
	MOVQ strip_bPanel(DI), AX
	ADDQ AX, strip_b(DI)
	CMPQ strip_n(DI), $16
	JGT  panels
done:
	VZEROUPPER
	RET

#undef FMAROW
#undef LOADB
#undef LOADC
#undef STOREC

// one register a row
#define FMAROW(A, C0, C1) VFMADD231PS.BCST A, Z24, C0
#define LOADB \
	VMOVUPS.Z (BX), K1, Z24
#define LOADC(C0, C1) \
	VMOVUPS.Z (R14), K1, C0     \
	LEAQ      (R14)(R12*1), R14
#define STOREC(C0, C1) \
	VMOVUPS C0, K1, (R14)       \
	LEAQ    (R14)(R12*1), R14

// func small16AVX512(s *strip)
// Requires: AVX512F
TEXT ·small16AVX512(SB), NOSPLIT, $8-8
	MOVQ s+0(FP), DI
	MASK(16)
	EACHSTRIP
nextcolumns:
	VZEROUPPER
	RET
