package layer

import (
	"fmt"
	"math"

	"tfm/mat"
)

// AllocRDrop allocates the workspace of RDrop for n tokens, which are 2n rows.
func (l Output) AllocRDrop(a *Arena, n int) LossWorkspace {
	w := l.Alloc(a, 2*n)
	w.diff = a.Matrix(l.chunk(2*n)/2, l.E.Shape[0])
	return w
}

// RDrop is ForwardBackward for two copies of n tokens that have passed through the model with
// different dropout: rows i and n+i of x [2n × d] and of t [2n] belong to one token. In addition
// to the cross-entropy of both copies it minimizes the divergence of their distributions p and p'
// (Liang et al., 2021, "R-Drop", section 2.2, equations 2 to 4). It adds t.Scale times the
// gradients of the paper's loss, summed over tokens,
//
//	-log p(target) - log p'(target) + α·½(KL(p‖p') + KL(p'‖p)) = Σ_rows Loss.Sum + α/2·Loss.KL
//
// with label smoothing in the first two terms. The KL of a token is in the losses of its first row.
// Loss counts each copy as a token, so that its means compare with those of ForwardBackward; a
// Scale of 1/2n does the same for gradients. α must be positive. A logit of -Inf in one copy
// makes the KL infinite; one in both does not. Gradients stay finite. RDrop panics if x has an odd
// number of rows.
//
// With z and z' the logits of the two rows, u = z - z', and q the smoothed target distribution: log
// p - log p' is u minus a constant, which Σ_j (p_j - p'_j) = 0 cancels, and dp_k/dz_j = p_k·([j=k]
// - p_j), so
//
//	J = KL(p‖p') + KL(p'‖p) = Σ_j (p_j - p'_j)·u_j
//	dJ/dz_j  = p_j - p'_j + p_j·(u_j - Σ_k p_k·u_k)
//	dJ/dz'_j = p'_j - p_j - p'_j·(u_j - Σ_k p'_k·u_k)
//	dz_j  = p_j - q_j + α/2·dJ/dz_j   = α/2·p_j·(u_j - (Σ_k p_k·u_k - 1 - 2/α)) - α/2·p'_j - q_j
//	dz'_j = p'_j - q_j + α/2·dJ/dz'_j = -α/2·p'_j·(u_j - (Σ_k p'_k·u_k + 1 + 2/α)) - α/2·p_j - q_j
func (l Output) RDrop(pool *mat.Pool, dx, x mat.Matrix, t Targets, alpha float32, w LossWorkspace) {
	if x.Rows%2 != 0 {
		panic(fmt.Sprintf("layer: RDrop of %d × %d, expected an even number of rows", x.Rows, x.Cols))
	}
	n, chunk := x.Rows/2, w.diff.Rows
	for lo := 0; lo < n; lo += chunk {
		hi := min(lo+chunk, n)
		var copies [2]crossEntropyRows
		for i := range copies {
			rowLo, rowHi := i*n+lo, i*n+hi
			logits := w.logits.RowRange(i*(hi-lo), (i+1)*(hi-lo))
			l.Logits(pool, logits, x.RowRange(rowLo, rowHi))
			copies[i] = crossEntropyRows{l, logits, t.rowRange(rowLo, rowHi), true}
		}
		mat.Each(pool, hi-lo, 2, rdropTokens{copies, w.diff, alpha})
		for i := range copies {
			rowLo, rowHi := i*n+lo, i*n+hi
			dlogits, last := copies[i].logits, hi == n && i == 1
			l.logitsBackward(pool, dx.RowRange(rowLo, rowHi), dlogits, x.RowRange(rowLo, rowHi), last)
		}
	}
}

// rdropTokens sets the losses of tokens and replaces their two rows of logits by Scale·dlogits.
type rdropTokens struct {
	copies [2]crossEntropyRows
	diff   mat.Matrix // u
	alpha  float32
}

func (t *rdropTokens) Range(lo, hi int) {
	const block = 1024 // elements that fit the first-level cache
	var saved [block]float32
	a, b := &t.copies[0], &t.copies[1]
	q, scale, v := a.targetDistribution(), a.targets.Scale, a.logits.Cols
	for i := lo; i < hi; i++ {
		row, row1, u := a.logits.Row(i), b.logits.Row(i), t.diff.Row(i)
		mat.AxpyTo(u, -1, row1, row)                          // u = z - z'
		sum, sum1 := a.loss(i, q), b.loss(i, q)               // row = sum·p, row1 = sum1·p'
		pu, pu1 := mat.Dot(row, u)/sum, mat.Dot(row1, u)/sum1 // Σ_k p_k·u_k, Σ_k p'_k·u_k
		j := pu - pu1                                         // J
		if math.IsNaN(float64(j)) {                           // perhaps of 0·Inf
			infinite := clearInfinite(u, row, row1)
			pu, pu1 = mat.Dot(row, u)/sum, mat.Dot(row1, u)/sum1
			j = pu - pu1 + infinite
		}
		a.targets.Losses.kl[i] = j

		factor := scale * t.alpha / 2
		f, f1 := factor/sum, factor/sum1
		for lo := 0; lo < v; lo += block {
			hi := min(lo+block, v)
			row, row1, u, old := row[lo:hi], row1[lo:hi], u[lo:hi], saved[:hi-lo]
			copy(old, row)
			mat.SoftmaxGrad(row, row, u, pu-1-2/t.alpha, f) // dz + q
			mat.Axpy(-f1, row1, row)
			mat.SoftmaxGrad(row1, row1, u, pu1+1+2/t.alpha, -f1) // dz' + q
			mat.Axpy(-f, old, row1)
			if q.other != 0 {
				mat.ScaleShift(row, 1, -scale*q.other)
				mat.ScaleShift(row1, 1, -scale*q.other)
			}
		}
		atTarget := float32(scale * (q.target - q.other))
		row[a.targets.IDs[i]] -= atTarget
		row1[b.targets.IDs[i]] -= atTarget
	}
}

// clearInfinite sets the elements of u = z - z' to 0 where a logit is -Inf: its p_j·u_j is 0, not
// 0·Inf. It returns the part of J that these elements make infinite, because only one of p_j and
// p'_j is 0.
func clearInfinite(u, p, p1 []float32) (infinite float32) {
	for j, x := range u {
		if finite := x-x == 0; finite {
			continue
		}
		if x < 0 && p1[j] > 0 || x > 0 && p[j] > 0 {
			infinite = float32(math.Inf(1))
		}
		u[j] = 0
	}
	return infinite
}
