package layer

import (
	"math"

	"tfm/mat"
)

// NormKind is a way to normalize a row x [d], before gain and bias.
type NormKind uint8

const (
	LayerNorm    NormKind = iota // (x - μ)/sqrt(σ² + eps), σ² = Σ(x_j - μ)²/d (Ba et al., 2016)
	UnbiasedNorm                 // (x - μ)/(s + eps), s² = Σ(x_j - μ)²/(d-1); common in tutorials
	RMSNorm                      // x/sqrt(Σx_j²/d + eps), without a bias (Zhang and Sennrich, 2019)
)

// Norm normalizes each row: y = (x - mean)·rstd·gain + bias, where Kind defines mean and rstd.
type Norm struct {
	Gain *Param // [d]
	Bias *Param // [d]; nil in an RMSNorm
	Eps  float32
	Kind NormKind
}

// NewNorm declares name.gain and, unless kind is RMSNorm, name.bias. UnbiasedNorm requires d ≥ 2.
func NewNorm(ps *Params, name string, d int, eps float32, kind NormKind) Norm {
	l := Norm{Gain: ps.New(name+".gain", d), Eps: eps, Kind: kind}
	if kind != RMSNorm {
		l.Bias = ps.New(name+".bias", d)
	}
	return l
}

// NormAct holds the activations of a Norm, which Forward sets and Backward reads.
type NormAct struct {
	X    mat.Matrix // [n × d] input of the norm, in the caller's memory
	Y    mat.Matrix // [n × d] output
	Mean []float32  // [n] mean of each row of X; 0 in an RMSNorm
	RStd []float32  // [n] reciprocal standard deviation of each row of X, as Kind defines it
}

// Alloc allocates the activations of n tokens.
func (l Norm) Alloc(a *Arena, n int) NormAct {
	return NormAct{Y: a.Matrix(n, l.Gain.Shape[0]), Mean: a.Slice(n), RStd: a.Slice(n)}
}

// Forward returns act.Y [n × d], the norm of each row of x [n × d].
func (l Norm) Forward(pool *mat.Pool, act *NormAct, x mat.Matrix) mat.Matrix {
	act.X = x
	mat.Each(pool, x.Rows, rowGrain, normRows{l, *act})
	return act.Y
}

type normRows struct {
	Norm
	act NormAct
}

func (t *normRows) Range(lo, hi int) {
	act := &t.act
	if t.Kind == LayerNorm {
		mat.LayerNormRows(act.Y.RowRange(lo, hi), act.X.RowRange(lo, hi), act.Mean[lo:hi], act.RStd[lo:hi], t.Gain.W, t.Bias.W, t.Eps)
		return
	}
	for i := lo; i < hi; i++ {
		t.row(act, i)
	}
}

// row normalizes row i of act.X for the other kinds.
func (l *Norm) row(act *NormAct, i int) {
	x, y := act.X.Row(i), act.Y.Row(i)
	d := float32(len(x))
	var mean, rstd float32
	if l.Kind != RMSNorm {
		mean = mat.Sum(x) / d
	}
	squares := mat.SumSquaredDiff(x, mean) // Σ (x_j - mean)²
	if l.Kind == UnbiasedNorm {
		rstd = float32(1 / (math.Sqrt(float64(squares/(d-1))) + float64(l.Eps)))
	} else {
		rstd = float32(1 / math.Sqrt(float64(squares/d+l.Eps)))
	}
	mat.LayerNorm(y, x, mean, rstd, l.Gain.W, l.Bias.vector())
	act.Mean[i], act.RStd[i] = mean, rstd
}

// Backward adds to the gradients of gain and bias for dy [n × d] and the activations of Forward,
// and sets or adds to dx [n × d]. With mode Set dx may be dy; mode Add overwrites dy.
//
// With x̂ = (x - mean)·rstd, its gradient g = dy·gain, and mean() over the d elements of a row:
//
//	y_j = gain_j·x̂_j + bias_j     so   dgain_j = Σ_rows dy_j·x̂_j   dbias_j = Σ_rows dy_j
//	x̂_i = (x_i - mean(x))·rstd    so
//	∂x̂_i/∂x_j = ([i=j] - 1/d)·rstd + (x_i - mean(x))·∂rstd/∂x_j
//	dx_j = Σ_i g_i·∂x̂_i/∂x_j
//	     = rstd·(g_j - mean(g)) + ∂rstd/∂x_j·Σ_i g_i·x̂_i/rstd
//	     = rstd·(g_j - mean(g) - c·x̂_j)
//
// where c·x̂_j = -∂rstd/∂x_j·Σ_i g_i·x̂_i/rstd². With σ² = mean((x - mean(x))²), s² = σ²·d/(d-1),
// and because x - mean(x) adds up to 0, ∂σ²/∂x_j = 2·(x_j - mean(x))/d and
// ∂s/∂x_j = (x_j - mean(x))/((d-1)·s):
//
//	LayerNorm      rstd = 1/sqrt(σ² + eps)
//	               ∂rstd/∂x_j = -½·rstd³·∂σ²/∂x_j = -rstd²·x̂_j/d
//	               c = mean(g·x̂)
//	UnbiasedNorm   rstd = 1/(s + eps)
//	               ∂rstd/∂x_j = -rstd²·∂s/∂x_j = -rstd·x̂_j/((d-1)·s)
//	               c = Σ_i g_i·x̂_i/(d-1) · (s + eps)/s
//	RMSNorm        as LayerNorm with σ² = mean(x²), without mean(x), and so without 1/d in
//	               ∂x̂_i/∂x_j and without mean(g)
func (l Norm) Backward(pool *mat.Pool, dx, dy mat.Matrix, act *NormAct, mode Mode) {
	l.Gain.AddInOrder(func(int, int) { // a vector is one block
		mat.Each(pool, dy.Cols, columnGrain, normParamGradCols{l, dy, *act})
	})
	mat.Each(pool, dy.Rows, rowGrain, normGradRows{l, dx, dy, *act, mode})
}

type normParamGradCols struct {
	Norm
	dy  mat.Matrix
	act NormAct
}

func (t *normParamGradCols) Range(lo, hi int) {
	var dbias []float32 // nil in an RMSNorm
	if t.Bias != nil {
		dbias = t.Bias.G[lo:hi]
	}
	n := t.dy.Rows
	mat.LayerNormParamGradRows(t.Gain.G[lo:hi], dbias, t.dy.ColRange(lo, hi), t.act.X.ColRange(lo, hi), t.act.Mean[:n], t.act.RStd[:n])
}

type normGradRows struct {
	Norm
	dx, dy mat.Matrix
	act    NormAct
	mode   Mode
}

func (t *normGradRows) Range(lo, hi int) {
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

// gradRow sets dx for row i of act.X. dx may be dy.
func (l *Norm) gradRow(dx, dy []float32, act *NormAct, i int) {
	x, mean, rstd := act.X.Row(i), act.Mean[i], act.RStd[i]
	d := float32(len(x))
	sumG, sumGX := mat.LayerNormGradSums(dy, x, mean, rstd, l.Gain.W) // Σ g_j, Σ g_j·x̂_j
	meanG, c := sumG/d, sumGX/d
	switch l.Kind {
	case UnbiasedNorm:
		if s := 1/rstd - l.Eps; s > 0 {
			c = sumGX / (d - 1) / (s * rstd)
		} else { // all x_j are equal and x̂ is 0
			c = 0
		}
	case RMSNorm:
		meanG = 0
	}
	mat.LayerNormGrad(dx, dy, x, mean, rstd, l.Gain.W, meanG, c)
}
