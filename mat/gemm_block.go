//go:build (amd64 || arm64) && !purego && !noasm

package mat

import "sync"

// Blocking, after Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", 2008: a strip
// of a few rows of C is computed in registers, from a panel of B that stays in the first-level cache while
// strip after strip passes by. Chains are cut along k only by storing and loading C, so that no choice
// made here shows in the result.

// tile is the shape of a kernel, and the sizes of blocks that suit it.
type tile struct {
	rows, cols int // of C in registers
	depth      int // k of a block
	high       int // rows of A in a block
	wide       int // columns of B in a block
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
// Its strides count bytes. Whole panels of B are read; of C, A and bias only what is named here.
type strip struct {
	c, a, b, bias    *float32
	cRow, aRow, aK   uintptr
	next             uintptr
	bK, bPanel       uintptr
	m, n, k          int
	accumulate, relu int
}

const (
	size = 4 // bytes of a float32

	fewRows  = 24      // so many rows of C or less read B where it is, if its rows are contiguous
	fewCols  = 64      // so many columns of C or less read A where it is, whatever its strides
	shallow  = 32      // k of a block where B is read in place: so many rows are read side by side
	resident = 4 << 10 // numbers of B that stay in the first-level cache
	padB     = 8       // a transposed panel is written in so many rows at once
	padA     = 16      // a copied row of a panel may be written with so many numbers too many
)

// workspace is packed blocks of A and B.
type workspace struct{ a, b []float32 }

var workspaces = sync.Pool{New: func() any { return new(workspace) }}

// grown is x with at least n numbers.
func grown(x []float32, n int) []float32 {
	if len(x) < n {
		return make([]float32, n)
	}
	return x
}

// block computes rows [i0, i1) and columns [j0, j1) of C.
func (t *product) block(i0, i1, j0, j1 int) {
	a, b, c := &t.a, &t.b, &t.c
	if kernel == generic || a.Cols == 0 {
		t.blockGeneric(i0, i1, j0, j1)
		return
	}
	tile := &tiles[kernel]
	contiguous := b.ColStride == 1 || b.Cols == 1
	packA := a.ColStride != 1 && a.RowStride == 1 && j1-j0 > fewCols
	packB := !contiguous || i1-i0 > fewRows
	depth, high, wide := tile.depth, tile.high, tile.wide
	if !packB {
		depth, wide = shallow, j1-j0
	}
	depth, high, wide = min(depth, a.Cols), min(high, i1-i0), min(wide, j1-j0)

	var w *workspace
	if packA || packB || (j1-j0)%tile.cols != 0 {
		w = workspaces.Get().(*workspace)
		defer workspaces.Put(w)
		if packA {
			w.a = grown(w.a, high*depth+padA)
		}
		cols := tile.cols
		if packB {
			cols = ceil(wide, tile.cols)
		}
		w.b = grown(w.b, cols*ceil(depth, padB))
	}

	s := strip{cRow: uintptr(c.RowStride) * size}
	for jb := j0; jb < j1; jb += wide {
		jend := min(jb+wide, j1)
		for kb := 0; kb < a.Cols; kb += depth {
			s.k = min(depth, a.Cols-kb)
			last := kb+s.k == a.Cols
			s.accumulate = flag(t.o.Accumulate || kb > 0)
			s.relu = flag(t.o.ReLU && last)
			panel := tile.cols * ceil(s.k, padB) // numbers of a packed panel
			for ib := i0; ib < i1; ib += high {
				rows := min(high, i1-ib)
				if packA {
					t.packA(w.a, ib, rows, kb, s.k, tile)
				}
				step := max(tile.cols, resident/s.k/tile.cols*tile.cols)
				for j := jb; j < jend; j += s.n {
					s.n = min(step, jend-j)
					if whole := (jend - j) / tile.cols * tile.cols; packB || whole == 0 {
						packed := w.b
						if packB {
							packed = packed[(j-jb)/tile.cols*panel:]
						}
						if ib == i0 {
							t.packB(packed, panel, j, s.n, kb, s.k, tile)
						}
						s.b, s.bK, s.bPanel = &packed[0], uintptr(tile.cols)*size, uintptr(panel)*size
					} else {
						s.n = min(s.n, whole)
						s.b, s.bK, s.bPanel = &b.Data[kb*b.RowStride+j], uintptr(b.RowStride)*size, uintptr(tile.cols)*size
					}
					if t.o.Bias != nil && last {
						s.bias = &t.o.Bias[j]
					}
					// The rows are divided evenly, for the fewer a strip has the less it makes of its reads.
					strips := (rows + tile.rows - 1) / tile.rows
					for i, n := 0, 0; n < strips; n++ {
						s.m = (rows - i) / (strips - n)
						s.c = &c.Data[(ib+i)*c.RowStride+j]
						if packA {
							s.a, s.aRow, s.aK = &w.a[i*s.k], size, uintptr(s.m)*size
						} else {
							s.a = &a.Data[(ib+i)*a.RowStride+kb*a.ColStride]
							s.aRow, s.aK = uintptr(a.RowStride)*size, uintptr(a.ColStride)*size
						}
						i += s.m
						if s.next = uintptr(s.m) * s.cRow; i == rows {
							s.next = uintptr(s.n)*size - uintptr(i-s.m)*s.cRow
						}
						s.run()
					}
				}
			}
		}
	}
}

// packA copies rows [i, i+rows) of A, whose columns are contiguous, in the strips that block makes of them,
// each as depth times its column of a strip.
func (t *product) packA(to []float32, i, rows, k, depth int, tile *tile) {
	strips := (rows + tile.rows - 1) / tile.rows
	for done, n := 0, 0; n < strips; n++ {
		m := (rows - done) / (strips - n)
		copyPanel(&to[done*depth], uintptr(m)*size, &t.a.Data[i+done+k*t.a.ColStride], uintptr(t.a.ColStride)*size, m, depth)
		done += m
	}
}

// packB copies columns [j, j+n) of B into panels of so many numbers.
func (t *product) packB(to []float32, panel, j, n, k, depth int, tile *tile) {
	b, row := &t.b, uintptr(tile.cols)*size
	for ; n > 0; n -= tile.cols {
		w := min(n, tile.cols)
		if b.ColStride == 1 || b.Cols == 1 {
			copyPanel(&to[0], row, &b.Data[k*b.RowStride+j], uintptr(b.RowStride)*size, w, depth)
		} else {
			transposePanel(&to[0], row, &b.Data[k+j*b.ColStride], uintptr(b.ColStride)*size, w, depth)
		}
		j += w
		if n > tile.cols {
			to = to[panel:]
		}
	}
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}
