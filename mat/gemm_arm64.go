//go:build !purego && !noasm

package mat

func (*tile) run(s *strip) { stripNEON(s) }

// blockTransposed is not called: no kernel transposes columns of B in registers.
func (*product) blockTransposed(i0, i1, j0, j1, depth int) {}

// copyPanels packs n columns of B, whose rows are contiguous, as panels that begin dstPanel from
// one another.
func (t *tile) copyPanels(dst *float32, dstPanel uintptr, src *float32, srcK uintptr, n, k int) {
	for j := 0; j < n; j += t.cols {
		copyPanelNEON(advance(dst, j/t.cols*int(dstPanel)/size), uintptr(t.cols)*size, advance(src, j), srcK, min(n-j, t.cols), k)
	}
}

// copyStrips packs the m rows of a strip of A, whose columns are contiguous.
func (t *tile) copyStrips(dst []float32, src *float32, srcK uintptr, strips, m, k int) int {
	copyPanelNEON(&dst[0], uintptr(m)*size, src, srcK, m, k)
	return 1
}

// transposePanel packs w columns of B that are contiguous: dst[l*dstK+j] = src[j*srcRow+l] for k of
// l.
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

// fmaLoopNEON is n rounds of 24 fused multiply-adds of 4 lanes, each round waiting for nothing but
// the one before.
//
//go:noescape
func fmaLoopNEON(n int)
