package mat

// rowStep is one row of A times the first columns of a B whose rows are long and contiguous, over
// the first part of k.
type rowStep struct {
	kernel      *gemmKernel // nil without such a step
	cols, k     int         // that it computes
	call, depth int         // columns and k of a call
	fetch       bool        // prefetches B from memory
}

// rowStep returns the step for a block of C, without a kernel if there is none.
func (q *shape) rowStep(lim *limits) (s rowStep) {
	g := kernelsOf[q.kernel].row
	if g == nil || q.packed || q.aCol != 1 || q.m > 1 || q.n < g.cols || q.k < g.multiple {
		return s
	}
	s = rowStep{kernel: g, cols: q.n / g.cols * g.cols, k: q.k / g.multiple * g.multiple, fetch: q.bFloats > lim.l3Floats}
	s.call = ceil(evenly(s.cols, lim.l1Floats), g.cols)
	s.depth = ceil(1+lim.maxCallFloats/s.call, g.multiple)
	return s
}

// run computes its part of block x of C, a row.
func (p *rowStep) run(t *product, w *workspace, x rect) {
	x.j1 = x.j0 + p.cols
	a, b, c, i := &t.a, &t.b, &t.c, x.i0
	if !t.o.Accumulate {
		clear(c.Row(i)[x.j0:x.j1])
	}
	r := &w.row
	r.bRow, r.fetch = uintptr(b.RowStride)*size, p.fetch
	for j := x.j0; j < x.j1; j += p.call {
		r.n, r.c = min(p.call, x.j1-j), &c.Data[i*c.RowStride+j]
		for k := 0; k < p.k; k += r.k {
			r.k = min(p.depth, p.k-k)
			r.a, r.b = &a.Data[i*a.RowStride+k], &b.Data[k*b.RowStride+j]
			p.kernel.row(r)
		}
	}
	r.c, r.a, r.b = nil, nil, nil
	if p.k == a.Cols {
		t.o.finishChain(*c, i, i+1, x.j0, x.j1)
	}
}
