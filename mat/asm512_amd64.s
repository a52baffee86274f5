//go:build !purego && !noasm

// The kernels of matrix products for AVX-512 (F, VL, BW, DQ):
//
//	stripAVX512   up to 12 rows of C
//	fmaLoopAVX512 the machine's limit
//
// Z0 to Z23 hold 12 rows of 32 columns of C, two registers a row; Z24 and Z25 a row of B. K1 and K2 are the
// lanes of the two registers that C has.

#include "textflag.h"
#include "go_asm.h"

// one row of the tile: C0, C1 += a·(Z24, Z25)
#define FMAROW(A, T, C0, C1) \
	VBROADCASTSS A, T           \
	VFMADD231PS  T, Z24, C0     \
	VFMADD231PS  T, Z25, C1

// one k of the rows 0 to 11
#define LOADB \
	VMOVUPS (BX), Z24           \
	VMOVUPS 64(BX), Z25
#define ROW0 FMAROW((SI), Z26, Z0, Z1)
#define ROW1 FMAROW((SI)(R9*1), Z27, Z2, Z3)
#define ROW2 FMAROW((SI)(R9*2), Z28, Z4, Z5)
#define ROW3 FMAROW((R8), Z29, Z6, Z7)
#define ROW4 FMAROW((R8)(R9*1), Z30, Z8, Z9)
#define ROW5 FMAROW((R8)(R9*2), Z31, Z10, Z11)
#define ROW6 FMAROW((R15), Z26, Z12, Z13)
#define ROW7 FMAROW((R15)(R9*1), Z27, Z14, Z15)
#define ROW8 FMAROW((R15)(R9*2), Z28, Z16, Z17)
#define ROW9 FMAROW((R14), Z29, Z18, Z19)
#define ROW10 FMAROW((R14)(R9*1), Z30, Z20, Z21)
#define ROW11 FMAROW((R14)(R9*2), Z31, Z22, Z23)
#define NEXTK \
	ADDQ R11, BX                \
	ADDQ R10, SI                \
	ADDQ R10, R8                \
	ADDQ R10, R15               \
	ADDQ R10, R14               \
	DECQ CX

// the lanes of a row of C at R14, and a step to the next that leaves the flags alone
#define LOADC(C0, C1) \
	VMOVUPS.Z (R14), K1, C0     \
	VMOVUPS.Z 64(R14), K2, C1   \
	LEAQ      (R14)(R12*1), R14
#define STOREC(C0, C1) \
	VMOVUPS C0, K1, (R14)       \
	VMOVUPS C1, K2, 64(R14)     \
	LEAQ    (R14)(R12*1), R14

// R14 = the first row of C; MOVE of row after row until m are done, then to DONE
#define EACHROW(MOVE, DONE) \
	MOVQ DX, R14   \
	MOVE(Z0, Z1)   \
	CMPQ AX, $2    \
	JLT  DONE      \
	MOVE(Z2, Z3)   \
	JEQ  DONE      \
	MOVE(Z4, Z5)   \
	CMPQ AX, $4    \
	JLT  DONE      \
	MOVE(Z6, Z7)   \
	JEQ  DONE      \
	MOVE(Z8, Z9)   \
	CMPQ AX, $6    \
	JLT  DONE      \
	MOVE(Z10, Z11)   \
	JEQ  DONE      \
	MOVE(Z12, Z13)   \
	CMPQ AX, $8    \
	JLT  DONE      \
	MOVE(Z14, Z15)   \
	JEQ  DONE      \
	MOVE(Z16, Z17)   \
	CMPQ AX, $10    \
	JLT  DONE      \
	MOVE(Z18, Z19)   \
	JEQ  DONE      \
	MOVE(Z20, Z21)   \
	CMPQ AX, $12    \
	JLT  DONE      \
	MOVE(Z22, Z23)

// func stripAVX512(s *strip)
// Requires: AVX512F
//
// DI s          AX m          CX k left     R13 columns left
// DX C          R12 s.cRow    R14 row of C
// SI A row 0    R8 A row 3    R15 A row 6   R14 A row 9
// R9 s.aRow     R10 s.aK      BX B          R11 s.bK      b-8(SP) B, k = 0
TEXT ·stripAVX512(SB), NOSPLIT, $8-8
	MOVQ s+0(FP), DI
	MOVQ strip_b(DI), BX
	MOVQ BX, b-8(SP)
	MOVQ strip_c(DI), DX
	MOVQ strip_cRow(DI), R12
	MOVQ strip_aRow(DI), R9
	MOVQ strip_aK(DI), R10
	MOVQ strip_bK(DI), R11
	MOVQ strip_m(DI), AX
	MOVQ strip_n(DI), R13

panel:
	// the lanes that are columns of C
	MOVL  $32, CX
	CMPQ  R13, $32
	CMOVQLT R13, CX
	MOVQ  $1, BX
	SHLQ  CX, BX
	DECQ  BX
	KMOVW BX, K1
	SHRQ  $16, BX
	KMOVW BX, K2

	// the chains start from C
	CMPQ strip_accumulate(DI), $0
	JEQ  zero
	EACHROW(LOADC, multiply)
	JMP  multiply

	// or from 0
zero:
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	VPXORD Z4, Z4, Z4
	VPXORD Z5, Z5, Z5
	VPXORD Z6, Z6, Z6
	VPXORD Z7, Z7, Z7
	VPXORD Z8, Z8, Z8
	VPXORD Z9, Z9, Z9
	VPXORD Z10, Z10, Z10
	VPXORD Z11, Z11, Z11
	VPXORD Z12, Z12, Z12
	VPXORD Z13, Z13, Z13
	VPXORD Z14, Z14, Z14
	VPXORD Z15, Z15, Z15
	VPXORD Z16, Z16, Z16
	VPXORD Z17, Z17, Z17
	VPXORD Z18, Z18, Z18
	VPXORD Z19, Z19, Z19
	VPXORD Z20, Z20, Z20
	VPXORD Z21, Z21, Z21
	VPXORD Z22, Z22, Z22
	VPXORD Z23, Z23, Z23

multiply:
	// The chains of the next strip wait for its C: two lines of each of its rows.
	MOVQ strip_next(DI), R14
	ADDQ DX, R14
	MOVQ AX, CX

fetch:
	PREFETCHT0 (R14)
	PREFETCHT0 64(R14)
	ADDQ R12, R14
	DECQ CX
	JNE  fetch

	MOVQ  strip_k(DI), CX
	TESTQ CX, CX
	JEQ   epilogue
	MOVQ  strip_a(DI), SI
	LEAQ  (R9)(R9*2), BX
	LEAQ  (SI)(BX*1), R8
	LEAQ  (R8)(BX*1), R15
	LEAQ  (R15)(BX*1), R14
	MOVQ  b-8(SP), BX

	// one loop over k for each number of rows
	CMPQ AX, $12
	JEQ  rows12
	CMPQ AX, $11
	JEQ  rows11
	CMPQ AX, $10
	JEQ  rows10
	CMPQ AX, $9
	JEQ  rows9
	CMPQ AX, $8
	JEQ  rows8
	CMPQ AX, $7
	JEQ  rows7
	CMPQ AX, $6
	JEQ  rows6
	CMPQ AX, $5
	JEQ  rows5
	CMPQ AX, $4
	JEQ  rows4
	CMPQ AX, $3
	JEQ  rows3
	CMPQ AX, $2
	JEQ  rows2

	PCALIGN $64
rows1:
	LOADB
	ROW0
	NEXTK
	JNE rows1
	JMP epilogue

	PCALIGN $64
rows2:
	LOADB
	ROW0
	ROW1
	NEXTK
	JNE rows2
	JMP epilogue

	PCALIGN $64
rows3:
	LOADB
	ROW0
	ROW1
	ROW2
	NEXTK
	JNE rows3
	JMP epilogue

	PCALIGN $64
rows4:
	LOADB
	ROW0
	ROW1
	ROW2
	ROW3
	NEXTK
	JNE rows4
	JMP epilogue

	PCALIGN $64
rows5:
	LOADB
	ROW0
	ROW1
	ROW2
	ROW3
	ROW4
	NEXTK
	JNE rows5
	JMP epilogue

	PCALIGN $64
rows6:
	LOADB
	ROW0
	ROW1
	ROW2
	ROW3
	ROW4
	ROW5
	NEXTK
	JNE rows6
	JMP epilogue

	PCALIGN $64
rows7:
	LOADB
	ROW0
	ROW1
	ROW2
	ROW3
	ROW4
	ROW5
	ROW6
	NEXTK
	JNE rows7
	JMP epilogue

	PCALIGN $64
rows8:
	LOADB
	ROW0
	ROW1
	ROW2
	ROW3
	ROW4
	ROW5
	ROW6
	ROW7
	NEXTK
	JNE rows8
	JMP epilogue

	PCALIGN $64
rows9:
	LOADB
	ROW0
	ROW1
	ROW2
	ROW3
	ROW4
	ROW5
	ROW6
	ROW7
	ROW8
	NEXTK
	JNE rows9
	JMP epilogue

	PCALIGN $64
rows10:
	LOADB
	ROW0
	ROW1
	ROW2
	ROW3
	ROW4
	ROW5
	ROW6
	ROW7
	ROW8
	ROW9
	NEXTK
	JNE rows10
	JMP epilogue

	PCALIGN $64
rows11:
	LOADB
	ROW0
	ROW1
	ROW2
	ROW3
	ROW4
	ROW5
	ROW6
	ROW7
	ROW8
	ROW9
	ROW10
	NEXTK
	JNE rows11
	JMP epilogue

	PCALIGN $64
rows12:
	LOADB
	ROW0
	ROW1
	ROW2
	ROW3
	ROW4
	ROW5
	ROW6
	ROW7
	ROW8
	ROW9
	ROW10
	ROW11
	NEXTK
	JNE rows12

epilogue:
	// + bias
	MOVQ  strip_bias(DI), SI
	TESTQ SI, SI
	JEQ   relu
	ADDQ  DX, SI
	SUBQ  strip_c(DI), SI
	VMOVUPS.Z (SI), K1, Z24
	VMOVUPS.Z 64(SI), K2, Z25
	VADDPS Z24, Z0, Z0
	VADDPS Z25, Z1, Z1
	VADDPS Z24, Z2, Z2
	VADDPS Z25, Z3, Z3
	VADDPS Z24, Z4, Z4
	VADDPS Z25, Z5, Z5
	VADDPS Z24, Z6, Z6
	VADDPS Z25, Z7, Z7
	VADDPS Z24, Z8, Z8
	VADDPS Z25, Z9, Z9
	VADDPS Z24, Z10, Z10
	VADDPS Z25, Z11, Z11
	VADDPS Z24, Z12, Z12
	VADDPS Z25, Z13, Z13
	VADDPS Z24, Z14, Z14
	VADDPS Z25, Z15, Z15
	VADDPS Z24, Z16, Z16
	VADDPS Z25, Z17, Z17
	VADDPS Z24, Z18, Z18
	VADDPS Z25, Z19, Z19
	VADDPS Z24, Z20, Z20
	VADDPS Z25, Z21, Z21
	VADDPS Z24, Z22, Z22
	VADDPS Z25, Z23, Z23

	// x < 0 ? 0 : x, which VMAXPS is with x as its last operand: a NaN and a -0 come out as they are
relu:
	CMPQ   strip_relu(DI), $0
	JEQ    store
	VPXORD Z24, Z24, Z24
	VMAXPS Z0, Z24, Z0
	VMAXPS Z1, Z24, Z1
	VMAXPS Z2, Z24, Z2
	VMAXPS Z3, Z24, Z3
	VMAXPS Z4, Z24, Z4
	VMAXPS Z5, Z24, Z5
	VMAXPS Z6, Z24, Z6
	VMAXPS Z7, Z24, Z7
	VMAXPS Z8, Z24, Z8
	VMAXPS Z9, Z24, Z9
	VMAXPS Z10, Z24, Z10
	VMAXPS Z11, Z24, Z11
	VMAXPS Z12, Z24, Z12
	VMAXPS Z13, Z24, Z13
	VMAXPS Z14, Z24, Z14
	VMAXPS Z15, Z24, Z15
	VMAXPS Z16, Z24, Z16
	VMAXPS Z17, Z24, Z17
	VMAXPS Z18, Z24, Z18
	VMAXPS Z19, Z24, Z19
	VMAXPS Z20, Z24, Z20
	VMAXPS Z21, Z24, Z21
	VMAXPS Z22, Z24, Z22
	VMAXPS Z23, Z24, Z23

store:
	EACHROW(STOREC, next)

next:
	SUBQ $32, R13
	JLE  done
	ADDQ $128, DX
	MOVQ strip_bPanel(DI), CX
	ADDQ CX, b-8(SP)
	JMP  panel

done:
	VZEROUPPER
	RET

// func fmaLoopAVX512(n int)
// Requires: AVX512F
TEXT ·fmaLoopAVX512(SB), NOSPLIT, $0-8
	MOVQ n+0(FP), CX
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	VPXORD Z4, Z4, Z4
	VPXORD Z5, Z5, Z5
	VPXORD Z6, Z6, Z6
	VPXORD Z7, Z7, Z7
	VPXORD Z8, Z8, Z8
	VPXORD Z9, Z9, Z9
	VPXORD Z10, Z10, Z10
	VPXORD Z11, Z11, Z11
	VPXORD Z12, Z12, Z12

	PCALIGN $64
again:
	VFMADD231PS Z12, Z12, Z0
	VFMADD231PS Z12, Z12, Z1
	VFMADD231PS Z12, Z12, Z2
	VFMADD231PS Z12, Z12, Z3
	VFMADD231PS Z12, Z12, Z4
	VFMADD231PS Z12, Z12, Z5
	VFMADD231PS Z12, Z12, Z6
	VFMADD231PS Z12, Z12, Z7
	VFMADD231PS Z12, Z12, Z8
	VFMADD231PS Z12, Z12, Z9
	VFMADD231PS Z12, Z12, Z10
	VFMADD231PS Z12, Z12, Z11
	DECQ CX
	JNE  again
	VZEROUPPER
	RET
