package layer

import "tfm/mat"

// AddNorm is "Add & Norm" of figure 1, around a sublayer: LayerNorm(α·x + Dropout(Sublayer(x)))
// (sections 3.1 and 5.4). α is 1 in the paper, and more in DeepNorm (Wang et al., 2022).
type AddNorm struct {
	Norm
	Alpha float32 // α
}

// Forward returns act.Y = Norm(α·x + Dropout(sub)) for x and the sublayer's output sub, all
// [n × d]. It overwrites sub with the sum, which stays there as act.X.
func (l AddNorm) Forward(pool *mat.Pool, act *NormAct, x, sub mat.Matrix, drop mat.Dropout) mat.Matrix {
	act.X, act.drop = sub, drop
	mat.Each(pool, x.Rows, rowGrain, addNormRows{l, *act, x})
	return act.Y
}

type addNormRows struct {
	AddNorm
	act NormAct
	x   mat.Matrix
}

func (t *addNormRows) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		x, sub := t.x.Row(i), t.act.X.Row(i)
		if t.Alpha == 1 {
			t.act.drop.Apply(sub, sub, x, i*len(x))
		} else {
			t.act.drop.Apply(sub, sub, nil, i*len(x))
			mat.Axpy(t.Alpha, x, sub)
		}
	}
	t.rows(&t.act, lo, hi)
}

// Backward adds to the gradients of gain and bias for dy and the activations of Forward, and sets
// dx, the gradient of x, and dsub, that of the sublayer's output, all [n × d]. dx may be dy.
// mask_j is 0 or 1/(1-Rate).
//
//	r = α·x + mask·sub   y = Norm(r)   so   dr as in Norm.Backward   dsub = mask·dr   dx = α·dr
func (l AddNorm) Backward(pool *mat.Pool, dx, dsub, dy mat.Matrix, act *NormAct) {
	l.paramGrad(pool, dy, act)
	mat.Each(pool, dy.Rows, rowGrain, addNormGradRows{l, dx, dsub, dy, *act})
}

type addNormGradRows struct {
	AddNorm
	dx, dsub, dy mat.Matrix
	act          NormAct
}

func (t *addNormGradRows) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		dx := t.dx.Row(i)
		dr := dx
		t.gradRow(dr, t.dy.Row(i), &t.act, i)               // y = Norm(r)
		t.act.drop.Apply(t.dsub.Row(i), dr, nil, i*len(dx)) // dsub = mask·dr
		if t.Alpha != 1 {
			mat.Scal(t.Alpha, dx) // dx = α·dr
		}
	}
}

// Residual returns x + Dropout(sub), for x and the sublayer's output sub, both [n × d]. The sum
// overwrites sub. It is the residual connection of pre-norm, x + Dropout(Sublayer(Norm(x)))
// (Baevski and Auli, 2019; Xiong et al., 2020).
func Residual(pool *mat.Pool, x, sub mat.Matrix, drop mat.Dropout) mat.Matrix {
	mat.Each(pool, x.Rows, rowGrain, dropoutRows{sub, sub, x, drop})
	return sub
}

// ResidualBackward sets dsub for dy, both [n × d]. The gradient of x is dy itself, which the
// caller keeps.
//
//	y = x + mask·sub   so   dx = dy   dsub = mask·dy
func ResidualBackward(pool *mat.Pool, dsub, dy mat.Matrix, drop mat.Dropout) {
	mat.Each(pool, dy.Rows, rowGrain, dropoutRows{y: dsub, x: dy, drop: drop})
}

// dropout replaces x by mask·x. It is also its own backward, dx = mask·dy.
func dropout(pool *mat.Pool, x mat.Matrix, drop mat.Dropout) {
	if drop.Rate > 0 {
		mat.Each(pool, x.Rows, rowGrain, dropoutRows{y: x, x: x, drop: drop})
	}
}

// dropoutRows sets y = mask·x + r, or mask·x if r has no data.
type dropoutRows struct {
	y, x, r mat.Matrix
	drop    mat.Dropout
}

func (t *dropoutRows) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		var r []float32
		if t.r.Data != nil {
			r = t.r.Row(i)
		}
		t.drop.Apply(t.y.Row(i), t.x.Row(i), r, i*t.x.Cols)
	}
}
