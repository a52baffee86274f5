package train

import (
	"tfm/layer"
	"tfm/mat"
)

// Adam is the optimizer of Kingma and Ba (2015, "Adam: A Method for Stochastic Optimization",
// algorithm 1). With the gradient g of step t:
//
//	m = Beta1·m + (1-Beta1)·g
//	v = Beta2·v + (1-Beta2)·g²
//	w = w - rate · m/(1-Beta1^t) / (√(v/(1-Beta2^t)) + Eps)
//
// AdamW is Adam with decoupled weight decay (Loshchilov and Hutter, 2019, "Decoupled Weight Decay
// Regularization", algorithm 2). Before each Adam step
//
//	w = w - rate·Decay·w
//
// with the learning rate of the step, as in PyTorch. The moments do not contain the decay. Matrices
// and embeddings decay. Biases and the gains of norms do not, because they are few and a gain near
// 0 does not simplify the model.
type Adam struct {
	Beta1, Beta2, Eps float64
	Decay             float64   // of AdamW, else 0
	M, V              []float32 // first and second moments, in the layout of the weights

	decayed        []interval // of AdamW
	steps          int
	power1, power2 float64 // Beta1^steps, Beta2^steps
}

// NewAdam returns an optimizer of n weights at step 0.
func NewAdam(n int, beta1, beta2, eps float64) *Adam {
	a := &Adam{Beta1: beta1, Beta2: beta2, Eps: eps, M: mat.New(1, n).Data, V: mat.New(1, n).Data}
	a.Resume(0)
	return a
}

// Resume implements Optimizer. It computes the powers of the betas by repeated multiplication, as
// the steps do, so that they have the same bits.
func (a *Adam) Resume(steps int) {
	a.steps, a.power1, a.power2 = 0, 1, 1
	for range steps {
		a.advance()
	}
}

// Moments implements Optimizer.
func (a *Adam) Moments() []Moment {
	return []Moment{{Name: "adam.m.", Values: a.M}, {Name: "adam.v.", Values: a.V}}
}

// advance counts a step.
func (a *Adam) advance() {
	a.steps++
	a.power1 = float64(a.power1 * a.Beta1)
	a.power2 = float64(a.power2 * a.Beta2)
}

// StepAndClear implements Optimizer.
func (a *Adam) StepAndClear(p *mat.Pool, w, g []float32, rate float64, clip float32) {
	a.advance()
	mat.Each(p, len(w), optimizerGrain, adamStep{a.kernel(rate, clip), w, g, a.M, a.V, float32(rate * a.Decay), a.decayed})
}

// kernel returns the constants of the current step.
func (a *Adam) kernel(rate float64, clip float32) mat.Adam {
	return mat.Adam{
		Beta1: float32(a.Beta1), Beta2: float32(a.Beta2), Eps: float32(a.Eps),
		StepSize: float32(rate / (1 - a.power1)), VScale: float32(1 / (1 - a.power2)), GradScale: clip,
	}
}

type adamStep struct {
	kernel     mat.Adam
	w, g, m, v []float32
	decay      float32
	decayed    []interval
}

func (s *adamStep) Range(lo, hi int) {
	for _, d := range s.decayed {
		if from, to := max(lo, d.lo), min(hi, d.hi); from < to {
			w := s.w[from:to]
			mat.Axpy(-s.decay, w, w)
		}
	}
	s.kernel.Step(s.w[lo:hi], s.g[lo:hi], s.m[lo:hi], s.v[lo:hi])
	clear(s.g[lo:hi])
}

// interval is a range [lo, hi) of weights.
type interval struct{ lo, hi int }

// appendInterval appends x to ascending intervals, or extends the last one if x follows it.
func appendInterval(intervals []interval, x interval) []interval {
	if last := len(intervals) - 1; last >= 0 && intervals[last].hi == x.lo {
		intervals[last].hi = x.hi
		return intervals
	}
	return append(intervals, x)
}

// NewAdamW returns an AdamW optimizer of the weights of params at step 0.
func NewAdamW(params *layer.Params, beta1, beta2, eps, decay float64) *Adam {
	a := NewAdam(params.Count(), beta1, beta2, eps)
	a.Decay = decay
	start := 0
	for _, p := range params.List {
		end := start + p.Size()
		if len(p.Shape) >= 2 {
			a.decayed = appendInterval(a.decayed, interval{start, end})
		}
		start = end
	}
	return a
}
