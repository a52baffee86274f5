package attn

import (
	"math"

	"tfm/mat"
)

// Mask says which keys a query may attend to: Mask(i, j) for query i and key j. Nil allows all.
type Mask func(query, key int) bool

// LookAhead lets a query see keys up to its own position (section 3.2.3).
func LookAhead(query, key int) bool { return key <= query }

// Padding hides the keys whose id is pad.
func Padding(keyIDs []int32, pad int32) Mask {
	return func(_, key int) bool { return keyIDs[key] != pad }
}

// Both allows what both masks allow.
func Both(a, b Mask) Mask {
	return func(query, key int) bool { return (a == nil || a(query, key)) && (b == nil || b(query, key)) }
}

// ScaledDotProduct is equation 1 of the paper for one head, written out: for q [n × d_k], k [m × d_k] and
// v [m × d_v] it sets out [n × d_v] and weights [n × m].
//
//	Attention(Q, K, V) = softmax(Q·Kᵀ/sqrt(d_k))·V
//
// A query with nothing to attend to has weights of zero and a result of zeros. It computes in float64 and is
// for learning and testing.
func ScaledDotProduct(out, weights, q, k, v mat.Matrix, mask Mask) {
	for i := range q.Rows {
		w := make([]float64, k.Rows)
		top := math.Inf(-1)
		for j := range w {
			w[j] = math.Inf(-1)
			if mask == nil || mask(i, j) {
				w[j] = 0
				for c := range q.Cols {
					w[j] += float64(q.At(i, c)) * float64(k.At(j, c))
				}
				w[j] /= math.Sqrt(float64(q.Cols))
			}
			top = max(top, w[j])
		}
		var total float64
		for j := range w {
			if !math.IsInf(w[j], -1) {
				w[j] = math.Exp(w[j] - top)
				total += w[j]
			} else {
				w[j] = 0
			}
		}
		for j := range w {
			if total > 0 {
				w[j] /= total
			}
			weights.Row(i)[j] = float32(w[j])
		}
		for c := range v.Cols {
			var sum float64
			for j := range w {
				sum += w[j] * float64(v.At(j, c))
			}
			out.Row(i)[c] = float32(sum)
		}
	}
}
