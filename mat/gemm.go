package mat

import "fmt"

// Product says what Gemm does besides multiplying. The zero value is C = A·B.
type Product struct {
	Accumulate bool      // C += A·B: the chain of every element starts from what C holds
	Bias       []float32 // if not nil, Bias[j] is added to each element of column j, after the chain
	ReLU       bool      // negative results become 0, after the bias
}

// Gemm computes the matrix product C = A·B, or C += A·B, for C [m × n], A [m × k] and B [k × n], each
// row-major or a transpose of a row-major matrix (for C, ColStride must be 1). It panics if the shapes do
// not fit, and C must not overlap A or B.
//
// Every element of C is one chain of fused multiply-adds over k in ascending order, whatever the shape, the
// strides, the kernel and the number of threads: the same rows give the same bits alone and among others.
func Gemm(p *Pool, c, a, b Matrix, o Product) {
	c.check("C")
	a.check("A")
	b.check("B")
	if c.Rows != a.Rows || c.Cols != b.Cols || a.Cols != b.Rows || c.ColStride != 1 && c.Cols > 1 ||
		o.Bias != nil && len(o.Bias) != c.Cols {
		panic(fmt.Sprintf("mat: Gemm of C %d × %d (column stride %d), A %d × %d, B %d × %d, bias of %d",
			c.Rows, c.Cols, c.ColStride, a.Rows, a.Cols, b.Rows, b.Cols, len(o.Bias)))
	}
	gemmGeneric(c, a, b, o)
}
