package layer

import "tfm/mat"

// AddNorm is what the paper wraps around every sublayer: LayerNorm(α·x + Dropout(Sublayer(x))), sections 3.1
// and 5.4, where α is 1 but in DeepNorm (Wang et al., 2022).
type AddNorm struct {
	Norm
	Alpha float32
}

// NewAddNorm declares the paper's: layer norm, its gain and bias as name.gain and name.bias, and α = 1.
func NewAddNorm(ps *Params, name string, d int, eps float32) AddNorm {
	return AddNorm{NewNorm(ps, name, d, eps, LayerNorm), 1}
}

// Forward computes out.R = α·x + Dropout(sub) and out.Y = Norm(out.R). All matrices are [n × d]; sub may
// be out.R itself.
func (l AddNorm) Forward(p *mat.Pool, out Normed, x, sub mat.Matrix, drop mat.Dropout) {
	mat.Each(p, x.Rows, rowGrain, addNorm{l, out, x, sub, drop})
}

type addNorm struct {
	AddNorm
	out    Normed
	x, sub mat.Matrix
	drop   mat.Dropout
}

func (t *addNorm) Range(lo, hi int) {
	d := t.x.Cols
	for i := lo; i < hi; i++ {
		r := t.out.R.Row(i)
		if t.Alpha == 1 {
			t.drop.Add(r, t.sub.Row(i), t.x.Row(i), i*d)
		} else {
			t.drop.Add(r, t.sub.Row(i), nil, i*d)
			mat.Axpy(r, t.Alpha, t.x.Row(i))
		}
		t.row(t.out, i, r)
	}
}

// Backward takes dy and what Forward left, adds to the gradients of gain and bias, and sets dx, the
// derivative of the residual's x, and dsub, that of the sublayer's output. dx may be dy.
//
//	r = α·x + mask·sub   so   dx = α·dr   dsub = mask·dr,   with dr as in Norm.Backward
func (l AddNorm) Backward(p *mat.Pool, dx, dsub, dy mat.Matrix, out Normed, drop mat.Dropout) {
	l.paramGrad(p, dy, out, out.R)
	mat.Each(p, dy.Rows, rowGrain, addNormGrad{l, dx, dsub, dy, out, drop})
}

type addNormGrad struct {
	AddNorm
	dx, dsub, dy mat.Matrix
	out          Normed
	drop         mat.Dropout
}

func (t *addNormGrad) Range(lo, hi int) {
	d := t.dy.Cols
	for i := lo; i < hi; i++ {
		dx := t.dx.Row(i)
		t.gradRow(dx, t.dy.Row(i), t.out, i, t.out.R.Row(i))
		t.drop.Add(t.dsub.Row(i), dx, nil, i*d)
		if t.Alpha != 1 {
			mat.Scale(dx, t.Alpha)
		}
	}
}

// Residual is a residual connection with its norm where the model wants it, around a sublayer F:
//
//	post-norm   y = Norm(α·x + Dropout(F(x)))   the paper's, see AddNorm
//	pre-norm    y = x + Dropout(F(Norm(x)))     (Baevski and Auli, 2019; Xiong et al., 2020)
//
// Before gives what F is to be given. F leaves its result in Normed.R, and After makes y of it. Likewise
// BackwardAfter gives the place where F's Backward is to leave the derivative of what it was given, and
// BackwardBefore ends.
type Residual struct {
	AddNorm
	Pre bool
}

// Before returns the input of the sublayer for x [n × d].
func (l Residual) Before(p *mat.Pool, st Normed, x mat.Matrix) mat.Matrix {
	if l.Pre {
		l.Norm.Forward(p, st, x)
	}
	return l.In(st, x)
}

// After returns y [n × d] for x [n × d] and the sublayer's result in st.R.
func (l Residual) After(p *mat.Pool, st Normed, x mat.Matrix, drop mat.Dropout) mat.Matrix {
	if l.Pre {
		mat.Each(p, x.Rows, rowGrain, dropRows{st.R, st.R, x, drop})
	} else {
		l.Forward(p, st, x, st.R, drop)
	}
	return l.Out(st)
}

// In is what Before returned for x.
func (l Residual) In(st Normed, x mat.Matrix) mat.Matrix {
	if l.Pre {
		return st.Y
	}
	return x
}

// Out is what After returned.
func (l Residual) Out(st Normed) mat.Matrix {
	if l.Pre {
		return st.R
	}
	return st.Y
}

// BackwardAfter takes dx, the derivative of y, to that of the residual's x, and sets dsub, that of the sublayer's
// result. The sublayer is to leave the derivative of its input in din, as how says; din may be dsub.
func (l Residual) BackwardAfter(p *mat.Pool, dx, dsub mat.Matrix, st Normed, drop mat.Dropout) (din mat.Matrix, how mat.GemmOptions) {
	if l.Pre { // dx stays what it is
		mat.Each(p, dx.Rows, rowGrain, dropRows{y: dsub, x: dx, drop: drop})
		return dsub, Set
	}
	l.Backward(p, dx, dsub, dx, st, drop)
	return dx, Add
}

// BackwardBefore adds to dx what the sublayer has left in din, for the x that Before saw. It overwrites din.
func (l Residual) BackwardBefore(p *mat.Pool, dx, din mat.Matrix, st Normed, x mat.Matrix) {
	if l.Pre {
		l.Norm.Backward(p, dx, din, st, x, Add)
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
