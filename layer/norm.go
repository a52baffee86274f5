package layer

import (
	"math"

	"tfm/mat"
)

// NormKind is one of the ways to bring a row x of d numbers to a standard size, before gain and bias.
type NormKind uint8

const (
	LayerNorm    NormKind = iota // (x - μ)/sqrt(σ² + eps), σ² = Σ(x_j - μ)²/d (Ba et al., 2016)
	UnbiasedNorm                 // (x - μ)/(s + eps), s² = Σ(x_j - μ)²/(d-1), which some teaching versions of the Transformer compute
	RMSNorm                      // x/sqrt(Σx_j²/d + eps), without a bias (Zhang and Sennrich, 2019)
)

// Norm normalizes each row. All kinds are (x - mean)·rstd·gain + bias, with a mean and an rstd of their own.
type Norm struct {
	Gain *Param // [d]
	Bias *Param // [d]; nil in an RMSNorm
	Eps  float32
	Kind NormKind
}

// NewNorm declares the gain and, but for RMSNorm, the bias as name.gain and name.bias. UnbiasedNorm needs a d of 2 or more.
func NewNorm(ps *Params, name string, d int, eps float32, kind NormKind) Norm {
	l := Norm{Gain: ps.New(name+".gain", d), Eps: eps, Kind: kind}
	if kind != RMSNorm {
		l.Bias = ps.New(name+".bias", d)
	}
	return l
}

// Normed is what a norm and the residual beside it leave for Backward and for the next layer.
type Normed struct {
	R    mat.Matrix // [n × d] x + Dropout(sublayer); none for a norm alone
	Y    mat.Matrix // [n × d] the norm's result
	Mean []float32  // [n] what was taken from each row of the norm's input
	RStd []float32  // [n] what it was multiplied with
}

// NewNormed takes the memory for n tokens.
func NewNormed(a *Arena, n, d int) Normed {
	return Normed{a.Matrix(n, d), a.Matrix(n, d), a.Slice(n), a.Slice(n)}
}

// NewNormedAlone takes the memory for n tokens of a norm without a residual.
func NewNormedAlone(a *Arena, n, d int) Normed {
	return Normed{Y: a.Matrix(n, d), Mean: a.Slice(n), RStd: a.Slice(n)}
}

// Forward computes out.Y [n × d], the norm of each row of x [n × d].
func (l Norm) Forward(p *mat.Pool, out Normed, x mat.Matrix) {
	mat.Each(p, x.Rows, rowGrain, norm{l, out, x})
}

type norm struct {
	Norm
	out Normed
	x   mat.Matrix
}

func (t *norm) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		t.row(t.out, i, t.x.Row(i))
	}
}

// row normalizes x as row i of out.
func (l *Norm) row(out Normed, i int, x []float32) {
	d := float32(len(x))
	var mean float32
	if l.Kind != RMSNorm {
		mean = mat.Sum(x) / d
	}
	squares, rstd := mat.SumSquaredDiff(x, mean), float32(0)
	if l.Kind == UnbiasedNorm {
		rstd = float32(1 / (math.Sqrt(float64(squares/(d-1))) + float64(l.Eps)))
	} else {
		rstd = float32(1 / math.Sqrt(float64(squares/d+l.Eps)))
	}
	y := out.Y.Row(i)
	bias := y // cleared, for a bias that there is not
	if l.Bias != nil {
		bias = l.Bias.W
	} else {
		clear(bias)
	}
	mat.Normalize(y, x, mean, rstd, l.Gain.W, bias)
	out.Mean[i], out.RStd[i] = mean, rstd
}

// Backward takes dy [n × d] and the x that Forward saw and what it left, adds to the gradients of gain and bias,
// and sets or adds to dx [n × d]. dx may be dy if it is set; dy is overwritten if it is added to.
//
// With x̂ = (x - mean)·rstd and g = dy·gain, where mean() is over the d elements of the row:
//
//	y_j = x̂_j·gain_j + bias_j          so   dgain_j = Σ_rows dy_j·x̂_j   dbias_j = Σ_rows dy_j
//	x̂ = (x - mean(x))·rstd(x)          so   dx_j = rstd·(g_j - mean(g) - x̂_j·c)
//	rstd = (mean((x-μ)²) + eps)^-½     so   c = mean(g·x̂)                              LayerNorm
//	rstd = 1/(s + eps)                 so   c = Σ(g·x̂)/(d-1)·(s + eps)/s               UnbiasedNorm
//	x̂ = x·(mean(x²) + eps)^-½          so   c = mean(g·x̂), and mean(g) is not taken    RMSNorm
func (l Norm) Backward(p *mat.Pool, dx, dy mat.Matrix, out Normed, x mat.Matrix, how mat.GemmOptions) {
	l.paramGrad(p, dy, out, x)
	mat.Each(p, dy.Rows, rowGrain, normGrad{l, dx, dy, out, x, how})
}

// paramGrad adds to the gradients of gain and bias.
func (l Norm) paramGrad(p *mat.Pool, dy mat.Matrix, out Normed, x mat.Matrix) {
	l.Gain.await(0)
	mat.Each(p, dy.Cols, columnGrain, normParamGrad{l, dy, out, x})
	l.Gain.added(0)
}

type normParamGrad struct {
	Norm
	dy  mat.Matrix
	out Normed
	x   mat.Matrix
}

func (t *normParamGrad) Range(lo, hi int) {
	var none [columnGrain]float32 // for a bias that there is not
	dbias := none[:hi-lo]
	if t.Bias != nil {
		dbias = t.Bias.G[lo:hi]
	}
	n := t.dy.Rows
	mat.NormalizeParamGradRows(t.Gain.G[lo:hi], dbias, t.dy.ColRange(lo, hi), t.x.ColRange(lo, hi), t.out.Mean[:n], t.out.RStd[:n])
}

type normGrad struct {
	Norm
	dx, dy mat.Matrix
	out    Normed
	x      mat.Matrix
	how    mat.GemmOptions
}

func (t *normGrad) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		dx, dy := t.dx.Row(i), t.dy.Row(i)
		if t.how.Accumulate {
			t.gradRow(dy, dy, t.out, i, t.x.Row(i))
			mat.Add(dx, dy)
		} else {
			t.gradRow(dx, dy, t.out, i, t.x.Row(i))
		}
	}
}

// gradRow sets dx for row i of out.
func (l *Norm) gradRow(dx, dy []float32, out Normed, i int, x []float32) {
	d, mean, rstd := float32(len(x)), out.Mean[i], out.RStd[i]
	g, gx := mat.NormalizeSums(dy, x, mean, rstd, l.Gain.W)
	switch l.Kind {
	case LayerNorm:
		g, gx = g/d, gx/d
	case UnbiasedNorm:
		g /= d
		if s := 1/rstd - l.Eps; s > 0 {
			gx = gx / (d - 1) / (s * rstd)
		} else { // all x are equal, and x̂ is 0
			gx = 0
		}
	case RMSNorm:
		g, gx = 0, gx/d
	}
	mat.NormalizeGrad(dx, dy, x, mean, rstd, l.Gain.W, g, gx)
}
