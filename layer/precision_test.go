package layer_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"tfm/layer"
	"tfm/mat"
)

// The products of a Linear in BF16 are as exact as operands of 8 bits allow: rounding changes each
// operand by at most 2^-9 of itself, so a sum by (2^-8 + 2^-18)·Σ|a||b|. The sums are rounded to
// float32, about k·2^-24, which is less.
func TestLinearInBF16(t *testing.T) {
	const n, in, out = 96, 80, 112
	ps := new(layer.Params)
	l := layer.NewLinear(ps, "l", in, out).In(layer.BF16)
	ps.AllocForTraining()
	r := rand.New(rand.NewPCG(1, 2))
	layer.Normal(ps.W, 1, r)
	layer.Normal(ps.G, 1, r)
	x, dy, y, dx := random(r, n, in), random(r, n, out), mat.New(n, out), random(r, n, in)
	dw, before := clone(l.W.Grad()), clone(dx)
	l.Forward(nil, y, x)
	l.Backward(nil, dx, dy, x, layer.Add)

	bias := mat.New(n, out)
	for i := range n {
		copy(bias.Row(i), l.B.W)
	}
	rounded := false
	for name, q := range map[string]struct{ c, a, b, addend mat.Matrix }{
		"y":  {y, x, l.W.Weights(), bias},
		"dx": {dx, dy, l.W.Weights().T(), before},
		"dW": {l.W.Grad(), x.T(), dy, dw},
	} {
		for i := range q.c.Rows {
			for j := range q.c.Cols {
				sum, size := float64(q.addend.At(i, j)), math.Abs(float64(q.addend.At(i, j)))
				for k := range q.a.Cols {
					p := float64(q.a.At(i, k)) * float64(q.b.At(k, j))
					sum, size = sum+p, size+math.Abs(p)
				}
				off := math.Abs(float64(q.c.At(i, j)) - sum)
				if off > 0x1.02p-8*size {
					t.Fatalf("%s[%d, %d] = %v, want %v ± %v", name, i, j, q.c.At(i, j), sum, 0x1.02p-8*size)
				}
				rounded = rounded || off > 0x1p-16*size
			}
		}
	}
	if want := layer.BF16.Kernel() != layer.Float32.Kernel(); rounded != want {
		t.Errorf("operands rounded = %v, want %v", rounded, want)
	}
}
