package train

import "tfm/mat"

// EMA is the exponential moving average of the weights, after step n = 0, 1, …
//
//	e = d·e + (1-d)·w,  d = min(Decay, (1+n)/(10+n))
//
// beginning with the first weights. The second d, of TensorFlow's ExponentialMovingAverage, keeps these from weighing on
// the average of a run that is shorter than some 1/(1-Decay) steps. The optimizer that it belongs to updates
// it in the loop that moves the weights, so its bits do not depend on threads. Not for concurrent use.
type movingAverage struct {
	Decay  float64
	Values []float32 // laid out as the weights

	steps int
}

// newMovingAverage is the average of w alone.
func newMovingAverage(w []float32, decay float64) *movingAverage {
	return &movingAverage{Decay: decay, Values: append([]float32(nil), w...)}
}

// resume goes on after a number of steps; e may be nil.
func (e *movingAverage) resume(steps int) {
	if e != nil {
		e.steps = steps
	}
}

// moments is what a checkpoint holds beside the averages, which are its weights: see run.swap. e may be nil.
func (e *movingAverage) moments() []Moment {
	if e == nil {
		return nil
	}
	return []Moment{{"raw.", e.Values}}
}

// next counts a step and returns how to make it; e may be nil.
func (e *movingAverage) next() emaStep {
	if e == nil {
		return emaStep{}
	}
	n := float64(e.steps)
	e.steps++
	d := float32(min(e.Decay, (1+n)/(10+n)))
	return emaStep{e.Values, d, 1 - d} // the sum of both is 1, not nearly 1: that would add up
}

type emaStep struct {
	values    []float32 // nil for nothing to do
	keep, add float32
}

// of takes in the weights from lo up to hi.
func (s *emaStep) update(w []float32, lo, hi int) {
	if s.values == nil {
		return
	}
	e := s.values[lo:hi]
	mat.Scale(e, s.keep)
	mat.Axpy(e, s.add, w[lo:hi])
}

// swap exchanges the weights and their moving average, if there is one. The average is what is validated, what a
// checkpoint holds under the names of the weights, and what is left at the end; training goes on with the others.
func (r *run) swapEMA() {
	if r.ema == nil {
		return
	}
	w, e := r.t.Params.W, r.ema.Values
	for i := range w {
		w[i], e[i] = e[i], w[i]
	}
}
