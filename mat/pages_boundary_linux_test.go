package mat

import (
	"math/rand/v2"
	"testing"
)

func TestPagesAtTheBoundaryOfMemory(t *testing.T) {
	e := newEdges(t, 6, 600_000)
	forEachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(13, 14))
		for range 100 {
			operand := -1
			c := randomPageCase(r, func(n int) []float32 {
				operand++
				return e.floats(r, operand, n)
			})
			c.check(t)
		}
	})
}
