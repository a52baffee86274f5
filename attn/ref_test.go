package attn_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

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
