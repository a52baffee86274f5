package ref

import (
	"fmt"
	"math"

	"tfm/attn"
	"tfm/mat"
)

// PaddedHeads is attn.ScaledDotProductHeads for a padded batch under a mask, as other systems
// compute it: the rows of sentence s of the batch are [s·n, (s+1)·n) of the queries and ctx, and
// [s·m, (s+1)·m) of keys and values. It sets ctx [batch·n × d] for in.Q [batch·n × d] and in.K and
// in.V [batch·m × d], head by head, to softmax(Q·Kᵀ/sqrt(d_k))·V over the keys that mask allows; a
// query with none has a result of zeros.
//
// Where a token stands, its result has the bits that attn.ScaledDotProductHeads gives in a ragged
// batch: the kernels are the same, and what is masked adds zeros at the end of their sums. It
// panics on shapes that do not fit. Calls with results of their own may run concurrently.
func PaddedHeads(ctx mat.Matrix, in attn.Inputs, heads int, mask BatchMask) {
	eachPaddedHead(in, heads, mask, func(q, k, v func(mat.Matrix) mat.Matrix, sentence, head int) {
		w := paddedWeights(q(in.Q), k(in.K), mask.Head(sentence, head))
		mat.Gemm(nil, q(ctx), w, v(in.V), mat.GemmOptions{})
	})
}

// PaddedHeadsGrad is the derivative of PaddedHeads, as attn.ScaledDotProductHeadsGrad is that of
// attn.ScaledDotProductHeads: it sets grad, of the shapes of in, for dctx [batch·n × d], which must
// be 0 at the padding.
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

// eachPaddedHead calls f for each head of each sentence, with functions that view its part of a
// matrix of queries, of keys, and of values.
func eachPaddedHead(in attn.Inputs, heads int, mask BatchMask, f func(q, k, v func(mat.Matrix) mat.Matrix, sentence, head int)) {
	batch := mask.Shape[0]
	if heads < 1 || batch < 1 || in.Q.Cols%heads != 0 || in.V.Cols%heads != 0 || in.K.Cols != in.Q.Cols ||
		in.Q.Rows%batch != 0 || in.K.Rows%batch != 0 || in.V.Rows != in.K.Rows {
		panic(fmt.Sprintf("ref: %d heads of queries %d × %d, keys %d × %d and values %d × %d in a padded batch of %d",
			heads, in.Q.Rows, in.Q.Cols, in.K.Rows, in.K.Cols, in.V.Rows, in.V.Cols, batch))
	}
	n, m := in.Q.Rows/batch, in.K.Rows/batch
	if s := mask.Shape; s[1] != 1 && s[1] != heads || s[2] != 1 && s[2] != n || s[3] != 1 && s[3] != m {
		panic(fmt.Sprintf("ref: a mask of shape %v for [%d %d %d %d]", s, batch, heads, n, m))
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

// paddedWeights is softmax(q·kᵀ/sqrt(d_k)) with scores of -∞ where mask allows nothing.
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
			clear(row) // a softmax of nothing but -∞ is not a number
		}
	}
	return w
}

// scaleOf returns 1/sqrt(d_k) for queries of d_k columns (section 3.2.1).
func scaleOf(q mat.Matrix) float32 { return float32(1 / math.Sqrt(float64(q.Cols))) }
