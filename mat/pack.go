package mat

// This file packs and copies the operands of products, and says which are packed or copied.

const (
	padA      = 16  // floats after a copied row of a panel, which may be overwritten
	packGrain = 256 // grain of packing, in columns of B
	copyCols  = 16  // most columns of copyPanel
)

// pack packs B into panels, each over all of k, padded as panelFloats says.
func pack(p *Pool, g *gemmKernel, panels []float32, b Matrix) {
	Each(p, ceilDiv(b.Cols, g.cols), packGrain/g.cols, packing{g, panels, b})
}

type packing struct {
	*gemmKernel
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

// packBlockB packs b, which is not empty, into panels that begin panel bytes apart.
func (g *gemmKernel) packBlockB(to []float32, panel uintptr, b Matrix) {
	for j, first := 0, 0; j < b.Cols; j, first = j+g.cols, first+int(panel)/size {
		n := min(b.Cols-j, g.cols)
		if b.ColStride != 1 && b.Cols > 1 {
			transposePanel(&to[first], uintptr(g.cols)*size, &b.Data[j*b.ColStride], uintptr(b.ColStride)*size, n, b.Rows)
			continue
		}
		for h := 0; h < n; h += copyCols {
			copyPanel(&to[first+h], uintptr(g.cols)*size, &b.Data[j+h], uintptr(b.RowStride)*size, min(n-h, copyCols), b.Rows)
		}
	}
}

// packsPanels reports whether the next n columns of B are packed: in a step that packs B, and at an
// edge that is narrower than a panel.
func (p *blockLoop) packsPanels(n int) bool { return p.step.packB || n < p.panel.cols }

// packs reports whether strip n packs B while it multiplies.
func (p *blockLoop) packs(w *workspace, n int) bool {
	return n == 0 && p.product.packed == nil && p.product.b.ColStride == 1 && p.step.kernel.canPackB && w.strip.m == p.step.kernel.rows
}

// packStrip packs a strip of A, whose columns are contiguous, from row i on: s.m rows of depth s.k,
// with row r of column l at l*s.m+r.
func (p *blockLoop) packStrip(w *workspace, i, k0 int) {
	s, a := &w.strip, &p.product.a
	copyPanel(&w.packedA[(i-p.i0)*s.k], uintptr(s.m)*size, &a.Data[i+k0*a.ColStride], uintptr(a.ColStride)*size, s.m, s.k)
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
func (p *blockLoop) copied(w *workspace, i int) []float32 {
	if p.jBlocks == 1 {
		return w.packedA
	}
	return w.packedA[(i-p.i0)*paddedStride(w.strip.k):]
}

// paddedStride returns the distance of rows of k floats: an odd number of cache lines.
func paddedStride(k int) int {
	const lineFloats = line / size
	return ((k+lineFloats-1)/lineFloats | 1) * lineFloats
}

// resized returns x with length n, newly allocated if its capacity is smaller.
func resized[T any](x []T, n int) []T {
	if cap(x) < n {
		return make([]T, n)
	}
	return x[:n]
}
