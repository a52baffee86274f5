//go:build !purego && !noasm

package mat

import "unsafe"

var tiles = [...]tile{
	generic: {rows: 1, cols: 16},
	avx512:  {rows: 12, cols: 32, depth: 384, high: 96, wide: 768},
	avx2:    {rows: 6, cols: 16, depth: 512, high: 96, wide: 768},
}

// tileFor is the tile that suits n columns of C: a few columns would leave half of AVX-512's empty.
func tileFor(n int) *tile {
	if kernel == avx512 && n <= tiles[avx2].cols {
		return &tiles[avx2]
	}
	return &tiles[kernel]
}

func (t *tile) run(s *strip) {
	if t.cols == tiles[avx512].cols {
		stripAVX512(s)
	} else {
		stripAVX2(s)
	}
}

// copyPanel copies 16 columns at a time.
func copyPanel(dst *float32, dstK uintptr, src *float32, srcK uintptr, w, k int) {
	for ; w > 16; w -= 16 {
		copyPanelAVX2(dst, dstK, src, srcK, 16, k)
		dst, src = after(dst, 16), after(src, 16)
	}
	copyPanelAVX2(dst, dstK, src, srcK, w, k)
}

// after is the address of the n-th number behind p.
func after(p *float32, n int) *float32 { return (*float32)(unsafe.Add(unsafe.Pointer(p), n*size)) }

func transposePanel(dst *float32, dstK uintptr, src *float32, srcRow uintptr, w, k int) {
	transposePanelAVX2(dst, dstK, src, srcRow, w, k)
}

// fmaLoop runs n rounds of multiply-adds and returns how many operations they are.
func fmaLoop(n int) float64 {
	if kernel == generic {
		return fmaLoopGeneric(n)
	}
	if kernel == avx512 {
		fmaLoopAVX512(n)
		return 12 * 16 * 2 * float64(n)
	}
	fmaLoopAVX2(n)
	return 12 * 8 * 2 * float64(n)
}

// stripAVX512 is the loop above strip for up to 12 rows, in panels of 32 columns.
//
//go:noescape
func stripAVX512(s *strip)

// stripAVX2 is the same for up to 6 rows, in panels of 16 columns.
//
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

// fmaLoopAVX512 is the same with 16 lanes.
//
//go:noescape
func fmaLoopAVX512(n int)
