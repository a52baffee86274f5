package mat

// columnsStep is few rows of A times the first columns of a B whose columns are contiguous, over
// the first part of k. Reading B where it is costs less than packing it for few rows.
type columnsStep struct {
	kernel  *gemmKernel // nil without such a step
	cols, k int         // that it computes
	call    int         // columns of a call
	packA   bool        // into panels of the kernel's rows
	copyA   bool        // into rows that share no sets of L1
	fetch   bool        // prefetches B from memory
}

// columnsUnit is a multiple of the columns of each kernel of this family.
const columnsUnit = 48

// columnsStep returns the step for a block of C, without a kernel if there is none.
func (q *shape) columnsStep(lim *limits) (s columnsStep) {
	g := kernelsOf[q.kernel].columns
	if g == nil || q.packed || q.aCol != 1 || q.m > lim.maxUnpackedRows || q.n < g.cols || q.k < g.multiple {
		return s
	}
	if g.lanesA && q.bCol%lim.aliasFloats == 0 { // its 12 columns do not fit a set of L1
		return s
	}
	s = columnsStep{kernel: g, cols: q.n / g.cols * g.cols, k: q.k / g.multiple * g.multiple, packA: g.lanesA, fetch: q.bFloats > lim.l3Floats}
	s.copyA = !g.lanesA && q.m > 1 && s.cols >= lim.minPackedCols && q.aRow%lim.aliasFloats == 0
	s.call = max(1, lim.maxCallFloats/s.k/columnsUnit) * columnsUnit
	return s
}

// run computes its part of block x of C.
func (p *columnsStep) run(t *product, w *workspace, x rect) {
	x.j1 = x.j0 + p.cols
	a, b, c, last := t.a, &t.b, &t.c, p.k == t.a.Cols
	rows := divideRows(x.i1-x.i0, p.kernel.rows)
	lanes := p.kernel.rows * p.k // floats of a packed panel of A
	switch {
	case p.packA:
		w.packedA = resized(w.packedA, rows.strips*lanes)
		for n, i := 0, x.i0; n < rows.strips; n++ {
			m := rows.rows(n)
			transposePanel(&w.packedA[n*lanes], uintptr(p.kernel.rows)*size, &a.Data[i*a.RowStride], uintptr(a.RowStride)*size, m, p.k)
			i += m
		}
	case p.copyA:
		w.packedA = resized(w.packedA, (x.i1-x.i0)*paddedStride(p.k))
		a = copyRows(w.packedA, a.Slice(x.i0, x.i1, 0, p.k))
	default:
		a = a.RowRange(x.i0, x.i1)
	}
	s := &w.columns
	s.k, s.aRow, s.cRow, s.bCol = p.k, uintptr(a.RowStride)*size, uintptr(c.RowStride)*size, uintptr(b.ColStride)*size
	s.accumulate, s.relu, s.fetch = flag(t.o.Accumulate), flag(t.o.Activation == ReLU && last), p.fetch
	for j := x.j0; j < x.j1; j += s.n {
		s.n, s.b = min(p.call, x.j1-j), &b.Data[j*b.ColStride]
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
