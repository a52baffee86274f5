//go:build !purego && !noasm

package mat

var tiles = [...]tile{
	generic: {rows: 1, cols: 16},
	avx2:    {rows: 6, cols: 16, depth: 512, high: 96, wide: 768},
}

func (s *strip) run() { stripAVX2(s) }

func copyPanel(dst *float32, dstK uintptr, src *float32, srcK uintptr, w, k int) {
	copyPanelAVX2(dst, dstK, src, srcK, w, k)
}

func transposePanel(dst *float32, dstK uintptr, src *float32, srcRow uintptr, w, k int) {
	transposePanelAVX2(dst, dstK, src, srcRow, w, k)
}

// fmaLoop runs n rounds of multiply-adds and returns how many operations they are.
func fmaLoop(n int) float64 {
	if kernel == generic {
		return fmaLoopGeneric(n)
	}
	fmaLoopAVX2(n)
	return 12 * 8 * 2 * float64(n)
}

//go:noescape
func stripAVX2(s *strip)

//go:noescape
func copyPanelAVX2(dst *float32, dstK uintptr, src *float32, srcK uintptr, w, k int)

//go:noescape
func transposePanelAVX2(dst *float32, dstK uintptr, src *float32, srcRow uintptr, w, k int)

// fmaLoopAVX2 is n rounds of 12 fused multiply-adds of 8 lanes, each round waiting for nothing but the one before.
//
//go:noescape
func fmaLoopAVX2(n int)
