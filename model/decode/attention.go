package decode

import (
	"math"

	"tfm/attn"
	"tfm/mat"
)

// selfStep is the parallel loop of self-attention for the newest token of each row: it appends the
// token's key and value to the row's slot and attends to all of the slot (equation 1 for one
// query).
type selfStep struct {
	*attn.Sizes
	*cache
	qkv, ctx mat.Matrix // [rows × (2h·d_k + h·d_v)], [rows × h·d_v]
	scores   mat.Matrix // [rows × positions] workspace
	rows     []cachedRow
}

func (s *selfStep) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		qkv := s.qkv.RowRange(i, i+1)
		q, k, v := qkv.ColRange(0, s.keyWidth), qkv.ColRange(s.keyWidth, 2*s.keyWidth), qkv.ColRange(2*s.keyWidth, qkv.Cols)
		keys, values := s.slot(int(s.rows[i].slot))
		t := int(s.rows[i].tokens) - 1 // position of the newest token
		for j, x := range k.Row(0) {
			keys.Row(j)[t] = x
		}
		copy(values.Row(t), v.Row(0))
		cached := keyValues{keys.ColRange(0, t+1), values.RowRange(0, t+1)}
		attend(s.ctx.RowRange(i, i+1), q, cached, s.Heads, s.scores.Row(i), nil)
	}
}

// crossStep is the parallel loop of cross-attention from each row to its source.
type crossStep struct {
	*attn.Sizes
	*sourceKV
	q, ctx      mat.Matrix // [rows × h·d_k], [rows × h·d_v]
	scores      mat.Matrix // [rows × longest source] workspace
	starts      []int32    // of the sources
	rowSources  []int32    // index of each row's source
	meanWeights mat.Matrix // [rows × longest source] output: mean over heads; may be empty
}

func (s *crossStep) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		from, to := int(s.starts[s.rowSources[i]]), int(s.starts[s.rowSources[i]+1])
		ofSource := keyValues{s.keys.ColRange(from, to), s.kv.Slice(from, to, s.keys.Rows, s.kv.Cols)}
		var mean []float32
		if s.meanWeights.Data != nil {
			mean = s.meanWeights.Row(i)[:to-from]
			clear(mean)
		}
		attend(s.ctx.RowRange(i, i+1), s.q.RowRange(i, i+1), ofSource, s.Heads, s.scores.Row(i), mean)
	}
}

// keyValues holds the keys and values of m tokens, of one hypothesis or one source.
type keyValues struct {
	keys   mat.Matrix // [h·d_k × m] transposed
	values mat.Matrix // [m × h·d_v]
}

// attend sets ctx [1 × h·d_v] to the attention of query q [1 × h·d_k] to kv, for each head. It
// adds the mean of the heads' weights to mean [m] unless mean is nil. scores is workspace for m
// values.
func attend(ctx, q mat.Matrix, kv keyValues, heads int, scores, mean []float32) {
	m := kv.keys.Cols
	weights := mat.Of(scores[:m], 1, m)
	dk, dv := q.Cols/heads, kv.values.Cols/heads
	scale := float32(1 / math.Sqrt(float64(dk)))
	for h := range heads {
		k0, k1, v0, v1 := h*dk, (h+1)*dk, h*dv, (h+1)*dv
		mat.Gemm(nil, weights, q.ColRange(k0, k1), kv.keys.RowRange(k0, k1), mat.GemmOptions{})
		mat.Softmax(weights.Row(0), weights.Row(0), scale)
		mat.Gemm(nil, ctx.ColRange(v0, v1), weights, kv.values.ColRange(v0, v1), mat.GemmOptions{})
		if mean != nil {
			mat.Axpy(mean, 1/float32(heads), weights.Row(0))
		}
	}
}
