package train

import "tfm/mat"

// movingAverage is the exponential moving average of the weights: after step n = 0, 1, …
//
//	e = d·e + (1-d)·w,  d = min(Decay, (1+n)/(10+n))
//
// with the first weights for e before step 0. The second d is that of TensorFlow's
// ExponentialMovingAverage: it keeps the first weights from dominating a run of fewer than about
// 1/(1-Decay) steps. The optimizer updates the average in the loop over the weights, so that its
// bits do not depend on threads. Not for concurrent use.
type movingAverage struct {
	Decay  float64
	Values []float32 // laid out as the weights

	steps int
}

// newMovingAverage returns the average of w alone.
func newMovingAverage(w []float32, decay float64) *movingAverage {
	return &movingAverage{Decay: decay, Values: append([]float32(nil), w...)}
}

// resume continues after a number of steps; e may be nil.
func (e *movingAverage) resume(steps int) {
	if e != nil {
		e.steps = steps
	}
}

// moments returns what a checkpoint holds beside its weights, which are the averages: see
// run.swapEMA. e may be nil.
func (e *movingAverage) moments() []Moment {
	if e == nil {
		return nil
	}
	return []Moment{{"raw.", e.Values}}
}

// next counts a step and returns its factors; e may be nil.
func (e *movingAverage) next() emaStep {
	if e == nil {
		return emaStep{}
	}
	n := float64(e.steps)
	e.steps++
	d := float32(min(e.Decay, (1+n)/(10+n)))
	return emaStep{e.Values, d, 1 - d} // the sum is exactly 1: an error would add up
}

type emaStep struct {
	values    []float32 // nil for nothing to do
	keep, add float32
}

// update updates the averages of the weights [lo, hi).
func (s *emaStep) update(w []float32, lo, hi int) {
	if s.values == nil {
		return
	}
	e := s.values[lo:hi]
	mat.Scale(e, s.keep)
	mat.Axpy(e, s.add, w[lo:hi])
}

// swapEMA exchanges the weights and their moving average, if there is one. The average is
// validated, is saved under the names of the weights, and is left in the model at the end; training
// goes on with the weights.
func (r *run) swapEMA() {
	if r.ema == nil {
		return
	}
	w, e := r.t.Params.W, r.ema.Values
	for i := range w {
		w[i], e[i] = e[i], w[i]
	}
}
