package train

import (
	"math"

	"tfm/mat"
)

// gradientNorm computes the L2 norm of a gradient. Blocks of fixed size are summed in parallel and
// their sums added in order, so that the bits of the norm do not depend on the number of threads.
// The norm of a finite gradient is finite: if squares overflow float32, they are computed in
// float64.
type gradientNorm struct {
	sums []float64 // sum of squares of each block
}

const normBlockSize = 1 << 16 // floats in a block

func newGradientNorm(n int) *gradientNorm {
	return &gradientNorm{make([]float64, (n+normBlockSize-1)/normBlockSize)}
}

// of returns the norm of g.
func (n *gradientNorm) of(p *mat.Pool, g []float32) float64 {
	mat.Each(p, len(n.sums), 1, blockSums{g, n.sums})
	sum := 0.0
	for _, s := range n.sums {
		sum += s
	}
	return math.Sqrt(sum)
}

type blockSums struct {
	g    []float32
	sums []float64
}

func (b *blockSums) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		block := b.g[i*normBlockSize : min((i+1)*normBlockSize, len(b.g))]
		sum := float64(mat.Dot(block, block))
		if !finite(sum) {
			sum = 0
			for _, x := range block {
				// the product is exact, so that fusing changes nothing
				sum += float64(x) * float64(x)
			}
		}
		b.sums[i] = sum
	}
}

// clipFactor returns the factor that reduces a gradient's norm to limit (Pascanu et al., 2013, "On
// the difficulty of training recurrent neural networks", algorithm 1). It is 1 for a norm up to
// limit and for limit 0, and never 0, which Adam rejects.
func clipFactor(norm, limit float64) float32 {
	if limit > 0 && norm > limit {
		return max(float32(limit/norm), math.SmallestNonzeroFloat32)
	}
	return 1
}
