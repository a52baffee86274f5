package mat

import (
	"math/rand/v2"
	"testing"
)

func TestVecAtTheBoundaryOfMemory(t *testing.T) {
	const few, maxFloats = 70, 288 // some kernels differ for vectors of 256 or more
	var sides [2][4][]float32      // vectors that end, and that begin, at an unmapped page
	for i := range 4 {
		sides[0][i], sides[1][i] = atBoundary(t, maxFloats)
	}
	forEachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		for _, c := range vecCases {
			for n := range maxFloats + 1 {
				if n > few && n < maxFloats-32 {
					continue
				}
				for side, all := range sides {
					v := make([][]float32, c.vectors)
					for i := range v {
						v[i] = all[i][:n:n]
						if side == 0 {
							v[i] = all[i][maxFloats-n:]
						}
						for j := range v[i] {
							v[i][j] = ordinary(r)
						}
					}
					c.check(t, v, scalars(r, ordinary), "ordinary", ", at the boundary")
				}
			}
		}
	})
}

func TestLayerNormRowsAtTheBoundaryOfMemory(t *testing.T) {
	sides := newEdges(t, 2, 10*53).sides
	forEachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(13, 14))
		for range 200 {
			side := r.IntN(2)
			checkLayerNormRows(t, r, sides[0][side], sides[1][side], 1+r.IntN(10), 1+r.IntN(50))
		}
	})
}

func TestRowSumsAtTheBoundaryOfMemory(t *testing.T) {
	const rows, cols = 3, 64
	x, _ := atBoundary(t, rows*cols)
	dy, _ := atBoundary(t, rows*cols)
	gain, _ := atBoundary(t, cols)
	bias, _ := atBoundary(t, cols)
	mean, _ := atBoundary(t, rows)
	rstd, _ := atBoundary(t, rows)
	forEachKernel(t, func(t *testing.T) {
		AddRows(gain, Of(x, rows, cols))
		LayerNormParamGradRows(gain, bias, Of(dy, rows, cols), Of(x, rows, cols), mean, rstd)
	})
}
