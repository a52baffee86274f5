package layer

import "tfm/mat"

// Mode says how a Backward stores the gradient of its input.
type Mode bool

const (
	Set Mode = false // dx = …
	Add Mode = true  // dx += …
)

func (m Mode) gemm() mat.GemmOptions { return mat.GemmOptions{Accumulate: m == Add} }

// Linear is y = x·W + b, row by row.
type Linear struct {
	W         *Param // [in, out]
	B         *Param // b [out]; nil for y = x·W
	Precision Precision
}

// NewLinear declares W as name.weight and b as name.bias.
func NewLinear(ps *Params, name string, in, out int) Linear {
	l := NewLinearNoBias(ps, name, in, out)
	l.B = ps.New(name+".bias", out)
	return l
}

// NewLinearNoBias declares W as name.weight, without b.
func NewLinearNoBias(ps *Params, name string, in, out int) Linear {
	w := ps.New(name+".weight", in, out)
	w.Maps = []int{out}
	return Linear{W: w}
}

// In returns l with products in precision r. It shares the weights.
func (l Linear) In(r Precision) Linear {
	l.Precision = r
	return l
}

// Forward sets y [n × out] = x·W + b for x [n × in].
func (l Linear) Forward(pool *mat.Pool, y, x mat.Matrix) {
	l.Precision.gemm(pool, y, x, l.W.Weights(), mat.GemmOptions{Bias: l.B.vector()})
}

// Backward adds to the gradients of W and b, and sets or adds to dx [n × in], for dy [n × out]
// and the x of Forward.
//
//	y_ij = Σ_k x_ik·W_kj + b_j   so   db_j = Σ_i dy_ij   dW = xᵀ·dy   dx = dy·Wᵀ
func (l Linear) Backward(pool *mat.Pool, dx, dy, x mat.Matrix, mode Mode) {
	l.W.AddInOrder(func(lo, hi int) {
		if l.B != nil && lo == 0 {
			AddRows(pool, l.B.G, dy) // db_j = Σ_i dy_ij
		}
		dW, xT := l.W.Grad().RowRange(lo, hi), x.T().RowRange(lo, hi)
		l.Precision.gemm(pool, dW, xT, dy, Add.gemm()) // dW = xᵀ·dy
	})
	l.Precision.gemm(pool, dx, dy, l.W.Weights().T(), mode.gemm()) // dx = dy·Wᵀ
}
