package train

import (
	"math"
	"testing"

	"tfm/layer"
	"tfm/mat"
)

// orthogonalReference returns factor·p(x) in float64 for x [rows × cols], where p is the
// composition of orthogonalPolynomials.
func orthogonalReference(x []float64, rows, cols int, factor float64) []float64 {
	multiply := func(a, b []float64, n, k, m int) []float64 {
		c := make([]float64, n*m)
		for i := range n {
			for l := range k {
				for j := range m {
					c[i*m+j] += a[i*k+l] * b[l*m+j]
				}
			}
		}
		return c
	}
	for step, t := range orthogonalPolynomials {
		xT := make([]float64, len(x))
		for i := range rows {
			for j := range cols {
				xT[j*rows+i] = x[i*cols+j]
			}
		}
		a := multiply(x, xT, rows, cols, rows) // x·xᵀ for every shape
		if step == 0 {
			gram := a
			if rows > cols {
				gram = multiply(xT, x, cols, rows, cols)
			}
			sum := 0.0
			for _, e := range gram {
				sum += e * e
			}
			norm := math.Sqrt(sum)
			for i := range x {
				x[i] /= math.Sqrt(norm)
			}
			for i := range a {
				a[i] /= norm
			}
		}
		ax := multiply(a, x, rows, rows, cols)
		aax := multiply(a, ax, rows, rows, cols)
		y := make([]float64, len(x))
		for i := range y {
			y[i] = t.c1*x[i] + t.c3*ax[i] + t.c5*aax[i]
		}
		x = y
	}
	for i := range x {
		x[i] *= factor
	}
	return x
}

// singularMatrix returns U·S·Vᵀ [rows × cols] with the given singular values, and U·Vᵀ.
// U and V are products of Householder reflections.
func singularMatrix(rows, cols int, values []float64) (x, orthogonal []float64) {
	x, orthogonal = make([]float64, rows*cols), make([]float64, rows*cols)
	for i, s := range values {
		x[i*cols+i], orthogonal[i*cols+i] = s, 1
	}
	for k := range 3 {
		left, right := gradientOf(2*k, rows), gradientOf(2*k+1, cols)
		for _, m := range [][]float64{x, orthogonal} {
			householder(m, left, rows, cols, cols, 1)
			householder(m, right, cols, rows, 1, cols)
		}
	}
	return x, orthogonal
}

// householder multiplies m [n × k], which has the given strides, from the left by
//
//	I - 2·v·vᵀ/‖v‖²
func householder(m []float64, v []float32, n, k, rowStride, colStride int) {
	norm := 0.0
	for _, e := range v {
		norm += float64(e) * float64(e)
	}
	for j := range k {
		dot := 0.0
		for i := range n {
			dot += float64(v[i]) * m[i*rowStride+j*colStride]
		}
		for i := range n {
			m[i*rowStride+j*colStride] -= 2 * dot / norm * float64(v[i])
		}
	}
}

// The update of a matrix U·S·Vᵀ is near U·Vᵀ if the singular values differ by a factor of
// up to 30: the polynomials map each to [0.73, 1.27], with 0.01 for rounding.
func TestOrthogonalizer(t *testing.T) {
	for _, shape := range [][2]int{{64, 64}, {32, 96}, {96, 32}, {1, 40}, {40, 1}, {1, 1}} {
		rows, cols := shape[0], shape[1]
		n := min(rows, cols)
		for _, size := range []float64{1e-12, 1, 1e12} {
			values := make([]float64, n)
			for i := range values {
				values[i] = size * math.Pow(30, -float64(i)/float64(max(1, n-1)))
			}
			x64, want := singularMatrix(rows, cols, values)
			o := newOrthogonalizer(rows*cols, n)
			x, w := o.input(rows, cols), mat.New(rows, cols)
			for i, e := range x64 {
				x.Data[i] = float32(e)
			}
			o.add(w, x, -1)
			// ‖w + U·Vᵀ‖² is the sum of n squared deviations
			// of singular values from 1.
			sum := 0.0
			for i, e := range want {
				sum += (float64(w.Data[i]) + e) * (float64(w.Data[i]) + e)
			}
			if deviation := math.Sqrt(sum / float64(n)); deviation > 0.28 {
				t.Errorf("%d×%d, norm %v: singular values deviate by %v, want 0.28 or less", rows, cols, size, deviation)
			}
		}
	}
}

// muonParams returns a model with all kinds of parameters: two maps side by side, single maps, an
// embedding and biases.
func muonParams() *layer.Params {
	ps := &layer.Params{}
	ps.New("embedding", 30, 8)
	layer.NewLinear(ps, "kv", 8, 40).W.Maps = []int{16, 24}
	layer.NewLinear(ps, "tall", 24, 8)
	layer.NewLinearNoBias(ps, "square", 16, 16)
	ps.New("gain", 16)
	return ps
}

// The tolerance covers float32 rounding: an update is about rate·Scale, and the polynomials
// amplify an error of 2^-24 in small singular values by up to 78.
func TestMuon(t *testing.T) {
	const rate, momentum, scale = 1e-2, 0.9, 0.3
	ps := muonParams()
	n := ps.Count()
	u := NewMuon(ps, 0.9, 0.98, 1e-9, momentum, scale)
	m, v := make([]float64, n), make([]float64, n)
	wantSteps(t, u, n, rate, 1e-4, func(step int, w, g []float64) {
		start := 0
		for _, p := range ps.List {
			end := start + p.Size()
			if p.Maps == nil {
				adamReference(w[start:end], m[start:end], v[start:end], g[start:end], step, rate, 0.9, 0.98, 1e-9)
			}
			col := start
			for _, cols := range p.Maps {
				rows := p.Shape[0]
				var x []float64
				for i := range rows {
					for j := range cols {
						at := col + i*p.Shape[1] + j
						m[at] = momentum*m[at] + (1-momentum)*g[at]
						x = append(x, momentum*m[at]+(1-momentum)*g[at])
					}
				}
				x = orthogonalReference(x, rows, cols, rate*scale*math.Sqrt(float64(max(rows, cols))))
				for i := range rows {
					for j := range cols {
						w[col+i*p.Shape[1]+j] -= x[i*cols+j]
					}
				}
				col += cols
			}
			start = end
		}
	})
}

// A gradient of 0 changes no weight.
func TestMuonWithoutGradient(t *testing.T) {
	ps := muonParams()
	w, g := gradientOf(1, ps.Count()), make([]float32, ps.Count())
	before := append([]float32(nil), w...)
	NewMuon(ps, 0.9, 0.98, 1e-9, 0.95, 0.7).StepAndClear(nil, w, g, 1e-2, 1)
	wantSameWeights(t, "gradient 0", w, before)
}
