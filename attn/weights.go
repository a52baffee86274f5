package attn

import "tfm/mat"

// Inputs views the queries, keys and values that Forward stored in act.
func (l Self) Inputs(act *SelfAct) Inputs { return l.split(act.QKV) }

// Inputs views the queries, keys and values that Forward stored in act.
func (l Cross) Inputs(act *CrossAct) Inputs { return crossInputs(act.Q, act.KV) }

// Weights sets w [n × m] to softmax(Q·Kᵀ/sqrt(d_k)) (equation 1) of one head of one sentence,
// without dropout. Keys that a query may not attend to have weight 0. It panics if w has another
// shape or the batch has no such sentence or head.
func (in Inputs) Weights(w mat.Matrix, heads, sentence, head int, r Ragged) {
	dk := in.Q.Cols / heads
	q := in.Q.Slice(int(r.QStarts[sentence]), int(r.QStarts[sentence+1]), head*dk, (head+1)*dk)
	k := in.K.Slice(int(r.KStarts[sentence]), int(r.KStarts[sentence+1]), head*dk, (head+1)*dk)
	r.weights(w, q, k, 0)
}
