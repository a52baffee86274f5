package train

import (
	"fmt"
	"math"

	"tfm/layer"
	"tfm/model"
)

// Values of Options.OnNaN: the action for an update whose loss or gradient is not finite, or whose
// clipped gradient has a norm above maxNorm. Such an update never changes the weights, the
// optimizer or the moving average.
const (
	OnNaNStop = "stop" // end the run with an error; the last checkpoint is good
	OnNaNSkip = "skip" // skip the step and continue with the next batches
)

// maxSkippedInRow is the number of consecutive skipped steps that ends a run with an error.
const maxSkippedInRow = 100

// maxNorm is the largest norm of a clipped gradient. The squares of a larger one overflow float32
// and would make Adam's second moments infinite, after which the weights never change.
const maxNorm = 1 << 63

// divergence returns an error if the update is invalid: loss is the loss of the step, norm that of
// its clipped gradient.
func divergence(loss model.Loss, norm float64, params *layer.Params) error {
	mean := loss.Sum / float64(loss.Tokens)
	switch {
	case !finite(norm):
		return fmt.Errorf("%w, with a loss of %.4g", gradientFault(params), mean)
	case !finite(loss.Sum):
		return fmt.Errorf("the loss is %v, with a finite gradient", mean)
	case norm > maxNorm:
		return fmt.Errorf("%w, with a loss of %.4g", largestValue("gradient", params, gradOf), mean)
	}
	return nil
}

// skipUpdate counts a step that diverged as skipped, or returns the error that ends the run.
func (r *run) skipUpdate(why error) error {
	step, params := r.state.Step+1, r.t.Params
	if r.o.OnNaN != OnNaNSkip {
		return fmt.Errorf("train: step %d diverged: %w; %s", step, why, r.lastGood())
	}
	if err := firstNonFinite("weight", params, weightOf); err != nil {
		return fmt.Errorf("train: step %d diverged and cannot be skipped, because %w; %s", step, err, r.lastGood())
	}
	if r.state.SkippedInRow+1 >= maxSkippedInRow {
		return fmt.Errorf("train: step %d diverged after %d skipped steps in a row: %w; %s", step, r.state.SkippedInRow, why, r.lastGood())
	}
	r.state.Step++
	r.state.Skipped++
	r.state.SkippedInRow++
	return nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

func gradOf(p *layer.Param) []float32   { return p.G }
func weightOf(p *layer.Param) []float32 { return p.W }

// gradientFault returns an error that names the tensor whose gradient is not finite or too large.
func gradientFault(params *layer.Params) error { return tensorFault("gradient", params, gradOf) }

// weightFault returns an error that names the tensor whose weights are not finite or too large.
func weightFault(params *layer.Params) error { return tensorFault("weight", params, weightOf) }

// tensorFault returns the error of firstNonFinite or else of largestValue.
func tensorFault(what string, params *layer.Params, of func(*layer.Param) []float32) error {
	if err := firstNonFinite(what, params, of); err != nil {
		return err
	}
	return largestValue(what, params, of)
}

// firstNonFinite returns an error that names the first value that is not finite, nil if all are
// finite.
func firstNonFinite(what string, params *layer.Params, of func(*layer.Param) []float32) error {
	for _, p := range params.List {
		for i, x := range of(p) {
			if !finite(float64(x)) {
				return fmt.Errorf("the %s of %s %v is %v at element %d", what, p.Name, p.Shape, x, i)
			}
		}
	}
	return nil
}

// largestValue returns an error that names the tensor with the largest absolute value.
func largestValue(what string, params *layer.Params, of func(*layer.Param) []float32) error {
	var largest float32
	var name string
	for _, p := range params.List {
		for _, x := range of(p) {
			if size := max(x, -x); size > largest {
				largest, name = size, p.Name
			}
		}
	}
	return fmt.Errorf("the %s is too large, up to %g in %s", what, largest, name)
}
