package mat

import "fmt"

// GemmOptions says what a matrix product does besides multiplying. The zero value is C = A·B.
type GemmOptions struct {
	Accumulate bool       // C += A·B: the chain of every element starts from what C holds
	Bias       []float32  // if not nil, Bias[j] is added to column j after the chain
	Activation Activation // of each element, after the bias
	Residual   Matrix     // if its Data is not nil: row-major, of C's shape, added last
}

// check panics unless C, A and a B of so many rows and columns fit one another and the product.
func (o *GemmOptions) check(c, a Matrix, bRows, bCols int) {
	c.check("C", writes)
	a.check("A", reads)
	if c.Rows != a.Rows || c.Cols != bCols || a.Cols != bRows {
		panic(fmt.Sprintf("mat: a product of C %d × %d, A %d × %d, B %d × %d",
			c.Rows, c.Cols, a.Rows, a.Cols, bRows, bCols))
	}
	if o.Bias != nil && len(o.Bias) != c.Cols {
		panic(fmt.Sprintf("mat: a bias of %d numbers for C %d × %d", len(o.Bias), c.Rows, c.Cols))
	}
	if o.Activation >= activations {
		o.Activation.unknown()
	}
	if r := o.Residual; r.Data != nil {
		r.check("the residual", readsRows)
		if r.Rows != c.Rows || r.Cols != c.Cols {
			panic(fmt.Sprintf("mat: a residual %d × %d for C %d × %d", r.Rows, r.Cols, c.Rows, c.Cols))
		}
	}
}

// finish does for rows [i0, i1) and columns [j0, j1) of C what the kernels, which add the bias and
// apply a ReLU, leave to be done.
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
