package ref

import (
	"math"
	"testing"

	"tfm/layer"
	"tfm/mat"
)

// FromFloat32 converts a matrix of float32.
func FromFloat32(m mat.Matrix) Matrix {
	r := New(m.Rows, m.Cols)
	for i := range r {
		for j := range r[i] {
			r[i][j] = float64(m.At(i, j))
		}
	}
	return r
}

// Float64s converts numbers.
func Float64s(x []float32) []float64 {
	r := make([]float64, len(x))
	for i, v := range x {
		r[i] = float64(v)
	}
	return r
}

// WeightsOf copies the weights of ps.
func WeightsOf(ps *layer.Params) Weights {
	w := Weights{}
	for _, p := range ps.List {
		w[p.Name] = Float64s(p.W)
	}
	return w
}

// CheckClose fails the test unless got and want agree to within bound times the largest |want|, which
// must not be 0.
func CheckClose(t testing.TB, name string, got mat.Matrix, want Matrix, bound float64) {
	t.Helper()
	var largest, worst float64
	for i := range want {
		for j := range want[i] {
			largest = max(largest, math.Abs(want[i][j]))
			worst = max(worst, math.Abs(float64(got.At(i, j))-want[i][j]))
		}
	}
	if !(worst <= bound*largest) || largest == 0 {
		t.Errorf("%s: off by %.3g where the largest is %.3g", name, worst, largest)
	}
}

// CheckGradient fails the test unless grad is the derivative of f with respect to w, by central
// differences, to within 1e-4 of the larger of the two and a thirtieth of the largest derivative in
// w. The bound is float32's: sums of some hundred terms of rounding 6e-8, through a few layers; the
// differences themselves are good to 1e-8, and so small that hardly a ReLU turns on or off between
// them. rounding is an error that is allowed beside it, for derivatives that are small differences
// of large numbers. Of many numbers it checks some forty.
func CheckGradient(t testing.TB, name string, grad []float32, w []float64, rounding float64, f func() float64) {
	t.Helper()
	const bound = 1e-4
	var largest float64
	for _, g := range grad {
		largest = max(largest, math.Abs(float64(g)))
	}
	failures := 0
	for i := 0; i < len(w); i += (1 + len(w)/37) | 1 { // odd, so as not to stay in a few columns of a matrix
		h := 1e-6 * max(1, math.Abs(w[i]))
		was := w[i]
		w[i] = was + h
		above := f()
		w[i] = was - h
		below := f()
		w[i] = was
		want := (above - below) / (2 * h)
		got := float64(grad[i])
		if !(math.Abs(got-want) <= bound*max(math.Abs(got), math.Abs(want), largest/30)+rounding+1e-8) {
			if failures++; failures <= 3 {
				t.Errorf("%s: derivative %d is %.8g, central differences say %.8g; the largest is %.3g", name, i, got, want, largest)
			}
		}
	}
	if largest == 0 && len(w) > 0 {
		t.Errorf("%s: all derivatives are 0", name)
	}
}
