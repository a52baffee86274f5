package mat

// Gemm computes the matrix product C = A·B, or C += A·B with o.Accumulate, for C [m × n], A [m
// × k] and B [k × n], on the threads of p or, if p is nil, on the calling goroutine. A and B are
// row-major or transposes of row-major matrices, C is row-major. It panics if the shapes do not
// match. C must not overlap A, B, the bias or the residual. It may be called concurrently for
// different C. It allocates only scratch memory that later calls reuse.
//
// Every element of C is one chain of fused multiply-adds over k in ascending order, for any shape,
// strides, number of threads and kernel in assembly, so a row has the same bits alone and among
// others. Portable Go, the kernel "generic", has the same order but rounds a product before it adds
// it, unless the compiler fuses the two. The error is at most (k+2)·2^-24·(Σ|a||b| + |c| + |bias| +
// |residual|) to first order, before an activation, and (k+3)·2^-24 times that sum in portable Go.
// If k is 0, the product is 0 and only the epilogue applies.
func Gemm(p *Pool, c, a, b Matrix, o GemmOptions) {
	o.checkOperands(&c, &a, &b)
	t := product{c: c, a: a, b: b, o: o}
	t.multiply(p)
}

// product is a matrix product and its plan.
type product struct {
	c, a, b Matrix
	packed  []float32 // panels of B; nil if B is not packed yet
	o       GemmOptions
	plan    *plan
}

// multiply plans and computes the product.
func (t *product) multiply(p *Pool) {
	if t.c.Rows == 0 || t.c.Cols == 0 {
		return
	}
	w := workspaces.Get().(*workspace)
	q := t.shape(p.Threads())
	t.plan = &w.plan
	planProduct(t.plan, &q, &machineLimits)
	t.run(p, w)
	workspaces.Put(w)
}
