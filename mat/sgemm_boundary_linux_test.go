package mat

import (
	"math/rand/v2"
	"testing"
)

// Each operand ends, or begins, at the boundary of memory, without a gap after its last row.
func TestSgemmAtTheBoundaryOfMemory(t *testing.T) {
	const maxFloats = 30*34 + 30
	var end, begin [3][]float32
	for i := range end {
		end[i], begin[i] = atBoundary(t, maxFloats)
	}
	forEachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 8))
		for range 200 {
			q := newBLAS(r, "NT"[r.IntN(2)], "NT"[r.IntN(2)], 1+r.IntN(30), 1+r.IntN(30), 1+r.IntN(30), 1.5, float32(r.IntN(3)), normal)
			for i, x := range []*[]float32{&q.a, &q.b, &q.c} {
				place := end[i][maxFloats-len(*x):]
				if r.IntN(2) == 0 {
					place = begin[i][:len(*x)]
				}
				copy(place, *x)
				*x = place
			}
			q.check(t, nil, true)
		}
	})
}
