package mat

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// pageCase is a call of each function with random shapes. Rows of views have random distances.
type pageCase struct {
	q, scores, ctx, weights Matrix
	keys, values            []float32
	keyStride, valueStride  int
	tokens                  []int32
}

func randomPageCase(r *rand.Rand, place func(n int) []float32) pageCase {
	n, dk, dv, count := r.IntN(pagesRun+10), r.IntN(70), r.IntN(150), r.IntN(40)
	if r.IntN(2) == 0 {
		n = r.IntN(9)
	}
	view := func(rows, cols int) Matrix {
		m := Matrix{Rows: rows, Cols: cols, RowStride: cols + r.IntN(5), ColStride: 1}
		if rows > 0 && cols > 0 {
			m.Data = place(m.extent())
		}
		return m
	}
	strided := func(elements int) ([]float32, int) {
		stride := r.IntN(2) * (elements + r.IntN(40))
		if n == 0 {
			return nil, stride
		}
		return place((n-1)*stride + elements), stride
	}
	c := pageCase{q: view(n, dk), scores: view(n, PageTokens), ctx: view(n, dv), weights: view(n, count), tokens: make([]int32, count)}
	c.keys, c.keyStride = strided(dk * PageTokens)
	c.values, c.valueStride = strided(PageTokens * dv)
	for l := range c.tokens {
		c.tokens[l] = r.Int32N(1000)
	}
	return c
}

func (c *pageCase) String() string {
	return fmt.Sprintf("%d queries, d_k %d, d_v %d, %d tokens, strides %d and %d", c.q.Rows, c.q.Cols, c.ctx.Cols, len(c.tokens), c.keyStride, c.valueStride)
}

// check compares the scores with those of Gemm, and contexts with those of Axpy.
func (c *pageCase) check(t *testing.T) {
	t.Helper()
	want := New(c.ctx.Rows, c.ctx.Cols)
	for i := range c.ctx.Rows {
		copy(want.Row(i), c.ctx.Row(i))
		for l, token := range c.tokens {
			Axpy(c.weights.At(i, l), c.values[i*c.valueStride+int(token%PageTokens)*c.ctx.Cols:][:c.ctx.Cols], want.Row(i))
		}
	}
	ScoreKeys(c.scores, c.q, c.keys, c.keyStride)
	AddValues(c.ctx, c.weights, c.values, c.valueStride, c.tokens)
	for i := range c.q.Rows {
		scores := New(1, PageTokens)
		Gemm(nil, scores, c.q.RowRange(i, i+1), Of(c.keys[i*c.keyStride:], c.q.Cols, PageTokens), GemmOptions{})
		for l := range PageTokens {
			if c.scores.At(i, l) != scores.At(0, l) {
				t.Fatalf("%v: score %d of query %d is %v, want %v", c, l, i, c.scores.At(i, l), scores.At(0, l))
			}
		}
		for j := range c.ctx.Cols {
			if c.ctx.At(i, j) != want.At(i, j) {
				t.Fatalf("%v: element %d of context %d is %v, want %v", c, j, i, c.ctx.At(i, j), want.At(i, j))
			}
		}
	}
}

// Keys and values of pages give the bits of products of matrices.
func TestPages(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(11, 12))
		for range 300 {
			c := randomPageCase(r, func(n int) []float32 { return ordinaries(r, n) })
			c.check(t)
		}
	})
}

func TestPagesPanicOnMismatch(t *testing.T) {
	q, scores, ctx, weights, page := New(2, 3), New(2, PageTokens), New(2, 3), New(2, 4), make([]float32, 3*PageTokens+5)
	tokens := make([]int32, 4)
	mustPanic(t, "mat: ", map[string]func(){
		"scores of 15 tokens":      func() { ScoreKeys(scores.ColRange(0, 15), q, page, 0) },
		"scores of one query":      func() { ScoreKeys(scores.RowRange(0, 1), q, page, 0) },
		"transposed queries":       func() { ScoreKeys(scores, New(3, 2).T(), page, 0) },
		"short keys":               func() { ScoreKeys(scores, q, page[:3*PageTokens-1], 0) },
		"short keys of the second": func() { ScoreKeys(scores, q, page, 6) },
		"a negative stride":        func() { ScoreKeys(scores, q, page, -1) },
		"weights of 3 tokens":      func() { AddValues(ctx, weights.ColRange(0, 3), page, 0, tokens) },
		"weights of one query":     func() { AddValues(ctx, weights.RowRange(0, 1), page, 0, tokens) },
		"transposed contexts":      func() { AddValues(New(3, 2).T(), weights, page, 0, tokens) },
		"short values":             func() { AddValues(ctx, weights, page[:3*PageTokens-1], 0, tokens) },
		"short values of a second": func() { AddValues(ctx, weights, page, 6, tokens) },
	})
}

// BenchmarkPages measures the attention of base, one token to 32: of all heads of one token, and of
// one head of four tokens.
func BenchmarkPages(b *testing.B) {
	const heads, d, tokens = 8, 64, 32
	q, scores, weights, ctx := random(heads, d), New(heads, PageTokens), random(heads, PageTokens), New(heads, d)
	page := random(heads, 2*d*PageTokens).Data
	lanes := make([]int32, PageTokens)
	for i := range lanes {
		lanes[i] = int32(i)
	}
	benchKernels(b, func(b *testing.B) {
		for _, c := range []struct{ n, stride int }{{heads, 2 * d * PageTokens}, {4, 0}} {
			b.Run(fmt.Sprintf("op=scores/n=%d", c.n), func(b *testing.B) {
				loopWarm(b, func() { ScoreKeys(scores.RowRange(0, c.n), q.RowRange(0, c.n), page, c.stride) })
			})
			b.Run(fmt.Sprintf("op=values/n=%d", c.n), func(b *testing.B) {
				loopWarm(b, func() {
					AddValues(ctx.RowRange(0, c.n), weights.RowRange(0, c.n), page[d*PageTokens:], c.stride, lanes)
				})
			})
		}
	})
}
