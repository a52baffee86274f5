package mat

import (
	"fmt"
	"sync"
)

// GemmInt8 computes C = A·B, or C += A·B with o.Accumulate, for C [m × n], A [m × k] and the
// int8 weights B [k × n], on the threads of p or, if p is nil, on the calling goroutine. C is
// row-major, A row-major or a transpose. It panics if the shapes do not match. C must not overlap
// A, the bias or the residual. It may be called concurrently for different C. It allocates only
// scratch memory that later calls reuse.
//
// Each row of A is rounded to signed bytes with its own scale, as each column of B is: the
// vector-wise quantization of Dettmers et al., "LLM.int8()", 2022. With top = max |a[l]| of the
// row, and each operation rounded to float32 separately,
//
//	s = max(top/127, 2^-126)
//	q[l] = a[l]·(1/s), to the nearest integer, ties to even
//	x[j] = float32(Σ q[l]·weights[j, l]) · scales[j] · s
//
// from left to right, where the sum is exact. x[j] is stored in or added to C; the epilogue follows
// as in Gemm. The results of a row are therefore the same bits for any number of threads, any other
// rows, and every kernel: in portable Go too, except after GELU, GELUTanh and SiLU. A row with a
// NaN or an infinity has NaN for each x[j], a row of zeros has 0.
//
// x[j] differs from the product of the values before quantization by at most
//
//	h·(scales[j]·Σ|a| + s·Σ|b|) + h²·k·s·scales[j] + 2^-22·|x[j]| + 2^-149, h = ½ + 2^-15
func GemmInt8(p *Pool, c, a Matrix, b *Int8, o GemmOptions) {
	if b == nil {
		panic("mat: GemmInt8 with a nil *Int8")
	}
	o.check(&c, &a, b.rows, b.cols)
	if c.Rows == 0 || c.Cols == 0 {
		return
	}
	w := workspacesInt8.Get().(*workspaceInt8)
	defer workspacesInt8.Put(w)
	w.a.Set(p, a)
	w.a.gemm(p, c, b, o)
}

// GemmInt8Rows is GemmInt8 for an A that is rounded already. The results are the same bits.
func GemmInt8Rows(p *Pool, c Matrix, a *Int8Rows, b *Int8, o GemmOptions) {
	if b == nil {
		panic("mat: GemmInt8Rows with a nil *Int8")
	}
	shape := Matrix{a.scales, a.rows, a.cols, 1, 0} // its elements are not read
	o.check(&c, &shape, b.rows, b.cols)
	if c.Rows > 0 && c.Cols > 0 {
		a.gemm(p, c, b, o)
	}
}

// Int8Rows holds a matrix A [m × k] as GemmInt8 rounds it, for several products with the same A.
// The zero Int8Rows is an empty matrix. It may be used concurrently except during Set.
type Int8Rows struct {
	rows, cols int
	form       formInt8
	q          []int8 // row i from i*stride on
	stride     int
	scales     []float32 // of the rows
}

// Set rounds a, row-major or a transpose, to w on the threads of p. It reuses the memory of w if
// that is large enough. It panics if a is not a valid matrix.
func (w *Int8Rows) Set(p *Pool, a Matrix) {
	a.check("A", reads)
	// All of A is quantized first, so that the threads that share its rows do not repeat it.
	w.rows, w.cols, w.form = a.Rows, a.Cols, int8Kernel().form
	w.stride = strideInt8(groupsInt8(a.Cols) * groupInt8 * w.form.width())
	w.q, w.scales = resized(w.q, a.Rows*w.stride), resized(w.scales, a.Rows)
	t := quantization{m: a, form: w.form, q: w.q, stride: w.stride, scales: w.scales}
	if grain := max(1, machineLimits.minTaskWork/8/(a.Cols+1)); grain < a.Rows {
		Each(p, a.Rows, grain, t)
	} else {
		t.Range(0, a.Rows)
	}
}

// Row sets dst [k] to row i of A as it is rounded: q[l]·s, rounded once.
func (w *Int8Rows) Row(dst []float32, i int) {
	if len(dst) != w.cols || uint(i) >= uint(w.rows) {
		panic(fmt.Sprintf("mat: row %d of Int8Rows %d × %d to %d elements", i, w.rows, w.cols, len(dst)))
	}
	q, s := w.q[i*w.stride:], w.scales[i]
	for l := range dst {
		switch w.form {
		case shifted:
			dst[l] = float32(int(uint8(q[l]))-128) * s
		default: // the lower bytes of wide are those of signed
			dst[l] = float32(q[l*w.form.width()]) * s
		}
	}
}

// gemm computes C = A·B with options o.
func (w *Int8Rows) gemm(p *Pool, c Matrix, b *Int8, o GemmOptions) {
	t := productInt8{Int8Rows: w, c: c, b: b, o: o, tasks: planInt8(c.Rows, c.Cols, w.cols, int8Kernel().rows, p.Threads(), &machineLimits)}
	if n := t.tasks.count(); n > 1 {
		Each(p, n, 1, t)
	} else {
		t.block(0, c.Rows, 0, c.Cols)
	}
}

// productInt8 is a product and its tasks.
type productInt8 struct {
	*Int8Rows
	c     Matrix
	b     *Int8
	o     GemmOptions
	tasks grid
}

// workspaceInt8 holds a quantized A and the scratch memory of one thread.
type workspaceInt8 struct {
	a     Int8Rows
	rows  []float32 // of a transposed A, or columns of weights
	bytes []int8    // columns of weights
	sums  []int32   // of a tile
	edge  []float32 // of C, and of the bias
}

var workspacesInt8 = sync.Pool{New: func() any { return new(workspaceInt8) }}

// strideInt8 returns the distance of rows of the given bytes: an odd number of cache lines, so that
// the rows of a strip map to different sets of the cache.
func strideInt8(bytes int) int { return ceil(bytes, 64) | 64 }

// Range computes tasks [lo, hi).
func (t *productInt8) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		t.block(t.tasks.bounds(i))
	}
}
