package train

import (
	"slices"

	"tfm/mat"
)

// movingAverage is an Optimizer that keeps the exponential moving average e of the weights w. After
// step n = 0, 1, …
//
//	e = d·e + (1-d)·w,  d = min(Decay, (1+n)/(10+n))
//
// Initially e is the initial weights. The second argument of min, as in TensorFlow's
// ExponentialMovingAverage, keeps the initial weights from dominating a run of fewer than about
// 1/(1-Decay) steps.
type movingAverage struct {
	Optimizer // updates the weights
	Decay     float64
	Values    []float32 // in the layout of the weights

	steps int
}

// newMovingAverage returns a moving average of the weights that o updates, which are w now.
func newMovingAverage(o Optimizer, w []float32, decay float64) *movingAverage {
	return &movingAverage{Optimizer: o, Decay: decay, Values: slices.Clone(w)}
}

// Moments implements Optimizer. A checkpoint is written after run.swapEMA: its weights are the
// averages, and the tensors "raw." are the weights.
func (e *movingAverage) Moments() []Moment {
	return append(e.Optimizer.Moments(), Moment{Name: "raw.", Values: e.Values})
}

// Resume implements Optimizer.
func (e *movingAverage) Resume(steps int) {
	e.Optimizer.Resume(steps)
	e.steps = steps
}

// StepAndClear implements Optimizer.
func (e *movingAverage) StepAndClear(p *mat.Pool, w, g []float32, rate float64, clip float32) {
	e.Optimizer.StepAndClear(p, w, g, rate, clip)
	n := float64(e.steps)
	e.steps++
	d := float32(min(e.Decay, (1+n)/(10+n)))
	// the factors add up to exactly 1, so that no error accumulates
	mat.Each(p, len(w), optimizerGrain, averageStep{w, e.Values, d, 1 - d})
}

type averageStep struct {
	w, averages []float32
	keep, add   float32
}

func (s *averageStep) Range(lo, hi int) {
	mat.Scal(s.keep, s.averages[lo:hi])
	mat.Axpy(s.add, s.w[lo:hi], s.averages[lo:hi])
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
