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
// call at c + next, and the lines of the walks.
//
// If pack is not nil, a strip with all rows of the tile also packs one panel of B, whose rows are
// bK apart, to pack. With AVX-512 the panel may have fewer columns; zeros replace the others.
// Strips modify their walks.
type strip struct {
	c, a, b, bias, pack        *float32
	cRow, aRow, aK, bK, bPanel uintptr
	next                       uintptr
	m, n, k                    int
	accumulate, relu           int
	walks                      [2]walk
}

const (
	padA      = 16  // floats after a copied row of a panel, which may be overwritten
	packGrain = 256 // grain of packing, in columns of B
	copyCols  = 16  // most columns of copyPanel
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
	if n, k := b.directCols, b.directDepth; n > 0 {
		t.blockDirect(i0, i1, j0, j0+n, k)
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
	p := blockLoop{product: t, blockPlan: b, tile: tileFor(kernel, t.c.Cols), j0: j0, j1: j1, l0: l0}
	p.jBlocks, p.lBlocks = ceilDiv(j1-j0, b.cols), ceilDiv(t.a.Cols-l0, b.depth)
	if p.packA || p.copyA || p.packB || t.packed == nil && (j1-j0)%p.tile.cols != 0 {
		w := workspaces.Get().(*workspace)
		defer workspaces.Put(w)
		p.workspace = w
		switch {
		case p.packA:
			p.packedA = resized(p.packedA, min(p.rows, i1-i0)*p.depth+padA)
		case p.copyA:
			rows := min(p.rows, i1-i0)
			if p.jBlocks == 1 {
				rows = min(rows, p.tile.rows)
			}
			p.packedA = resized(p.packedA, rows*paddedStride(p.depth))
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
		if p.packB && p.tile.packs {
			p.rowStrips.fillFirst()
		}
		for n := range p.jBlocks * p.lBlocks {
			p.next = p.blockB(n + 1)
			p.multiplyBlock(p.blockB(n))
		}
	}
}

// blockLoop computes a block of C, one block of B at a time.
type blockLoop struct {
	*product
	*blockPlan
	*workspace
	tile             *tile
	i0, i1           int // rows
	j0, j1           int // columns
	l0               int // begin of k
	jBlocks, lBlocks int // blocks of B
	rowStrips        stripRows
	lastDepth        bool // the block of k is the last one
	next             blockB
	walked           int // lines of the next block of B, prefetched
	s                strip
}

// blockB is rows [l0, l1) and columns [j0, j1) of B.
type blockB struct{ l0, l1, j0, j1 int }

// blockB returns block n of B, which is empty after the last one. Those of the same columns follow
// one another, those of the same k if A is packed or copied, once for all columns.
func (p *blockLoop) blockB(n int) (b blockB) {
	if n == p.jBlocks*p.lBlocks {
		return b
	}
	j, l := n/p.lBlocks, n%p.lBlocks
	if p.packA || p.copyA {
		l, j = n/p.jBlocks, n%p.jBlocks
	}
	b.l0, b.j0 = p.l0+l*p.depth, p.j0+j*p.cols
	b.l1, b.j1 = min(b.l0+p.depth, p.a.Cols), min(b.j0+p.cols, p.j1)
	return b
}

// multiplyBlock adds the products with block x of B to C.
func (p *blockLoop) multiplyBlock(x blockB) {
	s, b, l := &p.s, &p.b, x.l0
	s.k = x.l1 - l
	p.lastDepth = x.l1 == p.a.Cols
	p.walked = 0
	s.accumulate = flag(p.o.Accumulate || l > 0)
	s.relu = flag(p.o.Activation == ReLU && p.lastDepth)
	for j := x.j0; j < x.j1; j += s.n {
		s.n = x.j1 - j
		if p.packed != nil {
			panel := p.tile.panelFloats(p.a.Cols)
			s.b, s.bK, s.bPanel = &p.packed[j/p.tile.cols*panel+l*p.tile.cols], uintptr(p.tile.cols)*size, uintptr(panel)*size
		} else if p.packB || s.n < p.tile.cols {
			s.b, s.bK, s.bPanel = &p.packedB[0], uintptr(p.tile.cols)*size, uintptr(p.tile.panelFloats(s.k))*size
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
		p.o.finish(p.c, p.i0, p.i1, x.j0, x.j1)
	}
}

// packBlockB packs b, which is not empty, into panels that begin panel bytes apart.
func (t *tile) packBlockB(to []float32, panel uintptr, b Matrix) {
	if b.ColStride == 1 || b.Cols == 1 {
		for j := 0; j < b.Cols; j += copyCols {
			copyPanel(&to[j/t.cols*int(panel)/size+j%t.cols], uintptr(t.cols)*size, &b.Data[j], uintptr(b.RowStride)*size, min(b.Cols-j, copyCols), b.Rows)
		}
		return
	}
	for j := 0; j < b.Cols; j += t.cols {
		transposePanel(&to[j/t.cols*int(panel)/size], uintptr(t.cols)*size, &b.Data[j*b.ColStride], uintptr(b.ColStride)*size, min(b.Cols-j, t.cols), b.Rows)
	}
}

// multiplyStrips computes the strips of columns [j, j+s.n).
func (p *blockLoop) multiplyStrips(j, l int) {
	s, c := &p.s, &p.c
	for n, i := 0, p.i0; n < p.rowStrips.strips; n++ {
		s.m = p.rowStrips.rows(n)
		s.c = &c.Data[i*c.RowStride+j]
		if p.packA && j == p.j0 {
			p.packStrip(i, l)
		}
		if p.copyA && (j == p.j0 || p.jBlocks == 1) {
			copyRows(p.copied(i), p.a.Slice(i, i+s.m, l, l+s.k))
		}
		p.setA(i, l)
		s.next = uintptr(s.m) * s.cRow
		if n+1 == p.rowStrips.strips { // next is the first strip, of these or of the next columns
			s.next = uintptr(i-p.i0) * -s.cRow
			if p.lastDepth {
				s.next += uintptr(s.n) * size
			}
		}
		i += s.m
		switch {
		case p.packB || p.packed != nil:
			p.lookAhead(n, i, j, l)
		case p.fetchBelow:
			p.lookBelow(j, l)
		}
		if n == 0 && p.packed == nil && (p.packB || s.n < p.tile.cols) {
			p.runPacking(j, l)
		} else {
			p.tile.run(s)
		}
	}
}

// packStrip packs a strip of A, whose columns are contiguous, from row i on: s.m rows of depth s.k,
// with row r of column l at l*s.m+r.
func (p *blockLoop) packStrip(i, l int) {
	s, a := &p.s, &p.a
	copyPanel(&p.packedA[(i-p.i0)*s.k], uintptr(s.m)*size, &a.Data[i+l*a.ColStride], uintptr(a.ColStride)*size, s.m, s.k)
}

// copyRows copies a, whose rows are contiguous, to rows that share no cache set, and returns the
// copy.
func copyRows(to []float32, a Matrix) Matrix {
	row := paddedStride(a.Cols)
	for i := range a.Rows {
		copy(to[i*row:], a.Row(i))
	}
	return Matrix{to, a.Rows, a.Cols, row, 1}
}

// copied returns the copy of the rows of A from row i on. With one block of columns each strip
// replaces the one before it.
func (p *blockLoop) copied(i int) []float32 {
	if p.jBlocks == 1 {
		return p.packedA
	}
	return p.packedA[(i-p.i0)*paddedStride(p.s.k):]
}

// setA makes the strip read the rows of A from row i on.
func (p *blockLoop) setA(i, l int) {
	s, a := &p.s, &p.a
	switch {
	case p.packA:
		s.a, s.aRow, s.aK = &p.packedA[(i-p.i0)*s.k], size, uintptr(s.m)*size
	case p.copyA:
		s.a, s.aRow, s.aK = &p.copied(i)[0], uintptr(paddedStride(s.k))*size, size
	default:
		s.a, s.aRow, s.aK = &a.Data[i*a.RowStride+l*a.ColStride], uintptr(a.RowStride)*size, uintptr(a.ColStride)*size
	}
}

// packs reports whether strip n packs B while it multiplies.
func (p *blockLoop) packs(n int) bool {
	return n == 0 && p.packed == nil && p.b.ColStride == 1 && p.tile.packs && p.s.m == p.tile.rows
}

// runPacking packs columns [j, j+s.n) of B over the block of k that begins at l, and computes the
// first strip, panel by panel.
func (p *blockLoop) runPacking(j, l int) {
	s, b, t := &p.s, &p.b, p.tile
	x := b.Slice(l, l+s.k, j, j+s.n)
	n, next, panel := s.n, s.next, t.panelFloats(s.k)
	for done := 0; done < n; done += t.cols {
		s.n, s.next = min(t.cols, n-done), next
		if done+s.n < n {
			s.next = uintptr(s.n) * size
		}
		s.c = &p.c.Data[p.i0*p.c.RowStride+j+done]
		if s.bias != nil {
			s.bias = &p.o.Bias[j+done]
		}
		to := p.packedB[done/t.cols*panel:]
		if p.packs(0) && (s.n == t.cols || t == &tiles[avx512]) {
			s.pack, s.b, s.bK = &to[0], &x.Data[done], uintptr(b.RowStride)*size
		} else {
			t.packBlockB(to, s.bPanel, x.ColRange(done, done+s.n))
			s.b = &to[0]
		}
		t.run(s)
		s.pack, s.bK = nil, uintptr(t.cols)*size
	}
	s.n, s.b = n, &p.packedB[0]
	if s.bias != nil {
		s.bias = &p.o.Bias[j]
	}
}

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
