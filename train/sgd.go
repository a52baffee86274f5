package train

import "tfm/mat"

// SGD is stochastic gradient descent with momentum (Polyak, 1964). As in PyTorch, the momentum does
// not contain the learning rate:
//
//	b = Momentum·b + g
//	w = w - rate·b
//
// With Momentum 0 it is plain gradient descent.
type SGD struct {
	Momentum float64
	B        []float32 // momentum, in the layout of the weights; nil with Momentum 0
}

// NewSGD returns an optimizer of n weights at step 0.
func NewSGD(n int, momentum float64) *SGD {
	s := &SGD{Momentum: momentum}
	if momentum != 0 {
		s.B = make([]float32, n)
	}
	return s
}

// Moments implements Optimizer.
func (s *SGD) Moments() []Moment {
	if s.B == nil {
		return nil
	}
	return []Moment{{Name: "sgd.b.", Values: s.B}}
}

// Resume implements Optimizer. SGD does not depend on the number of steps.
func (s *SGD) Resume(int) {}

// StepAndClear implements Optimizer.
func (s *SGD) StepAndClear(p *mat.Pool, w, g []float32, rate float64, clip float32) {
	mat.Each(p, len(w), optimizerGrain, sgdStep{float32(s.Momentum), float32(rate), clip, w, g, s.B})
}

type sgdStep struct {
	momentum   float32
	rate, clip float32
	w, g, b    []float32
}

func (s *sgdStep) Range(lo, hi int) {
	w, g := s.w[lo:hi], s.g[lo:hi]
	if s.clip != 1 {
		mat.Scal(s.clip, g)
	}
	direction := g
	if s.b != nil {
		direction = s.b[lo:hi]
		mat.AxpyTo(direction, s.momentum, direction, g)
	}
	mat.Axpy(-s.rate, direction, w)
	clear(g)
}
