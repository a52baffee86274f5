package mat

import "sync"

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

	// All of A is quantized first, so that the threads that share its rows do not repeat it.
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

// productInt8 is a product with its quantized A and its tasks.
type productInt8 struct {
	quantization
	c     Matrix
	b     *Int8
	o     GemmOptions
	tasks grid
}

// workspaceInt8 holds a quantized A and the scratch memory of one thread.
type workspaceInt8 struct {
	q      []int8
	scales []float32
	rows   []float32 // of a transposed A
	sums   []int32   // of a tile
	edge   []float32 // of C, and of the bias
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
