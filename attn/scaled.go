package attn

import (
	"fmt"
	"math"
	"sync"

	"tfm/mat"
)

// Ragged says which rows belong together: queries [Q[s], Q[s+1]) attend to keys [K[s], K[s+1]), for
// each sentence s. Q and K have one entry more than there are sentences.
type Ragged struct {
	Q, K   []int32
	Causal bool        // a query sees keys up to its own position (section 3.2.3); Q and K must be equal
	Drop   mat.Dropout // of the weights; none in the paper
}

// drop returns the dropout of the weights of one head of sentence s.
func (r Ragged) drop(s, head, heads int) mat.Dropout {
	return mat.Dropout{Rate: r.Drop.Rate, Key: r.Drop.Key + uint64(s*heads+head)}
}

// Sentences returns the number of sentences.
func (r Ragged) Sentences() int { return len(r.Q) - 1 }

// Inputs are the queries [n × h·d_k], keys [m × h·d_k] and values [m × h·d_v] of all heads: head i
// owns columns [i·d_k, (i+1)·d_k), and of the values [i·d_v, (i+1)·d_v). They may be views into one
// matrix. The same type holds their derivatives.
type Inputs struct{ Q, K, V mat.Matrix }

// queryBlock is the number of queries that are computed at once: of the weight matrix only their
// weights [queryBlock × keys] ever exist.
const queryBlock = 64

// ScaledDotProductHeads sets ctx [n × h·d_v], head by head, to softmax(Q·Kᵀ/sqrt(d_k))·V
// (equation 1), with dropout of the softmax if r has one. The threads of pool share the heads of
// all sentences. It panics if widths are not divisible by heads or if r does not divide all rows.
func ScaledDotProductHeads(pool *mat.Pool, ctx mat.Matrix, in Inputs, heads int, r Ragged) {
	in.check(ctx, heads, r)
	mat.Each(pool, r.Sentences()*heads, headGrain(r, heads), forward{ctx, in, heads, r})
}

// headGrain is the number of heads of sentences that a thread takes at a time: enough to amortise
// the loop over many short sentences.
func headGrain(r Ragged, heads int) int { return max(1, min(heads, r.Sentences()*heads/16)) }

type forward struct {
	ctx   mat.Matrix
	in    Inputs
	heads int
	r     Ragged
}

func (t *forward) Range(lo, hi int) {
	ws := workspaces.Get().(*workspace)
	defer workspaces.Put(ws)
	for i := lo; i < hi; i++ {
		s, head := i/t.heads, i%t.heads
		q0, n, k0, m := t.r.sentence(s)
		for b0 := 0; b0 < n; b0 += queryBlock {
			b1 := min(b0+queryBlock, n)
			seen := t.r.seen(b1, m)
			q, ctx := view(&t.in.Q, t.heads, head, q0+b0, q0+b1), view(&t.ctx, t.heads, head, q0+b0, q0+b1)
			k, v := view(&t.in.K, t.heads, head, k0, k0+seen), view(&t.in.V, t.heads, head, k0, k0+seen)

			w := matrix(&ws.weights, b1-b0, seen)
			t.r.weights(w, q, k, b0)
			if t.r.Drop.Rate > 0 {
				dropWeights(t.r.drop(s, head, t.heads), w, b0, m)
			}
			mat.Gemm(nil, ctx, w, v, mat.GemmOptions{})
		}
	}
}

// weights sets w = softmax(q·kᵀ/sqrt(d_k)) for queries that begin at position first.
func (r Ragged) weights(w, q, k mat.Matrix, first int) {
	mat.Gemm(nil, w, q, k.T(), mat.GemmOptions{})
	mat.SoftmaxRows(w, w, r.seen(first+1, k.Rows), scaleOf(q.Cols))
}

// dropWeights applies dropout to the weights of queries that begin at position first of a sentence
// with m keys.
func dropWeights(drop mat.Dropout, w mat.Matrix, first, m int) {
	for i := range w.Rows {
		drop.Add(w.Row(i), w.Row(i), nil, (first+i)*m)
	}
}

// scaleOf returns 1/sqrt(d_k) (section 3.2.1).
func scaleOf(dk int) float32 { return float32(1 / math.Sqrt(float64(dk))) }

// seen returns how many of m keys the first n queries of a sentence may see.
func (r Ragged) seen(n, m int) int {
	if r.Causal {
		return min(n, m)
	}
	return m
}

// ScaledDotProductHeadsGrad takes the inputs of ScaledDotProductHeads and dctx [n × h·d_v], and
// sets the derivatives of the inputs. The weights are computed once more rather than stored.
//
// With the weights P = softmax(S), S = scale·Q·Kᵀ, and ctx = (mask·P)·V:
//
//	dV = (mask·P)ᵀ·dctx   dP = mask·(dctx·Vᵀ)   dS_ij = P_ij·(dP_ij - Σ_l P_il·dP_il)
//	dQ = scale·dS·K   dK = scale·dSᵀ·Q
func ScaledDotProductHeadsGrad(pool *mat.Pool, grad Inputs, dctx mat.Matrix, in Inputs, heads int, r Ragged) {
	in.check(dctx, heads, r)
	grad.check(dctx, heads, r)
	mat.Each(pool, r.Sentences()*heads, headGrain(r, heads), backward{grad, dctx, in, heads, r})
}

type backward struct {
	grad  Inputs
	dctx  mat.Matrix
	in    Inputs
	heads int
	r     Ragged
}

func (t *backward) Range(lo, hi int) {
	ws := workspaces.Get().(*workspace)
	defer workspaces.Put(ws)
	for i := lo; i < hi; i++ {
		s, head := i/t.heads, i%t.heads
		q0, n, k0, m := t.r.sentence(s)
		first := 0 // keys whose derivatives the first block of queries sets; later blocks add to them
		if n > 0 {
			first = t.r.seen(min(queryBlock, n), m)
		}
		clearRows(view(&t.grad.K, t.heads, head, k0+first, k0+m))
		clearRows(view(&t.grad.V, t.heads, head, k0+first, k0+m))
		for b0 := 0; b0 < n; b0 += queryBlock {
			b1 := min(b0+queryBlock, n)
			seen := t.r.seen(b1, m)
			q, dq := view(&t.in.Q, t.heads, head, q0+b0, q0+b1), view(&t.grad.Q, t.heads, head, q0+b0, q0+b1)
			k, dk := view(&t.in.K, t.heads, head, k0, k0+seen), view(&t.grad.K, t.heads, head, k0, k0+seen)
			v, dv := view(&t.in.V, t.heads, head, k0, k0+seen), view(&t.grad.V, t.heads, head, k0, k0+seen)
			dctx := view(&t.dctx, t.heads, head, q0+b0, q0+b1)

			w := matrix(&ws.weights, b1-b0, seen) // P
			t.r.weights(w, q, k, b0)
			dw := matrix(&ws.grads, b1-b0, seen) // dP, then scale·dS
			mat.Gemm(nil, dw, dctx, v.T(), mat.GemmOptions{})
			drop := t.r.drop(s, head, t.heads)
			if drop.Rate > 0 {
				dropWeights(drop, dw, b0, m)
			}
			mat.SoftmaxGradRows(dw, w, dw, scaleOf(q.Cols))
			mat.Gemm(nil, dq, dw, k, mat.GemmOptions{})
			if drop.Rate > 0 {
				dropWeights(drop, w, b0, m)
			}
			mat.Gemm(nil, dv, w.T(), dctx, mat.GemmOptions{Accumulate: b0 > 0})
			mat.Gemm(nil, dk, dw.T(), q, mat.GemmOptions{Accumulate: b0 > 0})
		}
	}
}

// check panics unless heads and sentences cover all of the inputs and of the result. Uncovered rows
// would keep stale values.
func (in Inputs) check(ctx mat.Matrix, heads int, r Ragged) {
	q, k, v, n, m := in.Q, in.K, in.V, end(r.Q), end(r.K)
	if heads < 1 || q.Cols%heads != 0 || v.Cols%heads != 0 || k.Cols != q.Cols || ctx.Cols != v.Cols ||
		len(r.K) != len(r.Q) || q.Rows != n || ctx.Rows != n || k.Rows != m || v.Rows != m {
		panic(fmt.Sprintf("attn: %d heads of queries %d × %d, keys %d × %d, values %d × %d and results %d × %d, in %d sentences of %d queries and %d of %d keys",
			heads, q.Rows, q.Cols, k.Rows, k.Cols, v.Rows, v.Cols, ctx.Rows, ctx.Cols, r.Sentences(), n, len(r.K)-1, m))
	}
}

// end returns the end of the last of the sentences that begin at starts.
func end(starts []int32) int {
	if len(starts) == 0 {
		return 0
	}
	return int(starts[len(starts)-1])
}

// sentence returns the first row and the number of queries, and of keys, of sentence s.
func (r Ragged) sentence(s int) (q, n, k, m int) {
	q, k = int(r.Q[s]), int(r.K[s])
	return q, int(r.Q[s+1]) - q, k, int(r.K[s+1]) - k
}

// head views one head of one sentence. It panics if there is none.
func (in Inputs) head(r Ragged, heads, s, head int) (q, k, v mat.Matrix) {
	return headOf(in.Q, r.Q, heads, s, head), headOf(in.K, r.K, heads, s, head), headOf(in.V, r.K, heads, s, head)
}

func headOf(m mat.Matrix, starts []int32, heads, s, head int) mat.Matrix {
	width := m.Cols / heads
	return m.Slice(int(starts[s]), int(starts[s+1]), head*width, (head+1)*width)
}

// view returns rows [r0, r1) of one head in a fraction of the time of Matrix.Slice. Products check
// it.
func view(m *mat.Matrix, heads, head, r0, r1 int) mat.Matrix {
	p := mat.Matrix{Rows: r1 - r0, Cols: m.Cols / heads, RowStride: m.RowStride, ColStride: m.ColStride}
	if p.Rows > 0 && p.Cols > 0 {
		p.Data = m.Data[r0*p.RowStride+head*p.Cols*p.ColStride:]
	}
	return p
}

func clearRows(m mat.Matrix) {
	for i := range m.Rows {
		clear(m.Row(i))
	}
}

// workspace holds the weights of a block of queries and their derivatives.
type workspace struct{ weights, grads []float32 }

var workspaces = sync.Pool{New: func() any { return new(workspace) }}

// matrix views a buffer of a workspace as a matrix and grows it if necessary. Rows share no cache
// line, because the partly written line of one row would delay reading the next row.
func matrix(buf *[]float32, rows, cols int) mat.Matrix {
	stride := (cols + 15) &^ 15
	if n := rows * stride; cap(*buf) < n {
		*buf = make([]float32, n+n/2)
	}
	return mat.Matrix{Data: (*buf)[:cap(*buf)], Rows: rows, Cols: cols, RowStride: stride, ColStride: 1}
}
