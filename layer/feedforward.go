package layer

import "tfm/mat"

// FeedForward is the position-wise network FFN(x) = f(x·W1 + b1)·W2 + b2 (section 3.3, equation
// 2). In the paper f is ReLU.
type FeedForward struct {
	Inner, Outer Linear // W1, b1: d → ff; W2, b2: ff → d
	Activation   mat.Activation
}

// In returns l with products in precision r. It shares the weights.
func (l FeedForward) In(r Precision) FeedForward {
	l.Inner, l.Outer = l.Inner.In(r), l.Outer.In(r)
	return l
}

// FeedForwardAct holds the activations of a FeedForward, which Forward sets and Backward reads.
type FeedForwardAct struct {
	X      mat.Matrix // [n × d] Forward's input, in the caller's memory
	Z      mat.Matrix // [n × ff] X·W1 + b1; no data if Backward does not need it
	Hidden mat.Matrix // [n × ff] Dropout(f(Z))
	Out    mat.Matrix // [n × d] Hidden·W2 + b2, until the residual adds its input in place
	drop   mat.Dropout
}

// Alloc allocates the activations of n tokens; backward says whether Backward will be called.
func (l FeedForward) Alloc(a *Arena, n int, backward bool) FeedForwardAct {
	d, ff := l.Inner.W.Shape[0], l.Inner.W.Shape[1]
	act := FeedForwardAct{Hidden: a.Matrix(n, ff), Out: a.Matrix(n, d)}
	if backward && l.Activation != mat.ReLU { // ReLU's backward needs only its output
		act.Z = a.Matrix(n, ff)
	}
	return act
}

// AllocGrad allocates dhidden, the workspace of Backward for n tokens.
func (l FeedForward) AllocGrad(a *Arena, n int) mat.Matrix { return a.Matrix(n, l.Outer.W.Shape[0]) }

// Forward returns act.Out [n × d] = Dropout(f(x·W1 + b1))·W2 + b2 for x [n × d]. The paper has
// no dropout here.
func (l FeedForward) Forward(pool *mat.Pool, act *FeedForwardAct, x mat.Matrix, drop mat.Dropout) mat.Matrix {
	act.X, act.drop = x, drop
	if act.Z.Data == nil { // f(x·W1 + b1) in one pass over memory
		l.Inner.Precision.gemm(pool, act.Hidden, x, l.Inner.W.Weights(), mat.GemmOptions{Bias: l.Inner.B.vector(), Activation: l.Activation})
	} else {
		l.Inner.Forward(pool, act.Z, x)
		mat.Each(pool, x.Rows, rowGrain, activationRows{l.Activation, act.Hidden, act.Z})
	}
	dropout(pool, act.Hidden, drop)
	l.Outer.Forward(pool, act.Out, act.Hidden)
	return act.Out
}

// Backward sets or adds to dx [n × d] for dy [n × d] and the activations of Forward. dhidden
// [n × ff] is workspace. With mode Set dx may be dy.
//
//	z = x·W1 + b1   hidden = mask·f(z)   y = hidden·W2 + b2
//	so   dhidden = dy·W2ᵀ   dz = f'(z)·mask·dhidden   dx = dz·W1ᵀ
//
// For ReLU f'(z) is 1 where hidden > 0; where hidden is 0, f'(z) or mask is 0. So hidden replaces
// z there.
func (l FeedForward) Backward(pool *mat.Pool, dx, dy mat.Matrix, act *FeedForwardAct, dhidden mat.Matrix, mode Mode) {
	// y = hidden·W2 + b2
	l.Outer.Backward(pool, dhidden, dy, act.Hidden, Set)

	// hidden = mask·f(z)
	dropout(pool, dhidden, act.drop)
	z := act.Z
	if l.Activation == mat.ReLU {
		z = act.Hidden // positive where z is, except where mask is 0
	}
	dz := dhidden
	mat.Each(pool, dz.Rows, rowGrain, activationGradRows{l.Activation, dz, z})

	// z = x·W1 + b1
	l.Inner.Backward(pool, dx, dz, act.X, mode)
}

type activationRows struct {
	f    mat.Activation
	y, z mat.Matrix
}

func (t *activationRows) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		t.f.Apply(t.y.Row(i), t.z.Row(i))
	}
}

// activationGradRows multiplies dz by f'(z).
type activationGradRows struct {
	f     mat.Activation
	dz, z mat.Matrix
}

func (t *activationGradRows) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		t.f.Grad(t.dz.Row(i), t.z.Row(i))
	}
}
