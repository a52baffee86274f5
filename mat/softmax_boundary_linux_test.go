package mat

import (
	"math/rand/v2"
	"testing"
)

func TestSoftmaxRowsAtTheBoundaryOfMemory(t *testing.T) {
	sides := newEdges(t, 3, 12*75).sides
	forEachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(13, 14))
		for range 400 {
			side := r.IntN(2)
			cols := 1 + r.IntN(70)
			checkRows(t, r, sides[0][side], sides[1][side], sides[2][side], 1+r.IntN(10), cols, r.IntN(cols+2), ordinary)
		}
	})
}
