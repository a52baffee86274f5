package train

import "testing"

// The reference is PyTorch's SGD in float64. A step has an error of about 2^-24 of the weight and
// of the momentum times the rate. With momentum 0.99, errors persist for about 100 steps, and
// weights and momentum reach some tens.
func TestSGD(t *testing.T) {
	for _, momentum := range []float64{0, 0.9, 0.99} {
		const n, rate = 1000, 1e-2
		b := make([]float64, n)
		wantSteps(t, NewSGD(n, momentum), n, rate, 1e-4, func(step int, w, g []float64) {
			for i := range w {
				if step > 1 {
					b[i] = momentum*b[i] + g[i]
				} else {
					b[i] = g[i]
				}
				w[i] -= rate * b[i]
			}
		})
	}
}
