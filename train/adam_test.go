package train

import (
	"math"
	"math/rand/v2"
	"testing"

	"tfm/layer"
)

// adamReference is algorithm 1 of Kingma and Ba in float64.
func adamReference(w, m, v, g []float64, t int, rate, beta1, beta2, eps float64) {
	for i := range w {
		m[i] = beta1*m[i] + (1-beta1)*g[i]
		v[i] = beta2*v[i] + (1-beta2)*g[i]*g[i]
		mHat := m[i] / (1 - math.Pow(beta1, float64(t)))
		vHat := v[i] / (1 - math.Pow(beta2, float64(t)))
		w[i] -= rate * mHat / (math.Sqrt(vHat) + eps)
	}
}

// gradientOf returns a random gradient of n weights for a step.
func gradientOf(step, n int) []float32 {
	random := rand.New(rand.NewPCG(4, uint64(step)))
	g := make([]float32, n)
	for i := range g {
		g[i] = float32(random.NormFloat64())
	}
	return g
}

// The reference is algorithm 2 of Loshchilov and Hutter with η = 1 and λ times the rate. Matrices
// are the weights [0, 600) and [700, 960). The tolerance covers float32 rounding over 500 steps: a
// step changes a weight by about the rate, with an error of about 2^-24 of that and of the weight.
func TestAdamW(t *testing.T) {
	const rate, decay = 1e-2, 0.3
	ps := &layer.Params{}
	ps.New("a.weight", 20, 20)
	ps.New("b.weight", 10, 20)
	ps.New("b.bias", 100)
	ps.New("c.weight", 26, 10)
	ps.New("c.gain", 40)
	a := NewAdamW(ps, 0.9, 0.98, 1e-9, decay)
	m, v := make([]float64, 1000), make([]float64, 1000)
	wantSteps(t, a, 1000, rate, 2e-5, func(step int, w, g []float64) {
		for i := range w {
			if i < 600 || i >= 700 && i < 960 {
				w[i] -= rate * decay * w[i]
			}
		}
		adamReference(w, m, v, g, step, rate, 0.9, 0.98, 1e-9)
	})
	if len(a.decayed) != 2 {
		t.Errorf("decayed = %v, want two intervals", a.decayed)
	}
}

// wantSteps makes 500 steps with a clip factor of 0.5 and compares the weights with a reference in
// float64.
func wantSteps(t *testing.T, o Optimizer, n int, rate, tolerance float64, reference func(step int, w, g []float64)) {
	t.Helper()
	const steps, clip = 500, 0.5
	w, w64, g64 := make([]float32, n), make([]float64, n), make([]float64, n)
	for s := 1; s <= steps; s++ {
		g := gradientOf(s, n)
		for i := range g {
			g64[i] = clip * float64(g[i])
		}
		o.StepAndClear(nil, w, g, rate, clip)
		reference(s, w64, g64)
		for i, x := range g {
			if x != 0 {
				t.Fatalf("gradient[%d] = %v after the step, want 0", i, x)
			}
		}
	}
	for i := range w {
		if math.Abs(float64(w[i])-w64[i]) > tolerance {
			t.Fatalf("weight[%d] = %v, want %v", i, w[i], w64[i])
		}
	}
}

// optimizers returns constructors of all optimizers for n weights, of a matrix and a bias.
func optimizers(n int) map[string]func() Optimizer {
	ps := &layer.Params{}
	ps.New("weight", (n-100)/2, 2)
	ps.New("bias", n-(n-100)/2*2)
	maps := &layer.Params{}
	layer.NewLinear(maps, "qkv", 64, 192).W.Maps = []int{64, 64, 64}
	layer.NewLinear(maps, "inner", 64, 128)
	maps.New("embedding", n-maps.Count(), 1)
	return map[string]func() Optimizer{
		"adam":     func() Optimizer { return NewAdam(n, 0.9, 0.98, 1e-9) },
		"adamw":    func() Optimizer { return NewAdamW(ps, 0.9, 0.98, 1e-9, 0.1) },
		"sgd":      func() Optimizer { return NewSGD(n, 0) },
		"momentum": func() Optimizer { return NewSGD(n, 0.9) },
		"muon":     func() Optimizer { return NewMuon(maps, 0.9, 0.98, 1e-9, 0.95, 0.7) },
	}
}

// Threads change no bit. Runs resume every optimizer.
func TestOptimizersAreExact(t *testing.T) {
	const n = 3*optimizerGrain + 77
	threads := pool(t, 3)
	for name, create := range optimizers(n) {
		one, three := make([]float32, n), make([]float32, n)
		a, b := create(), create()
		for s := range 4 {
			a.StepAndClear(nil, one, gradientOf(s, n), 1e-2, 0.7)
			b.StepAndClear(threads, three, gradientOf(s, n), 1e-2, 0.7)
		}
		wantSameWeights(t, name+" on 3 threads", three, one)
	}
}

func TestOptimizersAllocateNothing(t *testing.T) {
	if raceDetector {
		t.Skip("race detector: it allocates")
	}
	const n = 3 * optimizerGrain
	w, g := make([]float32, n), gradientOf(1, n)
	threads := pool(t, 2)
	for name, create := range optimizers(n) {
		o := create()
		if allocations := testing.AllocsPerRun(10, func() { o.StepAndClear(threads, w, g, 1e-3, 1) }); allocations != 0 {
			t.Errorf("%s: %v allocations per step, want 0", name, allocations)
		}
	}
}
