package ref_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"tfm/attn"
	"tfm/internal/ref"
	"tfm/mat"
)

// The reference's gradients agree with central differences. Query 2 has no keys.
func TestScaledDotProductGrad(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const n, m, dk, dv = 4, 5, 3, 2
	mask := ref.And(func(i, j int) bool { return i != 2 && j != 3 }, func(i, j int) bool { return j <= i+1 })
	dout := random(r, n, dv)
	qs, q := flat(random(r, n, dk))
	ks, k := flat(random(r, m, dk))
	vs, v := flat(random(r, m, dv))
	gq, gk, gv := ref.ScaledDotProductGrad(ref.FromFloat32(dout), q, k, v, mask)
	f := func() float64 {
		out, _ := ref.ScaledDotProduct(q, k, v, mask)
		return weighted(dout, out)
	}
	ref.CheckGradient(t, "dq", ref.ToFloat32(gq).Data, qs, 0, f)
	ref.CheckGradient(t, "dk", ref.ToFloat32(gk).Data, ks, 0, f)
	ref.CheckGradient(t, "dv", ref.ToFloat32(gv).Data, vs, 0, f)
}

// The output and gradient of a query without keys are 0, and all other results are those of the
// batch without that query.
func TestQueryWithoutKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 7))
	const n, m = 4, 5
	_, q := flat(random(r, n, 3))
	_, k := flat(random(r, m, 3))
	_, v := flat(random(r, m, 2))
	_, dout := flat(random(r, n, 2))
	last := func(i, j int) bool { return i < n-1 }
	results := func(n int, mask ref.Mask) []mat.Matrix {
		out, weights := ref.ScaledDotProduct(q[:n], k, v, mask)
		dq, dk, dv := ref.ScaledDotProductGrad(dout[:n], q[:n], k, v, mask)
		return []mat.Matrix{ref.ToFloat32(dk), ref.ToFloat32(dv), ref.ToFloat32(out), ref.ToFloat32(weights), ref.ToFloat32(dq)}
	}
	with, without := results(n, last), results(n-1, nil)
	for i, want := range without {
		wantBits(t, fmt.Sprint("result ", i), with[i].RowRange(0, want.Rows), want)
		if i >= 2 { // a row for each query
			for _, x := range with[i].Row(n - 1) {
				if x != 0 {
					t.Errorf("masked query, result %d has %v, want 0", i, x)
				}
			}
		}
	}
}

// A sentence of padding alone has outputs and gradients of 0.
func TestPaddedHeadsWithoutKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	in := attn.Inputs{Q: random(r, 6, d), K: random(r, 6, d), V: random(r, 6, d)}
	masks := []ref.Mask{ref.Padding([]int32{0, 0, 0}, 0), ref.Padding([]int32{5, 0, 0}, 0)}
	ctx, grad := mat.New(6, d), attn.Inputs{Q: mat.New(6, d), K: mat.New(6, d), V: mat.New(6, d)}
	stale(ctx, grad.Q, grad.K, grad.V)
	ref.PaddedHeads(ctx, in, heads, masks)
	ref.PaddedHeadsGrad(grad, random(r, 6, d), in, heads, masks)
	none := mat.New(3, d)
	wantBits(t, "result", ctx.RowRange(0, 3), none)
	for name, g := range map[string]mat.Matrix{"dQ": grad.Q, "dK": grad.K, "dV": grad.V} {
		for i, x := range g.Data {
			if i < 3*d && x != 0 || x != x {
				t.Fatalf("%s: element %d = %v, want 0 in sentence 0 and no NaN", name, i, x)
			}
		}
	}
}
