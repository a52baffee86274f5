package ref

import (
	"math"

	"tfm/attn"
	"tfm/mat"
)

// PaddedHeads is attn.ScaledDotProductHeads for a padded batch with a mask for each sentence, as
// other systems compute it: sentence s has rows [s·n, (s+1)·n) of the queries and ctx, and rows
// [s·m, (s+1)·m) of keys and values. It sets ctx [batch·n × d] for in.Q [batch·n × d] and in.K and
// in.V [batch·m × d], head by head, to softmax(Q·Kᵀ/sqrt(d_k))·V over the keys that the
// sentence's mask allows, at least one for each query.
//
// The rows of tokens have the same bits as those of attn.ScaledDotProductHeads for a ragged batch:
// the kernels are the same, and masked keys add zeros at the end of their sums.
func PaddedHeads(ctx mat.Matrix, in attn.Inputs, heads int, masks []Mask) {
	eachPaddedHead(in, heads, masks, func(q, k func(mat.Matrix) mat.Matrix, mask Mask) {
		w := paddedWeights(q(in.Q), k(in.K), mask)
		mat.Gemm(nil, q(ctx), w, k(in.V), mat.GemmOptions{})
	})
}

// PaddedHeadsGrad is the backward of PaddedHeads, as attn.ScaledDotProductHeadsGrad is that of
// attn.ScaledDotProductHeads: it sets grad, with the shapes of in, for dctx [batch·n × d], whose
// padding must be 0.
func PaddedHeadsGrad(grad attn.Inputs, dctx mat.Matrix, in attn.Inputs, heads int, masks []Mask) {
	eachPaddedHead(in, heads, masks, func(q, k func(mat.Matrix) mat.Matrix, mask Mask) {
		w := paddedWeights(q(in.Q), k(in.K), mask) // P
		dw := mat.New(w.Rows, w.Cols)              // dP, then scale·dS
		mat.Gemm(nil, dw, q(dctx), k(in.V).T(), mat.GemmOptions{})
		for i := range w.Rows {
			mat.SoftmaxGrad(dw.Row(i), w.Row(i), dw.Row(i), mat.Dot(w.Row(i), dw.Row(i)), scaleOf(q(in.Q)))
		}
		mat.Gemm(nil, q(grad.Q), dw, k(in.K), mat.GemmOptions{})
		mat.Gemm(nil, k(grad.K), dw.T(), q(in.Q), mat.GemmOptions{})
		mat.Gemm(nil, k(grad.V), w.T(), q(dctx), mat.GemmOptions{})
	})
}

// eachPaddedHead calls f for each head of each sentence. q views the head's rows and columns of a
// matrix of queries, k those of keys or values.
func eachPaddedHead(in attn.Inputs, heads int, masks []Mask, f func(q, k func(mat.Matrix) mat.Matrix, mask Mask)) {
	n, m := in.Q.Rows/len(masks), in.K.Rows/len(masks)
	view := func(tokens, sentence, head int) func(mat.Matrix) mat.Matrix {
		return func(x mat.Matrix) mat.Matrix {
			width := x.Cols / heads
			return x.Slice(sentence*tokens, (sentence+1)*tokens, head*width, (head+1)*width)
		}
	}
	for s, mask := range masks {
		for h := range heads {
			f(view(n, s, h), view(m, s, h), mask)
		}
	}
}

// paddedWeights returns softmax(q·kᵀ/sqrt(d_k)) with scores of -∞ for masked keys.
func paddedWeights(q, k mat.Matrix, mask Mask) mat.Matrix {
	w := mat.New(q.Rows, k.Rows)
	mat.Gemm(nil, w, q, k.T(), mat.GemmOptions{})
	for i := range w.Rows {
		row := w.Row(i)
		for j := range row {
			if !mask(i, j) {
				row[j] = float32(math.Inf(-1))
			}
		}
		mat.Softmax(row, row, scaleOf(q))
	}
	return w
}

// scaleOf returns 1/sqrt(d_k) for queries of d_k columns (section 3.2.1).
func scaleOf(q mat.Matrix) float32 { return float32(1 / math.Sqrt(float64(q.Cols))) }
