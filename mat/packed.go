package mat

import "slices"

// Packed is a packed copy of a matrix B [k × n] that is multiplied many times, such as weights.
// GemmPacked reads it sequentially, whereas Gemm packs B in each call or reads it with strides. It
// takes the memory of B with n rounded up to a multiple of 16 or 32. Its layout depends on the
// kernels in use and is not for storage. It may be used concurrently except during Set.
type Packed struct {
	rows, cols int
	panels     []float32 // for assembly
	plain      Matrix    // for portable code
}

// Pack returns a packed copy of b, which may be a transpose, made by the threads of p. It panics if
// b is not a valid matrix.
func Pack(p *Pool, b Matrix) *Packed {
	w := new(Packed)
	w.Set(p, b)
	return w
}

// PackInPlace is Pack in the memory of b, which is then needed only packed. b must be row-major.
// If the packed copy is larger than b, it has other memory. scratch is workspace, which calls for
// other matrices may reuse.
func PackInPlace(p *Pool, b Matrix, scratch *Packed) *Packed {
	b.check("B", writes)
	w := &Packed{rows: b.Rows, cols: b.Cols}
	if kernel == generic && b.RowStride == b.Cols {
		w.plain = b
		return w
	}
	scratch.Set(p, b)
	if n := len(scratch.panels); kernel != generic && b.RowStride == b.Cols && n <= b.Rows*b.Cols {
		w.panels = b.Data[:n:n]
		copy(w.panels, scratch.panels)
		return w
	}
	w.panels, w.plain = slices.Clone(scratch.panels), scratch.plain
	w.plain.Data = slices.Clone(w.plain.Data)
	return w
}

// Set packs b into w as Pack does, reusing the memory of w if that is large enough.
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

// Rows returns k, the number of rows of B.
func (w *Packed) Rows() int { return w.rows }

// Cols returns n, the number of columns of B.
func (w *Packed) Cols() int { return w.cols }

// GemmPacked is Gemm with a packed B. The results are the same bits.
func GemmPacked(p *Pool, c, a Matrix, b *Packed, o GemmOptions) {
	if b == nil {
		panic("mat: GemmPacked with a nil *Packed")
	}
	o.check(&c, &a, b.rows, b.cols)
	t := product{c: c, a: a, b: b.plain, packed: b.panels, o: o}
	t.run(p)
}

// resized returns x with length n, newly allocated if its capacity is smaller.
func resized[T any](x []T, n int) []T {
	if cap(x) < n {
		return make([]T, n)
	}
	return x[:n]
}
