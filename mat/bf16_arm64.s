//go:build !purego && !noasm

#include "textflag.h"

// func stripNEONFlushed(s *strip)
//
// Sets FZ, bit 24 of FPCR, while stripNEON runs.
TEXT ·stripNEONFlushed(SB), NOSPLIT, $32-8
	MOVD FPCR, R0
	MOVD R0, fpcr-8(SP)
	ORR  $(1<<24), R0
	MOVD R0, FPCR
	MOVD s+0(FP), R0
	MOVD R0, 8(RSP)
	CALL ·stripNEON(SB)
	MOVD fpcr-8(SP), R0
	MOVD R0, FPCR
	RET
