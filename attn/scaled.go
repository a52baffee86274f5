package attn

import (
	"fmt"
	"math"
	"sync"

	"tfm/mat"
)

// Ragged divides the rows of a batch into sentences: the queries [QStarts[s], QStarts[s+1]) of
// sentence s attend to its keys [KStarts[s], KStarts[s+1]). Both slices have one element more than
// there are sentences; they are equal if Causal.
type Ragged struct {
	QStarts, KStarts []int32
	Causal           bool        // queries attend to no later position (section 3.2.3)
	Drop             mat.Dropout // of the attention weights; none in the paper
}

// headDrop returns the dropout of the weights of one head of sentence s.
func (r Ragged) headDrop(s, head, heads int) mat.Dropout {
	return mat.Dropout{Rate: r.Drop.Rate, Key: r.Drop.Key + uint64(s*heads+head)}
}

// Sentences returns the number of sentences.
func (r Ragged) Sentences() int { return len(r.QStarts) - 1 }

// Inputs are the queries Q [n × h·d_k], keys K [m × h·d_k] and values V [m × h·d_v] of all
// heads. Columns [i·d_k, (i+1)·d_k) of Q and K and [i·d_v, (i+1)·d_v) of V belong to head i.
// All three may be views into one matrix. The gradients of inputs have the same type.
type Inputs struct{ Q, K, V mat.Matrix }

// queryBlock is the number of queries that are computed at once. Only their weights
// [queryBlock × m] exist, never those of all queries.
const queryBlock = 64

// ScaledDotProductHeads sets ctx [n × h·d_v], head by head, to softmax(Q·Kᵀ/sqrt(d_k))·V
// (equation 1) over the visible keys, with dropout of the softmax if r has one. In a sentence of m
// keys, query i (from 0) sees the first i+1 if r.Causal, otherwise all m. A mask in other systems
// adds -∞ to the scores of the other keys; here they are not computed, or SoftmaxRows gives them
// weight 0. The workers of pool divide the heads of all sentences. It panics if widths are not
// divisible by heads or if r does not cover all rows.
func ScaledDotProductHeads(pool *mat.Pool, ctx mat.Matrix, in Inputs, heads int, r Ragged) {
	in.check(ctx, heads, r)
	mat.Each(pool, r.Sentences()*heads, headGrain(r, heads), attendHeads{ctx, in, heads, r})
}

// headGrain returns the number of heads that a worker computes at a time: more than one for many
// sentences, which are short, to amortise the overhead of the loop.
func headGrain(r Ragged, heads int) int { return max(1, min(heads, r.Sentences()*heads/16)) }

type attendHeads struct {
	ctx   mat.Matrix
	in    Inputs
	heads int
	r     Ragged
}

func (t *attendHeads) Range(lo, hi int) {
	ws := workspaces.Get().(*workspace)
	defer workspaces.Put(ws)
	for i := lo; i < hi; i++ {
		s, head := i/t.heads, i%t.heads
		q0, n, k0, m := t.r.sentence(s)
		drop := t.r.headDrop(s, head, t.heads)
		for first := 0; first < n; first += queryBlock {
			end := min(first+queryBlock, n)
			keys := t.r.visibleKeys(end, m)
			q, ctx := view(&t.in.Q, t.heads, head, q0+first, q0+end), view(&t.ctx, t.heads, head, q0+first, q0+end)
			k, v := view(&t.in.K, t.heads, head, k0, k0+keys), view(&t.in.V, t.heads, head, k0, k0+keys)

			// P = softmax(Q·Kᵀ/sqrt(d_k))
			p := matrix(&ws.p, end-first, keys)
			t.r.weights(p, q, k, first)

			// ctx = (mask·P)·V
			dropWeights(drop, p, first, m)
			mat.Gemm(nil, ctx, p, v, mat.GemmOptions{})
		}
	}
}

// weights sets p = softmax(q·kᵀ/sqrt(d_k)) over the visible keys, for queries that begin at
// position first. Weights of other keys are 0.
func (r Ragged) weights(p, q, k mat.Matrix, first int) {
	mat.Gemm(nil, p, q, k.T(), mat.GemmOptions{})
	visible := r.visibleKeys(first+1, k.Rows) // to the first query; one more to each later one
	mat.SoftmaxRows(p, p, visible, scaleOf(q.Cols))
}

// dropWeights applies dropout to p, the weights of queries that begin at position first of a
// sentence with m keys.
func dropWeights(drop mat.Dropout, p mat.Matrix, first, m int) {
	if drop.Rate > 0 {
		for i := range p.Rows {
			drop.Apply(p.Row(i), p.Row(i), nil, (first+i)*m)
		}
	}
}

// scaleOf returns 1/sqrt(d_k) (section 3.2.1).
func scaleOf(dk int) float32 { return float32(1 / math.Sqrt(float64(dk))) }

// visibleKeys returns the number of a sentence's m keys that its first n queries may attend to.
func (r Ragged) visibleKeys(n, m int) int {
	if r.Causal {
		return min(n, m)
	}
	return m
}

// ScaledDotProductHeadsGrad sets grad, the gradients of the inputs in of ScaledDotProductHeads, for
// dctx [n × h·d_v]. It computes the weights again instead of storing them. mask is that of dropout.
//
//	P = softmax(S)       so   ∂P_il/∂S_ij = P_il·([l=j] - P_ij)
//	                          dS_ij = P_ij·(dP_ij - Σ_l P_il·dP_il)
//	S = scale·Q·Kᵀ       so   dQ = scale·dS·K        dK = scale·dSᵀ·Q
//	ctx = (mask·P)·V     so   dP = mask·(dctx·Vᵀ)    dV = (mask·P)ᵀ·dctx
//
// P_ij of a key that is not visible is 0 and adds nothing to any sum.
func ScaledDotProductHeadsGrad(pool *mat.Pool, grad Inputs, dctx mat.Matrix, in Inputs, heads int, r Ragged) {
	in.check(dctx, heads, r)
	grad.check(dctx, heads, r)
	mat.Each(pool, r.Sentences()*heads, headGrain(r, heads), attendHeadsGrad{grad, dctx, in, heads, r})
}

type attendHeadsGrad struct {
	grad  Inputs
	dctx  mat.Matrix
	in    Inputs
	heads int
	r     Ragged
}

func (t *attendHeadsGrad) Range(lo, hi int) {
	ws := workspaces.Get().(*workspace)
	defer workspaces.Put(ws)
	for i := lo; i < hi; i++ {
		s, head := i/t.heads, i%t.heads
		q0, n, k0, m := t.r.sentence(s)
		t.clearUnset(head, n, k0, m)
		drop := t.r.headDrop(s, head, t.heads)
		for first := 0; first < n; first += queryBlock {
			end := min(first+queryBlock, n)
			keys := t.r.visibleKeys(end, m)
			q, dq := view(&t.in.Q, t.heads, head, q0+first, q0+end), view(&t.grad.Q, t.heads, head, q0+first, q0+end)
			k, dk := view(&t.in.K, t.heads, head, k0, k0+keys), view(&t.grad.K, t.heads, head, k0, k0+keys)
			v, dv := view(&t.in.V, t.heads, head, k0, k0+keys), view(&t.grad.V, t.heads, head, k0, k0+keys)
			dctx := view(&t.dctx, t.heads, head, q0+first, q0+end)
			accumulate := mat.GemmOptions{Accumulate: first > 0}

			p := matrix(&ws.p, end-first, keys)
			t.r.weights(p, q, k, first)

			// ctx = (mask·P)·V   so   dP = mask·(dctx·Vᵀ)
			dp := matrix(&ws.dp, end-first, keys)
			mat.Gemm(nil, dp, dctx, v.T(), mat.GemmOptions{})
			dropWeights(drop, dp, first, m)

			// P = softmax(scale·Q·Kᵀ), so that
			// d(Q·Kᵀ)_ij = scale·P_ij·(dP_ij - Σ_l P_il·dP_il)
			dqk := dp
			mat.SoftmaxGradRows(dqk, p, dp, scaleOf(q.Cols))

			// dQ = d(Q·Kᵀ)·K, dK = d(Q·Kᵀ)ᵀ·Q
			mat.Gemm(nil, dq, dqk, k, mat.GemmOptions{})
			mat.Gemm(nil, dk, dqk.T(), q, accumulate)

			// ctx = (mask·P)·V   so   dV = (mask·P)ᵀ·dctx
			dropWeights(drop, p, first, m)
			mat.Gemm(nil, dv, p.T(), dctx, accumulate)
		}
	}
}

// clearUnset clears the gradients of the keys and values that the first block of queries does not
// see. The first block sets the gradients of those it sees; later blocks add to all.
func (t *attendHeadsGrad) clearUnset(head, n, k0, m int) {
	set := 0
	if n > 0 {
		set = t.r.visibleKeys(min(queryBlock, n), m)
	}
	clearRows(view(&t.grad.K, t.heads, head, k0+set, k0+m))
	clearRows(view(&t.grad.V, t.heads, head, k0+set, k0+m))
}

// check panics unless heads divides the widths and the sentences cover all rows of the inputs and
// of ctx. Uncovered rows would keep stale values.
func (in Inputs) check(ctx mat.Matrix, heads int, r Ragged) {
	q, k, v, n, m := in.Q, in.K, in.V, last(r.QStarts), last(r.KStarts)
	if heads < 1 || q.Cols%heads != 0 || v.Cols%heads != 0 || k.Cols != q.Cols || ctx.Cols != v.Cols ||
		len(r.KStarts) != len(r.QStarts) || q.Rows != n || ctx.Rows != n || k.Rows != m || v.Rows != m {
		panic(fmt.Sprintf("attn: %d heads of queries %d × %d, keys %d × %d, values %d × %d and contexts %d × %d, in %d sentences of %d queries and %d of %d keys",
			heads, q.Rows, q.Cols, k.Rows, k.Cols, v.Rows, v.Cols, ctx.Rows, ctx.Cols, r.Sentences(), n, len(r.KStarts)-1, m))
	}
}

// last returns the last of starts, which is the number of rows; 0 for none.
func last(starts []int32) int {
	if len(starts) == 0 {
		return 0
	}
	return int(starts[len(starts)-1])
}

// sentence returns the first row q and the number n of the queries of sentence s, and k and m of
// its keys.
func (r Ragged) sentence(s int) (q, n, k, m int) {
	q, k = int(r.QStarts[s]), int(r.KStarts[s])
	return q, int(r.QStarts[s+1]) - q, k, int(r.KStarts[s+1]) - k
}

// view returns rows [lo, hi) of one head. It is faster than Matrix.Slice because it checks nothing;
// products check their operands.
func view(m *mat.Matrix, heads, head, lo, hi int) mat.Matrix {
	p := mat.Matrix{Rows: hi - lo, Cols: m.Cols / heads, RowStride: m.RowStride, ColStride: m.ColStride}
	if p.Rows > 0 && p.Cols > 0 {
		p.Data = m.Data[lo*p.RowStride+head*p.Cols*p.ColStride:]
	}
	return p
}

func clearRows(m mat.Matrix) {
	for i := range m.Rows {
		clear(m.Row(i))
	}
}

// workspace holds the weights of a block of queries and their gradients.
type workspace struct{ p, dp []float32 }

var workspaces = sync.Pool{New: func() any { return new(workspace) }}

// matrix views a buffer of a workspace as a matrix, and grows it if necessary. Each row begins a
// cache line, because reading a row would wait for writes to a line that it shared with another.
func matrix(buf *[]float32, rows, cols int) mat.Matrix {
	stride := (cols + 15) &^ 15
	if n := rows * stride; cap(*buf) < n {
		*buf = make([]float32, n+n/2)
	}
	return mat.Matrix{Data: (*buf)[:cap(*buf)], Rows: rows, Cols: cols, RowStride: stride, ColStride: 1}
}
