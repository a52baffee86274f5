//go:build !purego && !noasm

package mat

func (t *tile) run(s *strip) {
	if t.cols != tiles[avx512].cols {
		stripAVX2(s)
		return
	}
	n := s.n
	if n64 := n &^ 63; s.m <= fewRows && n64 > 0 {
		s.n = n64
		stripFewAVX512(s)
		if s.n = n; n64 == n {
			return
		}
		tail := *s
		tail.n, tail.c = n-n64, advance(s.c, n64)
		tail.b = advance(s.b, n64/t.cols*int(s.bPanel)/size)
		if s.bias != nil {
			tail.bias = advance(s.bias, n64)
		}
		s = &tail
	}
	stripAVX512(s)
}

// blockDirect computes columns [j0, j1) of C, over k up to depth, for few rows.
func (t *product) blockDirect(i0, i1, j0, j1, depth int) {
	if t.b.ColStride == 1 {
		t.blockRow(i0, j0, j1, depth)
	} else {
		t.blockColumns(i0, i1, j0, j1, depth)
	}
}

// blockColumns is blockDirect for a B with contiguous columns.
func (t *product) blockColumns(i0, i1, j0, j1, depth int) {
	a, b, c, lim := t.a, &t.b, &t.c, &machineLimits
	w := workspaces.Get().(*workspace)
	defer workspaces.Put(w)
	s := columnsArgs{k: depth, cRow: uintptr(c.RowStride) * size, bCol: uintptr(b.ColStride) * size,
		accumulate: flag(t.o.Accumulate), relu: flag(t.o.Activation == ReLU && depth == a.Cols), fetch: c.Cols*a.Cols > lim.l3Floats}
	strips := divideRows(i1-i0, laneRows)
	switch {
	case kernel == avx2:
		w.packedA = resized(w.packedA, strips.strips*laneRows*depth)
		for n, i := 0, i0; n < strips.strips; n++ {
			m := strips.rows(n)
			transposePanelAVX2(&w.packedA[n*laneRows*depth], laneRows*size, &a.Data[i*a.RowStride], uintptr(a.RowStride)*size, m, depth)
			i += m
		}
	case a.RowStride%lim.aliasFloats == 0 && i1-i0 > 1 && j1-j0 >= lim.minCopiedCols:
		w.packedA = resized(w.packedA, (i1-i0)*paddedStride(depth))
		a = copyRows(w.packedA, a.Slice(i0, i1, 0, depth))
	default:
		a = a.RowRange(i0, i1)
	}
	s.aRow = uintptr(a.RowStride) * size
	for j := j0; j < j1; j += s.n {
		s.n = min(ceil(1+maxDirectFloats/depth, 48), j1-j)
		s.b = &b.Data[j*b.ColStride]
		if t.o.Bias != nil && depth == t.a.Cols {
			s.bias = &t.o.Bias[j]
		}
		for n, i := 0, 0; n < strips.strips; n++ {
			s.m = strips.rows(n)
			s.c = &c.Data[(i0+i)*c.RowStride+j]
			if kernel == avx2 {
				s.a = &w.packedA[n*laneRows*depth]
				columnsAVX2(&s)
			} else {
				s.a = &a.Data[i*a.RowStride]
				columnsAVX512(&s)
			}
			i += s.m
		}
	}
	if depth == t.a.Cols {
		t.o.finish(*c, i0, i1, j0, j1)
	}
}

const (
	maxDirectFloats = 128 << 10 // floats of B in one call, which takes a few microseconds
	laneRows        = 8         // rows of C of columnsAVX2 and columnsAVX512
)

// blockRow is blockDirect for row i of C and a B with contiguous rows.
func (t *product) blockRow(i, j0, j1, depth int) {
	a, b, c, lim := &t.a, &t.b, &t.c, &machineLimits
	if !t.o.Accumulate {
		clear(c.Row(i)[j0:j1])
	}
	r := rowArgs{bRow: uintptr(b.RowStride) * size, fetch: c.Cols*a.Cols > lim.l3Floats}
	cols := ceil(evenly(j1-j0, lim.maxStreamCols), 16)
	for j := j0; j < j1; j += cols {
		r.n = min(cols, j1-j)
		r.c = &c.Data[i*c.RowStride+j]
		for k := 0; k < depth; k += r.k {
			r.k = min(ceil(1+maxDirectFloats/r.n, wideDepth), depth-k)
			r.a, r.b = &a.Data[i*a.RowStride+k], &b.Data[k*b.RowStride+j]
			rowAVX2(&r)
		}
	}
	if depth == a.Cols {
		t.o.finishChain(*c, i, i+1, j0, j1)
	}
}

// columnsArgs is the argument of a kernel for few rows times a B with contiguous columns:
//
//	for i := range m {
//		for j := range n {
//			x := 0, or c[i*cRow+j] if accumulate != 0
//			for l := range k {
//				x = fma(a[i*aRow+l], b[j*bCol+l], x)
//			}
//			if bias != nil {
//				x += bias[j]
//			}
//			if relu != 0 && x < 0 {
//				x = 0
//			}
//			c[i*cRow+j] = x
//		}
//	}
//
// Strides count bytes. k is a multiple of 16. With fetch the kernel prefetches the next columns of
// B, from memory.
type columnsArgs struct {
	c, a, b, bias    *float32
	cRow, aRow, bCol uintptr
	m, n, k          int
	accumulate, relu int
	fetch            bool
}

// rowArgs is the argument of a kernel for one row times a B with contiguous rows:
//
//	for j := range n {
//		for l := range k {
//			c[j] = fma(a[l], b[l*bRow+j], c[j])
//		}
//	}
//
// bRow counts bytes. n is a multiple of 16, k of 8. With fetch the kernel prefetches B from memory.
type rowArgs struct {
	c, a, b *float32
	bRow    uintptr
	n, k    int
	fetch   bool
}

// copyPanel copies k rows of w ≤ 16 floats, each followed by zeros up to a multiple of 8:
// dst[l*dstK+j] = src[l*srcK+j], with strides in bytes.
func copyPanel(dst *float32, dstK uintptr, src *float32, srcK uintptr, w, k int) {
	copyPanelAVX2(dst, dstK, src, srcK, w, k)
}

// transposePanel packs w contiguous columns of B of depth k: dst[l*dstK+j] = src[j*srcRow+l], with
// strides in bytes.
func transposePanel(dst *float32, dstK uintptr, src *float32, srcRow uintptr, w, k int) {
	transposePanelAVX2(dst, dstK, src, srcRow, w, k)
}

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

// rowAVX2 is the loop in rowArgs's comment.
//
//go:noescape
func rowAVX2(r *rowArgs)

// columnsAVX512 is the loop in columnsArgs's comment for up to 8 rows. n is a multiple of 16.
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

//go:noescape
func copyPanelAVX2(dst *float32, dstK uintptr, src *float32, srcK uintptr, w, k int)

//go:noescape
func transposePanelAVX2(dst *float32, dstK uintptr, src *float32, srcRow uintptr, w, k int)

// fmaLoopAVX2 runs n rounds of 12 independent fused multiply-adds of 8 lanes; each depends on that
// of the previous round.
//
//go:noescape
func fmaLoopAVX2(n int)

// fmaLoopAVX512 is fmaLoopAVX2 with 16 lanes.
//
//go:noescape
func fmaLoopAVX512(n int)
