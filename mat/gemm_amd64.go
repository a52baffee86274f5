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
	rows, inRows := i1-i0, t.b.ColStride == 1
	switch {
	case inRows && kernel == avx2 && rows > tiles[avx2].wideRows:
		t.blockFew(i0, i1, j0, j1, depth)
	case inRows:
		t.blockWide(i0, i1, j0, j1, depth)
	case kernel == avx2 && (rows > laneRows/2 || t.halves(rows, j1-j0)):
		t.blockLanes(i0, i1, j0, j1, depth)
	default:
		t.blockTransposed(i0, i1, j0, j1, depth)
	}
}

// blockTransposed is blockDirect for a B with contiguous columns, which the kernels transpose in
// registers.
func (t *product) blockTransposed(i0, i1, j0, j1, depth int) {
	a, b, c, l := t.a, &t.b, &t.c, &machineLimits
	if a.RowStride%l.aliasFloats == 0 && i1-i0 > 1 && j1-j0 >= l.minCopiedCols {
		w := workspaces.Get().(*workspace)
		defer workspaces.Put(w)
		w.packedA = resized(w.packedA, (i1-i0)*paddedStride(depth))
		a = copyRows(w.packedA, a.Slice(i0, i1, 0, depth))
	} else {
		a = a.RowRange(i0, i1)
	}
	first, last := j0, depth == t.a.Cols
	s := strip{k: depth, aRow: uintptr(a.RowStride) * size, cRow: uintptr(c.RowStride) * size, bPanel: uintptr(b.ColStride) * size,
		accumulate: flag(t.o.Accumulate), relu: flag(t.o.Activation == ReLU && last)}
	rows := divideRows(a.Rows, tiles[kernel].transposedRows)
	// The strips share the columns of a pass. Each prefetches its part of those of the next pass,
	// if B comes from memory.
	parts, cols := 1, ceil(1+maxDirectFloats/depth, 16)
	ahead, far := uintptr(0), c.Cols*t.a.Cols > l.l3Floats
	fetch := far && kernel == avx512
	if fetch {
		parts, cols = rows.strips, ceil(1+minFetchedFloats/depth, 16)
	} else if far { // one strip
		ahead = 16 * s.bPanel
	}
	for ; j0 < j1; j0 += parts * cols {
		for n, i := 0, 0; n < rows.strips; n++ {
			s.m = rows.rows(n)
			s.a = &a.Data[i*a.RowStride]
			for part, j := 0, j0; part < parts && j < j1; part++ {
				s.n = min(cols, j1-j)
				s.b, s.c = &b.Data[j*b.ColStride], &c.Data[(i0+i)*c.RowStride+j]
				if t.o.Bias != nil && last {
					s.bias = &t.o.Bias[j]
				}
				if s.ahead = ahead; fetch && part == n && j+parts*cols < j1 {
					s.ahead = uintptr(parts*cols) * s.bPanel
				}
				if kernel == avx2 {
					stripTAVX2(&s)
				} else {
					stripTAVX512(&s)
				}
				j += s.n
			}
			i += s.m
		}
	}
	if last {
		t.o.finish(*c, i0, i1, first, j1)
	}
}

const (
	maxDirectFloats  = 128 << 10 // floats of B in one call, which takes a few microseconds
	minFetchedFloats = 8 << 10   // floats of B between a prefetch and its use
)

// halves reports whether stripTHalvesAVX2 computes m ≤ 4 rows of n columns: if these are enough to
// pay for packing A, and do not share sets of L1.
func (t *product) halves(m, n int) bool {
	return m > laneRows/4 && n >= machineLimits.minCopiedCols && t.b.ColStride%machineLimits.aliasFloats != 0
}

// blockLanes is blockTransposed for AVX2 with rows of A in lanes, packed in panels.
func (t *product) blockLanes(i0, i1, j0, j1, depth int) {
	a, b, c := &t.a, &t.b, &t.c
	w := workspaces.Get().(*workspace)
	defer workspaces.Put(w)
	rows := divideRows(i1-i0, laneRows)
	w.packedA = resized(w.packedA, rows.strips*laneRows*depth)
	first, last := j0, depth == a.Cols
	s := strip{k: depth, cRow: uintptr(c.RowStride) * size, aRow: uintptr(a.RowStride) * size, bPanel: uintptr(b.ColStride) * size,
		accumulate: flag(t.o.Accumulate), relu: flag(t.o.Activation == ReLU && last)}
	for cols := ceil(1+maxDirectFloats/depth, 48); j0 < j1; j0 += s.n {
		s.n = min(cols, j1-j0)
		s.b = &b.Data[j0*b.ColStride]
		if t.o.Bias != nil && last {
			s.bias = &t.o.Bias[j0]
		}
		for n, i := 0, i0; n < rows.strips; n++ {
			s.m = rows.rows(n)
			s.a, s.c = &a.Data[i*a.RowStride], &c.Data[i*c.RowStride+j0]
			i += s.m
			half := s.m <= laneRows/2
			if half && !t.halves(s.m, j1-first) {
				stripTAVX2(&s)
				continue
			}
			panel := w.packedA[n*laneRows*depth:]
			if j0 == first {
				transposePanelAVX2(&panel[0], laneRows*size, s.a, s.aRow, s.m, depth)
				if half {
					transposePanelAVX2(&panel[laneRows/2], laneRows*size, s.a, s.aRow, s.m, depth)
				}
			}
			if s.a = &panel[0]; half {
				stripTHalvesAVX2(&s)
			} else {
				stripTLanesAVX2(&s)
			}
		}
	}
	if last {
		t.o.finish(*c, i0, i1, first, j1)
	}
}

const laneRows = 8 // rows of C of stripTLanesAVX2

// blockFew is blockDirect for a B with contiguous rows from beyond L2, and several strips of rows.
// The first one copies a block of 48 columns, and the others find it in L1. Together they prefetch
// the next block.
func (t *product) blockFew(i0, i1, j0, j1, depth int) {
	a, b, c := &t.a, &t.b, &t.c
	rows, bRow := divideRows(i1-i0, fewRows256), uintptr(b.RowStride)*size
	maxK := evenly(depth, fewDepth256)
	panel := maxK * fewCols256 / 2
	w := workspaces.Get().(*workspace)
	defer workspaces.Put(w)
	w.packedB = resized(w.packedB, 2*panel)
	s := strip{aRow: uintptr(a.RowStride) * size, aK: size, cRow: uintptr(c.RowStride) * size, bPanel: uintptr(panel) * size}
	for j := j0; j < j1; j += fewCols256 {
		next := j
		for k := 0; k < depth; k += s.k {
			s.k = min(maxK, depth-k)
			s.accumulate = flag(t.o.Accumulate || k > 0)
			nextK := k + s.k
			if nextK == depth {
				next, nextK = j+fewCols256, 0
			}
			s.ahead, s.aheadK = address(b.Data)+uintptr(nextK)*bRow+uintptr(next)*size, bRow
			s.b, s.bK, s.pack = &b.Data[k*b.RowStride+j], bRow, address(w.packedB)
			for n, i := 0, i0; n < rows.strips; n++ {
				s.m = rows.rows(n)
				s.a, s.c = &a.Data[i*a.RowStride+k], &c.Data[i*c.RowStride+j]
				stripFewAVX2(&s)
				s.b, s.bK, s.pack = &w.packedB[0], fewCols256/2*size, 0
				if s.ahead += 2 * line; n > 0 {
					s.aheadK = 0
				}
				i += s.m
			}
		}
	}
	if depth == a.Cols {
		t.o.finishChain(*c, i0, i1, j0, j1)
	}
}

// blockWide is blockDirect for a B with contiguous rows.
func (t *product) blockWide(i0, i1, j0, j1, depth int) {
	a, b, c, l := &t.a, &t.b, &t.c, &machineLimits
	rows := divideRows(i1-i0, tiles[kernel].wideRows)
	s := strip{aRow: uintptr(a.RowStride) * size, cRow: uintptr(c.RowStride) * size, bK: uintptr(b.RowStride) * size}
	maxC := l.maxStreamCFloats
	if kernel == avx2 { // its chains do not start from 0, and C is read more often
		maxC = l.maxStreamC256
		if !t.o.Accumulate {
			for i := i0; i < i1; i++ {
				clear(c.Row(i)[j0:j1])
			}
		}
	}
	cols := ceil(evenly(j1-j0, max(1, min(l.maxStreamCols, maxC/(i1-i0)))), 16)
	for j := j0; j < j1; j += cols {
		s.n = min(cols, j1-j)
		for k := 0; k < depth; k += s.k {
			s.k = min(ceil(1+maxDirectFloats/s.n, wideDepth), depth-k)
			s.accumulate = flag(t.o.Accumulate || k > 0)
			s.b = &b.Data[k*b.RowStride+j]
			s.ahead = uintptr(flag(c.Cols*a.Cols > l.l3Floats)) // for the first strip
			for n, i := 0, i0; n < rows.strips; n++ {
				s.m = rows.rows(n)
				s.a, s.c = &a.Data[i*a.RowStride+k], &c.Data[i*c.RowStride+j]
				if kernel == avx2 {
					stripWideAVX2(&s)
				} else {
					stripWideAVX512(&s)
				}
				s.ahead = 0
				i += s.m
			}
		}
	}
	if depth == a.Cols {
		t.o.finishChain(*c, i0, i1, j0, j1)
	}
}

// packStrips packs rows of A, whose columns are contiguous, into strips of m rows, up to the number
// that the tile packs together: strip q begins at dst[q*m*k] and holds row r of column l at l*m+r.
// It returns the number of strips packed.
func (t *tile) packStrips(dst []float32, src *float32, srcK uintptr, strips, m, k int) int {
	switch {
	case t.cols != tiles[avx512].cols:
		copyPanelAVX2(&dst[0], uintptr(m)*size, src, srcK, m, k)
	case strips >= t.strips && m == t.rows:
		copyStripsAVX512(&dst[0], uintptr(m*k)*size, src, srcK, k)
		return t.strips
	default:
		copyPanelAVX512(&dst[0], uintptr(m)*size, src, srcK, m, k)
	}
	return 1
}

// copyPanels packs n columns of B, whose rows are contiguous, into panels that begin dstPanel bytes
// apart.
func (t *tile) copyPanels(dst *float32, dstPanel uintptr, src *float32, srcK uintptr, n, k int) {
	if t.cols == tiles[avx512].cols {
		copyPanelsAVX512(dst, dstPanel, src, srcK, n, k)
		return
	}
	for j := 0; j < n; j += t.cols {
		copyPanelAVX2(advance(dst, j/t.cols*int(dstPanel)/size), uintptr(t.cols)*size, advance(src, j), srcK, min(n-j, t.cols), k)
	}
}

// transposePanel packs w contiguous columns of B of depth k: dst[l*dstK+j] = src[j*srcRow+l], with
// strides in bytes.
func transposePanel(dst *float32, dstK uintptr, src *float32, srcRow uintptr, w, k int) {
	if k16 := k &^ 15; kernel == avx512 && w >= 16 && k16 > 0 {
		transposePanelAVX512(dst, dstK, src, srcRow, k16)
		if k16 < k {
			transposePanelAVX2(advance(dst, k16*int(dstK)/size), dstK, advance(src, k16), srcRow, 16, k-k16)
		}
		if w > 16 {
			transposePanel(advance(dst, 16), dstK, advance(src, 16*int(srcRow)/size), srcRow, w-16, k)
		}
		return
	}
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

// stripWideAVX512 is the loop in strip's comment, without its epilogue, for up to 8 rows and a B of
// one panel. n is a multiple of 16, k of 8, and aK one float. With ahead != 0 it prefetches B, for
// one from memory.
//
//go:noescape
func stripWideAVX512(s *strip)

// stripWideAVX2 is stripWideAVX512 for up to 2 rows. It adds to C.
//
//go:noescape
func stripWideAVX2(s *strip)

// stripFewAVX2 is the loop in strip's comment, without its epilogue, for 2 to 4 rows and two panels
// of 24 columns. With pack != 0, for 4 rows, a row of B has all 48 columns, and the kernel copies
// them to such panels. Each panel prefetches a line of each of k rows, aheadK apart: the first
// panel at ahead, the second one at the next line.
//
//go:noescape
func stripFewAVX2(s *strip)

// stripTAVX512 is the loop in strip's comment for up to 8 rows and a B with contiguous columns,
// bPanel apart: b[j*bPanel+l*bK] with bK and aK one float. n and k are multiples of 16.
//
//go:noescape
func stripTAVX512(s *strip)

// stripTAVX2 is stripTAVX512 for up to 4 rows.
//
//go:noescape
func stripTAVX2(s *strip)

// stripTLanesAVX2 is stripTAVX512 for 5 to 8 rows of A in a packed panel: a[l*8+i]. It prefetches B
// a few columns ahead.
//
//go:noescape
func stripTLanesAVX2(s *strip)

// stripTHalvesAVX2 is stripTLanesAVX2 for 3 or 4 rows, which the panel holds twice: a[l*8+i] and
// a[l*8+4+i].
//
//go:noescape
func stripTHalvesAVX2(s *strip)

// stripAVX2 is the loop in strip's comment for up to 6 rows, in panels of 16 columns.
//
//go:noescape
func stripAVX2(s *strip)

// copyPanelsAVX512 copies k rows of n columns to panels of 32 columns:
//
//	for l := range k {
//		for j := range n {
//			dst[j/32*dstPanel+l*32+j%32] = src[l*srcK+j]
//		}
//	}
//
// Strides count bytes. Missing columns of the last panel are zeros.
//
//go:noescape
func copyPanelsAVX512(dst *float32, dstPanel uintptr, src *float32, srcK uintptr, n, k int)

// copyStripsAVX512 copies k columns of 48 floats to 4 strips of 12 rows, which begin dstStrip bytes
// apart.
//
//go:noescape
func copyStripsAVX512(dst *float32, dstStrip uintptr, src *float32, srcK uintptr, k int)

// copyPanelAVX512 copies k rows of w ≤ 16 floats, each followed by zeros up to 16.
//
//go:noescape
func copyPanelAVX512(dst *float32, dstK uintptr, src *float32, srcK uintptr, w, k int)

//go:noescape
func copyPanelAVX2(dst *float32, dstK uintptr, src *float32, srcK uintptr, w, k int)

// transposePanelAVX512 is transposePanel for 16 columns and a k that is a multiple of 16.
//
//go:noescape
func transposePanelAVX512(dst *float32, dstK uintptr, src *float32, srcRow uintptr, k int)

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
