package layer

import "tfm/mat"

// AllocRDrop takes the memory for RDrop of n tokens, which are 2n rows.
func (l Output) AllocRDrop(a *Arena, n int) LossWorkspace {
	w := l.Alloc(a, 2*n)
	w.diff = a.Matrix(l.chunk(2*n)/2, l.E.Shape[0])
	return w
}

// RDrop is ForwardBackward of two copies of n tokens that have gone through the model with
// different dropout: rows i and n+i of x [2n × d] and of t [2n] belong to one token. Beside the
// cross-entropy of both it makes their distributions p and p' alike (Liang et al., 2021, "R-Drop",
// section 2.2, equations 2 to 4): it adds t.Scale times the derivative of the paper's loss, summed
// over tokens,
//
//	-log p(target) - log p'(target) + α·½(KL(p‖p') + KL(p'‖p)) = Σ_rows Loss.Sum + α/2·Loss.KL
//
// with label smoothing in the first two; the KL of a token is in the losses of its first row. Loss
// counts each copy as a token, so that its means are those of ForwardBackward; a Scale of 1/2n does
// the same for derivatives. α must be above 0. RDrop panics if x has an odd number of rows.
//
// With x and y the logits of the two rows, u = x - y, and q the smoothed target distribution: log p
// - log p' is u minus a constant, which Σ_j p_j - p'_j = 0 cancels, and dp_k/dx_j = p_k·([j=k] -
// p_j), so
//
//	J  = KL(p‖p') + KL(p'‖p) = Σ_j (p_j - p'_j)·u_j
//	dJ/dx_j = p_j - p'_j + p_j·(u_j - Σ_k p_k·u_k)
//	dJ/dy_j = p'_j - p_j - p'_j·(u_j - Σ_k p'_k·u_k)
//	dx_j = p_j - q_j + α/2·dJ/dx_j = α/2·p_j·(u_j - (Σ_k p_k·u_k - 1 - 2/α)) - α/2·p'_j - q_j
//	dy_j = p'_j - q_j + α/2·dJ/dy_j = -α/2·p'_j·(u_j - (Σ_k p'_k·u_k + 1 + 2/α)) - α/2·p_j - q_j
func (l Output) RDrop(pool *mat.Pool, dx, x mat.Matrix, t Targets, alpha float32, w LossWorkspace) {
	if x.Rows%2 != 0 {
		panic("layer: RDrop of an odd number of rows")
	}
	n, half := x.Rows/2, w.diff.Rows
	for lo := 0; lo < n; lo += half {
		hi := min(lo+half, n)
		c := hi - lo
		copies := func(i int) (logits mat.Matrix, from, to int) {
			return w.logits.RowRange(i*c, (i+1)*c), i*n + lo, i*n + hi
		}
		var both [2]crossEntropy
		for i := range both {
			logits, from, to := copies(i)
			l.Logits(pool, logits, x.RowRange(from, to))
			both[i] = crossEntropy{l, logits, t.rowRange(from, to), true}
		}
		mat.Each(pool, c, 2, coupled{both, w.diff, alpha})
		for i := range both {
			logits, from, to := copies(i)
			l.backward(pool, dx.RowRange(from, to), logits, x.RowRange(from, to), hi == n && i == 1)
		}
	}
}

// coupled turns the two rows of logits of each token into its losses and Scale times the
// derivative.
type coupled struct {
	copies [2]crossEntropy
	diff   mat.Matrix
	alpha  float32
}

func (t *coupled) Range(lo, hi int) {
	const block = 1024 // numbers of a row that fit the first-level cache
	var saved [block]float32
	a, b := &t.copies[0], &t.copies[1]
	scale, v := a.targets.Scale, a.logits.Cols
	target, others := a.smoothed(v)
	for i := lo; i < hi; i++ {
		x, y, u := a.logits.Row(i), b.logits.Row(i), t.diff.Row(i)
		mat.ScaleAdd(u, y, -1, x)
		zx, zy := a.loss(i, target, others), b.loss(i, target, others) // x and y now hold zx·p and zy·p'
		ux, uy := mat.Dot(x, u)/zx, mat.Dot(y, u)/zy
		a.targets.Losses.kl[i] = ux - uy
		strength := scale * t.alpha / 2
		sx, sy := strength/zx, strength/zy
		for at := 0; at < v; at += block {
			end := min(at+block, v)
			x, y, u, old := x[at:end], y[at:end], u[at:end], saved[:end-at]
			copy(old, x)
			mat.SoftmaxGrad(x, x, u, ux-1-2/t.alpha, sx)
			mat.Axpy(x, -sy, y)
			mat.SoftmaxGrad(y, y, u, uy+1+2/t.alpha, -sy)
			mat.Axpy(y, -sx, old)
			if others != 0 {
				mat.ScaleShift(x, 1, -scale*others)
				mat.ScaleShift(y, 1, -scale*others)
			}
		}
		want := float32(scale * (target - others))
		x[a.targets.IDs[i]] -= want
		y[b.targets.IDs[i]] -= want
	}
}
