package layer

import "tfm/mat"

// How Backward leaves the derivative of a layer's input.
var (
	Set = mat.GemmOptions{}                 // dx = …
	Add = mat.GemmOptions{Accumulate: true} // dx += …
)

// Linear is y = x·W + b, row by row.
type Linear struct {
	W         *Param // [in, out]
	B         *Param // [out]; nil if there is no b
	Precision Precision
}

// NewLinear declares W as name.weight and b as name.bias.
func NewLinear(ps *Params, name string, in, out int) Linear {
	return Linear{W: ps.New(name+".weight", in, out), B: ps.New(name+".bias", out)}
}

// NewLinearNoBias declares W alone, as name.weight.
func NewLinearNoBias(ps *Params, name string, in, out int) Linear {
	return Linear{W: ps.New(name+".weight", in, out)}
}

// In is the same map, with the same weights, in another precision.
func (l Linear) In(r Precision) Linear {
	l.Precision = r
	return l
}

// bias is what a product adds to each row; nil is nothing.
func (l Linear) bias() []float32 {
	if l.B == nil {
		return nil
	}
	return l.B.W
}

// Forward computes y [n × out] from x [n × in].
func (l Linear) Forward(p *mat.Pool, y, x mat.Matrix) {
	l.Precision.gemm(p, y, x, l.W.Weights(), mat.GemmOptions{Bias: l.bias()})
}

// Backward takes dy [n × out] and the x that Forward saw, adds to the gradients of W and b, and sets or adds
// to dx [n × in].
//
//	y_ij = Σ_k x_ik·W_kj + b_j   so   dx = dy·Wᵀ   dW = xᵀ·dy   db_j = Σ_i dy_ij
func (l Linear) Backward(p *mat.Pool, dx, dy, x mat.Matrix, how mat.GemmOptions) {
	l.W.await(0) // which is the turn of b, too
	if l.B != nil {
		AddRows(p, l.B.G, dy)
	}
	l.W.addProduct(p, x, dy, l.Precision, true)
	l.Precision.gemm(p, dx, dy, l.W.Weights().T(), how)
}

// AddRows adds every row of m [n × d] to sum [d], each number one chain over the rows in order.
func AddRows(p *mat.Pool, sum []float32, m mat.Matrix) {
	mat.Each(p, m.Cols, columnGrain, columnSums{sum, m})
}

// columnGrain is how many columns a thread takes when it walks down all rows of a matrix: threads split
// outputs, so the sum of a column is one chain over the rows, in order.
const columnGrain = 64

type columnSums struct {
	sum []float32
	m   mat.Matrix
}

func (t *columnSums) Range(lo, hi int) {
	mat.AddRows(t.sum[lo:hi], t.m.ColRange(lo, hi))
}
