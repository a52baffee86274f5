//go:build !purego && !noasm

package mat

var tiles = [...]tile{
	generic: {rows: 1, cols: 16},
	neon:    {rows: 6, cols: 16, depth: 256, high: 120, wide: 1024},
}

func tileFor(int) *tile { return &tiles[kernel] }

func (*tile) run(s *strip) { stripNEON(s) }

func copyPanel(dst *float32, dstK uintptr, src *float32, srcK uintptr, w, k int) {
	copyPanelNEON(dst, dstK, src, srcK, w, k)
}

func transposePanel(dst *float32, dstK uintptr, src *float32, srcRow uintptr, w, k int) {
	transposePanelNEON(dst, dstK, src, srcRow, w, k)
}

// fmaLoop runs n rounds of multiply-adds and returns how many operations they are.
func fmaLoop(n int) float64 {
	if kernel == generic {
		return fmaLoopGeneric(n)
	}
	fmaLoopNEON(n)
	return 24 * 4 * 2 * float64(n)
}

//go:noescape
func stripNEON(s *strip)

//go:noescape
func copyPanelNEON(dst *float32, dstK uintptr, src *float32, srcK uintptr, w, k int)

//go:noescape
func transposePanelNEON(dst *float32, dstK uintptr, src *float32, srcRow uintptr, w, k int)

// fmaLoopNEON is n rounds of 24 fused multiply-adds of 4 lanes, each round waiting for nothing but the one before.
//
//go:noescape
func fmaLoopNEON(n int)
