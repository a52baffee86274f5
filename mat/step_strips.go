package mat

// stripsStep is columns [j0, j1) of a block of C over k from k0 to k1, in strips of the kernel's
// rows, one block of B at a time.
type stripsStep struct {
	kernel         *gemmKernel
	j0, j1, k0, k1 int

	packB bool // copies or transposes B into panels, block by block; an edge of B is packed always
	packA bool // makes the rows of a strip contiguous
	copyA bool // copies rows of A into rows that share no sets of L1
	fetch bool // prefetches a B that is not packed, besides what the kernel does in any case

	// Blocks of B and of A.
	cols, depth int // of B
	rows        int // of A that are packed together; all rows if A is not packed
}

// packsB reports whether a block of m rows and n columns of C packs its part of B. The first full
// strip packs rows of B as it multiplies, so packing pays earlier.
func (q *shape) packsB(m, n int, lim *limits) bool {
	rows, l2 := lim.maxUnpackedRows, lim.l2Floats
	if q.strips.isa == avx2 {
		l2 /= 2 // more strips than with AVX-512 read B
	}
	if q.strips.canPackB {
		rows = min(rows, q.strips.rows-1)
	}
	return !q.packed && (q.bCol != 1 && n > 1 || m > rows && (m > 2*lim.maxUnpackedRows || n*q.k > l2))
}

// addStrips adds steps for columns [j0, j1) of the block, over k from k0 on, if there are any.
func (b *block) addStrips(q *shape, j0, j1, k0 int, lim *limits) {
	if j0 == j1 || k0 == q.k {
		return
	}
	part := *q
	part.n, part.k = j1-j0, q.k-k0
	s := part.stripsStep(lim)
	s.j0, s.j1, s.k0, s.k1 = j0, j1, k0, q.k
	few := kernelsOf[q.kernel].fewRows
	if few != nil && q.strips.isa != avx2 && q.m <= few.rows && part.n >= few.cols && !s.packB {
		first := s
		first.kernel, first.j1 = few, j0+part.n/few.cols*few.cols
		first.cols = ceil(s.cols, few.cols)
		b.add(first)
		if s.j0 = first.j1; s.j0 == j1 {
			return
		}
	}
	b.add(s)
}

// add adds a step.
func (b *block) add(s stripsStep) {
	b.strips[b.count] = s
	b.count++
}

// stripsStep returns the blocks of a step in strips for C [m × n] over depth k.
func (q *shape) stripsStep(lim *limits) (s stripsStep) {
	s.kernel = q.strips
	inL2 := q.kernel == avx512 && saturatingProduct(q.n, q.k, 1) <= 2*lim.l2Floats
	s.packA = q.aCol != 1 && q.aRow == 1 && q.n > lim.minPackedCols && !inL2
	s.rows = q.m
	if s.packA {
		s.rows = evenly(q.m, lim.maxPackedRows)
	}
	s.packB = q.packsB(s.rows, q.n, lim)

	cols, depth, maxBlock := q.n, s.kernel.depth, lim.l2Floats/2
	switch {
	case !q.packed && !s.packB:
		if q.k*q.n <= lim.l2Floats {
			break
		}
		if s.fetch = q.kernel == avx512 && s.rows > kernelsOf[q.kernel].fewRows.rows; s.fetch {
			cols = s.kernel.cols
		} else {
			cols, depth = max(1, min(lim.l2Floats/4/s.rows, lim.l1Floats)), lim.streamDepth
		}
	case (s.packB || fewStrips(s.rows, s.kernel.rows)) && s.rows*q.k <= maxBlock && !s.packA:
		cols = lim.narrowCols
	default:
		cols = max(1, maxBlock/evenly(q.k, depth))
	}
	s.cols, s.depth = ceil(evenly(q.n, cols), s.kernel.cols), evenly(q.k, depth)

	s.copyA = q.aCol == 1 && q.n >= lim.minPackedCols && q.aRow%lim.aliasFloats == 0
	if s.copyA && s.cols < q.n {
		s.rows = evenly(q.m, lim.maxPackedRows)
	}
	return s
}

// fewStrips reports whether rows of C are several strips, but so few that each must prefetch more
// of the next block of a packed B than a line for 4 of k.
func fewStrips(rows, stripRows int) bool { return rows > stripRows && rows < 8*stripRows }

// run computes its part of block x of C, one block of B at a time.
func (s *stripsStep) run(t *product, w *workspace, x rect) {
	x.j0, x.j1 = x.j0+s.j0, x.j0+s.j1
	p := blockLoop{product: t, step: s, j0: x.j0, j1: x.j1, panel: stripKernel(kernel, t.c.Cols)}
	p.jBlocks, p.kBlocks = ceilDiv(x.j1-x.j0, s.cols), ceilDiv(s.k1-s.k0, s.depth)
	switch {
	case s.packA:
		w.packedA = resized(w.packedA, min(s.rows, x.i1-x.i0)*s.depth+padA)
	case s.copyA:
		rows := min(s.rows, x.i1-x.i0)
		if p.jBlocks == 1 {
			rows = min(rows, s.kernel.rows)
		}
		w.packedA = resized(w.packedA, rows*paddedStride(s.depth))
	}
	cols := p.panel.cols
	if s.packB {
		cols = s.cols
	}
	w.packedB = resized(w.packedB, cols*ceil(s.depth, padB))
	w.strip.cRow = uintptr(t.c.RowStride) * size
	for i := x.i0; i < x.i1; i += s.rows {
		p.i0, p.i1 = i, min(i+s.rows, x.i1)
		p.rowStrips = divideRows(p.i1-p.i0, s.kernel.rows)
		if s.packB && s.kernel.canPackB {
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
	product          *product
	step             *stripsStep
	i0, i1           int         // the rows that are packed together
	j0, j1           int         // all columns of the step
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
	if p.step.packA || p.step.copyA {
		k, j = n/p.jBlocks, n%p.jBlocks
	}
	b.k0, b.j0 = p.step.k0+k*p.step.depth, p.j0+j*p.step.cols
	b.k1, b.j1 = min(b.k0+p.step.depth, p.step.k1), min(b.j0+p.step.cols, p.j1)
	return b
}

// multiplyBlock adds the products with block x of B to C.
func (p *blockLoop) multiplyBlock(w *workspace, x blockB) {
	s, b, k0 := &w.strip, &p.product.b, x.k0
	s.k = x.k1 - k0
	p.lastDepth = x.k1 == p.product.a.Cols
	p.walked = 0
	s.accumulate = flag(p.product.o.Accumulate || k0 > 0)
	s.relu = flag(p.product.o.Activation == ReLU && p.lastDepth)
	for j := x.j0; j < x.j1; j += s.n {
		s.n = x.j1 - j
		if p.product.packed != nil {
			panel := p.panel.panelFloats(p.product.a.Cols)
			s.b, s.bK, s.bPanel = &p.product.packed[j/p.panel.cols*panel+k0*p.panel.cols], uintptr(p.panel.cols)*size, uintptr(panel)*size
		} else if p.packsPanels(s.n) {
			s.b, s.bK, s.bPanel = &w.packedB[0], uintptr(p.panel.cols)*size, uintptr(p.panel.panelFloats(s.k))*size
		} else {
			s.n -= s.n % p.panel.cols
			s.b, s.bK, s.bPanel = &b.Data[k0*b.RowStride+j], uintptr(b.RowStride)*size, uintptr(p.panel.cols)*size
		}
		if s.bias = nil; p.product.o.Bias != nil && p.lastDepth {
			s.bias = &p.product.o.Bias[j]
		}
		p.multiplyStrips(w, j, k0)
	}
	if p.lastDepth {
		p.product.o.finish(p.product.c, p.i0, p.i1, x.j0, x.j1)
	}
}

// multiplyStrips computes the strips of columns [j, j+s.n).
func (p *blockLoop) multiplyStrips(w *workspace, j, k0 int) {
	s, c := &w.strip, &p.product.c
	for n, i := 0, p.i0; n < p.rowStrips.strips; n++ {
		s.m = p.rowStrips.rows(n)
		s.c = &c.Data[i*c.RowStride+j]
		if p.step.packA && j == p.j0 {
			p.packStrip(w, i, k0)
		}
		if p.step.copyA && (j == p.j0 || p.jBlocks == 1) {
			copyRows(p.copied(w, i), p.product.a.Slice(i, i+s.m, k0, k0+s.k))
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
		case p.step.packB || p.product.packed != nil:
			p.lookAhead(w, n, i, j, k0)
		case p.step.fetch:
			p.lookBelow(w, j, k0)
		}
		if n == 0 && p.product.packed == nil && p.packsPanels(s.n) {
			p.runPacking(w, j, k0)
		} else {
			p.step.kernel.strip(s)
		}
	}
}

// setA makes the strip read the rows of A from row i on.
func (p *blockLoop) setA(w *workspace, i, k0 int) {
	s, a := &w.strip, &p.product.a
	switch {
	case p.step.packA:
		s.a, s.aRow, s.aK = &w.packedA[(i-p.i0)*s.k], size, uintptr(s.m)*size
	case p.step.copyA:
		s.a, s.aRow, s.aK = &p.copied(w, i)[0], uintptr(paddedStride(s.k))*size, size
	default:
		s.a, s.aRow, s.aK = &a.Data[i*a.RowStride+k0*a.ColStride], uintptr(a.RowStride)*size, uintptr(a.ColStride)*size
	}
}

// runPacking packs columns [j, j+s.n) of B over the block of k from k0 on, and computes the
// first strip, panel by panel.
func (p *blockLoop) runPacking(w *workspace, j, k0 int) {
	s, b, g := &w.strip, &p.product.b, p.step.kernel
	x := b.Slice(k0, k0+s.k, j, j+s.n)
	n, next, panel := s.n, s.next, g.panelFloats(s.k)
	for done := 0; done < n; done += g.cols {
		s.n, s.next = min(g.cols, n-done), next
		if done+s.n < n {
			s.next = uintptr(s.n) * size
		}
		s.c = &p.product.c.Data[p.i0*p.product.c.RowStride+j+done]
		if s.bias != nil {
			s.bias = &p.product.o.Bias[j+done]
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
		s.bias = &p.product.o.Bias[j]
	}
}
