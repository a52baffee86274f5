package train

import (
	"cmp"
	"fmt"
	"math"

	"tfm/layer"
	"tfm/model"
)

// maxNorm is the largest norm of a clipped gradient. The squares of a larger one overflow float32
// and would make Adam's second moments infinite, after which the weights never change.
const maxNorm = 1 << 63

// divergence returns an error if the update is invalid: loss is the loss of the step, norm that of
// its clipped gradient.
func divergence(loss model.Loss, norm float64, params *layer.Params) error {
	mean := loss.Sum / float64(loss.Tokens)
	switch {
	case !finite(norm):
		return fmt.Errorf("%w, with a loss of %.4g", gradients.fault(params), mean)
	case !finite(loss.Sum):
		return fmt.Errorf("the loss is %v, with a finite gradient", mean)
	case norm > maxNorm:
		return fmt.Errorf("%w, with a loss of %.4g", gradients.largest(params), mean)
	}
	return nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// values are the weights or the gradients of parameters.
type values struct {
	name string
	of   func(*layer.Param) []float32
}

var (
	gradients = values{"gradient", func(p *layer.Param) []float32 { return p.G }}
	weights   = values{"weight", func(p *layer.Param) []float32 { return p.W }}
)

// fault returns an error that names the tensor whose values are not finite or too large.
func (v values) fault(params *layer.Params) error {
	return cmp.Or(v.firstNonFinite(params), v.largest(params))
}

// firstNonFinite returns an error that names the first value that is not finite, nil if all are
// finite.
func (v values) firstNonFinite(params *layer.Params) error {
	for _, p := range params.List {
		for i, x := range v.of(p) {
			if !finite(float64(x)) {
				return fmt.Errorf("the %s of %s %v is %v at element %d", v.name, p.Name, p.Shape, x, i)
			}
		}
	}
	return nil
}

// largest returns an error that names the tensor with the largest absolute value.
func (v values) largest(params *layer.Params) error {
	var largest float32
	var name string
	for _, p := range params.List {
		for _, x := range v.of(p) {
			if size := max(x, -x); size > largest {
				largest, name = size, p.Name
			}
		}
	}
	return fmt.Errorf("the %s is too large, up to %g in %s", v.name, largest, name)
}
