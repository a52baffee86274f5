package train

import (
	"tfm/layer"
	"tfm/mat"
)

// Values of Options.Optimizer.
const (
	OptimizerAdam  = "adam"
	OptimizerAdamW = "adamw"
	OptimizerSGD   = "sgd"
	OptimizerMuon  = "muon"
)

// Optimizer updates the weights of a model, which are one slice. Its results do not depend on the
// number of threads. An Optimizer is not safe for concurrent use.
type Optimizer interface {
	// StepAndClear updates the weights w by the gradient clip·g with a learning rate, and sets
	// g to 0 while it is in the cache, for the next step to add to.
	StepAndClear(p *mat.Pool, w, g []float32, rate float64, clip float32)

	// Moments returns the state of the optimizer, except the number of steps.
	Moments() []Moment

	// Resume sets the number of steps. The caller restores the moments by writing to the
	// slices of Moments.
	Resume(steps int)
}

// Moment is state of an optimizer, one value per weight.
type Moment struct {
	Name   string         // prefix of the tensors' names in a checkpoint
	Values []float32      // of the weights of Params, one parameter after another
	Params []*layer.Param // nil is all
}

// params returns the parameters of m, in a model with the parameters all.
func (m Moment) params(all []*layer.Param) []*layer.Param {
	if m.Params == nil {
		return all
	}
	return m.Params
}

// optimizerGrain is the number of weights in a block of work. Weights, gradient and two moments of
// a block, 64 KiB each, fit in the second-level cache.
const optimizerGrain = 1 << 14
