//go:build (amd64 || arm64) && !purego && !noasm

package mat

// stripsOfBF16 is a product computed in pairs with the kernels of Gemm, which run with denormals
// flushed to 0. Packing rounds the values to bfloat16 and swaps the elements of each pair.
type stripsOfBF16 struct{ product }

func (t *product) multiplyStripsBF16(p *Pool) {
	s := stripsOfBF16{*t}
	q := t.shape(p.Threads())
	s.plan.tasks = planTasks(&q, &machineLimits)
	if n := s.plan.tasks.count(); n > 1 {
		Each(p, n, 1, s)
	} else {
		s.Range(0, 1)
	}
}

// Range computes tasks [lo, hi).
func (t *stripsOfBF16) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		t.block(t.plan.tasks.bounds(i))
	}
}

// block computes rows [i0, i1) and columns [j0, j1) of C. Panels of B have the columns of a tile,
// panels of A its rows.
func (t *stripsOfBF16) block(i0, i1, j0, j1 int) {
	k := t.a.Cols
	tile := tileFor(kernel, j1-j0)
	p := planFlushed(i1-i0, j1-j0, k, tile, &machineLimits)
	w := workspaces.Get().(*workspace)
	defer workspaces.Put(w)
	w.packedA = resized(w.packedA, ceil(p.rows, tile.rows)*p.depth)
	w.packedB = resized(w.packedB, p.cols*p.depth)

	s := strip{cRow: uintptr(t.c.RowStride) * size, aRow: size, aK: uintptr(tile.rows) * size, bK: uintptr(tile.cols) * size}
	for i := i0; i < i1; i += p.rows {
		last := min(i+p.rows, i1)
		for l := 0; l < k; l += p.depth {
			end := min(l+p.depth, k)
			s.k, s.accumulate = ceil(end-l, stepBF16), flag(t.o.Accumulate || l > 0)
			s.bPanel = uintptr(tile.cols*s.k) * size
			packRoundedBF16(w.packedA, t.a.Slice(i, last, l, end), tile.rows, s.k)
			for j := j0; j < j1; j += p.cols {
				s.n, s.b = min(p.cols, j1-j), &w.packedB[0]
				packRoundedBF16(w.packedB, t.b.T().Slice(j, j+s.n, l, end), tile.cols, s.k)
				for r := i; r < last; r += tile.rows {
					s.m, s.c, s.a = min(tile.rows, last-r), &t.c.Data[r*t.c.RowStride+j], &w.packedA[(r-i)*s.k]
					tile.runFlushed(&s)
				}
				if end == k && (t.o.Bias != nil || t.o.Activation == ReLU) {
					t.epilogue(i, last, j, s.n, tile)
				}
			}
		}
	}
	t.o.finish(t.c, i0, i1, j0, j1)
}

// epilogue adds the bias to n columns of C and applies the ReLU, without flushing denormals, by
// strips of depth 0.
func (t *stripsOfBF16) epilogue(i0, i1, j, n int, tile *tile) {
	s := strip{cRow: uintptr(t.c.RowStride) * size, n: n, accumulate: 1, relu: flag(t.o.Activation == ReLU)}
	if t.o.Bias != nil {
		s.bias = &t.o.Bias[j]
	}
	for i := i0; i < i1; i += tile.rows {
		s.m, s.c = min(tile.rows, i1-i), &t.c.Data[i*t.c.RowStride+j]
		tile.run(&s)
	}
}

// packRoundedBF16 rounds x [m × k] and packs it as panels of the given number of rows. The columns
// of x are the rows of a panel, padded with zeros to k; each two of them are swapped:
//
//	dst[i/rows*rows*k + (l^1)*rows + i%rows] = roundBF16(x[i, l])
func packRoundedBF16(dst []float32, x Matrix, rows, k int) {
	for i0 := 0; i0 < x.Rows; i0 += rows {
		panel := dst[i0*k:][:rows*k]
		m := min(rows, x.Rows-i0)
		if m < rows || x.Cols < k {
			clear(panel)
		}
		if x.ColStride == 1 || x.Cols == 1 {
			for i := range m {
				for l, v := range x.Data[(i0+i)*x.RowStride:][:x.Cols] {
					panel[(l^1)*rows+i] = roundBF16(v)
				}
			}
		} else {
			for l := range x.Cols {
				to := panel[(l^1)*rows:]
				for i, v := range x.Data[l*x.ColStride+i0:][:m] {
					to[i] = roundBF16(v)
				}
			}
		}
	}
}
