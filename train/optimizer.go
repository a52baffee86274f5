package train

import "tfm/mat"

// The names of the optimizers, for Options.Optimizer.
const (
	OptimizerAdam  = "adam"
	OptimizerAdamW = "adamw"
	OptimizerSGD   = "sgd"
)

// Optimizer moves all weights of a model, which are one run of numbers. Results do not depend on the number of
// threads. Not for concurrent use.
type Optimizer interface {
	// Step moves the weights w against the gradient g times clip at a learning rate, and sets g to zero, for the
	// next gradient to be added up in.
	Step(p *mat.Pool, w, g []float32, rate float64, clip float32)

	// Moments are what the steps made so far have left, besides their number.
	Moments() []Moment

	// Resume goes on after the given number of steps, whose moments have been put into those of the optimizer.
	Resume(steps int)
}

// Moment is one number a weight that an optimizer carries from step to step.
type Moment struct {
	Name   string    // in checkpoints, before that of a weight
	Values []float32 // laid out as the weights
}

// optimizerGrain is how many weights a thread steps at a time: runs of 64 KB, of which a second-level cache holds all four.
const optimizerGrain = 1 << 14
