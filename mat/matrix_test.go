package mat

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestRowAndAtOfView(t *testing.T) {
	parent := random(5, 7)
	view := parent.Slice(1, 3, 2, 6)
	if got, want := &view.Row(1)[3], &parent.Data[2*7+5]; got != want {
		t.Errorf("Row(1)[3] = %v, want %v", *got, *want)
	}
	if got := cap(view.Row(0)); got != 4 {
		t.Errorf("cap(Row(0)) = %d, want 4, so that append does not write to the parent", got)
	}
	column := view.ColRange(1, 2) // its rows have one element, for any strides
	if got, want := column.T().T().Row(1)[0], parent.At(2, 3); got != want {
		t.Errorf("row 1 of a column is %v, want %v", got, want)
	}
	strided := Matrix{parent.Data, 3, 1, 7, 7}
	if got, want := strided.Row(2)[0], parent.At(2, 0); got != want || len(strided.Row(2)) != 1 {
		t.Errorf("row 2 of one strided column is %v, want [%v]", strided.Row(2), want)
	}
	mustPanic(t, "mat: ", map[string]func(){
		"Row after the view":        func() { parent.RowRange(0, 2).Row(2) },
		"Row before the view":       func() { parent.RowRange(2, 4).Row(-1) },
		"Row of no columns":         func() { New(3, 0).Row(3) },
		"Row of a transpose":        func() { parent.T().Row(0) },
		"At after the rows":         func() { parent.RowRange(0, 2).At(2, 0) },
		"At after the columns":      func() { parent.ColRange(0, 2).At(0, 2) },
		"At a negative column":      func() { parent.At(1, -1) },
		"At a row of a transpose":   func() { parent.ColRange(0, 2).T().At(2, 0) },
		"Row of a matrix without i": func() { Matrix{}.Row(0) },
	})
}

// One column has contiguous rows for any ColStride, on all kernels.
func TestOneColumnWithAStride(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		const rows = 5
		column := func() Matrix { return Matrix{random(rows, 3).Data, rows, 1, 3, 2} }
		dense := func(m Matrix) Matrix {
			d := New(m.Rows, 1)
			for i := range m.Rows {
				d.Data[i] = m.At(i, 0)
			}
			return d
		}
		equal := func(what string, got, want []float32) {
			t.Helper()
			for i := range want {
				if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
					t.Errorf("%s: element %d is %v, want %v as in a dense column", what, i, got[i], want[i])
				}
			}
		}
		m, x := column(), column()
		got, want := []float32{1}, []float32{1}
		AddRows(got, m)
		AddRows(want, dense(m))
		equal("AddRows", got, want)

		mean, rstd := random(1, rows).Data, random(1, rows).Data
		gain, bias, wantGain, wantBias := []float32{1}, []float32{2}, []float32{1}, []float32{2}
		LayerNormParamGradRows(gain, bias, m, x, mean, rstd)
		LayerNormParamGradRows(wantGain, wantBias, dense(m), dense(x), mean, rstd)
		equal("LayerNormParamGradRows", append(gain, bias...), append(wantGain, wantBias...))

		y, wantY := column(), New(rows, 1)
		SoftmaxRows(y, x, 0, 1)
		SoftmaxRows(wantY, dense(x), 0, 1)
		equal("SoftmaxRows", dense(y).Data, wantY.Data)
		SoftmaxGradRows(y, m, x, 0.5)
		SoftmaxGradRows(wantY, dense(m), dense(x), 0.5)
		equal("SoftmaxGradRows", dense(y).Data, wantY.Data)

		to, wantTo := New(1, rows), New(1, rows)
		Transpose(nil, to, x)
		Transpose(nil, wantTo, dense(x))
		equal("Transpose", to.Data, wantTo.Data)
		Transpose(nil, y, to)
		equal("Transpose to a column", dense(y).Data, to.Data)

		w := New(1, 3)
		c, wantC := New(rows, 3), New(rows, 3)
		for name, multiply := range map[string]func(c, a Matrix){
			"Gemm":     func(c, a Matrix) { Gemm(nil, c, a, w, GemmOptions{}) },
			"GemmInt8": func(c, a Matrix) { GemmInt8(nil, c, a, QuantizeInt8(nil, w), GemmOptions{}) },
			"GemmBF16": func(c, a Matrix) { GemmBF16(nil, c, a, w, GemmOptions{}) },
		} {
			multiply(c, x)
			multiply(wantC, dense(x))
			equal(name, c.Data, wantC.Data)
		}
	})
}

// Operands that are only read may have overlapping rows, and a stride of 0 repeats a row or column.
// Data ends with the last element.
func TestGemmOfRepeatedRowsAndColumns(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(9, 10))
		stored := func(m Matrix) Matrix {
			d := New(m.Rows, m.Cols)
			for i := range m.Rows {
				for j := range m.Cols {
					d.Data[i*m.Cols+j] = m.At(i, j)
				}
			}
			return d
		}
		data := operand(r, 1, 4000, false, normal).Data
		for _, s := range []struct{ m, n, k int }{{1, 1, 1}, {3, 40, 17}, {13, 33, 64}, {70, 16, 20}, {200, 130, 530}, {9, 600, 9}, {200, 16, 1100}} {
			if thin() && s.k > 100 {
				continue
			}
			for form, views := range map[string]func(rows, cols int) Matrix{
				"one row":             func(rows, cols int) Matrix { return Matrix{data[:cols], rows, cols, 0, 1} },
				"one column":          func(rows, cols int) Matrix { return Matrix{data[:rows], rows, cols, 1, 0} },
				"overlapping rows":    func(rows, cols int) Matrix { return Matrix{data[:2*rows+cols-2], rows, cols, 2, 1} },
				"overlapping columns": func(rows, cols int) Matrix { return Matrix{data[:rows+3*cols-3], rows, cols, 1, 3} },
			} {
				a, b := views(s.m, s.k), views(s.k, s.n)
				got, want := New(s.m, s.n), New(s.m, s.n)
				for name, multiply := range map[string]func(c, a, b Matrix){
					"Gemm":       func(c, a, b Matrix) { Gemm(pools[2], c, a, b, GemmOptions{}) },
					"GemmPacked": func(c, a, b Matrix) { GemmPacked(pools[2], c, a, Pack(nil, b), GemmOptions{}) },
					"GemmBF16":   func(c, a, b Matrix) { GemmBF16(nil, c, a, b, GemmOptions{}) },
					"GemmInt8":   func(c, a, b Matrix) { GemmInt8(nil, c, a, QuantizeInt8(nil, b), GemmOptions{}) },
				} {
					if name == "GemmBF16" && kernelBF16() == portableBF16 && s.k > 100 {
						continue // one slow loop for all sizes
					}
					multiply(got, a, b)
					multiply(want, stored(a), stored(b))
					for i, x := range got.Data {
						if math.Float32bits(x) != math.Float32bits(want.Data[i]) {
							t.Fatalf("%s, %s, %+v: C[%d, %d] is %v, want %v", name, form, s, i/s.n, i%s.n, x, want.Data[i])
						}
					}
				}
			}
		}
	})
}

// A matrix that exceeds its data, or whose size overflows, panics with its shape before it reaches
// a kernel.
func TestMatrixOutsideItsData(t *testing.T) {
	x := make([]float32, 100)
	const maxInt, half, root = math.MaxInt, math.MaxInt/2 + 1, 1 << (bits.UintSize / 2)
	forEachKernel(t, func(t *testing.T) {
		for _, m := range []Matrix{
			{x, -1, 3, 3, 1},
			{x, 3, -1, 3, 1},
			{x, 3, 3, -3, 1},
			{x, 3, 3, 1, -3},
			{x, 3, 3, 2, 2},
			{x, 3, 40, 40, 1},
			{x, 40, 3, 1, 40},
			{x, 3, 3, half, 1},
			{x, 5, 3, half/2 + 10, 1},
			{x, 1, 1 << 60 >> (64 - bits.UintSize), 1, 1},
			{x, root, 1, root, 1},
			{x, 1, maxInt, 1, 0},    // one element, repeated
			{x, maxInt, 1, 0, 1},    // the same
			{x, maxInt, 100, 0, 1},  // one row, repeated
			{x, 100, maxInt, 1, 0},  // one column, repeated
			{x, half, 16, 0, 1},     // rows·cols overflows to 0
			{x, half / 8, 16, 0, 1}, // its bytes do
			{x, maxInt, 0, 1, 1},
			{x, 0, maxInt, 1, 1},
			{nil, 1, 1, 1, 1},
		} {
			shape := fmt.Sprintf("%d × %d", m.Rows, m.Cols)
			for name, f := range map[string]func(){
				"Pack":         func() { Pack(nil, m) },
				"QuantizeInt8": func() { QuantizeInt8(nil, m) },
				"Gemm, A":      func() { Gemm(nil, New(3, 3), m, New(3, 3), GemmOptions{}) },
				"Gemm, B":      func() { Gemm(nil, New(3, 3), New(3, 3), m, GemmOptions{}) },
				"Gemm, C":      func() { Gemm(nil, m, New(3, 3), New(3, 3), GemmOptions{}) },
				"GemmBF16":     func() { GemmBF16(nil, New(3, 3), New(3, 3), m, GemmOptions{}) },
				"GemmInt8":     func() { GemmInt8(nil, New(3, 3), m, QuantizeInt8(nil, New(3, 3)), GemmOptions{}) },
				"residual":     func() { Gemm(nil, New(3, 3), New(3, 3), New(3, 3), GemmOptions{Residual: m}) },
				"Transpose":    func() { Transpose(nil, New(3, 3), m) },
				"AddRows":      func() { AddRows(x[:3], m) },
				"SoftmaxRows":  func() { SoftmaxRows(m, m, 1, 1) },
			} {
				if name == "residual" && m.Data == nil {
					continue // no residual
				}
				if s, ok := panicOf(f).(string); !ok || !strings.HasPrefix(s, "mat: ") || !strings.Contains(s, shape) {
					t.Errorf("%s of %s with strides %d and %d panics with %q, want the shape in it", name, shape, m.RowStride, m.ColStride, s)
				}
			}
		}
	})
}

// Results must have contiguous rows that do not overlap.
func TestOverlappingResults(t *testing.T) {
	x := make([]float32, 100)
	for _, c := range []Matrix{{x, 3, 3, 2, 1}, {x, 3, 3, 0, 1}, {x, 3, 1, 0, 1}, {x, 3, 3, 1, 3}} {
		from := New(c.Rows, c.Cols)
		for name, f := range map[string]func(){
			"Gemm":            func() { Gemm(nil, c, New(c.Rows, 3), New(3, c.Cols), GemmOptions{}) },
			"GemmPacked":      func() { GemmPacked(nil, c, New(c.Rows, 3), Pack(nil, New(3, c.Cols)), GemmOptions{}) },
			"GemmInt8":        func() { GemmInt8(nil, c, New(c.Rows, 3), QuantizeInt8(nil, New(3, c.Cols)), GemmOptions{}) },
			"GemmBF16":        func() { GemmBF16(nil, c, New(c.Rows, 3), New(3, c.Cols), GemmOptions{}) },
			"Transpose":       func() { Transpose(nil, c, New(c.Cols, c.Rows)) },
			"SoftmaxRows":     func() { SoftmaxRows(c, from, 1, 1) },
			"SoftmaxGradRows": func() { SoftmaxGradRows(c, from, from, 1) },
		} {
			if s, ok := panicOf(f).(string); !ok || !strings.Contains(s, fmt.Sprintf("%d × %d", c.Rows, c.Cols)) {
				t.Errorf("%s to strides %d and %d panics with %q, want the shape in it", name, c.RowStride, c.ColStride, s)
			}
		}
	}
}

// The work of a batch saturates instead of overflowing.
func TestSaturatingProduct(t *testing.T) {
	for _, c := range []struct{ a, b, c, want int }{{3, 4, 5, 60}, {0, math.MaxInt, math.MaxInt, 0}, {math.MaxInt, 2, 1, math.MaxInt}, {math.MaxInt, 1, 1, math.MaxInt}, {math.MaxInt, math.MaxInt, 0, 0}} {
		if got := saturatingProduct(c.a, c.b, c.c); got != c.want {
			t.Errorf("saturatingProduct(%d, %d, %d) = %d, want %d", c.a, c.b, c.c, got, c.want)
		}
	}
}
