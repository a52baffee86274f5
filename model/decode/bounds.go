package decode

import (
	"math"
	"sync"

	"tfm/mat"
)

// outputBounds is the output projection in int8, with bounds of its error. Greedy search needs only
// the largest logit, so only logits whose upper bounds are not below it are computed in float32.
// With x' and w' for x and w in int8, the float32 logit z = x·w + b and r = x'·w' + b satisfy, by
// Cauchy's inequality,
//
//	|z - r| ≤ |x|·|w - w'| + |x - x'|·|w'| + κ·X·W + 2^-20·|b|
//	X = |x| + |x - x'|, W = |w'| + |w - w'|, κ = (d + 64)·2^-24
//
// The last two terms bound the rounding of all float32 operations, those of the bound included.
// A bias of -Inf is exact.
type outputBounds struct {
	output linear
	errors []float32 // |w - w'| + 2^-20·|b| of each column
	norms  []float32 // |w'| of each column
	kappa  float64
}

// lazyBounds are the bounds of Weights that share an output projection, nil before their first use.
type lazyBounds struct {
	mu sync.Mutex
	of *outputBounds
}

// get returns the bounds of output. Its first call computes them on the threads of p.
func (b *lazyBounds) get(p *mat.Pool, output *linear) *outputBounds {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of == nil {
		b.of = newOutputBounds(p, output)
	}
	return b.of
}

// reset makes the next use compute the bounds anew.
func (b *lazyBounds) reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.of = nil
}

func newOutputBounds(p *mat.Pool, output *linear) *outputBounds {
	d, n := output.size()
	b := &outputBounds{
		output: linear{&weightMatrix{int8: mat.NewInt8(d, n)}, output.bias},
		errors: make([]float32, n), norms: make([]float32, n), kappa: float64(d+64) * 0x1p-24,
	}
	mat.Each(p, (n+boundCols-1)/boundCols, 1, boundColumns{b, output})
	return b
}

// boundCols is the number of columns that are rounded together: a panel of mat.Int8.
const boundCols = 32

// boundColumns is the parallel loop that rounds groups of boundCols columns of w and computes their
// norms.
type boundColumns struct {
	*outputBounds
	from *linear
}

func (t *boundColumns) Range(lo, hi int) {
	ws := boundsWorkspaces.Get().(*boundsWorkspace)
	defer boundsWorkspaces.Put(ws)
	d, n := t.from.size()
	for first := lo * boundCols; first < min(hi*boundCols, n); first += boundCols {
		columns := matrix(&ws.columns, min(boundCols, n-first), d) // transposed
		for i := range columns.Rows {
			t.from.packed.Col(columns.Row(i), first+i)
		}
		t.output.int8.SetCols(nil, first, columns.T())
		rounded := matrix(&ws.x, 1, d).Row(0)
		for i := range columns.Rows {
			j, w := first+i, columns.Row(i)
			t.output.int8.Col(rounded, j)
			t.norms[j] = float32(t.norm(rounded))
			mat.Axpy(-1, rounded, w)
			t.errors[j] = float32(t.norm(w))
			if bias := t.from.biases(); bias != nil && !math.IsInf(float64(bias[j]), -1) {
				t.errors[j] += float32(0x1p-20 * math.Abs(float64(bias[j])))
			}
		}
	}
}

// norm returns an upper bound of |x|, above it by rounding errors only.
func (b *outputBounds) norm(x []float32) float64 {
	return float64(math.Sqrt(float64(mat.Dot(x, x)))*(1+b.kappa)) + 1e-18
}

type boundsWorkspace struct{ columns, x []float32 }

var boundsWorkspaces = sync.Pool{New: func() any { return new(boundsWorkspace) }}
