package train

import (
	"fmt"
	"math"

	"tfm/layer"
	"tfm/model"
)

// For Options.OnNaN: what a run does with an update whose loss or gradient is not a finite number,
// or is too large for the optimizer. Either way the weights, the optimizer and the moving average
// stay as they are.
const (
	OnNaNStop = "stop" // end the run with an error; the last checkpoint is good
	OnNaNSkip = "skip" // drop the update, count it, and go on with the next batches
)

// maxSkippedInRow is the number of dropped updates in a row that ends the run, because it will not
// recover.
const maxSkippedInRow = 100

// maxNorm is the largest norm of a clipped gradient. The squares of a larger one overflow float32:
// Adam's second moments would be infinite for ever, and the weights would never move again.
const maxNorm = 1 << 63

// divergence returns why a step with this loss and this norm of its clipped gradient must not be
// made, nil if it may be.
func divergence(loss model.Loss, norm float64, params *layer.Params) error {
	mean := loss.Sum / float64(loss.Tokens)
	switch {
	case !finite(norm):
		return fmt.Errorf("%w, with a loss of %.4g", gradientFault(params), mean)
	case !finite(loss.Sum):
		return fmt.Errorf("the loss is %v, though the gradient is finite", mean)
	case norm > maxNorm:
		return fmt.Errorf("%w, with a loss of %.4g", largestValue("gradient", params, gradOf), mean)
	}
	return nil
}

// skipUpdate drops the update of a step that has diverged, or returns the error that ends the run.
func (r *run) skipUpdate(why error) error {
	step, params := r.state.Step+1, r.t.Params
	if r.o.OnNaN != OnNaNSkip {
		return fmt.Errorf("train: step %d diverged: %w; %s", step, why, r.lastGood())
	}
	if err := firstNonFinite("weight", params, weightOf); err != nil {
		return fmt.Errorf("train: step %d diverged, and to drop its update does not help, for %w; %s", step, err, r.lastGood())
	}
	if r.state.SkippedInRow+1 >= maxSkippedInRow {
		return fmt.Errorf("train: step %d diverged, as the %d before it, whose updates were dropped: %w; %s", step, r.state.SkippedInRow, why, r.lastGood())
	}
	clear(params.G)
	r.state.Step++
	r.state.Skipped++
	r.state.SkippedInRow++
	return nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

func gradOf(p *layer.Param) []float32   { return p.G }
func weightOf(p *layer.Param) []float32 { return p.W }

// gradientFault names the tensor that makes the norm of the gradient infinite or NaN.
func gradientFault(params *layer.Params) error { return tensorFault("gradient", params, gradOf) }

// weightFault names the tensor that makes the sum of the weights infinite or NaN.
func weightFault(params *layer.Params) error { return tensorFault("weight", params, weightOf) }

func tensorFault(what string, params *layer.Params, of func(*layer.Param) []float32) error {
	if err := firstNonFinite(what, params, of); err != nil {
		return err
	}
	return largestValue(what, params, of)
}

// firstNonFinite names the first number that is not finite, nil if all are.
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

// largestValue names the tensor with the largest number.
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
