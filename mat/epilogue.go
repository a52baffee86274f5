package mat

import "fmt"

// GemmOptions are the options of a matrix product. The zero value computes C = A·B. The epilogue
// is bias, then activation, then residual: C = Activation(A·B + Bias) + Residual. With Accumulate
// C is added before the bias. There is no factor of A·B and the residual is not subtracted: use
// Sgemm or Axpy.
type GemmOptions struct {
	Accumulate bool      // C += A·B: the chain of each element starts from C
	Bias       []float32 // if not nil, Bias[j] is added to column j; length n

	// Activation is applied to each element; the zero value is Identity. The backward pass of
	// ReLU needs only its output, C before the residual. That of GELU, GELUTanh and SiLU needs
	// their input: leave Activation out, keep C = A·B + Bias, and call Activation.Apply.
	Activation Activation

	// Residual, if its Data is not nil, is added last. It has C's shape and contiguous rows. It
	// must not be C: to add to C, use Accumulate, and with an activation another matrix.
	Residual Matrix
}

// check panics unless C, A and a B of bRows × bCols match one another and the options.
func (o *GemmOptions) check(c, a *Matrix, bRows, bCols int) {
	if s := o.fault(c, a, bRows, bCols); s != "" {
		panic("mat: " + s)
	}
}

// checkOperands is check for a B that is a matrix.
func (o *GemmOptions) checkOperands(c, a, b *Matrix) {
	b.check("B", reads)
	o.check(c, a, b.Rows, b.Cols)
	if c.overlaps(b) {
		panic("mat: C and B share memory; the result must not overlap an operand")
	}
}

// fault returns "" if C and A are valid and match B, or describes why they do not.
func (o *GemmOptions) fault(c, a *Matrix, bRows, bCols int) string {
	r := &o.Residual
	switch {
	case !c.valid(writes):
		return c.fault("C", writes)
	case !a.valid(reads):
		return a.fault("A", reads)
	case c.Rows != a.Rows || c.Cols != bCols || a.Cols != bRows:
		return faultOfShapes(c, a, bRows, bCols)
	case o.Bias != nil && len(o.Bias) != c.Cols:
		return fmt.Sprintf("bias of %d elements for C %d × %d, expected %d", len(o.Bias), c.Rows, c.Cols, c.Cols)
	case o.Activation >= activations:
		return o.Activation.fault()
	case c.overlaps(a):
		return "C and A share memory; the result must not overlap an operand"
	case o.Bias != nil && c.overlaps(&Matrix{o.Bias, 1, len(o.Bias), len(o.Bias), 1}):
		return "C and the bias share memory; the result must not overlap an operand"
	case r.Data == nil:
		return ""
	case !r.valid(readsRows):
		return r.fault("residual", readsRows)
	case r.Rows != c.Rows || r.Cols != c.Cols:
		return fmt.Sprintf("residual %d × %d for C %d × %d", r.Rows, r.Cols, c.Rows, c.Cols)
	case c.overlaps(r):
		return "C and the residual share memory; to add to C use Accumulate, with an activation another matrix"
	}
	return ""
}

// faultOfShapes describes the mismatch of a product, and which operand must be transposed if that
// is all.
func faultOfShapes(c, a *Matrix, bRows, bCols int) string {
	s := fmt.Sprintf("shapes of a product do not match: C %d × %d, A %d × %d, B %d × %d; expected [m × n], [m × k], [k × n]",
		c.Rows, c.Cols, a.Rows, a.Cols, bRows, bCols)
	switch {
	case c.Rows == a.Rows && c.Cols == bRows && a.Cols == bCols:
		s += ": B must be transposed"
	case c.Rows == a.Cols && c.Cols == bCols && a.Rows == bRows:
		s += ": A must be transposed"
	case c.Rows == a.Cols && c.Cols == bRows && a.Rows == bCols:
		s += ": A and B must be transposed"
	}
	return s
}

// finishChain applies the whole epilogue to rows [i0, i1) and columns [j0, j1) of C.
func (o *GemmOptions) finishChain(c Matrix, i0, i1, j0, j1 int) {
	for i := i0; i < i1 && (o.Bias != nil || o.Activation == ReLU); i++ {
		row := c.Data[i*c.RowStride+j0:][:j1-j0]
		if o.Bias != nil {
			Add(row, o.Bias[j0:j1])
		}
		if o.Activation == ReLU {
			ReLU.Apply(row, row)
		}
	}
	o.finish(c, i0, i1, j0, j1)
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
