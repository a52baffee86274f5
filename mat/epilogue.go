package mat

import "fmt"

// GemmOptions are the options of a matrix product. The zero value computes C = A·B. The epilogue is
// bias, then activation, then residual: C = Activation(A·B + Bias) + Residual. With Accumulate C is
// added before the bias.
type GemmOptions struct {
	Accumulate bool       // C += A·B: the chain of each element starts from C
	Bias       []float32  // if not nil, Bias[j] is added to column j; length n
	Activation Activation // of each element; the zero value is Identity
	Residual   Matrix     // if Data is not nil, added last; C's shape, contiguous rows
}

// check panics unless C, A and a B of bRows × bCols match one another and the options.
func (o *GemmOptions) check(c, a Matrix, bRows, bCols int) {
	c.check("C", writes)
	a.check("A", reads)
	if c.Rows != a.Rows || c.Cols != bCols || a.Cols != bRows {
		panic(fmt.Sprintf("mat: shapes of a product do not match: C %d × %d, A %d × %d, B %d × %d",
			c.Rows, c.Cols, a.Rows, a.Cols, bRows, bCols))
	}
	if o.Bias != nil && len(o.Bias) != c.Cols {
		panic(fmt.Sprintf("mat: bias of %d elements for C %d × %d", len(o.Bias), c.Rows, c.Cols))
	}
	if o.Activation >= activations {
		o.Activation.unknown()
	}
	if r := o.Residual; r.Data != nil {
		r.check("residual", readsRows)
		if r.Rows != c.Rows || r.Cols != c.Cols {
			panic(fmt.Sprintf("mat: residual %d × %d for C %d × %d", r.Rows, r.Cols, c.Rows, c.Cols))
		}
	}
}

// finish applies to rows [i0, i1) and columns [j0, j1) of C the part of the epilogue that kernels
// do not: activations other than ReLU, and the residual.
func (o *GemmOptions) finish(c Matrix, i0, i1, j0, j1 int) {
	r := &o.Residual
	if r.Data == nil && o.Activation <= ReLU {
		return
	}
	for i := i0; i < i1; i++ {
		row := c.Data[i*c.RowStride+j0:][:j1-j0]
		if o.Activation > ReLU {
			o.Activation.Apply(row, row)
		}
		if r.Data != nil {
			Add(row, r.Data[i*r.RowStride+j0:][:j1-j0])
		}
	}
}
