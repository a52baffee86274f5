package layer

import (
	"math"

	"tfm/mat"
)

// NormKind is one of the ways to bring a row x of d numbers to a standard size, before gain and
// bias.
type NormKind uint8

const (
	LayerNorm    NormKind = iota // (x - μ)/sqrt(σ² + eps), σ² = Σ(x_j - μ)²/d (Ba et al., 2016)
	UnbiasedNorm                 // (x - μ)/(s + eps), s² = Σ(x_j - μ)²/(d-1); common in tutorials
	RMSNorm                      // x/sqrt(Σx_j²/d + eps), without a bias (Zhang and Sennrich, 2019)
)

// Norm normalizes each row: (x - mean)·rstd·gain + bias, where Kind defines mean and rstd.
type Norm struct {
	Gain *Param // [d]
	Bias *Param // [d]; nil in an RMSNorm
	Eps  float32
	Kind NormKind
}

// NewNorm declares name.gain and, unless kind is RMSNorm, name.bias. UnbiasedNorm needs a d of 2 or
// more.
func NewNorm(ps *Params, name string, d int, eps float32, kind NormKind) Norm {
	l := Norm{Gain: ps.New(name+".gain", d), Eps: eps, Kind: kind}
	if kind != RMSNorm {
		l.Bias = ps.New(name+".bias", d)
	}
	return l
}

// NormAct holds the activations of a Norm or an AddNorm. Forward leaves in it what Backward needs.
type NormAct struct {
	X    mat.Matrix // [n × d] what was normalized, in the caller's memory
	Y    mat.Matrix // [n × d] the result
	Mean []float32  // [n] what was subtracted from each row of X
	RStd []float32  // [n] what each row was then multiplied by
	drop mat.Dropout
}

// Alloc takes the memory for n tokens.
func (l Norm) Alloc(a *Arena, n int) NormAct {
	return NormAct{Y: a.Matrix(n, l.Gain.Shape[0]), Mean: a.Slice(n), RStd: a.Slice(n)}
}

// Forward returns act.Y [n × d], the norm of each row of x [n × d].
func (l Norm) Forward(pool *mat.Pool, act *NormAct, x mat.Matrix) mat.Matrix {
	act.X = x
	mat.Each(pool, x.Rows, rowGrain, norm{l, *act})
	return act.Y
}

type norm struct {
	Norm
	act NormAct
}

func (t *norm) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		t.row(&t.act, i)
	}
}

// row normalizes row i of act.X.
func (l *Norm) row(act *NormAct, i int) {
	x, y := act.X.Row(i), act.Y.Row(i)
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
	bias := y
	if l.Bias != nil {
		bias = l.Bias.W
	} else {
		clear(bias) // RMSNorm has no bias: y serves as zeros until it is written
	}
	mat.Normalize(y, x, mean, rstd, l.Gain.W, bias)
	act.Mean[i], act.RStd[i] = mean, rstd
}

// Backward takes dy [n × d] and what Forward left, adds to the gradients of gain and bias, and sets
// or adds to dx [n × d]. dx may be dy if it is set; dy is overwritten if dx is added to.
//
// With x̂ = (x - mean)·rstd and g = dy·gain, where mean() is over the d elements of the row:
//
//	y_j = x̂_j·gain_j + bias_j          so   dgain_j = Σ_rows dy_j·x̂_j   dbias_j = Σ_rows dy_j
//	x̂ = (x - mean(x))·rstd(x)          so   dx_j = rstd·(g_j - mean(g) - x̂_j·c)
//	rstd = (mean((x-μ)²) + eps)^-½     so   c = mean(g·x̂)                              LayerNorm
//	rstd = 1/(s + eps)                 so   c = Σ(g·x̂)/(d-1)·(s + eps)/s               UnbiasedNorm
//	x̂ = x·(mean(x²) + eps)^-½          so   c = mean(g·x̂), and mean(g) is not taken    RMSNorm
func (l Norm) Backward(pool *mat.Pool, dx, dy mat.Matrix, act *NormAct, mode Mode) {
	l.paramGrad(pool, dy, act)
	mat.Each(pool, dy.Rows, rowGrain, normGrad{l, dx, dy, *act, mode})
}

// paramGrad adds to the gradients of gain and bias.
func (l Norm) paramGrad(pool *mat.Pool, dy mat.Matrix, act *NormAct) {
	l.Gain.AddInOrder(true, func(int, int) {
		mat.Each(pool, dy.Cols, columnGrain, normParamGrad{l, dy, *act})
	})
}

type normParamGrad struct {
	Norm
	dy  mat.Matrix
	act NormAct
}

func (t *normParamGrad) Range(lo, hi int) {
	var unused [columnGrain]float32
	dbias := unused[:hi-lo] // RMSNorm has no bias
	if t.Bias != nil {
		dbias = t.Bias.G[lo:hi]
	}
	n := t.dy.Rows
	mat.NormalizeParamGradRows(t.Gain.G[lo:hi], dbias, t.dy.ColRange(lo, hi), t.act.X.ColRange(lo, hi), t.act.Mean[:n], t.act.RStd[:n])
}

type normGrad struct {
	Norm
	dx, dy mat.Matrix
	act    NormAct
	mode   Mode
}

func (t *normGrad) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		dx, dy := t.dx.Row(i), t.dy.Row(i)
		if t.mode == Add {
			t.gradRow(dy, dy, &t.act, i)
			mat.Add(dx, dy)
		} else {
			t.gradRow(dx, dy, &t.act, i)
		}
	}
}

// gradRow sets dx for row i of act.X.
func (l *Norm) gradRow(dx, dy []float32, act *NormAct, i int) {
	x, mean, rstd := act.X.Row(i), act.Mean[i], act.RStd[i]
	d := float32(len(x))
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
