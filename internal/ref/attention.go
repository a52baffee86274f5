package ref

import (
	"fmt"
	"math"

	"tfm/mat"
)

// ScaledDotProduct is equation 1 of the paper (section 3.2.1) for one head: it sets out [n × d_v]
// and weights [n × m] for q [n × d_k], k [m × d_k] and v [m × d_v].
//
//	Attention(Q, K, V) = softmax(Q·Kᵀ/sqrt(d_k))·V
//
// The weights and the output of a query without keys are zeros. It panics on shapes that do not
// fit.
func ScaledDotProduct(out, weights, q, k, v mat.Matrix, mask Mask) {
	checkOneHead(q, k, v)
	checkShape("output", out, q.Rows, v.Cols)
	checkShape("weights", weights, q.Rows, k.Rows)
	for i := range q.Rows {
		w := weightsOf(i, q, k, mask)
		for j := range w {
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

// weightsOf returns the softmax of query i's scores over the keys that it may attend to.
func weightsOf(i int, q, k mat.Matrix, mask Mask) []float64 {
	w := make([]float64, k.Rows)
	top, total := math.Inf(-1), 0.0
	for j := range w {
		w[j] = math.Inf(-1)
		if mask == nil || mask(i, j) {
			w[j] = dot(q.Row(i), k.Row(j)) / math.Sqrt(float64(q.Cols))
			top = max(top, w[j])
		}
	}
	for j := range w {
		if math.IsInf(w[j], -1) { // masked; without any key top is -Inf too
			w[j] = 0
			continue
		}
		w[j] = math.Exp(w[j] - top)
		total += w[j]
	}
	for j := range w {
		if total > 0 {
			w[j] /= total
		}
	}
	return w
}

// ScaledDotProductGrad is the backward of ScaledDotProduct: for dout [n × d_v] and the same q, k,
// v and mask it sets dq [n × d_k], dk [m × d_k] and dv [m × d_v]. It panics on shapes that do
// not fit.
//
// With the weights P = softmax(S), S = Q·Kᵀ/sqrt(d_k), and out = P·V:
//
//	out_ic = Σ_j P_ij·V_jc           so   dV_jc = Σ_i P_ij·dout_ic   dP_ij = Σ_c dout_ic·V_jc
//	P_ij = e^(S_ij) / Σ_l e^(S_il)   so   dS_ij = P_ij·(dP_ij - Σ_l P_il·dP_il)
//	S_ij = Σ_c Q_ic·K_jc/sqrt(d_k)   so   dQ_ic = Σ_j dS_ij·K_jc/sqrt(d_k)
//	                                      dK_jc = Σ_i dS_ij·Q_ic/sqrt(d_k)
//
// A masked P_ij is 0 and adds nothing to any sum: the gradient of a query without keys is 0, and it
// contributes nothing to those of keys and values.
func ScaledDotProductGrad(dq, dk, dv, dout, q, k, v mat.Matrix, mask Mask) {
	checkOneHead(q, k, v)
	checkShape("gradient of the output", dout, q.Rows, v.Cols)
	checkShape("gradient of the queries", dq, q.Rows, q.Cols)
	checkShape("gradient of the keys", dk, k.Rows, k.Cols)
	checkShape("gradient of the values", dv, v.Rows, v.Cols)
	scale := 1 / math.Sqrt(float64(q.Cols))
	sumK, sumV := make([]float64, k.Rows*k.Cols), make([]float64, v.Rows*v.Cols)
	for i := range q.Rows {
		p := weightsOf(i, q, k, mask)
		dp, mean := make([]float64, len(p)), 0.0 // Σ_l P_il·dP_il is dP's mean under P
		for j := range p {
			dp[j] = dot(dout.Row(i), v.Row(j))
			mean += p[j] * dp[j]
			for c := range v.Cols {
				sumV[j*v.Cols+c] += p[j] * float64(dout.At(i, c))
			}
		}
		for c := range q.Cols {
			var sum float64
			for j := range p {
				ds := p[j] * (dp[j] - mean) * scale
				sum += ds * float64(k.At(j, c))
				sumK[j*k.Cols+c] += ds * float64(q.At(i, c))
			}
			dq.Row(i)[c] = float32(sum)
		}
	}
	for j := range k.Rows {
		for c := range k.Cols {
			dk.Row(j)[c] = float32(sumK[j*k.Cols+c])
		}
		for c := range v.Cols {
			dv.Row(j)[c] = float32(sumV[j*v.Cols+c])
		}
	}
}

func dot(x, y []float32) (sum float64) {
	for i := range x {
		sum += float64(x[i]) * float64(y[i])
	}
	return sum
}

func checkOneHead(q, k, v mat.Matrix) {
	if q.Cols != k.Cols || k.Rows != v.Rows {
		panic(fmt.Sprintf("ref: attention of queries %d × %d to keys %d × %d and values %d × %d", q.Rows, q.Cols, k.Rows, k.Cols, v.Rows, v.Cols))
	}
}

func checkShape(name string, m mat.Matrix, rows, cols int) {
	if m.Rows != rows || m.Cols != cols {
		panic(fmt.Sprintf("ref: %s of %d × %d, expected %d × %d", name, m.Rows, m.Cols, rows, cols))
	}
}
