package train

import (
	"math"
	"math/rand/v2"
	"testing"
)

// adamReference is algorithm 1 of Kingma and Ba in float64, as it is written there.
func adamReference(w, m, v, g []float64, t int, rate, beta1, beta2, eps float64) {
	for i := range w {
		m[i] = beta1*m[i] + (1-beta1)*g[i]
		v[i] = beta2*v[i] + (1-beta2)*g[i]*g[i]
		mHat := m[i] / (1 - math.Pow(beta1, float64(t)))
		vHat := v[i] / (1 - math.Pow(beta2, float64(t)))
		w[i] -= rate * mHat / (math.Sqrt(vHat) + eps)
	}
}

func gradientOf(step, n int) []float32 {
	random := rand.New(rand.NewPCG(4, uint64(step)))
	g := make([]float32, n)
	for i := range g {
		g[i] = float32(random.NormFloat64())
	}
	return g
}

// Five hundred steps of the optimizer and of the reference stay within float32's rounding: each step moves
// a weight by about the rate and errs by some 2^-24 of that and of the weight.
func TestAdam(t *testing.T) {
	const n, steps, rate, clip = 1000, 500, 1e-2, 0.5
	a := NewAdam(n, 0.9, 0.98, 1e-9)
	w := make([]float32, n)
	w64, m64, v64, g64 := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for s := 1; s <= steps; s++ {
		g := gradientOf(s, n)
		for i := range g {
			g64[i] = clip * float64(g[i])
		}
		a.Step(nil, w, g, rate, clip)
		adamReference(w64, m64, v64, g64, s, rate, 0.9, 0.98, 1e-9)
		for i, x := range g {
			if x != 0 {
				t.Fatalf("gradient %d is %v after the step, want 0", i, x)
			}
		}
	}
	if a.Steps() != steps {
		t.Errorf("%d steps counted, want %d", a.Steps(), steps)
	}
	for i := range w {
		if math.Abs(float64(w[i])-w64[i]) > 2e-5 {
			t.Fatalf("weight %d is %v, want %v", i, w[i], w64[i])
		}
	}
}

// Other threads, and a stop half-way, change no bit.
func TestAdamIsExact(t *testing.T) {
	const n, steps = 3*adamGrain + 77, 6
	whole := make([]float32, n)
	a := NewAdam(n, 0.9, 0.98, 1e-9)
	for s := range steps {
		a.Step(nil, whole, gradientOf(s, n), 1e-2, 1)
	}
	parts := make([]float32, n)
	b := NewAdam(n, 0.9, 0.98, 1e-9)
	threads := pool(t, 3)
	for s := range steps {
		if s == 3 {
			c := NewAdam(n, 0.9, 0.98, 1e-9)
			copy(c.M, b.M)
			copy(c.V, b.V)
			c.Resume(s)
			b = c
		}
		b.Step(threads, parts, gradientOf(s, n), 1e-2, 1)
	}
	wantSameWeights(t, "resumed on 3 threads", parts, whole)
}
