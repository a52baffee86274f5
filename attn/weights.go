package attn

import "tfm/mat"

// Inputs views what Forward left in st.
func (l Self) Inputs(st SelfState) Inputs { return l.split(st.QKV) }

// Inputs views what Forward left in st.
func (l Cross) Inputs(st CrossState) Inputs { return st.inputs() }

// Weights sets w [queries × keys] to softmax(Q·Kᵀ/sqrt(d_k)) (equation 1) of one head of one sentence, without dropout;
// what a query may not see has weight 0. It panics if w has another shape.
func (in Inputs) Weights(w mat.Matrix, heads, sentence, head int, r Ragged) {
	q, k, _ := in.head(r, heads, sentence, head)
	r.weights(w, q, k, 0)
}
