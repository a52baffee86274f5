package train

import "tfm/mat"

// movingAverage is the exponential moving average e of the weights w: after step n = 0, 1, …
//
//	e = d·e + (1-d)·w,  d = min(Decay, (1+n)/(10+n))
//
// Initially e is the initial weights. The second argument of min, as in TensorFlow's
// ExponentialMovingAverage, keeps the initial weights from dominating a run of fewer than about
// 1/(1-Decay) steps. The optimizer updates the average in its loop over the weights, so that its
// bits do not depend on the number of threads. It is not safe for concurrent use.
type movingAverage struct {
	Decay  float64
	Values []float32 // in the layout of the weights

	steps int
}

// newMovingAverage returns a moving average with the initial weights w.
func newMovingAverage(w []float32, decay float64) *movingAverage {
	return &movingAverage{Decay: decay, Values: append([]float32(nil), w...)}
}

// resume sets the number of steps. e can be nil.
func (e *movingAverage) resume(steps int) {
	if e != nil {
		e.steps = steps
	}
}

// moments returns the tensors of e in a checkpoint. A checkpoint is written after run.swapEMA: its
// weights are the averages, and the tensors "raw." are the weights. e can be nil.
func (e *movingAverage) moments() []Moment {
	if e == nil {
		return nil
	}
	return []Moment{{Name: "raw.", Values: e.Values}}
}

// next counts a step and returns its factors. e can be nil.
func (e *movingAverage) next() emaStep {
	if e == nil {
		return emaStep{}
	}
	n := float64(e.steps)
	e.steps++
	d := float32(min(e.Decay, (1+n)/(10+n)))
	// the factors add up to exactly 1, so that no error accumulates
	return emaStep{e.Values, d, 1 - d}
}

type emaStep struct {
	values    []float32 // nil without a moving average
	keep, add float32
}

// update updates the averages of the weights [lo, hi).
func (s *emaStep) update(w []float32, lo, hi int) {
	if s.values == nil {
		return
	}
	e := s.values[lo:hi]
	mat.Scal(s.keep, e)
	mat.Axpy(s.add, w[lo:hi], e)
}

// swapEMA exchanges the weights and their moving average, if there is one. The average is
// validated, saved under the names of the weights, and left in the model at the end of the run;
// training uses the weights.
func (r *run) swapEMA() {
	if r.ema == nil {
		return
	}
	w, e := r.t.Params.W, r.ema.Values
	for i := range w {
		w[i], e[i] = e[i], w[i]
	}
}
