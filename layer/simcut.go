package layer

import "tfm/mat"

// SimCut is ForwardBackward for two copies of n tokens, whose rows are those of RDrop. The second
// copy has passed through the model with some embeddings cut off (CutOff). In addition to the
// cross-entropy of the first copy it minimizes the divergence of its distribution p from p' of the
// second (Gao et al., 2022, "Bi-SimCut", equation 4). It adds t.Scale times the gradients of
//
//	Σ_tokens -log p(target) + α·KL(p‖p')
//
// to those of E and the bias, with label smoothing in the first term, and sets dx to those of both
// copies. The losses of the second rows are those of the first ones, so that means compare with
// those of ForwardBackward. Infinite logits are those of RDrop.
//
// With z and z' the logits of the two rows, u = z - z', and q the smoothed target distribution:
//
//	KL(p‖p') = Σ_j p_j·u_j - (log Σ_j e^(z_j) - log Σ_j e^(z'_j))
//	dz_j  = p_j - q_j + α·p_j·(u_j - Σ_k p_k·u_k) = α·p_j·(u_j - (Σ_k p_k·u_k - 1/α)) - q_j
//	dz'_j = α·(p'_j - p_j)
func (l Output) SimCut(pool *mat.Pool, dx, x mat.Matrix, t Targets, alpha float32, w LossWorkspace) {
	l.doubled(pool, dx, x, t, w, copiedTokens{alpha: alpha, simCut: true})
}

func (t *copiedTokens) simCutRange(lo, hi int) {
	a, b := &t.copies[0], &t.copies[1]
	q, scale := a.targetDistribution(), a.targets.Scale
	for i := lo; i < hi; i++ {
		row, row1, u := a.logits.Row(i), b.logits.Row(i), t.diff.Row(i)
		mat.AxpyTo(u, -1, row1, row)  // u = z - z'
		sum, logSum := a.loss(i, q)   // row = sum·p
		sum1, logSum1 := b.loss(i, q) // row1 = sum1·p'
		pu := mat.Dot(row, u) / sum   // Σ_k p_k·u_k
		infinite := float32(0)
		if pu-pu != 0 { // infinite, or NaN of 0·Inf
			infinite = clearInfinite(u, row, nil)
			pu = mat.Dot(row, u) / sum
		}
		a.targets.Losses.kl[i] = float32(float64(pu)-(logSum-logSum1)) + infinite
		b.targets.Losses.copyRow(i, a.targets.Losses)

		f, f1 := scale*t.alpha/sum, scale*t.alpha/sum1
		mat.ScaleShift(row1, f1, 0)
		mat.Axpy(-f, row, row1)                       // dz'
		mat.SoftmaxGrad(row, row, u, pu-1/t.alpha, f) // dz + q
		if q.other != 0 {
			mat.ScaleShift(row, 1, -scale*q.other)
		}
		row[a.targets.IDs[i]] -= float32(scale * (q.target - q.other))
	}
}

// copyRow sets the losses of token i to those of another Losses.
func (l Losses) copyRow(i int, from Losses) {
	l.sum[i], l.nll[i], l.kl[i], l.correct[i] = from.sum[i], from.nll[i], from.kl[i], from.correct[i]
}
