package mat

import (
	"math/rand/v2"
	"testing"
)

func TestGemmBF16AtTheBoundaryOfMemory(t *testing.T) {
	const maxFloats = 80 * 130
	var data [4][2][]float32
	for i := range data {
		data[i][0], data[i][1] = atBoundary(t, maxFloats)
	}
	forEachBF16(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(13, 14))
		for range 400 {
			m, n, k := 1+r.IntN(70), 1+r.IntN(70), 1+r.IntN(130)
			if kernelBF16() == portableBF16 {
				m, n = 1+m/8, 1+n/8
			}
			place := func(i, rows, cols int, transposed bool) Matrix {
				if transposed {
					rows, cols = cols, rows
				}
				x := Matrix{nil, rows, cols, cols + r.IntN(9), 1}
				side := r.IntN(2)
				x.Data = data[i][side][:x.extent()]
				if side == 0 {
					x.Data = data[i][0][maxFloats-x.extent():]
				}
				if transposed {
					return x.T()
				}
				return x
			}
			o := randomOptions(r)
			if o.Bias != nil {
				o.Bias = place(3, 1, n, false).Data
			}
			if o.Residual.Data != nil {
				o.Residual = place(3, m, n, false)
			}
			GemmBF16(nil, place(0, m, n, false), place(1, m, k, r.IntN(2) == 0), place(2, k, n, r.IntN(2) == 0), o)
		}
	})
}
