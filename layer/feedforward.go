package layer

import "tfm/mat"

// FeedForward is the position-wise network FFN(x) = max(0, x·W1 + b1)·W2 + b2 (section 3.3, equation 2).
type FeedForward struct {
	Inner, Outer Linear // d → ff and ff → d
}

// NewFeedForward declares the two maps as name.inner and name.outer.
func NewFeedForward(ps *Params, name string, d, ff int) FeedForward {
	return FeedForward{NewLinear(ps, name+".inner", d, ff), NewLinear(ps, name+".outer", ff, d)}
}

// Forward computes y [n × d] from x [n × d], and leaves in hidden [n × ff] what Backward needs.
func (f FeedForward) Forward(p *mat.Pool, y, hidden, x mat.Matrix) {
	mat.Gemm(p, hidden, x, f.Inner.W.Weights(), mat.Product{Bias: f.Inner.B.W, Activation: mat.ReLU})
	f.Outer.Forward(p, y, hidden)
}

// Backward takes dy [n × d], the x and hidden of Forward and room for dhidden [n × ff]; it sets or adds to
// dx [n × d].
//
//	hidden = max(0, z)   so   dz = dhidden where hidden > 0, else 0
func (f FeedForward) Backward(p *mat.Pool, dx, dhidden, dy, hidden, x mat.Matrix, how mat.Product) {
	f.Outer.Backward(p, dhidden, dy, hidden, Set)
	mat.Each(p, hidden.Rows, rowGrain, reluGrad{dhidden, hidden})
	f.Inner.Backward(p, dx, dhidden, x, how)
}

// rowGrain is how many rows of a matrix a thread takes at a time.
const rowGrain = 16

type reluGrad struct{ dx, y mat.Matrix }

func (t *reluGrad) Rows(lo, hi int) {
	for i := lo; i < hi; i++ {
		mat.ReLU.Grad(t.dx.Row(i), t.y.Row(i))
	}
}
