package mat

// Packed is a matrix B [k × n] arranged once for the kernels in force, for weights that are
// multiplied many times: GemmPacked reads it from memory in one pass, where Gemm would rearrange B
// in each call, or walk through it in strides. It holds a copy of the numbers, in n rounded up to a
// multiple of at most 32 columns. It may be used by several goroutines at once while none of them
// calls Set.
type Packed struct {
	rows, cols int
	panels     []float32 // as pack arranges them, for assembly
	plain      Matrix    // for portable code
}

// Pack returns a packed copy of b, which may be a transpose. The threads of p share the work. It
// panics if b is not a matrix.
func Pack(p *Pool, b Matrix) *Packed {
	w := new(Packed)
	w.Set(p, b)
	return w
}

// Set makes w a packed copy of b, as Pack does, in the storage that it has if that is large enough.
func (w *Packed) Set(p *Pool, b Matrix) {
	b.check("B", reads)
	w.rows, w.cols = b.Rows, b.Cols
	if kernel != generic {
		w.panels = pack(p, w.panels, b)
		return
	}
	w.plain = Of(resized(w.plain.Data, b.Rows*b.Cols), b.Rows, b.Cols)
	for i := range b.Rows {
		for j := range b.Cols {
			w.plain.Data[i*b.Cols+j] = b.At(i, j)
		}
	}
}

// Rows is k, the number of rows of B.
func (w *Packed) Rows() int { return w.rows }

// Cols is n, the number of columns of B.
func (w *Packed) Cols() int { return w.cols }

// GemmPacked is Gemm for a B that has been packed, with the same bits as result.
func GemmPacked(p *Pool, c, a Matrix, b *Packed, o GemmOptions) {
	o.check(c, a, b.rows, b.cols)
	t := product{c: c, a: a, b: b.plain, packed: b.panels, o: o}
	t.run(p)
}

// resized is x with n numbers, or n new ones if it has not so many.
func resized[T any](x []T, n int) []T {
	if cap(x) < n {
		return make([]T, n)
	}
	return x[:n]
}
