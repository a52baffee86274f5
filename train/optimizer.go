package train

import "tfm/mat"

// Optimizers, for Options.Optimizer.
const (
	OptimizerAdam  = "adam"
	OptimizerAdamW = "adamw"
	OptimizerSGD   = "sgd"
)

// Optimizer updates all weights of a model, which are one slice. Its results do not depend on the
// number of threads. Not for concurrent use.
type Optimizer interface {
	// Step updates the weights w by the gradient clip·g with a learning rate, and clears g.
	Step(p *mat.Pool, w, g []float32, rate float64, clip float32)

	// Moments returns the state that the steps so far have left, except their number.
	Moments() []Moment

	// Resume continues after the given number of steps, whose moments the caller copies to Moments.
	Resume(steps int)
}

// Moment is state of an optimizer, one number for each weight.
type Moment struct {
	Name   string    // prefix of a weight's name in a checkpoint
	Values []float32 // laid out as the weights
}

// optimizerGrain is the number of weights that a thread updates at a time: 64 KiB, so that weights,
// gradient and two moments stay in a second-level cache.
const optimizerGrain = 1 << 14
