package ref

import (
	"fmt"
	"math"

	"tfm/attn"
	"tfm/mat"
)

// PaddedHeads is attn.ScaledDotProductHeads for a padded batch with a mask, as other systems
// compute it: sentence s has rows [s·n, (s+1)·n) of the queries and ctx, and rows [s·m,
// (s+1)·m) of keys and values. It sets ctx [batch·n × d] for in.Q [batch·n × d] and in.K and
// in.V [batch·m × d], head by head, to softmax(Q·Kᵀ/sqrt(d_k))·V over the keys that mask
// allows. The output of a query without keys is zeros.
//
// The rows of tokens have the same bits as those of attn.ScaledDotProductHeads for a ragged batch:
// the kernels are the same, and masked keys add zeros at the end of their sums. It panics on shapes
// that do not fit. Calls with different results may run concurrently.
func PaddedHeads(ctx mat.Matrix, in attn.Inputs, heads int, mask BatchMask) {
	eachPaddedHead(in, heads, mask, func(q, k, v func(mat.Matrix) mat.Matrix, sentence, head int) {
		w := paddedWeights(q(in.Q), k(in.K), mask.Head(sentence, head))
		mat.Gemm(nil, q(ctx), w, v(in.V), mat.GemmOptions{})
	})
}

// PaddedHeadsGrad is the backward of PaddedHeads, as attn.ScaledDotProductHeadsGrad is that of
// attn.ScaledDotProductHeads: it sets grad, with the shapes of in, for dctx [batch·n × d], whose
// padding must be 0.
func PaddedHeadsGrad(grad attn.Inputs, dctx mat.Matrix, in attn.Inputs, heads int, mask BatchMask) {
	eachPaddedHead(in, heads, mask, func(q, k, v func(mat.Matrix) mat.Matrix, sentence, head int) {
		w := paddedWeights(q(in.Q), k(in.K), mask.Head(sentence, head)) // P
		dw := mat.New(w.Rows, w.Cols)                                   // dP, then scale·dS
		mat.Gemm(nil, dw, q(dctx), v(in.V).T(), mat.GemmOptions{})
		for i := range w.Rows {
			mat.SoftmaxGrad(dw.Row(i), w.Row(i), dw.Row(i), mat.Dot(w.Row(i), dw.Row(i)), scaleOf(q(in.Q)))
		}
		mat.Gemm(nil, q(grad.Q), dw, k(in.K), mat.GemmOptions{})
		mat.Gemm(nil, k(grad.K), dw.T(), q(in.Q), mat.GemmOptions{})
		mat.Gemm(nil, v(grad.V), w.T(), q(dctx), mat.GemmOptions{})
	})
}

// eachPaddedHead calls f for each head of each sentence. q, k and v view the head's rows and
// columns of a matrix of queries, keys or values.
func eachPaddedHead(in attn.Inputs, heads int, mask BatchMask, f func(q, k, v func(mat.Matrix) mat.Matrix, sentence, head int)) {
	batch := mask.Shape[0]
	if heads < 1 || batch < 1 || in.Q.Cols%heads != 0 || in.V.Cols%heads != 0 || in.K.Cols != in.Q.Cols ||
		in.Q.Rows%batch != 0 || in.K.Rows%batch != 0 || in.V.Rows != in.K.Rows {
		panic(fmt.Sprintf("ref: %d heads of queries %d × %d, keys %d × %d and values %d × %d in a padded batch of %d",
			heads, in.Q.Rows, in.Q.Cols, in.K.Rows, in.K.Cols, in.V.Rows, in.V.Cols, batch))
	}
	n, m := in.Q.Rows/batch, in.K.Rows/batch
	if s := mask.Shape; s[1] != 1 && s[1] != heads || s[2] != 1 && s[2] != n || s[3] != 1 && s[3] != m {
		panic(fmt.Sprintf("ref: mask of shape %v for [%d %d %d %d]", s, batch, heads, n, m))
	}
	view := func(tokens, sentence, head int) func(mat.Matrix) mat.Matrix {
		return func(x mat.Matrix) mat.Matrix {
			width := x.Cols / heads
			return x.Slice(sentence*tokens, (sentence+1)*tokens, head*width, (head+1)*width)
		}
	}
	for s := range batch {
		for h := range heads {
			f(view(n, s, h), view(m, s, h), view(m, s, h), s, h)
		}
	}
}

// paddedWeights returns softmax(q·kᵀ/sqrt(d_k)) with scores of -∞ for masked keys.
func paddedWeights(q, k mat.Matrix, mask Mask) mat.Matrix {
	w := mat.New(q.Rows, k.Rows)
	mat.Gemm(nil, w, q, k.T(), mat.GemmOptions{})
	for i := range w.Rows {
		row, allowed := w.Row(i), 0
		for j := range row {
			if mask(i, j) {
				allowed++
			} else {
				row[j] = float32(math.Inf(-1))
			}
		}
		if allowed > 0 {
			mat.Softmax(row, row, scaleOf(q))
		} else {
			clear(row) // the softmax of a row of -∞ is NaN
		}
	}
	return w
}

// scaleOf returns 1/sqrt(d_k) for queries of d_k columns (section 3.2.1).
func scaleOf(q mat.Matrix) float32 { return float32(1 / math.Sqrt(float64(q.Cols))) }
