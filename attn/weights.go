package attn

import "tfm/mat"

// Inputs views the queries, keys and values that Forward left in act.
func (l Self) Inputs(act *SelfAct) Inputs { return l.split(act.QKV) }

// Inputs views the queries, keys and values that Forward left in act.
func (l Cross) Inputs(act *CrossAct) Inputs { return inputs(act.Q, act.KV) }

// Weights sets w [queries × keys] to softmax(Q·Kᵀ/sqrt(d_k)) (equation 1) of one head of one
// sentence, without dropout; what a query may not see has weight 0. It panics if w has another
// shape.
func (in Inputs) Weights(w mat.Matrix, heads, sentence, head int, r Ragged) {
	q, k, _ := in.head(r, heads, sentence, head)
	r.weights(w, q, k, 0)
}
