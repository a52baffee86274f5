package mat

import (
	"math/rand/v2"
	"testing"
)

func TestPagesAtTheBoundaryOfMemory(t *testing.T) {
	const maxFloats = 600_000
	var data [6][2][]float32
	for i := range data {
		data[i][0], data[i][1] = atBoundary(t, maxFloats)
	}
	forEachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(13, 14))
		for range 100 {
			operand := 0
			c := randomPageCase(r, func(n int) []float32 {
				end, begin := data[operand][0], data[operand][1]
				operand++
				if r.IntN(2) == 0 {
					return begin[:n:n]
				}
				return end[len(end)-n:]
			})
			c.check(t)
		}
	})
}
