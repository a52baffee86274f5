//go:build !purego && !noasm

package mat

import "unsafe"

// copyPanel copies k rows of w ≤ 16 floats, each followed by zeros up to a multiple of 8:
// dst[l*dstK+j] = src[l*srcK+j], with strides in bytes.
//
//go:noescape
func copyPanel(dst *float32, dstK uintptr, src *float32, srcK uintptr, w, k int)

// transposePanel packs w contiguous columns of B of depth k: dst[l*dstK+j] = src[j*srcRow+l], with
// strides in bytes.
func transposePanel(dst *float32, dstK uintptr, src *float32, srcRow uintptr, w, k int) {
	k16 := k &^ 15
	for kernel == avx512 && w >= 16 && k16 > 0 {
		transposePanelAVX512(dst, dstK, src, srcRow, k16)
		if k16 < k {
			transposePanelAVX2(advance(dst, k16*int(dstK)/size), dstK, advance(src, k16), srcRow, 16, k-k16)
		}
		if w -= 16; w == 0 {
			return
		}
		dst, src = advance(dst, 16), advance(src, 16*int(srcRow)/size)
	}
	transposePanelAVX2(dst, dstK, src, srcRow, w, k)
}

// advance returns the address n floats after p.
func advance(p *float32, n int) *float32 { return (*float32)(unsafe.Add(unsafe.Pointer(p), n*size)) }

// transposePanelAVX512 is transposePanel for 16 columns and a k that is a multiple of 16.
//
//go:noescape
func transposePanelAVX512(dst *float32, dstK uintptr, src *float32, srcRow uintptr, k int)

//go:noescape
func transposePanelAVX2(dst *float32, dstK uintptr, src *float32, srcRow uintptr, w, k int)

// fmaLoop runs n rounds of multiply-adds and returns the number of operations.
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

// stripAVX512 is the loop in strip's comment for up to 12 rows, in panels of 32 columns.
//
//go:noescape
func stripAVX512(s *strip)

// stripFewAVX512 is stripAVX512 for up to 6 rows and a multiple of 64 columns.
//
//go:noescape
func stripFewAVX512(s *strip)

// smallColumns is the loop in strip's comment for a small product.
func smallColumns(s *strip) {
	if s.n > 16 {
		smallAVX512(s)
	}
	if s.n > 0 {
		small16AVX512(s)
	}
}

// smallAVX512 computes 32 columns at a time while more than 16 are left, and sets n, b and c to the
// remaining ones. It reads no B after the last column.
//
//go:noescape
func smallAVX512(s *strip)

// small16AVX512 computes up to 16 columns in the same way. It does not change s.
//
//go:noescape
func small16AVX512(s *strip)

// rowAVX2 is the loop in rowArgs's comment.
//
//go:noescape
func rowAVX2(r *rowArgs)

// columnsAVX512 is the loop in columnsArgs's comment. n is a multiple of 16.
//
//go:noescape
func columnsAVX512(s *columnsArgs)

// columnsAVX2 is columnsAVX512 for rows of A in a packed panel: a[l*8+i]. n is a multiple of 12. It
// prefetches B in any case.
//
//go:noescape
func columnsAVX2(s *columnsArgs)

// stripAVX2 is the loop in strip's comment for up to 6 rows, in panels of 16 columns.
//
//go:noescape
func stripAVX2(s *strip)

// fmaLoopAVX2 runs n rounds of 12 independent fused multiply-adds of 8 lanes; each depends on that
// of the previous round.
//
//go:noescape
func fmaLoopAVX2(n int)

// fmaLoopAVX512 is fmaLoopAVX2 with 16 lanes.
//
//go:noescape
func fmaLoopAVX512(n int)
