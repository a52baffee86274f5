package mat

import (
	"math/rand/v2"
	"testing"
)

func TestGemmBF16AtTheBoundaryOfMemory(t *testing.T) {
	e := newEdges(t, 4, 80*130)
	forEachBF16(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(13, 14))
		for range 400 {
			m, n, k := 1+r.IntN(70), 1+r.IntN(70), 1+r.IntN(130)
			if kernelBF16() == portableBF16 {
				m, n = 1+m/8, 1+n/8
			}
			o := e.options(r, 3, m, n)
			GemmBF16(nil, e.matrix(r, 0, m, n, false), e.matrix(r, 1, m, k, r.IntN(2) == 0), e.matrix(r, 2, k, n, r.IntN(2) == 0), o)
		}
	})
}
