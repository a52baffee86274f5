//go:build !purego && !noasm

package mat

import "unsafe"

// pairTasks is a product computed in pairs by VDPBF16PS. Its tasks are blocks of C, each over all
// of k. A task packs its own operands, because that takes less time than waiting for a thread that
// packs them for all.
type pairTasks struct {
	product
	tasks grid
}

func (t *product) multiplyPairsBF16(p *Pool) {
	tasks := planPairTasks(t.c.Rows, t.c.Cols, t.a.Cols, p.Threads(), &machineLimits)
	Each(p, tasks.count(), 1, pairTasks{*t, tasks})
}

// Range computes tasks [lo, hi).
func (t *pairTasks) Range(lo, hi int) {
	w := workspacesBF16.Get().(*workspaceBF16)
	defer workspacesBF16.Put(w)
	for task := lo; task < hi; task++ {
		x := pairLoop{product: &t.product, w: w}
		x.i0, x.i1, x.j0, x.j1 = t.tasks.bounds(task)
		x.run()
	}
}

// pairLoop computes rows [i0, i1) and columns [j0, j1) of C, block by block.
type pairLoop struct {
	*product
	pairPlan
	w              *workspaceBF16
	i0, i1, j0, j1 int
	s              bandStrip
}

// pairBlock identifies a block: C from row i and column j on, over k from l on.
type pairBlock struct{ i, l, j int }

func (p *pairLoop) run() {
	p.pairPlan = planPairs(p.i1-p.i0, p.j1-p.j0, p.a.Cols, &machineLimits)
	p.w.a, p.w.b = resized(p.w.a, p.rows*p.depth), resized(p.w.b, p.cols*p.depth)
	p.s.cRow = uintptr(p.c.RowStride) * size
	for b := (pairBlock{i: p.i0, j: p.j0}); b.i < p.i1; b = p.next(b) {
		p.multiply(b)
	}
	p.o.finish(p.c, p.i0, p.i1, p.j0, p.j1)
}

// next returns the block after b. After the last one its i is i1 or more.
func (p *pairLoop) next(b pairBlock) pairBlock {
	if b.j += p.cols; b.j < p.j1 {
		return b
	}
	b.j = p.j0
	if b.l += p.depth; b.l < p.a.Cols {
		return b
	}
	return pairBlock{i: b.i + p.rows, j: p.j0}
}

// operands views the rows of A and, as rows, the columns of B that block b multiplies. After the
// last block they have no rows and the address of C.
func (p *pairLoop) operands(b pairBlock) (rowsA, colsB Matrix) {
	if b.i >= p.i1 {
		return Matrix{Data: p.c.Data}, Matrix{Data: p.c.Data}
	}
	end := min(b.l+p.depth, p.a.Cols)
	return p.a.Slice(b.i, min(b.i+p.rows, p.i1), b.l, end), p.b.Slice(b.l, end, b.j, min(b.j+p.cols, p.j1)).T()
}

// multiply computes block b. It packs the columns of B and, in the first columns of C, the rows of
// A, each 32 of them before their strips.
func (p *pairLoop) multiply(b pairBlock) {
	const stripRows = bandBF16 / 2
	s, next, first := &p.s, p.next(b), b.j == p.j0
	rowsA, colsB := p.operands(b)
	nextRowsA, nextColsB := p.operands(next)
	depth := ceil(rowsA.Cols, stepBF16)
	band := bandBF16 * depth
	packBands(p.w.b, colsB, depth, true)

	s.b, s.n, s.k = &p.w.b[0], colsB.Rows, depth/stepBF16
	s.bBand = uintptr(2 * band)
	panels := ceilDiv(s.n, stripBF16)
	s.accumulate = flag(p.o.Accumulate || b.l > 0)
	s.bias, s.relu = nil, 0
	if b.l+rowsA.Cols == p.a.Cols { // end of the chains
		s.relu = flag(p.o.Activation == ReLU)
		if p.o.Bias != nil {
			s.bias = &p.o.Bias[b.j]
		}
	}
	for i := 0; i < rowsA.Rows; i += stripBF16 {
		end := min(i+stripBF16, rowsA.Rows)
		if first {
			packBands(p.w.a[i*depth:], rowsA.RowRange(i, end), depth, false)
		}
		// The next rows of A are packed already, or are the next 32, or those of the next block.
		packed := !first || end == rowsA.Rows && next.j != p.j0
		if s.aheadA = aheadOf(nextRowsA, 0, s.k); end < rowsA.Rows {
			s.aheadA = aheadOf(rowsA.RowRange(end, rowsA.Rows), 0, s.k)
		}
		if s.moreA = 0; !packed && panels <= 4 { // strips of few panels prefetch twice as much
			s.moreA = s.aheadA.panel * uintptr(stripBF16/stripRows*panels)
		}
		for i := i; i < end; i += stripRows {
			s.m, s.c = min(stripRows, end-i), &p.c.Data[(b.i+i)*p.c.RowStride+b.j]
			s.a = &p.w.a[i/bandBF16*band+i%bandBF16*stepBF16]
			if s.next = prefetchAddress(unsafe.Pointer(s.c)) + prefetchAddress(stripRows*s.cRow); i+stripRows >= rowsA.Rows && next.i < p.i1 {
				s.next = address(p.c.Data[next.i*p.c.RowStride+next.j:])
			}
			if packed { // two strips ahead
				s.aheadA = ahead{prefetchAddress(unsafe.Pointer(s.a)) + prefetchAddress(2*band), 2 * line, 2 * tileBF16}
			}
			if unit := i / stripRows * panels; unit%stripBF16 < panels {
				s.aheadB = aheadOf(nextColsB, unit, s.k)
			}
			stripVDPBF16PS(s)
		}
	}
}

// aheadOf returns what a strip prefetches of x, whose rows will be packed, 32 of them as 32 units:
// each panel prefetches one unit, from the given one on, and so do those of later strips.
func aheadOf(x Matrix, unit, tiles int) ahead {
	if unit >= ceil(x.Rows, stripBF16) {
		return ahead{at: address(x.Data)}
	}
	if x.ColStride == 1 || x.Cols == 1 { // a unit is a row
		row := uintptr(x.RowStride) * size
		return ahead{address(x.Data) + prefetchAddress(unit)*prefetchAddress(row), row, 2 * line}
	}
	// a unit is a 32nd of the columns
	col := uintptr(x.ColStride) * size
	return ahead{address(x.Data) + prefetchAddress(unit%stripBF16*tiles)*prefetchAddress(col) + prefetchAddress(unit/stripBF16*stripBF16)*size, uintptr(tiles) * col, col}
}
