package layer

import (
	"math"

	"tfm/mat"
)

// AddNorm is what the paper wraps around every sublayer: LayerNorm(x + Dropout(Sublayer(x))), sections 3.1
// and 5.4. The norm is that of Ba et al. (2016), with the biased variance and eps inside the root.
type AddNorm struct {
	Gain, Bias *Param // [d]
	Eps        float32
}

// NewAddNorm declares the norm's gain and bias as name.gain and name.bias.
func NewAddNorm(ps *Params, name string, d int, eps float32) AddNorm {
	return AddNorm{ps.New(name+".gain", d), ps.New(name+".bias", d), eps}
}

// Normed is what AddNorm.Forward leaves for Backward and for the next layer.
type Normed struct {
	R    mat.Matrix // [n × d] x + Dropout(sublayer), the norm's input
	Y    mat.Matrix // [n × d] the result
	Mean []float32  // [n] of each row of R
	RStd []float32  // [n] 1/sqrt(variance + eps) of each row of R
}

// NewNormed takes the memory for n tokens.
func NewNormed(a *Arena, n, d int) Normed {
	return Normed{a.Matrix(n, d), a.Matrix(n, d), a.Slice(n), a.Slice(n)}
}

// Forward computes out.R = x + Dropout(sub) and out.Y = LayerNorm(out.R). All matrices are [n × d]; sub may
// be out.R itself.
//
//	μ = Σ r_j / d   σ² = Σ (r_j - μ)² / d   y_j = (r_j - μ)/sqrt(σ² + eps)·gain_j + bias_j
func (l AddNorm) Forward(p *mat.Pool, out Normed, x, sub mat.Matrix, drop mat.Dropout) {
	mat.Each(p, x.Rows, rowGrain, addNorm{l, out, x, sub, drop})
}

type addNorm struct {
	AddNorm
	out    Normed
	x, sub mat.Matrix
	drop   mat.Dropout
}

func (t *addNorm) Rows(lo, hi int) {
	d := t.x.Cols
	for i := lo; i < hi; i++ {
		r := t.out.R.Row(i)
		t.drop.Add(r, t.sub.Row(i), t.x.Row(i), i*d)
		mean := mat.Sum(r) / float32(d)
		variance := mat.SumSquaredDiff(r, mean) / float32(d)
		rstd := float32(1 / math.Sqrt(float64(variance+t.Eps)))
		mat.Normalize(t.out.Y.Row(i), r, mean, rstd, t.Gain.W, t.Bias.W)
		t.out.Mean[i], t.out.RStd[i] = mean, rstd
	}
}

// Backward takes dy and what Forward left, adds to the gradients of gain and bias, and sets dx, the
// derivative of the residual's x, and dsub, that of the sublayer's output. dx may be dy.
//
// With r̂ = (r - μ)·rstd and g = dy·gain, where mean() is over the d elements of the row:
//
//	y_j = r̂_j·gain_j + bias_j        so   dgain_j = Σ_rows dy_j·r̂_j   dbias_j = Σ_rows dy_j
//	r̂ = (r - mean(r))·rstd(r)        so   dr_j = rstd·(g_j - mean(g) - r̂_j·mean(g·r̂))
//	r = x + mask·sub                 so   dx = dr   dsub = mask·dr
func (l AddNorm) Backward(p *mat.Pool, dx, dsub, dy mat.Matrix, out Normed, drop mat.Dropout) {
	mat.Each(p, dy.Cols, columnGrain, normParamGrad{l, dy, out})
	mat.Each(p, dy.Rows, rowGrain, addNormGrad{l, dx, dsub, dy, out, drop})
}

type normParamGrad struct {
	AddNorm
	dy  mat.Matrix
	out Normed
}

func (t *normParamGrad) Rows(lo, hi int) {
	for i := range t.dy.Rows {
		mat.NormalizeParamGrad(t.Gain.G[lo:hi], t.Bias.G[lo:hi], t.dy.Row(i)[lo:hi], t.out.R.Row(i)[lo:hi], t.out.Mean[i], t.out.RStd[i])
	}
}

type addNormGrad struct {
	AddNorm
	dx, dsub, dy mat.Matrix
	out          Normed
	drop         mat.Dropout
}

func (t *addNormGrad) Rows(lo, hi int) {
	d := t.dy.Cols
	for i := lo; i < hi; i++ {
		dx, dy, r, mean, rstd := t.dx.Row(i), t.dy.Row(i), t.out.R.Row(i), t.out.Mean[i], t.out.RStd[i]
		g, gr := mat.NormalizeSums(dy, r, mean, rstd, t.Gain.W)
		mat.NormalizeGrad(dx, dy, r, mean, rstd, t.Gain.W, g/float32(d), gr/float32(d))
		t.drop.Add(t.dsub.Row(i), dx, nil, i*d)
	}
}
