package mat

import "sync"

// GemmInt8 computes C = A·B, or C += A·B, for C [m × n], A [m × k] and the int8 weights B [k × n].
// C is row-major, A that or a transpose; GemmOptions says what is done besides. It panics if the
// shapes do not fit. C must not overlap A, the bias or the residual. It may be called concurrently
// for different C, and allocates nothing once it has run on problems as large.
//
// Each row of A is rounded to signed bytes with a scale of its own, as each column of B has been:
// the vector-wise quantization of Dettmers et al., "LLM.int8()", 2022. With top the largest |a[l]|
// of the row, and each operation rounded to float32 on its own,
//
//	s = max(top/127, 2^-126)
//	q[l] = a[l]·(1/s), to the nearest integer, the even one of two
//	x[j] = float32(Σ q[l]·weights[j, l]) · scales[j] · s
//
// from left to right, where the sum is exact. x[j] is stored or added to C; bias, activation and
// residual follow as in Gemm. So the results of a row are the same bits with every kernel, portable
// Go included, for any number of threads and any rows beside it. A row that holds a NaN or an
// infinity has NaN for each x[j], a row of zeros has 0.
//
// Of the product with the numbers that QuantizeInt8 was given, x[j] is no further than
//
//	h·(scales[j]·Σ|a| + s·Σ|b|) + h²·k·s·scales[j] + 2^-22·|x[j]| + 2^-149, h = ½ + 2^-15
func GemmInt8(p *Pool, c, a Matrix, b *Int8, o GemmOptions) {
	o.check(c, a, b.rows, b.cols)
	if c.Rows == 0 || c.Cols == 0 {
		return
	}
	w := workspacesInt8.Get().(*workspaceInt8)
	defer workspacesInt8.Put(w)

	// All of A is quantized before anything is multiplied, so that threads that share its rows need
	// not do it again.
	q := quantization{m: a, form: formOfKernel()}
	q.stride = strideInt8(b.groups * groupInt8 * q.form.width())
	w.q, w.scales = resized(w.q, c.Rows*q.stride), resized(w.scales, c.Rows)
	q.q, q.scales = w.q, w.scales
	if grain := max(1, machineLimits.minTaskQuantize/(a.Cols+1)); grain < c.Rows {
		Each(p, c.Rows, grain, q)
	} else {
		q.Range(0, c.Rows)
	}

	t := productInt8{quantization: q, c: c, b: b, o: o,
		tasks: planInt8(c.Rows, c.Cols, a.Cols, rowsInt8(), p.Threads(), &machineLimits)}
	if n := t.tasks.count(); n > 1 {
		Each(p, n, 1, t)
	} else {
		t.block(0, c.Rows, 0, c.Cols)
	}
}

// productInt8 is a product of a quantized matrix and its division into tasks.
type productInt8 struct {
	quantization
	c     Matrix
	b     *Int8
	o     GemmOptions
	tasks grid
}

// workspaceInt8 is A quantized and, for one thread, what it needs besides.
type workspaceInt8 struct {
	q      []int8
	scales []float32
	rows   []float32 // of a transposed A
	sums   []int32   // of a tile
	edge   []float32 // of C, and the bias
}

var workspacesInt8 = sync.Pool{New: func() any { return new(workspaceInt8) }}

// strideInt8 is the distance of rows of so many bytes: an odd number of cache lines, so that the
// rows of a strip lie in different sets of the cache.
func strideInt8(bytes int) int { return ceil(bytes, 64) | 64 }

// Range computes the tasks [lo, hi).
func (t *productInt8) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		t.block(t.tasks.bounds(i))
	}
}
