package layer

import "tfm/mat"

// Mode says how a Backward stores the derivative of its input.
type Mode bool

const (
	Set Mode = false // dx = …
	Add Mode = true  // dx += …
)

func (m Mode) gemm() mat.GemmOptions { return mat.GemmOptions{Accumulate: m == Add} }

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

// In returns the same map, with the same weights, in another precision.
func (l Linear) In(r Precision) Linear {
	l.Precision = r
	return l
}

// bias returns what a product adds to each row, nil for nothing.
func (l Linear) bias() []float32 {
	if l.B == nil {
		return nil
	}
	return l.B.W
}

// Forward computes y [n × out] from x [n × in].
func (l Linear) Forward(pool *mat.Pool, y, x mat.Matrix) {
	l.Precision.gemm(pool, y, x, l.W.Weights(), mat.GemmOptions{Bias: l.bias()})
}

// Backward takes dy [n × out] and the x that Forward saw, adds to the gradients of W and b, and
// sets or adds to dx [n × in].
//
//	y_ij = Σ_k x_ik·W_kj + b_j   so   dx = dy·Wᵀ   dW = xᵀ·dy   db_j = Σ_i dy_ij
func (l Linear) Backward(pool *mat.Pool, dx, dy, x mat.Matrix, mode Mode) {
	l.W.AddInOrder(true, func(lo, hi int) {
		if l.B != nil && lo == 0 {
			AddRows(pool, l.B.G, dy)
		}
		l.Precision.gemm(pool, l.W.Grad().RowRange(lo, hi), x.T().RowRange(lo, hi), dy, Add.gemm())
	})
	l.Precision.gemm(pool, dx, dy, l.W.Weights().T(), mode.gemm())
}

// AddRows adds every row of m [n × d] to sum [d], each number one chain over the rows in order.
func AddRows(pool *mat.Pool, sum []float32, m mat.Matrix) {
	mat.Each(pool, m.Cols, columnGrain, columnSums{sum, m})
}

// columnGrain is the number of columns that a thread takes at a time in loops down all rows of a
// matrix: threads split outputs, so that the sum of a column is one chain over the rows, in order.
const columnGrain = 64

type columnSums struct {
	sum []float32
	m   mat.Matrix
}

func (t *columnSums) Range(lo, hi int) {
	mat.AddRows(t.sum[lo:hi], t.m.ColRange(lo, hi))
}
