package training

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"tfm/cmd/tfm/internal/cli"
	"tfm/internal/format"
	"tfm/train"
)

// Begin writes the file of the first round of a training in rounds.
func (r *Ready) Begin(ctx context.Context) error {
	return train.Begin(ctx, r.model, r.pool, r.corpus.Data, r.Options)
}

// Work makes a worker's part of a round, unless it is done.
func (r *Ready) Work(ctx context.Context, round, worker int) error {
	if train.WorkDone(r.Options, round, worker) {
		return nil
	}
	start := time.Now()
	r.watch = newWatch(r.Options, r.Config)
	r.prefix = fmt.Sprintf("round %d, worker %d: ", round, worker)
	loss := 0.0
	err := train.Work(ctx, r.model, r.pool, r.corpus.Data, r.Options, round, worker, func(e train.Event) {
		loss = r.watch.losses.mean()
		r.event(e)
	})
	r.Progress.Clear()
	if err == nil {
		r.Progress.Line("%s%s, loss %.3f, %s", r.prefix, format.Count(r.Options.Rounds.LocalSteps, "step"), loss, time.Since(start).Round(time.Second))
	}
	return Retried(err)
}

// Merge merges a round, unless it is done, and writes the model file after the last one.
func (r *Ready) Merge(ctx context.Context, round, quorum int) error {
	err := train.Merge(ctx, r.model, r.pool, r.corpus.Data, r.Options, round, quorum, r.event)
	r.Progress.Clear()
	if err != nil || round < r.Options.Rounds.Rounds {
		return Retried(err)
	}
	result, err := train.Finish(ctx, r.model, r.pool, r.corpus.Data, r.Options, r.event)
	r.Progress.Clear()
	if err != nil {
		return Retried(err)
	}
	if result.Reason == train.Interrupted {
		return context.Cause(ctx)
	}
	return r.finish(ctx, result).Save(ModelOfRounds(r.Options.Dir))
}

// All makes all rounds in turn, except finished parts.
func (r *Ready) All(ctx context.Context) error {
	for round := range r.Options.Rounds.Rounds {
		if round+1 < r.Options.Rounds.Rounds && train.MergeDone(r.Options, round+1) {
			continue
		}
		for worker := range r.Options.Rounds.Workers {
			if err := r.Work(ctx, round+1, worker); err != nil {
				return err
			}
		}
		if err := r.Merge(ctx, round+1, 0); err != nil {
			return err
		}
	}
	return nil
}

// ModelOfRounds returns the model file of a training in rounds in a folder.
func ModelOfRounds(dir string) string { return filepath.Join(dir, "model.safetensors") }

// Retried returns err as one that another attempt may not have, if a file is missing so far or for
// a reason of cli.MayRetry.
func Retried(err error) error {
	if errors.As(err, new(train.IncompleteError)) || errors.Is(err, os.ErrNotExist) {
		return cli.RetryError{Err: err}
	}
	return cli.MayRetry(err)
}
