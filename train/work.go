package train

import (
	"context"
	"fmt"

	"tfm/mat"
	"tfm/model"
)

// WorkDone reports whether a worker's part of a round is not needed any more: it is there, or the
// round is merged.
func WorkDone(o Options, round, worker int) bool {
	found, _ := exists(o.WorkerPath(round, worker)) // an attempt to make it reports an error
	return found || MergeDone(o, round)
}

// Work makes the steps of a worker in a round and writes its file, unless it is done, see
// Options.OuterPath and WorkerPath. It is a pure function of the file of the round, the pairs and
// the options: any number of attempts, on any machines and at the same time, write the same bytes.
// Its other arguments and errors are those of Run, and IncompleteError if the round before is not
// merged yet. When ctx ends, nothing is written and its cause is the error.
func Work(ctx context.Context, t *model.Transformer, p *mat.Pool, d Data, o Options, round, worker int, report func(Event)) error {
	if WorkDone(o, round, worker) {
		return nil
	}
	err := work(ctx, t, p, d, o, round, worker, report)
	if err != nil && WorkDone(o, round, worker) { // by another attempt, while a merge removed files
		return nil
	}
	return err
}

func work(ctx context.Context, t *model.Transformer, p *mat.Pool, d Data, o Options, round, worker int, report func(Event)) error {
	r, outer, err := openRound(ctx, t, p, d, o, round, report)
	if err != nil {
		return err
	}
	defer r.loader.stop()
	defer outer.Close()
	r.worker, r.workers, r.others = worker, o.Rounds.Workers, r.loader.newBuffer()
	if round > 1 {
		if err := outer.partMoments(t.Params, r.optimizer.Moments()); err != nil {
			return err
		}
		r.optimizer.Resume(r.state.Step)
	}
	r.end = round * o.Rounds.LocalSteps
	for r.state.Step < r.end {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := r.step(); err != nil {
			return err
		}
	}
	if sum := mat.Sum(t.Params.W); !finite(float64(sum)) {
		return fmt.Errorf("train: step %d of worker %d diverged: %w", r.state.Step, worker, weights.fault(t.Params))
	}
	return r.writeRound(o.WorkerPath(round, worker), r.optimizer.Moments())
}
