package convert

import (
	"math"

	"tfm/layer"
	"tfm/mat"
	"tfm/model"
)

// positionsOf returns the sinusoids, and the position of their first row, that equal a table [n ×
// d] up to the rounding of other programs, or Learned. tolerance is the largest difference of an
// element.
func positionsOf(table mat.Matrix, tolerance float64) (kind model.Positions, first int) {
	d := table.Cols
	for _, c := range []struct {
		kind  model.Positions
		waves func(positions, d int) mat.Matrix
	}{{model.Halves, layer.SinusoidHalves}, {model.Interleaved, layer.Sinusoids}, {model.TimingSignal, layer.TimingSignal}} {
		if d%2 != 0 && c.kind != model.Interleaved {
			continue
		}
		waves := c.waves(table.Rows+2, d)
		for first := range 3 {
			if isClose(table, waves.RowRange(first, first+table.Rows), tolerance) {
				return c.kind, first
			}
		}
	}
	return model.Learned, 0
}

// isClose reports whether no elements of a and b differ by more than tolerance.
func isClose(a, b mat.Matrix, tolerance float64) bool {
	for i := range a.Rows {
		x, y := a.Row(i), b.Row(i)
		for j := range x {
			if !(math.Abs(float64(x[j])-float64(y[j])) <= tolerance) {
				return false
			}
		}
	}
	return true
}
