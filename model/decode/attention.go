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
		keys, values := s.slot(int(s.rows[i].slot))
		t := int(s.rows[i].tokens) - 1 // the newest token's position
		qkv := s.qkv.RowRange(i, i+1)
		for j, k := range qkv.ColRange(s.dk, 2*s.dk).Row(0) {
			keys.Row(j)[t] = k
		}
		copy(values.Row(t), qkv.ColRange(2*s.dk, qkv.Cols).Row(0))
		attend(s.ctx.RowRange(i, i+1), s.scores.Row(i), qkv.ColRange(0, s.dk), keys.ColRange(0, t+1), values.RowRange(0, t+1), s.Heads, nil)
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
	meanWeights mat.Matrix // [rows × longest source] output: mean of the heads' weights; may be empty
}

func (s *crossStep) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		from, to := int(s.starts[s.rowSources[i]]), int(s.starts[s.rowSources[i]+1])
		values := s.kv.Slice(from, to, s.keys.Rows, s.kv.Cols)
		var mean []float32
		if s.meanWeights.Data != nil {
			mean = s.meanWeights.Row(i)[:to-from]
			clear(mean)
		}
		attend(s.ctx.RowRange(i, i+1), s.scores.Row(i), s.q.RowRange(i, i+1), s.keys.ColRange(from, to), values, s.Heads, mean)
	}
}

// attend sets ctx [1 × h·d_v] to the attention of query q [1 × h·d_k] to transposed keys [h·d_k ×
// m] and values [m × h·d_v], for each head. It adds the mean of the heads' weights to mean [m]
// unless mean is nil. scores is workspace for m values.
func attend(ctx mat.Matrix, scores []float32, q, keys, values mat.Matrix, heads int, mean []float32) {
	w := mat.Of(scores[:keys.Cols], 1, keys.Cols)
	dk, dv := q.Cols/heads, values.Cols/heads
	scale := float32(1 / math.Sqrt(float64(dk)))
	for h := range heads {
		k0, k1, v0, v1 := h*dk, (h+1)*dk, h*dv, (h+1)*dv
		mat.Gemm(nil, w, q.ColRange(k0, k1), keys.RowRange(k0, k1), mat.GemmOptions{})
		mat.Softmax(w.Row(0), w.Row(0), scale)
		mat.Gemm(nil, ctx.ColRange(v0, v1), w, values.ColRange(v0, v1), mat.GemmOptions{})
		if mean != nil {
			mat.Axpy(mean, 1/float32(heads), w.Row(0))
		}
	}
}
