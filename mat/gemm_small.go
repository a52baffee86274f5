//go:build (amd64 || arm64) && !purego && !noasm

package mat

// small computes the product without a plan of blocks if that is faster, and reports whether it
// did. panels are those of a packed B; otherwise they are nil.
func (o *GemmOptions) small(p *Pool, c, a, b *Matrix, panels []float32) bool {
	m, n, k := c.Rows, c.Cols, a.Cols
	bCols := panels == nil && b.ColStride != 1 && n > 1
	switch {
	case kernel == generic || !machineLimits.small(m, n, k, bCols):
		return false
	case !o.inPlace() && (k > tiles[kernel].depth || bCols && kernel == avx512):
		return false
	}
	tasks := planSmall(m, n, k, bCols, p.Threads(), &machineLimits)
	if n := tasks.count(); n > 1 && p.awake() {
		Each(p, n, 1, smallTasks{*c, *a, *b, panels, *o, tasks})
	} else {
		o.smallBlock(c, a, b, panels)
	}
	return true
}

// smallTasks is a small product that several threads share.
type smallTasks struct {
	c, a, b Matrix
	panels  []float32
	o       GemmOptions
	tasks   grid
}

// Range computes tasks [lo, hi).
func (t *smallTasks) Range(lo, hi int) {
	for task := lo; task < hi; task++ {
		i0, i1, j0, j1 := t.tasks.bounds(task)
		c, a, b, o := t.c.Slice(i0, i1, j0, j1), t.a.RowRange(i0, i1), t.b, t.o
		if t.panels == nil {
			b = b.ColRange(j0, j1)
		}
		if o.Bias != nil {
			o.Bias = o.Bias[j0:j1]
		}
		if o.Residual.Data != nil {
			o.Residual = o.Residual.Slice(i0, i1, j0, j1)
		}
		o.smallBlock(&c, &a, &b, t.panels)
	}
}

// smallBlock computes the product on the calling goroutine.
func (o *GemmOptions) smallBlock(c, a, b *Matrix, panels []float32) {
	if o.inPlace() {
		o.smallInPlace(c, a, b, panels)
	} else {
		o.smallStrips(c, a, b, panels)
	}
}

// inPlace reports whether smallInPlace computes small products: there is no epilogue.
func (o *GemmOptions) inPlace() bool {
	return kernel == avx512 && o.Bias == nil && o.Activation == Identity && o.Residual.Data == nil
}

// smallStrips computes the product in strips. It packs a few columns of B at a time unless B
// consists of whole panels.
func (o *GemmOptions) smallStrips(c, a, b *Matrix, panels []float32) {
	m, n, k := c.Rows, c.Cols, a.Cols
	t := tileFor(kernel, n)
	rows := divideRows(m, t.rows)
	s := strip{cRow: uintptr(c.RowStride) * size, aRow: uintptr(a.RowStride) * size, aK: uintptr(a.ColStride) * size,
		bK: uintptr(t.cols) * size, bPanel: uintptr(t.panelFloats(k)) * size, n: n, k: k,
		accumulate: flag(o.Accumulate), relu: flag(o.Activation == ReLU)}
	var w *workspace
	switch {
	case panels != nil:
		s.b = &panels[0]
	case b.ColStride == 1 && n%t.cols == 0:
		s.b, s.bK, s.bPanel = &b.Data[0], uintptr(b.RowStride)*size, s.bK
	default:
		w = workspaces.Get().(*workspace)
		w.packedB = resized(w.packedB, packedCols*ceil(k, padB))
		s.b, s.n = &w.packedB[0], packedCols
	}
	for j := 0; j < n; j += s.n {
		s.n = min(s.n, n-j)
		if w != nil {
			t.packBlockB(w.packedB, s.bPanel, b.Slice(0, k, j, j+s.n))
		}
		if o.Bias != nil {
			s.bias = &o.Bias[j]
		}
		for r, i := 0, 0; r < rows.strips; r++ {
			s.m = rows.rows(r)
			s.a, s.c, s.next = &a.Data[i*a.RowStride], &c.Data[i*c.RowStride+j], uintptr(s.m)*s.cRow
			t.run(&s)
			i += s.m
		}
	}
	if w != nil {
		workspaces.Put(w)
	}
	o.finish(*c, 0, m, 0, n)
}
