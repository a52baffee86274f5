package mat

import "fmt"

// Attention in decoding, from one token of each hypothesis to keys and values in pages of 16 tokens
// (section 3.2.1 of "Attention Is All You Need"). A page holds the keys of a head transposed,
// [d_k × 16], so that the scores of 16 tokens are the lanes of a vector, and its values
// [16 × d_v].

// PageTokens is the number of tokens of a page.
const PageTokens = 16

// ScoreKeys sets scores[i][t] = Σ_j q[i][j]·K_i[j][t], for n queries q [n × d_k], scores
// [n × 16] and the keys K_i [d_k × 16] at keys[i·stride]: those of n heads of a token, or, with a
// stride of 0, of n tokens and one head. The results are those of Gemm. It panics if the shapes do
// not match, a row of scores or q is not contiguous, or keys is shorter. It runs on the calling
// goroutine.
func ScoreKeys(scores, q Matrix, keys []float32, stride int) {
	scores.check("ScoreKeys: scores", writes)
	q.check("ScoreKeys: q", readsRows)
	if scores.Rows != q.Rows || scores.Cols != PageTokens {
		panic(fmt.Sprintf("mat: ScoreKeys of %d × %d queries to %d × %d scores, expected %d × %d", q.Rows, q.Cols, scores.Rows, scores.Cols, q.Rows, PageTokens))
	}
	checkPages("ScoreKeys: keys", len(keys), q.Rows, stride, q.Cols*PageTokens)
	if kernel == generic || q.Cols == 0 {
		for i := range q.Rows {
			Gemm(nil, scores.RowRange(i, i+1), q.RowRange(i, i+1), Of(keys[i*stride:], q.Cols, PageTokens), GemmOptions{})
		}
		return
	}
	for i := 0; i < q.Rows; i += pagesRun {
		scoreKeysAsm(&scoreArgs{
			scores: &scores.Data[i*scores.RowStride], q: &q.Data[i*q.RowStride], keys: &keys[i*stride],
			scoresRow: uintptr(scores.RowStride) * size, qRow: uintptr(q.RowStride) * size, next: uintptr(stride) * size,
			n: min(pagesRun, q.Rows-i), k: q.Cols,
		})
	}
}

// AddValues adds Σ_l weights[i][l]·V_i[tokens[l] mod 16] to row i of ctx [n × d_v], for weights
// [n × len(tokens)] and the values V_i [16 × d_v] at values[i·stride]: n heads of a token, or,
// with a stride of 0, n tokens and one head. Each element is one chain of fused multiply-adds in
// the order of tokens. It panics if the shapes do not match, a row of ctx or weights is not
// contiguous, or values is shorter. It runs on the calling goroutine.
func AddValues(ctx, weights Matrix, values []float32, stride int, tokens []int32) {
	ctx.check("AddValues: ctx", writes)
	weights.check("AddValues: weights", readsRows)
	if ctx.Rows != weights.Rows || weights.Cols != len(tokens) {
		panic(fmt.Sprintf("mat: AddValues of %d × %d weights of %d tokens to %d × %d elements", weights.Rows, weights.Cols, len(tokens), ctx.Rows, ctx.Cols))
	}
	checkPages("AddValues: values", len(values), ctx.Rows, stride, PageTokens*ctx.Cols)
	done := 0
	if kernel != generic && len(tokens) > 0 {
		done = ctx.Cols &^ 15
	}
	for i := 0; i < ctx.Rows && done > 0; i += pagesRun {
		addValuesAsm(&valueArgs{
			ctx: &ctx.Data[i*ctx.RowStride], weights: &weights.Data[i*weights.RowStride], values: &values[i*stride], tokens: &tokens[0],
			ctxRow: uintptr(ctx.RowStride) * size, weightsRow: uintptr(weights.RowStride) * size, next: uintptr(stride) * size,
			token: uintptr(ctx.Cols) * size, n: min(pagesRun, ctx.Rows-i), count: len(tokens), cols: done,
		})
	}
	if done == ctx.Cols {
		return
	}
	for i := range ctx.Rows {
		y, w, v := ctx.Row(i)[done:], weights.Row(i), values[i*stride:]
		for l, t := range tokens {
			Axpy(w[l], v[int(t&(PageTokens-1))*ctx.Cols:][done:ctx.Cols], y)
		}
	}
}

// pagesRun is the maximum number of queries of one call of assembly.
const pagesRun = 64

// checkPages panics unless slices of n elements at 0, stride, … (rows-1)·stride are inside one
// of length.
func checkPages(name string, length, rows, stride, n int) {
	if stride < 0 || rows > 0 && (n > length || !fits(rows-1, stride, length-n)) {
		panic(fmt.Sprintf("mat: %s has %d elements for %d matrices of %d at multiples of %d", name, length, rows, n, stride))
	}
}

// scoreArgs are the arguments of scoreKeysAsm. Strides count bytes.
type scoreArgs struct {
	scores, q, keys       *float32
	scoresRow, qRow, next uintptr
	n, k                  int // at least 1
}

// valueArgs are the arguments of addValuesAsm. Strides count bytes; token is that of V_i's rows.
type valueArgs struct {
	ctx, weights, values            *float32
	tokens                          *int32
	ctxRow, weightsRow, next, token uintptr
	n, count, cols                  int // at least 1; cols is a multiple of 16
}
