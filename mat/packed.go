package mat

import "fmt"

// Packed is a packed copy of a matrix B [k × n] that is multiplied many times, such as weights.
// GemmPacked reads it sequentially, whereas Gemm packs B in each call or reads it with strides. It
// takes the memory of B with n rounded up to a multiple of 16 or 32. It may be used concurrently
// except during Set and SetCols.
type Packed struct {
	rows, cols int
	data       []float32 // in the order of LayoutOf(rows, cols)
}

// packedCols divides the columns of the panels of all kernels.
const packedCols = 32

// NewPacked returns a packed matrix [k × n] of zeros, for SetCols. It panics if a size is negative
// or the matrix has more elements than New allows.
func NewPacked(k, n int) *Packed {
	l := LayoutOf(k, n)
	return &Packed{k, n, New(l.Panels*l.Depth, l.Cols).Data}
}

// Pack returns a packed copy of b, which may be a transpose, made by the threads of p. It panics if
// b is not a valid matrix.
func Pack(p *Pool, b Matrix) *Packed {
	w := new(Packed)
	w.Set(p, b)
	return w
}

// Set packs b into w as Pack does, reusing the memory of w if that is large enough.
func (w *Packed) Set(p *Pool, b Matrix) {
	b.check("B", reads)
	l := LayoutOf(b.Rows, b.Cols)
	if n := l.Panels * l.Depth * l.Cols; n <= cap(w.data) {
		*w = Packed{b.Rows, b.Cols, w.data[:n]}
	} else {
		*w = *NewPacked(b.Rows, b.Cols)
	}
	w.SetCols(p, 0, b)
}

// SetCols packs b into columns [j, j+b.Cols) of w, for a matrix that is packed in parts. b may be a
// transpose. It panics if j is not a multiple of 32, or if b.Cols is not and j+b.Cols is not n.
func (w *Packed) SetCols(p *Pool, j int, b Matrix) {
	b.check("B", reads)
	checkCols("Packed", w.rows, w.cols, j, b)
	if b.Rows == 0 || b.Cols == 0 {
		return
	}
	if kernel == generic {
		to := w.plain().ColRange(j, j+b.Cols)
		for l := range b.Rows {
			for c, row := 0, to.Row(l); c < len(row); c++ {
				row[c] = b.At(l, c)
			}
		}
		return
	}
	pack(p, stripKernel(kernel, w.cols), w.data[j*ceil(w.rows, padB):], b)
}

// checkCols panics unless b may be columns of weights [k × n] from j on.
func checkCols(name string, k, n, j int, b Matrix) {
	if b.Rows != k || j < 0 || j > n || b.Cols > n-j || j%packedCols != 0 || b.Cols%packedCols != 0 && b.Cols != n-j {
		panic(fmt.Sprintf("mat: SetCols of %d × %d at column %d of %s %d × %d, expected %d rows, and whole multiples of %d columns or the last ones",
			b.Rows, b.Cols, j, name, k, n, k, packedCols))
	}
}

// Rows returns k, the number of rows of B.
func (w *Packed) Rows() int { return w.rows }

// Cols returns n, the number of columns of B.
func (w *Packed) Cols() int { return w.cols }

// Col copies column j of B to dst [k].
func (w *Packed) Col(dst []float32, j int) {
	if len(dst) != w.rows || uint(j) >= uint(w.cols) {
		panicCol("Packed", len(dst), j, w.rows, w.cols)
	}
	l := LayoutOf(w.rows, w.cols)
	first := j/l.Cols*l.Depth*l.Cols + j%l.Cols
	for i := range dst {
		dst[i] = w.data[first+i*l.Cols]
	}
}

func panicCol(name string, length, j, k, n int) {
	panic(fmt.Sprintf("mat: column %d of %s %d × %d to %d elements", j, name, k, n, length))
}

// Layout is the order of the elements of a Packed: Panels panels of Cols columns over Depth rows.
// Element (l, j) of B [k × n] has the index (j/Cols·Depth + l)·Cols + j%Cols. Depth is at least
// k, and Panels n/Cols, rounded up. Elements outside B are not used.
type Layout struct{ Panels, Depth, Cols int }

// LayoutOf returns the Layout of a Packed of k × n with the kernels in use: panels of 16 or 32
// columns, in portable Go one panel. It depends on nothing else.
func LayoutOf(k, n int) Layout {
	if k < 0 || n < 0 {
		panic(fmt.Sprintf("mat: LayoutOf a %d × %d matrix: a size is negative", k, n))
	}
	if kernel == generic {
		return Layout{1, k, n}
	}
	t := stripKernel(kernel, n)
	return Layout{ceilDiv(n, t.cols), ceil(k, padB), t.cols}
}

// Data returns the elements in the order of LayoutOf(w.Rows(), w.Cols()), for storage. They must
// not be changed.
func (w *Packed) Data() []float32 { return w.data }

// plain returns w as a matrix, which it is in portable Go.
func (w *Packed) plain() Matrix { return Of(w.data, w.rows, w.cols) }

// PackedOf returns the packed matrix [k × n] with the elements data in the order of l, as Data
// returned them on this machine or another. It keeps data if l is LayoutOf(k, n), and otherwise
// copies it. It panics if l or the length of data do not fit k × n.
func PackedOf(p *Pool, data []float32, k, n int, l Layout) *Packed {
	if l.Cols < 0 || l.Depth < k || k < 0 || n < 0 || l.Panels < 0 || !fits(l.Panels, l.Cols, n+l.Cols) || l.Panels*l.Cols < n ||
		!fits(l.Panels*l.Cols, l.Depth, len(data)) || l.Panels*l.Cols*l.Depth != len(data) {
		panic(fmt.Sprintf("mat: %d elements in %d panels of %d × %d for a packed matrix %d × %d", len(data), l.Panels, l.Depth, l.Cols, k, n))
	}
	if l == LayoutOf(k, n) {
		return &Packed{k, n, data}
	}
	w := NewPacked(k, n)
	part := New(k, min(n, 2*packedCols))
	for j := 0; j < n; j += part.Cols {
		b := part.ColRange(0, min(part.Cols, n-j))
		for c := 0; c < b.Cols; {
			at := j + c
			width := min(l.Cols-at%l.Cols, b.Cols-c)
			for i := range k {
				copy(b.Row(i)[c:c+width], data[(at/l.Cols*l.Depth+i)*l.Cols+at%l.Cols:])
			}
			c += width
		}
		w.SetCols(p, j, b)
	}
	return w
}

// GemmPacked is Gemm with a packed B. The results are the same bits.
func GemmPacked(p *Pool, c, a Matrix, b *Packed, o GemmOptions) {
	if b == nil {
		panic("mat: GemmPacked with a nil *Packed")
	}
	o.check(&c, &a, b.rows, b.cols)
	t := product{c: c, a: a, o: o}
	if kernel == generic {
		t.b = b.plain()
	} else {
		t.packed = b.data
	}
	t.multiply(p)
}
