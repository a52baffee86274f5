package ref

import "math"

// ScaledDotProduct is equation 1 of the paper (section 3.2.1) for one head. It returns the output
// [n × d_v] and the weights [n × m] for q [n × d_k], k [m × d_k] and v [m × d_v].
//
//	Attention(Q, K, V) = softmax(Q·Kᵀ/sqrt(d_k))·V
//
// The weights and the output of a query without keys are zeros.
func ScaledDotProduct(q, k, v Matrix, mask Mask) (out, weights Matrix) {
	weights = weightsOf(q, k, mask)
	return product(weights, v), weights
}

// weightsOf returns the softmax of the queries' scores over the keys that they may attend to.
func weightsOf(q, k Matrix, mask Mask) Matrix {
	w := New(len(q), len(k))
	for i := range q {
		var total float64
		for j := range k {
			if mask == nil || mask(i, j) {
				w[i][j] = math.Exp(dot(q[i], k[j]) / math.Sqrt(float64(len(q[i]))))
				total += w[i][j]
			}
		}
		for j := range k {
			if total > 0 {
				w[i][j] /= total
			}
		}
	}
	return w
}

// ScaledDotProductGrad is the backward of ScaledDotProduct: for dout [n × d_v] and the same q, k,
// v and mask it returns dq [n × d_k], dk [m × d_k] and dv [m × d_v].
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
func ScaledDotProductGrad(dout, q, k, v Matrix, mask Mask) (dq, dk, dv Matrix) {
	dq, dk, dv = New(len(q), len(q[0])), New(len(k), len(k[0])), New(len(v), len(v[0]))
	p := weightsOf(q, k, mask)
	for i := range q {
		dp := make([]float64, len(k))
		for j := range k {
			dp[j] = dot(dout[i], v[j])
			for c := range v[j] {
				dv[j][c] += p[i][j] * dout[i][c]
			}
		}
		mean := dot(p[i], dp) // Σ_l P_il·dP_il is dP's mean under P
		for j := range k {
			ds := p[i][j] * (dp[j] - mean)
			for c := range q[i] {
				dq[i][c] += ds * k[j][c] / math.Sqrt(float64(len(q[i])))
				dk[j][c] += ds * q[i][c] / math.Sqrt(float64(len(q[i])))
			}
		}
	}
	return dq, dk, dv
}

func dot(x, y []float64) (sum float64) {
	for i := range x {
		sum += x[i] * y[i]
	}
	return sum
}

// product returns x·y.
func product(x, y Matrix) Matrix {
	z := New(len(x), len(y[0]))
	for i := range x {
		for k := range y {
			for j := range y[k] {
				z[i][j] += x[i][k] * y[k][j]
			}
		}
	}
	return z
}
