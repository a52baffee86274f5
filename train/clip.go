package train

import (
	"math"

	"tfm/mat"
)

// gradientNorm is the Euclidean norm of a gradient. It is summed in blocks of fixed size, which the threads share,
// and the blocks' sums are added in order, so its bits do not depend on the number of threads. It is finite if the
// gradient is: where float32's squares overflow they are taken in float64.
type gradientNorm struct {
	sums []float64 // one a block
}

const normBlock = 1 << 16

func newGradientNorm(n int) *gradientNorm {
	return &gradientNorm{make([]float64, (n+normBlock-1)/normBlock)}
}

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
		block := b.g[i*normBlock : min((i+1)*normBlock, len(b.g))]
		sum := float64(mat.Dot(block, block))
		if !finite(sum) {
			sum = 0
			for _, x := range block {
				sum += float64(x) * float64(x) // exact, so the same if fused
			}
		}
		b.sums[i] = sum
	}
}

// clipFactor is what a gradient of the given norm is multiplied with so that its norm is at most limit
// (Pascanu et al., 2013, "On the difficulty of training recurrent neural networks", algorithm 1). A limit of
// 0 leaves it as it is.
func clipFactor(norm, limit float64) float32 {
	if limit > 0 && norm > limit {
		return float32(limit / norm)
	}
	return 1
}
