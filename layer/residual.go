package layer

import "tfm/mat"

// Residual is the connection around a sublayer, α·x + Dropout(Sublayer(x)) (sections 3.1 and 5.4).
// α is 1 in the paper, and more in DeepNorm (Wang et al., 2022).
type Residual struct {
	Alpha float32 // α
}

// ResidualAct holds what Residual.Backward needs of Forward.
type ResidualAct struct{ drop mat.Dropout }

// Forward returns α·x + Dropout(sub) for x and the sublayer's output sub, both [n × d]. The sum
// overwrites sub.
func (l Residual) Forward(pool *mat.Pool, act *ResidualAct, x, sub mat.Matrix, drop mat.Dropout) mat.Matrix {
	act.drop = drop
	mat.Each(pool, x.Rows, rowGrain, residualRows{l, x, sub, drop})
	return sub
}

type residualRows struct {
	Residual
	x, sub mat.Matrix
	drop   mat.Dropout
}

func (t *residualRows) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		x, sub := t.x.Row(i), t.sub.Row(i)
		if t.Alpha == 1 {
			t.drop.Apply(sub, sub, x, i*len(x))
		} else {
			t.drop.Apply(sub, sub, nil, i*len(x))
			mat.Axpy(t.Alpha, x, sub)
		}
	}
}

// Backward sets dsub, the gradient of the sublayer's output, for dy, that of Forward's result, and
// replaces dy by the gradient of x. Both are [n × d].
//
//	y = α·x + mask·sub   so   dsub = mask·dy   dx = α·dy
func (l Residual) Backward(pool *mat.Pool, dsub, dy mat.Matrix, act *ResidualAct) {
	mat.Each(pool, dy.Rows, rowGrain, residualGradRows{l, dsub, dy, act.drop})
}

type residualGradRows struct {
	Residual
	dsub, dy mat.Matrix
	drop     mat.Dropout
}

func (t *residualGradRows) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		dy := t.dy.Row(i)
		t.drop.Apply(t.dsub.Row(i), dy, nil, i*len(dy)) // dsub = mask·dy
		if t.Alpha != 1 {
			mat.Scal(t.Alpha, dy) // dx = α·dy
		}
	}
}

// dropout replaces x by mask·x. It is also its own backward, dx = mask·dy.
func dropout(pool *mat.Pool, x mat.Matrix, drop mat.Dropout) {
	if drop.Rate > 0 {
		mat.Each(pool, x.Rows, rowGrain, dropoutRows{x, drop})
	}
}

type dropoutRows struct {
	x    mat.Matrix
	drop mat.Dropout
}

func (t *dropoutRows) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		t.drop.Apply(t.x.Row(i), t.x.Row(i), nil, i*t.x.Cols)
	}
}
