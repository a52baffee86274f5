//go:build (amd64 || arm64) && !purego && !noasm

package mat

import (
	"sync"
	"unsafe"
)

// Blocking, after Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", 2008: a strip
// of a few rows of C is computed in registers, from rows of A, which stay in the first-level cache while the panels
// of a block of B pass by, which stays in the second-level cache while strip after strip passes by. What
// comes next is fetched in the meantime. Chains are cut along k only by storing and loading C, so that no
// choice made here shows in the result.

// tile is the shape of a kernel, and the sizes of blocks that suit it.
type tile struct {
	rows, cols int // of C in registers; cols is a power of 2
	strips     int // of A that are packed at once
	depth      int // k of a block
	block      int // numbers of a packed block of B
}

// strip is one call of a kernel: C = or += A·B for m rows, at most those of a tile, and n columns, in
// panels of as many columns as a tile has:
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
// Its strides count bytes. Whole panels of B are read; of C, A and bias only what is named here. In the
// meantime it fetches into caches what will be needed: the C of the panel that follows and, during the last one,
// of the next call, next bytes from c; and, where the strip is as high as its tile, in panel p for each l that 4
// divides the line at ahead + p*aheadPanel + l/4*aheadK.
type strip struct {
	c, a, b, bias                   *float32
	cRow, aRow, aK, bK, bPanel      uintptr
	next, ahead, aheadPanel, aheadK uintptr
	m, n, k                         int
	accumulate, relu                int
}

const (
	size = 4  // bytes of a float32
	line = 64 // bytes that memory moves at once

	fewCols  = 32             // so many columns of C or less read A where it is, whatever its strides
	highA    = 1 << 10        // rows of A that are packed at once
	shallow  = 24             // k of a block of B that is read where it is and not nearby: so many rows, side by side
	nearC    = 64 << 10       // numbers of C for such a block, which are read and written for each of them
	longest  = 8 << 10        // columns of one, so that a call is over after some microseconds
	flat     = 128            // k of a block that is packed for fewRows: a panel stays in the first-level cache
	lowRows  = 256            // so many rows of C or less, and
	nearA    = 128 << 10      // numbers of A that stay in the second-level cache, have
	narrow   = 128            // columns in a block of B, so that the next one can be fetched in the meantime
	aliases  = 4 << 10 / size // rows of A so many numbers apart, or a multiple, meet in the same few sets of the first-level cache
	copyCols = 64             // columns of a block of B that are worth a copy of such rows
	padB     = 8              // a transposed panel is written in so many rows at once
	padA     = 16             // a copied row of a panel may be written with so many numbers too many
)

// workspace is packed blocks of A and B.
type workspace struct{ packedA, packedB []float32 }

var workspaces = sync.Pool{New: func() any { return new(workspace) }}

// pack arranges B in panels of as many columns as the tile has, one after another, each over all of k and a little
// more, see panelSize. It uses the storage of panels if that is large enough.
func pack(p *Pool, panels []float32, b Matrix) []float32 {
	t := tileFor(b.Cols)
	n := (b.Cols + t.cols - 1) / t.cols
	panels = resized(panels, n*t.panelSize(b.Rows))
	if b.Rows > 0 {
		Each(p, n, enough/t.cols, packing{t, panels, b})
	}
	return panels
}

// panelSize is how many numbers of a packed panel there are for so much of k.
func (t *tile) panelSize(k int) int { return t.cols * ceil(k, padB) }

type packing struct {
	*tile
	panels []float32
	b      Matrix
}

// Range packs panels [lo, hi).
func (t *packing) Range(lo, hi int) {
	panel := t.panelSize(t.b.Rows)
	for l := 0; l < t.b.Rows; l += t.depth {
		block := t.b.Slice(l, min(l+t.depth, t.b.Rows), lo*t.cols, min(hi*t.cols, t.b.Cols))
		t.copyB(t.panels[lo*panel+l*t.cols:], uintptr(panel)*size, block)
	}
}

// evenly is the size of the fewest equal parts of n, none larger than most.
func evenly(n, most int) int {
	if n <= most {
		return n
	}
	parts := (n + most - 1) / most
	return (n + parts - 1) / parts
}

// block computes rows [i0, i1) and columns [j0, j1) of C.
func (t *product) block(i0, i1, j0, j1 int) {
	if kernel == generic || t.a.Cols == 0 {
		t.blockGeneric(i0, i1, j0, j1)
		return
	}
	if n, k := t.direct(i0, i1, j0, j1); n > 0 {
		if k < t.a.Cols {
			t.blocks(i0, i1, j0, j0+n, k)
		}
		if j0 += n; j0 == j1 {
			return
		}
	}
	t.blocks(i0, i1, j0, j1, 0)
}

// blocks is block for the part of the chains that begins at k = l0.
func (t *product) blocks(i0, i1, j0, j1, l0 int) {
	n := j1 - j0
	packA := t.a.ColStride != 1 && t.a.RowStride == 1 && n > fewCols
	if high := evenly(i1-i0, highA); packA && high < i1-i0 {
		for i := i0; i < i1; i += high {
			t.blocks(i, min(i+high, i1), j0, j1, l0)
		}
		return
	}
	p := pass{product: t, packA: packA, tile: tileFor(t.c.Cols), i0: i0, i1: i1, j0: j0, j1: j1}
	p.rows = divideRows(i1-i0, p.tile.rows)
	p.packB = t.packsB(i1-i0, n)
	p.divide(i1-i0, n)
	p.copyA = t.a.ColStride == 1 && t.a.RowStride%aliases == 0 && p.wide >= copyCols
	if p.packA || p.copyA || p.packB || t.packed == nil && n%p.tile.cols != 0 {
		w := workspaces.Get().(*workspace)
		defer workspaces.Put(w)
		p.workspace = w
		switch {
		case p.packA:
			p.packedA = resized(p.packedA, (i1-i0)*p.depth+padA)
		case p.copyA:
			p.packedA = resized(p.packedA, p.tile.rows*apart(p.depth))
		}
		width := p.tile.cols
		if p.packB {
			width = p.wide
		}
		p.packedB = resized(p.packedB, width*ceil(p.depth, padB))
	}
	p.s.cRow = uintptr(t.c.RowStride) * size
	if p.packA { // once for all columns
		for l := l0; l < t.a.Cols; l += p.depth {
			for j := j0; j < j1; j += p.wide {
				p.run(j, min(j+p.wide, j1), l)
			}
		}
		return
	}
	for j := j0; j < j1; j += p.wide {
		for l := l0; l < t.a.Cols; l += p.depth {
			p.run(j, min(j+p.wide, j1), l)
		}
	}
}

// pass is the work on a block of C, cut into blocks of B.
type pass struct {
	*product
	*workspace
	tile         *tile
	i0, i1       int // rows
	j0, j1       int // columns
	rows         division
	packA, packB bool
	copyA        bool // strip by strip
	wide, depth  int  // of a block of B
	last         bool // part of k
	s            strip
}

// divide chooses the blocks of B for m rows and n columns.
func (p *pass) divide(m, n int) {
	k := p.a.Cols
	wide, depth := n, p.tile.depth
	switch {
	case p.packed != nil:
		wide = p.tile.block / evenly(k, depth)
	case !p.packB && k*n > nearby:
		wide, depth = min(nearC/m, longest), shallow
	case !p.packB:
	case m <= fewRows && p.b.ColStride != 1:
		wide, depth = p.tile.cols, flat
	case m <= lowRows && m*k <= nearA && !p.packA:
		wide = narrow
	default:
		wide = p.tile.block / evenly(k, depth)
	}
	p.wide, p.depth = ceil(evenly(n, wide), p.tile.cols), evenly(k, depth)
}

// run computes columns [j0, j1) of C over a block of k from l on.
func (p *pass) run(j0, j1, l int) {
	s, b := &p.s, &p.b
	s.k = min(p.depth, p.a.Cols-l)
	p.last = l+s.k == p.a.Cols
	s.accumulate = flag(p.o.Accumulate || l > 0)
	s.relu = flag(p.o.Activation == ReLU && p.last)
	for j := j0; j < j1; j += s.n {
		s.n = j1 - j
		if p.packed != nil {
			panel := p.tile.panelSize(p.a.Cols)
			s.b, s.bK, s.bPanel = &p.packed[j/p.tile.cols*panel+l*p.tile.cols], uintptr(p.tile.cols)*size, uintptr(panel)*size
		} else if p.packB || s.n < p.tile.cols {
			s.b, s.bK, s.bPanel = &p.packedB[0], uintptr(p.tile.cols)*size, uintptr(p.tile.panelSize(s.k))*size
			p.tile.copyB(p.packedB, s.bPanel, b.Slice(l, l+s.k, j, j+s.n))
		} else {
			s.n &= -p.tile.cols
			s.b, s.bK, s.bPanel = &b.Data[l*b.RowStride+j], uintptr(b.RowStride)*size, uintptr(p.tile.cols)*size
		}
		if s.bias = nil; p.o.Bias != nil && p.last {
			s.bias = &p.o.Bias[j]
		}
		p.strips(j, l)
	}
	if p.last {
		p.o.finish(p.c, p.i0, p.i1, j0, j1)
	}
}

// copyB packs B, which is not empty, as panels that begin so many bytes from one another.
func (t *tile) copyB(to []float32, panel uintptr, b Matrix) {
	if b.ColStride == 1 || b.Cols == 1 {
		t.copyPanels(&to[0], panel, &b.Data[0], uintptr(b.RowStride)*size, b.Cols, b.Rows)
		return
	}
	for j := 0; j < b.Cols; j += t.cols {
		transposePanel(&to[j/t.cols*int(panel)/size], uintptr(t.cols)*size, &b.Data[j*b.ColStride], uintptr(b.ColStride)*size, min(b.Cols-j, t.cols), b.Rows)
	}
}

// strips computes the strips of s.n columns from column j on.
func (p *pass) strips(j, l int) {
	s, a, c := &p.s, &p.a, &p.c
	done := 0 // strips that have been packed
	for n, i := 0, p.i0; n < p.rows.parts; n++ {
		s.m = p.rows.part(n)
		s.c = &c.Data[i*c.RowStride+j]
		if p.packA {
			packed := p.packedA[(i-p.i0)*s.k:]
			if j == p.j0 && n == done {
				done += p.tile.copyStrips(packed, &a.Data[i+l*a.ColStride], uintptr(a.ColStride)*size, p.rows.parts-2-n, s.m, s.k)
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
		if n+1 == p.rows.parts { // the first strip again, or that of the columns that follow
			s.next = uintptr(i-p.i0) * -s.cRow
			if p.last {
				s.next += uintptr(s.n) * size
			}
		}
		i += s.m
		p.lookAhead(n, i, j, l)
		p.tile.run(s)
	}
}

// copyRows lets the strip read a copy of its rows of A, from row i on, whose rows share no set of the cache.
func (p *pass) copyRows(i, l int) {
	s, a, row := &p.s, &p.a, apart(p.s.k)
	for r := range s.m {
		copy(p.packedA[r*row:], a.Data[(i+r)*a.RowStride+l:][:s.k])
	}
	s.a, s.aRow = &p.packedA[0], uintptr(row)*size
}

// lookAhead lets strip n fetch what will be packed or read next and may be far away: the next block of B, and when
// that is done, the rows of A from i on.
func (p *pass) lookAhead(n, i, j, l int) {
	s, a, b := &p.s, &p.a, &p.b
	s.ahead, s.aheadPanel, s.aheadK = 0, 0, 0
	if !p.packB && p.packed == nil {
		return
	}
	j1, l1, wide := j, l+s.k, s.n
	if p.last || p.packA {
		j1, l1 = j+s.n, l
		wide = min(p.wide, p.j1-j1)
	}
	passes := n * (s.n / p.tile.cols) // the panels of the strips before
	switch {
	case p.packed == nil && b.ColStride == 1 && passes*line/4/size < wide:
		s.fetch(b.Data[l1*b.RowStride+j1:], b.RowStride, passes)
	case p.packed != nil && wide > 0 && passes*s.k/4*line < wide*s.k*size:
		s.aheadPanel, s.aheadK = uintptr(s.k/4*line), line
		s.ahead = address(p.packed[j1/p.tile.cols*p.tile.panelSize(a.Cols)+l1*p.tile.cols:]) + uintptr(passes)*s.aheadPanel
	case i == p.i1:
	case p.packA:
		s.ahead, s.aheadPanel, s.aheadK = address(p.packedA[(i-p.i0)*s.k:]), uintptr(s.k/4*line), line
	default:
		s.ahead, s.aheadPanel, s.aheadK = address(a.Data[i*a.RowStride+l:]), uintptr(a.RowStride)*size, 4*size
	}
}

// fetch lets a strip look ahead at rows of x, one line of each at a time: each panel of a strip at every fourth row,
// the panels before this strip's having been passes.
func (s *strip) fetch(x []float32, row, passes int) {
	s.aheadK, s.aheadPanel = uintptr(4*row)*size, uintptr(row)*size+line/4
	s.ahead = address(x) + uintptr(passes%4*row)*size + uintptr(passes)*line/4
}

// address is where x begins, for prefetching, which never faults.
func address(x []float32) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(x))) }

// division is rows divided into strips of most rows but for the last two, which share what is left evenly: the
// fewer rows a strip has the less it makes of what it reads.
type division struct{ parts, most, last, last2 int }

func divideRows(n, most int) division {
	d := division{parts: (n + most - 1) / most, most: most}
	d.last = n - (d.parts-1)*most
	d.last2 = most
	if d.parts > 1 && d.last < most/2 {
		d.last2 = (d.last + most + 1) / 2
		d.last = d.last + most - d.last2
	}
	return d
}

// part is the size of part i.
func (d *division) part(i int) int {
	switch i {
	case d.parts - 1:
		return d.last
	case d.parts - 2:
		return d.last2
	}
	return d.most
}

// apart is how many numbers from one another to put rows of k numbers: an odd number of lines.
func apart(k int) int {
	const numbers = line / size
	return ((k+numbers-1)/numbers | 1) * numbers
}

// after is the address of the n-th number behind p.
func after(p *float32, n int) *float32 { return (*float32)(unsafe.Add(unsafe.Pointer(p), n*size)) }

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}
