package mat

import (
	"math/rand/v2"
	"testing"
)

func TestSoftmaxRowsAtTheBoundaryOfMemory(t *testing.T) {
	const maxFloats = 12 * 75
	var sides [3][2][]float32
	for i := range sides {
		sides[i][0], sides[i][1] = atBoundary(t, maxFloats)
	}
	forEachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(13, 14))
		for range 400 {
			side := r.IntN(2)
			cols := 1 + r.IntN(70)
			checkRows(t, r, sides[0][side], sides[1][side], sides[2][side], 1+r.IntN(10), cols, r.IntN(cols+2), ordinary)
		}
	})
}
