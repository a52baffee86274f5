package ctranslate2

import (
	"tfm/layer"
	"tfm/mat"
	"tfm/model"
	"tfm/model/convert/internal/parts"
)

// positionsOf returns the sinusoids, and the position of their first row, that equal a table [n ×
// d] up to the rounding of other programs, or Learned. tolerance is the largest difference of an
// element of the first row; it grows with the position, because others compute the argument of the
// sine in float32.
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
			if areSinusoids(table, waves.RowRange(first, first+table.Rows), tolerance) {
				return c.kind, first
			}
		}
	}
	return model.Learned, 0
}

// areSinusoids reports whether the rows of a table are those of waves.
func areSinusoids(table, waves mat.Matrix, tolerance float64) bool {
	const growth = 1.2e-7 // of the argument's rounding with each position
	for i := range table.Rows {
		if !parts.IsClose(table.RowRange(i, i+1), waves.RowRange(i, i+1), tolerance+float64(growth*float64(i+1))) {
			return false
		}
	}
	return true
}
