package ref_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"tfm/internal/ref"
	"tfm/layer"
	"tfm/mat"
)

const d, heads = 12, 3

func random(r *rand.Rand, rows, cols int) mat.Matrix {
	m := mat.New(rows, cols)
	layer.Normal(m.Data, 1, r)
	return m
}

// flat copies m to a matrix whose rows are views into one slice, so that ref.CheckGradient can
// change them.
func flat(m mat.Matrix) ([]float64, ref.Matrix) {
	data := ref.Float64s(m.Data)
	rows := make(ref.Matrix, m.Rows)
	for i := range rows {
		rows[i] = data[i*m.Cols:][:m.Cols]
	}
	return data, rows
}

// weighted returns Σ dy·y, a loss whose gradient with respect to y is dy.
func weighted(dy mat.Matrix, y ref.Matrix) (sum float64) {
	for i := range y {
		for j := range y[i] {
			sum += float64(dy.At(i, j)) * y[i][j]
		}
	}
	return sum
}

// stale fills matrices with NaN, to test that every element is set.
func stale(all ...mat.Matrix) {
	for _, m := range all {
		layer.Fill(m.Data, float32(math.NaN()))
	}
}

func wantBits(t *testing.T, name string, got, want mat.Matrix) {
	t.Helper()
	for i := range want.Rows {
		for j := range want.Cols {
			if math.Float32bits(got.At(i, j)) != math.Float32bits(want.At(i, j)) {
				t.Fatalf("%s: element (%d, %d) = %v, want %v", name, i, j, got.At(i, j), want.At(i, j))
			}
		}
	}
}
