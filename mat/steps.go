package mat

import "sync"

// This file executes plans: tasks and the steps of their blocks.

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
	x := rect{i0, i1, j0, j1}
	switch {
	case b.portable:
		t.blockGeneric(i0, i1, j0, j1)
	case b.small.kernel != nil:
		b.small.run(t, w, x)
	case b.columns.kernel != nil:
		b.columns.run(t, w, x)
	case b.row.kernel != nil:
		b.row.run(t, w, x)
	}
	for n := range b.count {
		b.strips[n].run(t, w, x)
	}
}

// rect is rows [i0, i1) and columns [j0, j1) of C.
type rect struct{ i0, i1, j0, j1 int }

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}
