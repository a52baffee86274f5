package train

import (
	"context"
	"errors"
	"fmt"
)

// finish puts the best weights into the model: those of the best step, or the mean of the last
// checkpoints. If ctx ends before the mean is validated, the Reason is Interrupted; a run resumed
// from the last step calls finish again.
func (r *run) finish(ctx context.Context, reason Reason) (Result, error) {
	result := Result{Reason: reason, Step: r.state.Step, Best: r.state.Best,
		Position: r.state.Position, Checkpoint: r.checkpoint,
		SrcLang: r.d.SrcLang, TgtLang: r.d.TgtLang, Decoding: r.o.Search.Saved()}
	current := r.state.Step // step of the weights in the model, -1 for a mean
	if reason != Interrupted && r.o.Average > 1 {
		paths, err := r.checkpointsToAverage()
		if err != nil {
			return Result{}, err
		}
		if len(paths) > 1 {
			current = -1
			v, better, err := r.average(ctx, paths)
			switch {
			case err != nil && errors.Is(err, ctx.Err()):
				result.Reason = Interrupted
			case err != nil:
				return Result{}, err
			case better:
				result.Averaged, result.Best = len(paths), v
			}
		}
	}
	best := r.state.Step
	if r.state.Best.Made() {
		best = r.state.Best.Step
	}
	if result.Averaged == 0 && best != current {
		if err := r.restore(best); err != nil {
			return Result{}, fmt.Errorf("train: reading the best weights, of step %d: %w; %s", best, err, r.lastGood())
		}
	}
	result.Trained = r.elapsed()
	return result, nil
}

// checkpointsToAverage returns the paths of the last Options.Average checkpoints among the periodic
// ones and that of the last step.
func (r *run) checkpointsToAverage() ([]string, error) {
	steps, err := r.o.checkpointSteps()
	if err != nil {
		return nil, err
	}
	steps = r.o.periodic(steps)
	if len(steps) == 0 || steps[len(steps)-1] != r.state.Step {
		steps = append(steps, r.state.Step)
	}
	var paths []string
	for _, step := range newest(steps, r.o.Average) {
		paths = append(paths, r.o.checkpointPath(step))
	}
	return paths, nil
}

// average puts the mean of the checkpoints into the model and validates it. It reports whether the
// mean is better than the best validation, by BLEU or by NLL; without validation pairs it reports
// true. When ctx ends, it returns its error.
func (r *run) average(ctx context.Context, paths []string) (v Validation, better bool, err error) {
	if err := Average(ctx, r.t, paths, nil); err != nil || r.valid == nil {
		return v, err == nil, err
	}
	v, done := r.valid.measure(ctx, r.state.Step)
	if !done {
		return v, false, ctx.Err()
	}
	better = v.averageBetterThan(r.state.Best)
	r.send(r.valid.event(Event{Kind: Averaged, Valid: v, Best: better, Checkpoints: len(paths)}))
	return v, better, nil
}

// restore copies the weights of the best step into the model.
func (r *run) restore(best int) error {
	if r.o.Dir == "" {
		copy(r.t.Params.W, r.bestWeights)
		return nil
	}
	return readWeights(r.o.checkpointPath(best), r.t, r.t.Params.W)
}
