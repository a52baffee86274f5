package layer

import "tfm/mat"

// FeedForward is the position-wise network FFN(x) = f(x·W1 + b1)·W2 + b2 (section 3.3, equation 2), where f is
// ReLU in the paper.
type FeedForward struct {
	Inner, Outer Linear // d → ff and ff → d
	Activation   mat.Activation
}

// NewFeedForward declares the paper's two maps as name.inner and name.outer.
func NewFeedForward(ps *Params, name string, d, ff int) FeedForward {
	return FeedForward{NewLinear(ps, name+".inner", d, ff), NewLinear(ps, name+".outer", ff, d), mat.ReLU}
}

// In is the same network, with the same weights, in another precision.
func (f FeedForward) In(r Precision) FeedForward {
	f.Inner, f.Outer = f.Inner.In(r), f.Outer.In(r)
	return f
}

// FeedForwardState is what Forward leaves for Backward.
type FeedForwardState struct {
	Z      mat.Matrix // [n × ff] x·W1 + b1, if Backward needs it
	Hidden mat.Matrix // [n × ff] Dropout(f(Z))
}

// NewState takes the memory for n tokens, for Forward alone or for Backward too. What a ReLU was given is not
// needed: its result is above 0 where that was.
func (f FeedForward) NewState(a *Arena, n int, backward bool) FeedForwardState {
	ff := f.Inner.W.Shape[1]
	st := FeedForwardState{Hidden: a.Matrix(n, ff)}
	if backward && f.Activation != mat.ReLU {
		st.Z = a.Matrix(n, ff)
	}
	return st
}

// Forward computes y [n × d] from x [n × d] and leaves in st what Backward needs. drop is of the inner numbers.
func (f FeedForward) Forward(p *mat.Pool, y mat.Matrix, st FeedForwardState, x mat.Matrix, drop mat.Dropout) {
	if st.Z.Data == nil {
		f.Inner.Precision.gemm(p, st.Hidden, x, f.Inner.W.Weights(), mat.GemmOptions{Bias: f.Inner.bias(), Activation: f.Activation})
	} else {
		f.Inner.Forward(p, st.Z, x)
		mat.Each(p, x.Rows, rowGrain, activate{f.Activation, st.Hidden, st.Z})
	}
	if drop.Rate > 0 {
		mat.Each(p, x.Rows, rowGrain, dropRows{y: st.Hidden, x: st.Hidden, drop: drop})
	}
	f.Outer.Forward(p, y, st.Hidden)
}

// Backward takes dy [n × d], the x and st of Forward and room for dhidden [n × ff]; it sets or adds to
// dx [n × d]. dx may be dy if it is set.
//
//	hidden = mask·f(z)   so   dz = f'(z)·mask·dhidden,   and for ReLU f'(z) = 1 where hidden > 0, else 0
func (f FeedForward) Backward(p *mat.Pool, dx, dhidden, dy mat.Matrix, st FeedForwardState, x mat.Matrix, drop mat.Dropout, how mat.GemmOptions) {
	f.Outer.Backward(p, dhidden, dy, st.Hidden, Set)
	if drop.Rate > 0 {
		mat.Each(p, dhidden.Rows, rowGrain, dropRows{y: dhidden, x: dhidden, drop: drop})
	}
	z := st.Z
	if f.Activation == mat.ReLU {
		z = st.Hidden
	}
	mat.Each(p, dhidden.Rows, rowGrain, activationGrad{f.Activation, dhidden, z})
	f.Inner.Backward(p, dx, dhidden, x, how)
}

// rowGrain is how many rows of a matrix a thread takes at a time.
const rowGrain = 16

type activate struct {
	f    mat.Activation
	y, z mat.Matrix
}

func (t *activate) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		t.f.Apply(t.y.Row(i), t.z.Row(i))
	}
}

type activationGrad struct {
	f     mat.Activation
	dx, z mat.Matrix
}

func (t *activationGrad) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		t.f.Grad(t.dx.Row(i), t.z.Row(i))
	}
}
