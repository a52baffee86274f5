package train

import "tfm/mat"

// Adam is the optimizer of Kingma and Ba (2015), algorithm 1, over all parameters as one run of numbers.
// Results do not depend on the number of threads. Not for concurrent use.
type Adam struct {
	Beta1, Beta2, Eps float64
	M, V              []float32 // first and second moments, one number a weight

	steps        int
	beta1, beta2 float64 // Beta1 and Beta2 to the power of steps
}

// NewAdam is an optimizer of n weights that has made no step.
func NewAdam(n int, beta1, beta2, eps float64) *Adam {
	a := &Adam{Beta1: beta1, Beta2: beta2, Eps: eps, M: make([]float32, n), V: make([]float32, n)}
	a.Resume(0)
	return a
}

// Resume goes on after the given number of steps, whose moments have been put into M and V. The powers come
// by the multiplications that the steps would have done, so they have the same bits.
func (a *Adam) Resume(steps int) {
	a.steps, a.beta1, a.beta2 = 0, 1, 1
	for range steps {
		a.count()
	}
}

// Steps is the number of steps made.
func (a *Adam) Steps() int { return a.steps }

func (a *Adam) count() {
	a.steps++
	a.beta1 = float64(a.beta1 * a.Beta1)
	a.beta2 = float64(a.beta2 * a.Beta2)
}

// adamGrain is how many weights a thread steps at a time: four runs of 64 KB.
const adamGrain = 1 << 14

// Step moves the weights w against the gradient g times clip, and sets g to zero, for the next gradient to
// be added up in.
func (a *Adam) Step(p *mat.Pool, w, g []float32, rate float64, clip float32) {
	a.count()
	mat.Each(p, len(w), adamGrain, adamStep{mat.Adam{
		Beta1: float32(a.Beta1), Beta2: float32(a.Beta2), Eps: float32(a.Eps),
		Rate: float32(rate / (1 - a.beta1)), Second: float32(1 / (1 - a.beta2)), Clip: clip,
	}, w, g, a.M, a.V})
}

type adamStep struct {
	kernel     mat.Adam
	w, g, m, v []float32
}

func (s *adamStep) Rows(lo, hi int) {
	s.kernel.Step(s.w[lo:hi], s.g[lo:hi], s.m[lo:hi], s.v[lo:hi])
	clear(s.g[lo:hi])
}
