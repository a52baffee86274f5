package ref

import (
	"math"
	"testing"

	"tfm/layer"
	"tfm/mat"
)

// FromFloat32 returns m as a Matrix.
func FromFloat32(m mat.Matrix) Matrix {
	r := make(Matrix, m.Rows)
	for i := range r {
		r[i] = Float64s(m.Row(i))
	}
	return r
}

// ToFloat32 returns m rounded to float32.
func ToFloat32(m Matrix) mat.Matrix {
	r := mat.New(len(m), len(m[0]))
	for i := range m {
		for j := range m[i] {
			r.Row(i)[j] = float32(m[i][j])
		}
	}
	return r
}

// Float64s returns x in float64.
func Float64s(x []float32) []float64 {
	r := make([]float64, len(x))
	for i, v := range x {
		r[i] = float64(v)
	}
	return r
}

// WeightsOf returns a copy of the weights of ps.
func WeightsOf(ps *layer.Params) Weights {
	w := Weights{}
	for _, p := range ps.List {
		w[p.Name] = Float64s(p.W)
	}
	return w
}

// CheckClose fails the test unless got and want agree to within bound times the largest |want|,
// which must not be 0.
func CheckClose(t testing.TB, name string, got mat.Matrix, want Matrix, bound float64) {
	t.Helper()
	if got.Rows != len(want) || len(want) > 0 && got.Cols != len(want[0]) {
		t.Errorf("%s: shape %d × %d, want %d × %d", name, got.Rows, got.Cols, len(want), len(want[0]))
		return
	}
	var largest, worst float64
	var row, col int
	for i := range want {
		for j := range want[i] {
			largest = max(largest, math.Abs(want[i][j]))
			e := math.Abs(float64(got.At(i, j)) - want[i][j])
			if !math.IsNaN(worst) && !(e <= worst) {
				worst, row, col = e, i, j
			}
		}
	}
	if !(worst <= bound*largest) || largest == 0 {
		t.Errorf("%s: error = %.3g at (%d, %d), want at most %.3g of the largest element %.3g", name, worst, row, col, bound, largest)
	}
}

// CheckGradient fails the test unless grad is the gradient of f with respect to w. It compares
// about forty elements with central differences, to within 1e-4 of the largest of three values: the
// element, the central difference, and 1/30 of the largest element of grad.
//
// The bound covers float32's rounding: sums of some hundred terms with errors of 6e-8, through a
// few layers. The central differences have errors of 1e-8, with steps so small that a ReLU rarely
// turns on or off between them. rounding is an additional absolute error, for elements that are
// small differences of large values.
func CheckGradient(t testing.TB, name string, grad []float32, w []float64, rounding float64, f func() float64) {
	t.Helper()
	const bound = 1e-4
	var largest float64
	for _, g := range grad {
		largest = max(largest, math.Abs(float64(g)))
	}
	failures := 0
	stride := (1 + len(w)/37) | 1 // odd, to check many columns of a matrix
	for i := 0; i < len(w); i += stride {
		h := 1e-6 * max(1, math.Abs(w[i]))
		old := w[i]
		w[i] = old + h
		above := f()
		w[i] = old - h
		below := f()
		w[i] = old
		want := (above - below) / (2 * h)
		got := float64(grad[i])
		if !(math.Abs(got-want) <= bound*max(math.Abs(got), math.Abs(want), largest/30)+rounding+1e-8) {
			if failures++; failures <= 3 {
				t.Errorf("%s: gradient %d = %.8g, want %.8g from central differences; the largest is %.3g", name, i, got, want, largest)
			}
		}
	}
	if largest == 0 && len(w) > 0 {
		t.Errorf("%s: all gradients are 0", name)
	}
}
