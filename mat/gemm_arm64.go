//go:build !purego && !noasm

package mat

// copyPanel copies k rows of w ≤ 16 floats, each followed by zeros up to a multiple of 8:
// dst[l*dstK+j] = src[l*srcK+j], with strides in bytes.
//
//go:noescape
func copyPanel(dst *float32, dstK uintptr, src *float32, srcK uintptr, w, k int)

// transposePanel packs w contiguous columns of B of depth k: dst[l*dstK+j] = src[j*srcRow+l], with
// strides in bytes.
//
//go:noescape
func transposePanel(dst *float32, dstK uintptr, src *float32, srcRow uintptr, w, k int)

// fmaLoop runs n rounds of multiply-adds and returns the number of operations.
func fmaLoop(n int) float64 {
	if kernel == generic {
		return fmaLoopGeneric(n)
	}
	fmaLoopNEON(n)
	return 24 * 4 * 2 * float64(n)
}

// stripNEON is the loop in strip's comment for up to 6 rows, in panels of 16 columns.
//
//go:noescape
func stripNEON(s *strip)

// fmaLoopNEON runs n rounds of 24 independent fused multiply-adds of 4 lanes; each depends on that
// of the previous round.
//
//go:noescape
func fmaLoopNEON(n int)
