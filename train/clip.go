package train

import (
	"fmt"
	"math"

	"tfm/layer"
	"tfm/mat"
)

// gradientNorm is the Euclidean norm of a gradient. It is summed in blocks of fixed size, which the threads share,
// and the blocks' sums are added in order, so its bits do not depend on the number of threads.
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

func (b *blockSums) Rows(lo, hi int) {
	for i := lo; i < hi; i++ {
		block := b.g[i*normBlock : min((i+1)*normBlock, len(b.g))]
		b.sums[i] = float64(mat.Dot(block, block))
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

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// badGradient says which tensor is to blame for a gradient whose norm is not a finite number.
func badGradient(params *layer.Params) error {
	return bad("gradient", params, func(p *layer.Param) []float32 { return p.G })
}

// badWeight says which tensor is to blame for weights whose sum is not a finite number.
func badWeight(params *layer.Params) error {
	return bad("weight", params, func(p *layer.Param) []float32 { return p.W })
}

func bad(what string, params *layer.Params, of func(*layer.Param) []float32) error {
	var largest float32
	var name string
	for _, p := range params.List {
		for i, x := range of(p) {
			if !finite(float64(x)) {
				return fmt.Errorf("the %s of %s %v is %v at element %d", what, p.Name, p.Shape, x, i)
			}
			if size := max(x, -x); size > largest {
				largest, name = size, p.Name
			}
		}
	}
	return fmt.Errorf("the %s is too large, up to %g in %s", what, largest, name)
}
