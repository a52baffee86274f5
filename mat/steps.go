package mat

import "sync"

// This file executes the steps of plans.

// workspace is the memory of one thread: packed blocks of A and B, plans, and the arguments of
// kernels, which would be allocated for each call otherwise. In the pool it has no addresses of
// operands: each step clears those that it set.
type workspace struct {
	plan             plan
	edge             block // of a block at an edge of C
	packedA, packedB []float32
	strip            strip
	columns          columnsArgs
	row              rowArgs
}

var workspaces = sync.Pool{New: func() any { return new(workspace) }}

// shape returns the inputs of the product's plan.
func (t *product) shape(threads int) shape {
	return shape{m: t.c.Rows, n: t.c.Cols, k: t.a.Cols, kernel: kernel, strips: stripKernel(kernel, t.c.Cols), threads: threads,
		packed: t.packed != nil, epilogue: t.o.Bias != nil || t.o.Activation != Identity || t.o.Residual.Data != nil,
		bFloats: saturatingProduct(t.c.Cols, t.a.Cols, 1), aRow: t.a.RowStride, aCol: t.a.ColStride, bCol: t.b.ColStride}
}

// run computes the product according to its plan, with w on the calling goroutine.
func (t *product) run(p *Pool, w *workspace) {
	if n := t.plan.tasks.count(); n > 1 && (!t.plan.spinning || p.awake()) {
		Each(p, n, 1, *t)
	} else {
		t.block(w, 0, t.c.Rows, 0, t.c.Cols)
	}
}

// Range computes tasks [lo, hi).
func (t *product) Range(lo, hi int) {
	w := workspaces.Get().(*workspace)
	for i := lo; i < hi; i++ {
		i0, i1, j0, j1 := t.plan.tasks.bounds(i)
		t.block(w, i0, i1, j0, j1)
	}
	workspaces.Put(w)
}

// block computes rows [i0, i1) and columns [j0, j1) of C.
func (t *product) block(w *workspace, i0, i1, j0, j1 int) {
	b := &t.plan.block
	if b.m != i1-i0 || b.n != j1-j0 { // at an edge of C
		q := t.shape(1)
		q.m, q.n = i1-i0, j1-j0
		planBlock(&w.edge, &q, &machineLimits)
		b = &w.edge
	}
	for n := range b.count {
		s := &b.steps[n]
		x := rect{i0, i1, j0 + s.j0, j0 + s.j1}
		switch {
		case s.kernel == nil:
			t.blockGeneric(i0, i1, x.j0, x.j1)
		case s.small:
			t.multiplySmall(w, s, x)
		case s.kernel.columns != nil:
			t.multiplyColumns(w, s, x)
		case s.kernel.row != nil:
			t.multiplyRow(w, s, x)
		default:
			t.multiplyBlocks(w, s, x)
		}
	}
}

// rect is rows [i0, i1) and columns [j0, j1) of C.
type rect struct{ i0, i1, j0, j1 int }

// multiplySmall executes a step of a small product.
func (t *product) multiplySmall(w *workspace, p *step, x rect) {
	a, b, c, g := &t.a, &t.b, &t.c, stripKernel(kernel, t.c.Cols)
	k, panel := a.Cols, g.panelFloats(a.Cols)
	s := &w.strip
	s.cRow, s.aRow, s.aK = uintptr(c.RowStride)*size, uintptr(a.RowStride)*size, uintptr(a.ColStride)*size
	s.bK, s.bPanel, s.k = uintptr(g.cols)*size, uintptr(panel)*size, k
	s.accumulate, s.relu = flag(t.o.Accumulate), flag(t.o.Activation == ReLU)
	if p.packB {
		w.packedB = resized(w.packedB, packedCols*ceil(k, padB))
	} else if t.packed == nil {
		s.bK, s.bPanel = uintptr(b.RowStride)*size, uintptr(g.cols)*size
	}
	for j := x.j0; j < x.j1; j += p.cols {
		n := min(p.cols, x.j1-j)
		switch {
		case p.packB:
			g.packBlockB(w.packedB, s.bPanel, Matrix{b.Data[j*b.ColStride:], k, n, b.RowStride, b.ColStride})
			s.b = &w.packedB[0]
		case t.packed != nil:
			s.b = &t.packed[j/g.cols*panel]
		default:
			s.b = &b.Data[j*b.ColStride]
		}
		if s.bias = nil; t.o.Bias != nil {
			s.bias = &t.o.Bias[j]
		}
		s.n, s.m, s.a, s.c = n, x.i1-x.i0, &a.Data[x.i0*a.RowStride], &c.Data[x.i0*c.RowStride+j]
		if p.kernel.readsB == edgesOfB { // all rows in one call
			p.kernel.strip(s)
			continue
		}
		rows := divideRows(x.i1-x.i0, p.kernel.rows)
		for r, i := 0, x.i0; r < rows.strips; r++ {
			s.m = rows.rows(r)
			s.a, s.c, s.next = &a.Data[i*a.RowStride], &c.Data[i*c.RowStride+j], uintptr(s.m)*s.cRow
			p.kernel.strip(s)
			i += s.m
		}
	}
	s.c, s.a, s.b, s.bias = nil, nil, nil, nil
	t.o.finish(*c, x.i0, x.i1, x.j0, x.j1)
}

// multiplyColumns executes a step of few rows times contiguous columns of B.
func (t *product) multiplyColumns(w *workspace, p *step, x rect) {
	a, b, c, last := t.a, &t.b, &t.c, p.k1 == t.a.Cols
	rows := divideRows(x.i1-x.i0, p.kernel.rows)
	lanes := p.kernel.rows * p.k1 // floats of a packed panel of A
	switch {
	case p.packA:
		w.packedA = resized(w.packedA, rows.strips*lanes)
		for n, i := 0, x.i0; n < rows.strips; n++ {
			m := rows.rows(n)
			transposePanel(&w.packedA[n*lanes], uintptr(p.kernel.rows)*size, &a.Data[i*a.RowStride], uintptr(a.RowStride)*size, m, p.k1)
			i += m
		}
	case p.copyA:
		w.packedA = resized(w.packedA, (x.i1-x.i0)*paddedStride(p.k1))
		a = copyRows(w.packedA, a.Slice(x.i0, x.i1, 0, p.k1))
	default:
		a = a.RowRange(x.i0, x.i1)
	}
	s := &w.columns
	s.k, s.aRow, s.cRow, s.bCol = p.k1, uintptr(a.RowStride)*size, uintptr(c.RowStride)*size, uintptr(b.ColStride)*size
	s.accumulate, s.relu, s.fetch = flag(t.o.Accumulate), flag(t.o.Activation == ReLU && last), p.fetch
	for j := x.j0; j < x.j1; j += s.n {
		s.n, s.b = min(p.cols, x.j1-j), &b.Data[j*b.ColStride]
		if s.bias = nil; t.o.Bias != nil && last {
			s.bias = &t.o.Bias[j]
		}
		for n, i := 0, 0; n < rows.strips; n++ {
			s.m, s.c = rows.rows(n), &c.Data[(x.i0+i)*c.RowStride+j]
			if p.packA {
				s.a = &w.packedA[n*lanes]
			} else {
				s.a = &a.Data[i*a.RowStride]
			}
			p.kernel.columns(s)
			i += s.m
		}
	}
	s.c, s.a, s.b, s.bias = nil, nil, nil, nil
	if last {
		t.o.finish(*c, x.i0, x.i1, x.j0, x.j1)
	}
}

// multiplyRow executes a step of row i times long rows of B.
func (t *product) multiplyRow(w *workspace, p *step, x rect) {
	a, b, c, i := &t.a, &t.b, &t.c, x.i0
	if !t.o.Accumulate {
		clear(c.Row(i)[x.j0:x.j1])
	}
	r := &w.row
	r.bRow, r.fetch = uintptr(b.RowStride)*size, p.fetch
	for j := x.j0; j < x.j1; j += p.cols {
		r.n, r.c = min(p.cols, x.j1-j), &c.Data[i*c.RowStride+j]
		for k := 0; k < p.k1; k += r.k {
			r.k = min(p.depth, p.k1-k)
			r.a, r.b = &a.Data[i*a.RowStride+k], &b.Data[k*b.RowStride+j]
			p.kernel.row(r)
		}
	}
	r.c, r.a, r.b = nil, nil, nil
	if p.k1 == a.Cols {
		t.o.finishChain(*c, i, i+1, x.j0, x.j1)
	}
}

// multiplyBlocks executes a step in strips, one block of B at a time.
func (t *product) multiplyBlocks(w *workspace, s *step, x rect) {
	p := blockLoop{product: t, step: s, rect: x, panel: stripKernel(kernel, t.c.Cols)}
	p.jBlocks, p.kBlocks = ceilDiv(x.j1-x.j0, s.cols), ceilDiv(s.k1-s.k0, s.depth)
	switch {
	case p.packA:
		w.packedA = resized(w.packedA, min(p.rows, x.i1-x.i0)*p.depth+padA)
	case p.copyA:
		rows := min(p.rows, x.i1-x.i0)
		if p.jBlocks == 1 {
			rows = min(rows, p.kernel.rows)
		}
		w.packedA = resized(w.packedA, rows*paddedStride(p.depth))
	}
	cols := p.panel.cols
	if p.packB {
		cols = p.cols
	}
	w.packedB = resized(w.packedB, cols*ceil(p.depth, padB))
	w.strip.cRow = uintptr(t.c.RowStride) * size
	for i := x.i0; i < x.i1; i += p.rows {
		p.i0, p.i1 = i, min(i+p.rows, x.i1)
		p.rowStrips = divideRows(p.i1-p.i0, p.kernel.rows)
		if p.packB && p.kernel.canPackB {
			p.rowStrips.fillFirst()
		}
		for n := range p.jBlocks * p.kBlocks {
			p.next = p.blockB(n + 1)
			p.multiplyBlock(w, p.blockB(n))
		}
	}
	args := &w.strip
	args.c, args.a, args.b, args.bias = nil, nil, nil, nil
	args.walks[0].panels, args.walks[1].panels = 0, 0
}

// blockLoop computes a block of C, one block of B at a time.
type blockLoop struct {
	*product
	*step
	rect                         // the rows that are packed together, and all columns
	panel            *gemmKernel // whose panels B has
	jBlocks, kBlocks int         // blocks of B
	rowStrips        stripRows
	lastDepth        bool // the block of k is the last one
	next             blockB
	walked           int // lines of the next block of B, prefetched
}

// blockB is rows [k0, k1) and columns [j0, j1) of B.
type blockB struct{ k0, k1, j0, j1 int }

// blockB returns block n of B, which is empty after the last one. Those of the same columns follow
// one another, those of the same k if A is packed or copied, once for all columns.
func (p *blockLoop) blockB(n int) (b blockB) {
	if n == p.jBlocks*p.kBlocks {
		return b
	}
	j, k := n/p.kBlocks, n%p.kBlocks
	if p.packA || p.copyA {
		k, j = n/p.jBlocks, n%p.jBlocks
	}
	b.k0, b.j0 = p.k0+k*p.depth, p.rect.j0+j*p.cols
	b.k1, b.j1 = min(b.k0+p.depth, p.k1), min(b.j0+p.cols, p.rect.j1)
	return b
}

// multiplyBlock adds the products with block x of B to C.
func (p *blockLoop) multiplyBlock(w *workspace, x blockB) {
	s, b, k0 := &w.strip, &p.b, x.k0
	s.k = x.k1 - k0
	p.lastDepth = x.k1 == p.a.Cols
	p.walked = 0
	s.accumulate = flag(p.o.Accumulate || k0 > 0)
	s.relu = flag(p.o.Activation == ReLU && p.lastDepth)
	for j := x.j0; j < x.j1; j += s.n {
		s.n = x.j1 - j
		if p.packed != nil {
			panel := p.panel.panelFloats(p.a.Cols)
			s.b, s.bK, s.bPanel = &p.packed[j/p.panel.cols*panel+k0*p.panel.cols], uintptr(p.panel.cols)*size, uintptr(panel)*size
		} else if p.packsPanels(s.n) {
			s.b, s.bK, s.bPanel = &w.packedB[0], uintptr(p.panel.cols)*size, uintptr(p.panel.panelFloats(s.k))*size
		} else {
			s.n -= s.n % p.panel.cols
			s.b, s.bK, s.bPanel = &b.Data[k0*b.RowStride+j], uintptr(b.RowStride)*size, uintptr(p.panel.cols)*size
		}
		if s.bias = nil; p.o.Bias != nil && p.lastDepth {
			s.bias = &p.o.Bias[j]
		}
		p.multiplyStrips(w, j, k0)
	}
	if p.lastDepth {
		p.o.finish(p.c, p.i0, p.i1, x.j0, x.j1)
	}
}

// multiplyStrips computes the strips of columns [j, j+s.n).
func (p *blockLoop) multiplyStrips(w *workspace, j, k0 int) {
	s, c := &w.strip, &p.c
	for n, i := 0, p.i0; n < p.rowStrips.strips; n++ {
		s.m = p.rowStrips.rows(n)
		s.c = &c.Data[i*c.RowStride+j]
		if p.packA && j == p.rect.j0 {
			p.packStrip(w, i, k0)
		}
		if p.copyA && (j == p.rect.j0 || p.jBlocks == 1) {
			copyRows(p.copied(w, i), p.a.Slice(i, i+s.m, k0, k0+s.k))
		}
		p.setA(w, i, k0)
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
			p.lookAhead(w, n, i, j, k0)
		case p.fetch:
			p.lookBelow(w, j, k0)
		}
		if n == 0 && p.packed == nil && p.packsPanels(s.n) {
			p.runPacking(w, j, k0)
		} else {
			p.kernel.strip(s)
		}
	}
}

// setA makes the strip read the rows of A from row i on.
func (p *blockLoop) setA(w *workspace, i, k0 int) {
	s, a := &w.strip, &p.a
	switch {
	case p.packA:
		s.a, s.aRow, s.aK = &w.packedA[(i-p.i0)*s.k], size, uintptr(s.m)*size
	case p.copyA:
		s.a, s.aRow, s.aK = &p.copied(w, i)[0], uintptr(paddedStride(s.k))*size, size
	default:
		s.a, s.aRow, s.aK = &a.Data[i*a.RowStride+k0*a.ColStride], uintptr(a.RowStride)*size, uintptr(a.ColStride)*size
	}
}

// runPacking packs columns [j, j+s.n) of B over the block of k from k0 on, and computes the
// first strip, panel by panel.
func (p *blockLoop) runPacking(w *workspace, j, k0 int) {
	s, b, g := &w.strip, &p.b, p.kernel
	x := b.Slice(k0, k0+s.k, j, j+s.n)
	n, next, panel := s.n, s.next, g.panelFloats(s.k)
	for done := 0; done < n; done += g.cols {
		s.n, s.next = min(g.cols, n-done), next
		if done+s.n < n {
			s.next = uintptr(s.n) * size
		}
		s.c = &p.c.Data[p.i0*p.c.RowStride+j+done]
		if s.bias != nil {
			s.bias = &p.o.Bias[j+done]
		}
		to := w.packedB[done/g.cols*panel:]
		if p.packs(w, 0) && (s.n == g.cols || g.packsEdge) {
			s.pack, s.b, s.bK = &to[0], &x.Data[done], uintptr(b.RowStride)*size
		} else {
			g.packBlockB(to, s.bPanel, x.ColRange(done, done+s.n))
			s.b = &to[0]
		}
		g.strip(s)
		s.pack, s.bK = nil, uintptr(g.cols)*size
	}
	s.n, s.b = n, &w.packedB[0]
	if s.bias != nil {
		s.bias = &p.o.Bias[j]
	}
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}
