package layer

import "tfm/mat"

// AddNorm is "Add & Norm" of figure 1, around a sublayer: LayerNorm(α·x + Dropout(Sublayer(x)))
// (sections 3.1 and 5.4). α is 1 in the paper, and more in DeepNorm (Wang et al., 2022).
type AddNorm struct {
	Norm
	Alpha float32
}

// Forward returns act.Y = Norm(α·x + Dropout(sub)) for x and the sublayer's result sub, all
// [n × d]. The sum replaces sub, whose memory is act.X from then on.
func (l AddNorm) Forward(pool *mat.Pool, act *NormAct, x, sub mat.Matrix, drop mat.Dropout) mat.Matrix {
	act.X, act.drop = sub, drop
	mat.Each(pool, x.Rows, rowGrain, addNorm{l, *act, x})
	return act.Y
}

type addNorm struct {
	AddNorm
	act NormAct
	x   mat.Matrix
}

func (t *addNorm) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		x, sub := t.x.Row(i), t.act.X.Row(i)
		if t.Alpha == 1 {
			t.act.drop.Add(sub, sub, x, i*len(x))
		} else {
			t.act.drop.Add(sub, sub, nil, i*len(x))
			mat.Axpy(sub, t.Alpha, x)
		}
		t.row(&t.act, i)
	}
}

// Backward takes dy and what Forward left, adds to the gradients of gain and bias, and sets dx, the
// derivative of the residual's x, and dsub, that of the sublayer's result. dx may be dy.
//
//	r = α·x + mask·sub   so   dx = α·dr   dsub = mask·dr,   with dr as in Norm.Backward
func (l AddNorm) Backward(pool *mat.Pool, dx, dsub, dy mat.Matrix, act *NormAct) {
	l.paramGrad(pool, dy, act)
	mat.Each(pool, dy.Rows, rowGrain, addNormGrad{l, dx, dsub, dy, *act})
}

type addNormGrad struct {
	AddNorm
	dx, dsub, dy mat.Matrix
	act          NormAct
}

func (t *addNormGrad) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		dx := t.dx.Row(i)
		t.gradRow(dx, t.dy.Row(i), &t.act, i) // dr
		t.act.drop.Add(t.dsub.Row(i), dx, nil, i*len(dx))
		if t.Alpha != 1 {
			mat.Scale(dx, t.Alpha)
		}
	}
}

// Residual returns x + Dropout(sub) for x and the result sub of a sublayer, both [n × d], and
// leaves it in sub's memory. It is the residual connection of pre-norm, x +
// Dropout(Sublayer(Norm(x))) (Baevski and Auli, 2019; Xiong et al., 2020).
func Residual(pool *mat.Pool, x, sub mat.Matrix, drop mat.Dropout) mat.Matrix {
	mat.Each(pool, x.Rows, rowGrain, dropRows{sub, sub, x, drop})
	return sub
}

// ResidualBackward sets dsub for dy, both [n × d]; dx is dy and so is left to the caller.
//
//	y = x + mask·sub   so   dx = dy   dsub = mask·dy
func ResidualBackward(pool *mat.Pool, dsub, dy mat.Matrix, drop mat.Dropout) {
	mat.Each(pool, dy.Rows, rowGrain, dropRows{y: dsub, x: dy, drop: drop})
}

// dropout applies dropout to x in place. Its own derivative is the same: dx = mask·dy.
func dropout(pool *mat.Pool, x mat.Matrix, drop mat.Dropout) {
	if drop.Rate > 0 {
		mat.Each(pool, x.Rows, rowGrain, dropRows{y: x, x: x, drop: drop})
	}
}

// dropRows sets y = Dropout(x) + r, or Dropout(x) alone if r has no data.
type dropRows struct {
	y, x, r mat.Matrix
	drop    mat.Dropout
}

func (t *dropRows) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		var r []float32
		if t.r.Data != nil {
			r = t.r.Row(i)
		}
		t.drop.Add(t.y.Row(i), t.x.Row(i), r, i*t.x.Cols)
	}
}
