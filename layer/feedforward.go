package layer

import "tfm/mat"

// FeedForward is the position-wise network FFN(x) = f(x·W1 + b1)·W2 + b2 (section 3.3, equation 2),
// where f is ReLU in the paper.
type FeedForward struct {
	Inner, Outer Linear // d → ff and ff → d
	Activation   mat.Activation
}

// In returns the same network, with the same weights, in another precision.
func (f FeedForward) In(r Precision) FeedForward {
	f.Inner, f.Outer = f.Inner.In(r), f.Outer.In(r)
	return f
}

// FeedForwardAct holds the activations of a FeedForward. Forward leaves in it what Backward needs.
type FeedForwardAct struct {
	X      mat.Matrix // [n × d] Forward's input, in the caller's memory
	Z      mat.Matrix // [n × ff] X·W1 + b1; no data if Backward does not need it
	Hidden mat.Matrix // [n × ff] Dropout(f(Z))
	Out    mat.Matrix // [n × d] Hidden·W2 + b2
	drop   mat.Dropout
}

// Alloc takes the memory for n tokens, for Forward alone or for Backward too. ReLU's backward needs
// only its output.
func (f FeedForward) Alloc(a *Arena, n int, backward bool) FeedForwardAct {
	d, ff := f.Inner.W.Shape[0], f.Inner.W.Shape[1]
	act := FeedForwardAct{Hidden: a.Matrix(n, ff), Out: a.Matrix(n, d)}
	if backward && f.Activation != mat.ReLU {
		act.Z = a.Matrix(n, ff)
	}
	return act
}

// Forward returns act.Out [n × d] for x [n × d], with dropout of the inner numbers.
func (f FeedForward) Forward(pool *mat.Pool, act *FeedForwardAct, x mat.Matrix, drop mat.Dropout) mat.Matrix {
	act.X, act.drop = x, drop
	if act.Z.Data == nil {
		f.Inner.Precision.gemm(pool, act.Hidden, x, f.Inner.W.Weights(), mat.GemmOptions{Bias: f.Inner.bias(), Activation: f.Activation})
	} else {
		f.Inner.Forward(pool, act.Z, x)
		mat.Each(pool, x.Rows, rowGrain, activate{f.Activation, act.Hidden, act.Z})
	}
	dropout(pool, act.Hidden, drop)
	f.Outer.Forward(pool, act.Out, act.Hidden)
	return act.Out
}

// Backward takes dy [n × d], what Forward left, and workspace dhidden [n × ff]; it sets or adds to
// dx [n × d]. dx may be dy if it is set.
//
//	hidden = mask·f(z)   so   dz = f'(z)·mask·dhidden;   ReLU: f'(z) = 1 if hidden > 0, else 0
func (f FeedForward) Backward(pool *mat.Pool, dx, dy mat.Matrix, act *FeedForwardAct, dhidden mat.Matrix, mode Mode) {
	f.Outer.Backward(pool, dhidden, dy, act.Hidden, Set)
	dropout(pool, dhidden, act.drop)
	z := act.Z
	if f.Activation == mat.ReLU {
		z = act.Hidden
	}
	mat.Each(pool, dhidden.Rows, rowGrain, activationGrad{f.Activation, dhidden, z}) // dhidden is now dz
	f.Inner.Backward(pool, dx, dhidden, act.X, mode)
}

// rowGrain is the number of rows of a matrix that a thread takes at a time.
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
