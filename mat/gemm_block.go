//go:build (amd64 || arm64) && !purego && !noasm

package mat

import (
	"sync"
	"unsafe"
)

// strip is the argument of one kernel call: C = A·B or C += A·B for m rows, up to those of a
// tile, and n columns, in panels of the tile's columns:
//
//	for i := range m {
//		for j := range n {
//			x := 0, or c[i*cRow+j] if accumulate != 0
//			for l := range k {
//				x = fma(a[i*aRow+l*aK], b[j/cols*bPanel+l*bK+j%cols], x)
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
// Strides count bytes. B is read in whole panels; of C, A and bias nothing outside the loops is
// accessed. The kernel prefetches the C of the next panel and, in the last panel, that of the next
// call at c + next. If the strip has all rows of the tile it also prefetches, in panel p and for
// each l divisible by 4, the cache line at ahead + p*aheadPanel + l/4*aheadK. With AVX-512, if
// aheadLine is that of a line and aheadK 4 lines, it does so for each l, with any number of rows.
type strip struct {
	c, a, b, bias                   *float32
	cRow, aRow, aK, bK, bPanel      uintptr
	next, ahead, aheadPanel, aheadK uintptr
	aheadLine                       uintptr
	m, n, k                         int
	accumulate, relu                int
}

const (
	padA      = 16  // floats after a copied row of a panel, which may be overwritten
	packGrain = 256 // grain of packing, in columns of B
)

// workspace holds packed blocks of A and B.
type workspace struct{ packedA, packedB []float32 }

var workspaces = sync.Pool{New: func() any { return new(workspace) }}

// pack packs B into panels, each over all of k, padded as panelFloats says.
func pack(p *Pool, t *tile, panels []float32, b Matrix) {
	Each(p, ceilDiv(b.Cols, t.cols), packGrain/t.cols, packing{t, panels, b})
}

type packing struct {
	*tile
	panels []float32
	b      Matrix
}

// Range packs panels [lo, hi).
func (t *packing) Range(lo, hi int) {
	panel := t.panelFloats(t.b.Rows)
	for l := 0; l < t.b.Rows; l += t.depth {
		block := t.b.Slice(l, min(l+t.depth, t.b.Rows), lo*t.cols, min(hi*t.cols, t.b.Cols))
		t.packBlockB(t.panels[lo*panel+l*t.cols:], uintptr(panel)*size, block)
	}
}

// block computes rows [i0, i1) and columns [j0, j1) of C.
func (t *product) block(i0, i1, j0, j1 int) {
	if kernel == generic || t.a.Cols == 0 {
		t.blockGeneric(i0, i1, j0, j1)
		return
	}
	b := &t.plan.block
	var edge blockPlan
	if b.m != i1-i0 || b.n != j1-j0 { // at an edge of C
		edge = t.planBlock(i1-i0, j1-j0, t.a.Cols)
		b = &edge
	}
	if n, k := b.transposedCols, b.transposedDepth; n > 0 {
		t.blockTransposed(i0, i1, j0, j0+n, k)
		if k < t.a.Cols {
			edge = t.planBlock(i1-i0, n, t.a.Cols-k)
			t.runBlock(&edge, i0, i1, j0, j0+n, k)
		}
		if j0 += n; j0 == j1 {
			return
		}
		edge = t.planBlock(i1-i0, j1-j0, t.a.Cols)
		b = &edge
	}
	t.runBlock(b, i0, i1, j0, j1, 0)
}

// planBlock returns the plan of a block of C [m × n] over depth k.
func (t *product) planBlock(m, n, k int) blockPlan {
	q := t.shape(1)
	q.m, q.n, q.k = m, n, k
	return planBlock(&q, &machineLimits)
}

// runBlock computes a block of C according to its plan, over k from l0 on.
func (t *product) runBlock(b *blockPlan, i0, i1, j0, j1, l0 int) {
	p := blockLoop{product: t, blockPlan: b, tile: tileFor(kernel, t.c.Cols), j0: j0, j1: j1}
	if p.packA || p.copyA || p.packB || t.packed == nil && (j1-j0)%p.tile.cols != 0 {
		w := workspaces.Get().(*workspace)
		defer workspaces.Put(w)
		p.workspace = w
		switch {
		case p.packA:
			p.packedA = resized(p.packedA, min(p.rows, i1-i0)*p.depth+padA)
		case p.copyA:
			p.packedA = resized(p.packedA, p.tile.rows*paddedStride(p.depth))
		}
		cols := p.tile.cols
		if p.packB {
			cols = p.cols
		}
		p.packedB = resized(p.packedB, cols*ceil(p.depth, padB))
	}
	p.s.cRow = uintptr(t.c.RowStride) * size
	for ; i0 < i1; i0 += p.rows {
		p.i0, p.i1 = i0, min(i0+p.rows, i1)
		p.rowStrips = divideRows(p.i1-p.i0, p.tile.rows)
		if p.packA { // once for all columns
			for l := l0; l < t.a.Cols; l += p.depth {
				for j := j0; j < j1; j += p.cols {
					p.multiplyBlock(j, min(j+p.cols, j1), l)
				}
			}
			continue
		}
		for j := j0; j < j1; j += p.cols {
			for l := l0; l < t.a.Cols; l += p.depth {
				p.multiplyBlock(j, min(j+p.cols, j1), l)
			}
		}
	}
}

// blockLoop computes a block of C, one block of B at a time.
type blockLoop struct {
	*product
	*blockPlan
	*workspace
	tile      *tile
	i0, i1    int // rows
	j0, j1    int // columns
	rowStrips stripRows
	lastDepth bool // the block of k is the last one
	s         strip
}

// multiplyBlock computes columns [j0, j1) of C over the block of k that begins at l.
func (p *blockLoop) multiplyBlock(j0, j1, l int) {
	s, b := &p.s, &p.b
	s.k = min(p.depth, p.a.Cols-l)
	p.lastDepth = l+s.k == p.a.Cols
	s.accumulate = flag(p.o.Accumulate || l > 0)
	s.relu = flag(p.o.Activation == ReLU && p.lastDepth)
	for j := j0; j < j1; j += s.n {
		s.n = j1 - j
		if p.packed != nil {
			panel := p.tile.panelFloats(p.a.Cols)
			s.b, s.bK, s.bPanel = &p.packed[j/p.tile.cols*panel+l*p.tile.cols], uintptr(p.tile.cols)*size, uintptr(panel)*size
		} else if p.packB || s.n < p.tile.cols {
			s.b, s.bK, s.bPanel = &p.packedB[0], uintptr(p.tile.cols)*size, uintptr(p.tile.panelFloats(s.k))*size
			p.tile.packBlockB(p.packedB, s.bPanel, b.Slice(l, l+s.k, j, j+s.n))
		} else {
			s.n &= -p.tile.cols
			s.b, s.bK, s.bPanel = &b.Data[l*b.RowStride+j], uintptr(b.RowStride)*size, uintptr(p.tile.cols)*size
		}
		if s.bias = nil; p.o.Bias != nil && p.lastDepth {
			s.bias = &p.o.Bias[j]
		}
		p.multiplyStrips(j, l)
	}
	if p.lastDepth {
		p.o.finish(p.c, p.i0, p.i1, j0, j1)
	}
}

// packBlockB packs b, which is not empty, into panels that begin panel bytes apart.
func (t *tile) packBlockB(to []float32, panel uintptr, b Matrix) {
	if b.ColStride == 1 || b.Cols == 1 {
		t.copyPanels(&to[0], panel, &b.Data[0], uintptr(b.RowStride)*size, b.Cols, b.Rows)
		return
	}
	for j := 0; j < b.Cols; j += t.cols {
		transposePanel(&to[j/t.cols*int(panel)/size], uintptr(t.cols)*size, &b.Data[j*b.ColStride], uintptr(b.ColStride)*size, min(b.Cols-j, t.cols), b.Rows)
	}
}

// multiplyStrips computes the strips of columns [j, j+s.n).
func (p *blockLoop) multiplyStrips(j, l int) {
	s, a, c := &p.s, &p.a, &p.c
	done := 0 // strips of A already packed
	for n, i := 0, p.i0; n < p.rowStrips.strips; n++ {
		s.m = p.rowStrips.rows(n)
		s.c = &c.Data[i*c.RowStride+j]
		if p.packA {
			packed := p.packedA[(i-p.i0)*s.k:]
			if j == p.j0 && n == done {
				done += p.tile.packStrips(packed, &a.Data[i+l*a.ColStride], uintptr(a.ColStride)*size, p.rowStrips.strips-2-n, s.m, s.k)
			}
			s.a, s.aRow, s.aK = &packed[0], size, uintptr(s.m)*size
		} else {
			s.a = &a.Data[i*a.RowStride+l*a.ColStride]
			s.aRow, s.aK = uintptr(a.RowStride)*size, uintptr(a.ColStride)*size
			if p.copyA {
				p.copyRows(i, l)
			}
		}
		s.next = uintptr(s.m) * s.cRow
		if n+1 == p.rowStrips.strips { // next is the first strip, of these or of the next columns
			s.next = uintptr(i-p.i0) * -s.cRow
			if p.lastDepth {
				s.next += uintptr(s.n) * size
			}
		}
		i += s.m
		p.setPrefetch(n, i, j, l)
		p.tile.run(s)
	}
}

// copyRows copies the strip's rows of A, from row i on, to rows that share no cache set, and makes
// the strip read the copy.
func (p *blockLoop) copyRows(i, l int) {
	s, a, row := &p.s, &p.a, paddedStride(p.s.k)
	for r := range s.m {
		copy(p.packedA[r*row:], a.Data[(i+r)*a.RowStride+l:][:s.k])
	}
	s.a, s.aRow = &p.packedA[0], uintptr(row)*size
}

// copyOfA returns a copy of a, whose rows are contiguous, in w, with rows that share no cache set.
func (w *workspace) copyOfA(a Matrix) Matrix {
	row := paddedStride(a.Cols)
	w.packedA = resized(w.packedA, a.Rows*row)
	for i := range a.Rows {
		copy(w.packedA[i*row:], a.Row(i))
	}
	return Matrix{w.packedA, a.Rows, a.Cols, row, 1}
}

// setPrefetch sets the addresses that strip n prefetches: the next block of B and, when that is
// complete, the rows of A from i on.
func (p *blockLoop) setPrefetch(n, i, j, l int) {
	s, a, b := &p.s, &p.a, &p.b
	s.ahead, s.aheadPanel, s.aheadK, s.aheadLine = 0, 0, 0, 0
	if p.fetch == fetchNothing {
		return
	}
	j1, l1, cols := j, l+s.k, s.n // begin and columns of the next block of B
	if p.lastDepth || p.packA {
		j1, l1 = j+s.n, l
		cols = min(p.cols, p.j1-j1)
	}
	precedingPanels := n * (s.n / p.tile.cols)
	linesK := s.k / 4 // of the next block, in each panel
	if kernel == avx512 && fewStrips(p.i1-p.i0, p.tile.rows) {
		linesK = s.k
	}
	switch {
	case p.fetch == fetchB && precedingPanels*line/4/size < cols:
		s.fetchRows(b.Data[l1*b.RowStride+j1:], b.RowStride, precedingPanels)
	case p.fetch == fetchPackedB && cols > 0 && precedingPanels*linesK*line < cols*s.k*size:
		s.aheadPanel, s.aheadK = uintptr(linesK*line), line
		if linesK == s.k {
			s.aheadK, s.aheadLine = 4*line, line
		}
		s.ahead = address(p.packed[j1/p.tile.cols*p.tile.panelFloats(a.Cols)+l1*p.tile.cols:]) + uintptr(precedingPanels)*s.aheadPanel
	case i == p.i1:
	case p.packA:
		s.ahead, s.aheadPanel, s.aheadK = address(p.packedA[(i-p.i0)*s.k:]), uintptr(s.k/4*line), line
	default:
		s.ahead, s.aheadPanel, s.aheadK = address(a.Data[i*a.RowStride+l*a.ColStride:]), uintptr(a.RowStride)*size, 4*size
	}
}

// fetchRows makes the strip prefetch rows of x, one line of each at a time: each panel prefetches
// every fourth row.
func (s *strip) fetchRows(x []float32, row, precedingPanels int) {
	s.aheadK, s.aheadPanel = uintptr(4*row)*size, uintptr(row)*size+line/4
	s.ahead = address(x) + uintptr(precedingPanels%4*row)*size + uintptr(precedingPanels)*line/4
}

// address returns the address of x for prefetching, which never faults.
func address(x []float32) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(x))) }

// paddedStride returns the distance of rows of k floats: an odd number of cache lines.
func paddedStride(k int) int {
	const lineFloats = line / size
	return ((k+lineFloats-1)/lineFloats | 1) * lineFloats
}

// advance returns the address n floats after p.
func advance(p *float32, n int) *float32 { return (*float32)(unsafe.Add(unsafe.Pointer(p), n*size)) }

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}
