package mat

// smallStep is a small product, without blocks of B: by the kernel for them, or in strips.
type smallStep struct {
	kernel *gemmKernel // nil without such a step
	cols   int         // of B for a call
	packB  bool        // copies or transposes these columns into panels
}

// isSmall reports whether the product is computed without blocks of B.
func (q *shape) isSmall(lim *limits) bool {
	transposed, maxB := q.transposesB(), lim.l2Floats/2
	if transposed {
		maxB = lim.l1Floats
	}
	if q.kernel == generic || q.k == 0 || q.m == 1 || saturatingProduct(q.m, q.n, q.k) > lim.maxSmallWork || q.n*q.k > maxB {
		return false
	}
	small := kernelsOf[q.kernel].small
	return small != nil && !q.epilogue || q.k <= kernelsOf[q.kernel].strips.depth && !(small != nil && transposed)
}

// smallStep returns the step of a small product.
func (q *shape) smallStep() smallStep {
	s := smallStep{kernel: kernelsOf[q.kernel].small, cols: q.n, packB: q.transposesB()}
	if s.kernel == nil || q.epilogue {
		s.kernel = q.strips
		s.packB = !q.packed && (q.bCol != 1 || q.n%q.strips.cols != 0)
	}
	if s.packB {
		s.cols = packedCols
	}
	return s
}

// run computes block x of C.
func (p *smallStep) run(t *product, w *workspace, x rect) {
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
