package ref_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tfm/attn"
	"tfm/internal/ref"
	"tfm/mat"
)

// masked returns equation 1 in float64, for central differences.
func masked(q, k, v ref.Matrix, mask ref.Mask) ref.Matrix {
	out := ref.New(len(q), len(v[0]))
	for i := range q {
		var total float64
		weights := make([]float64, len(k))
		for j := range k {
			if mask(i, j) {
				var score float64
				for c := range q[i] {
					score += q[i][c] * k[j][c]
				}
				weights[j] = math.Exp(score / math.Sqrt(float64(len(q[i]))))
				total += weights[j]
			}
		}
		for j := range k {
			for c := range out[i] {
				if total > 0 {
					out[i][c] += weights[j] / total * v[j][c]
				}
			}
		}
	}
	return out
}

// The reference's gradients agree with central differences. Query 2 has no keys.
func TestScaledDotProductGrad(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const n, m, dk, dv = 4, 5, 3, 2
	mask := ref.And(func(i, j int) bool { return i != 2 && j != 3 }, func(i, j int) bool { return j <= i+1 })
	q, k, v, dout := random(r, n, dk), random(r, m, dk), random(r, m, dv), random(r, n, dv)
	qs, qRows := flat(q)
	ks, kRows := flat(k)
	vs, vRows := flat(v)
	out, weights := mat.New(n, dv), mat.New(n, m)
	ref.ScaledDotProduct(out, weights, q, k, v, mask)
	ref.CheckClose(t, "out", out, masked(qRows, kRows, vRows, mask), 1e-7) // rounded once
	gq, gk, gv := mat.New(n, dk), mat.New(m, dk), mat.New(m, dv)
	ref.ScaledDotProductGrad(gq, gk, gv, dout, q, k, v, mask)
	f := func() float64 { return weighted(dout, masked(qRows, kRows, vRows, mask)) }
	ref.CheckGradient(t, "dq", gq.Data, qs, 0, f)
	ref.CheckGradient(t, "dk", gk.Data, ks, 0, f)
	ref.CheckGradient(t, "dv", gv.Data, vs, 0, f)
}

// The output and gradient of a query without keys are 0, and all other results are those of the
// batch without that query.
func TestQueryWithoutKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 7))
	const n, m = 4, 5
	q, k, v, dout := random(r, n, 3), random(r, m, 3), random(r, m, 2), random(r, n, 2)
	last := func(i, j int) bool { return i < n-1 }
	results := func(n int, mask ref.Mask) []mat.Matrix {
		out, weights := mat.New(n, 2), mat.New(n, m)
		dq, dk, dv := mat.New(n, 3), mat.New(m, 3), mat.New(m, 2)
		stale(out, weights, dq, dk, dv)
		ref.ScaledDotProduct(out, weights, q.RowRange(0, n), k, v, mask)
		ref.ScaledDotProductGrad(dq, dk, dv, dout.RowRange(0, n), q.RowRange(0, n), k, v, mask)
		return []mat.Matrix{dk, dv, out, weights, dq}
	}
	with, without := results(n, last), results(n-1, nil)
	for i, want := range without {
		wantBits(t, fmt.Sprint("result ", i), with[i].RowRange(0, want.Rows), want)
		if i >= 2 { // a row for each query
			wantBits(t, fmt.Sprint("masked query, result ", i), with[i].RowRange(n-1, n), mat.New(1, want.Cols))
		}
	}
}

func TestBatchMasks(t *testing.T) {
	padding := ref.PaddingMask([][]int32{{3, 0, 5}, {0, 0, 0}}, 0)
	if padding.Shape != [4]int{2, 1, 1, 3} {
		t.Errorf("PaddingMask: shape %v, want [2 1 1 3]", padding.Shape)
	}
	both := padding.And(ref.LookAheadMask(3))
	if both.Shape != [4]int{2, 1, 3, 3} || !slices.Equal(both.Allowed, ref.LookAheadMask(3).And(padding).Allowed) {
		t.Errorf("And: shape %v, want [2 1 3 3] in either order\n%v", both.Shape, both)
	}
	for s, ids := range [][]int32{{3, 0, 5}, {0, 0, 0}} {
		mask := ref.And(ref.Padding(ids, 0), ref.LookAhead)
		for i := range 3 {
			for j := range 3 {
				if both.At(s, 5, i, j) != mask(i, j) || both.Head(s, 0)(i, j) != mask(i, j) {
					t.Errorf("At(%d, 5, %d, %d) = %v, want %v", s, i, j, both.At(s, 5, i, j), mask(i, j))
				}
			}
		}
	}
}

func TestAttentionPanicsOnShapes(t *testing.T) {
	x, y := mat.New(4, 6), mat.New(4, 5)
	for name, f := range map[string]func(){
		"keys of 5 columns":     func() { ref.ScaledDotProduct(x, mat.New(4, 4), x, y, x, nil) },
		"output of 5":           func() { ref.ScaledDotProduct(y, mat.New(4, 4), x, x, x, nil) },
		"weights of 3 keys":     func() { ref.ScaledDotProduct(x, mat.New(4, 3), x, x, x, nil) },
		"gradient of 5":         func() { ref.ScaledDotProductGrad(x, x, y, x, x, x, x, nil) },
		"ragged ids":            func() { ref.PaddingMask([][]int32{{1}, {1, 2}}, 0) },
		"3 and 4 keys":          func() { ref.LookAheadMask(3).And(ref.LookAheadMask(4)) },
		"3 sentences in 4 rows": func() { ref.PaddedHeads(x, attn.Inputs{Q: x, K: x, V: x}, 2, ref.PaddingMask(make([][]int32, 3), 0)) },
		"a mask of 3 for 4 keys": func() {
			ref.PaddedHeads(x, attn.Inputs{Q: x, K: x, V: x}, 2, ref.PaddingMask([][]int32{{1, 2, 3}}, 0))
		},
	} {
		func() {
			defer func() {
				if s, ok := recover().(string); !ok || !strings.HasPrefix(s, "ref: ") {
					t.Errorf("%s: panic %q, want one that begins with \"ref: \"", name, s)
				}
			}()
			f()
		}()
	}
}

// A sentence of padding alone has outputs and gradients of 0.
func TestPaddedHeadsWithoutKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	in := attn.Inputs{Q: random(r, 6, d), K: random(r, 6, d), V: random(r, 6, d)}
	mask := ref.PaddingMask([][]int32{{0, 0, 0}, {5, 0, 0}}, 0)
	ctx, grad := mat.New(6, d), attn.Inputs{Q: mat.New(6, d), K: mat.New(6, d), V: mat.New(6, d)}
	stale(ctx, grad.Q, grad.K, grad.V)
	ref.PaddedHeads(ctx, in, heads, mask)
	ref.PaddedHeadsGrad(grad, random(r, 6, d), in, heads, mask)
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
