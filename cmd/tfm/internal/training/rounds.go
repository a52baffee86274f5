package training

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"tfm/cmd/tfm/internal/cli"
	"tfm/internal/format"
	"tfm/model/safetensors"
	"tfm/train"
	"tfm/train/runlog"
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
	start, loss := time.Now(), 0.0
	r.watch = newWatch(r.Options, r.Config)
	r.prefix = fmt.Sprintf("round %d, worker %d: ", round, worker)
	log := r.newLog()
	err := train.Work(ctx, r.model, r.pool, r.corpus.Data, r.Options, round, worker, func(e train.Event) {
		log.record(e)
		loss = r.watch.losses.mean()
	})
	r.Progress.Clear()
	if err != nil {
		return Retried(err)
	}
	log.save(r.Options.WorkerLog(round, worker))
	r.Progress.Line("%s%s, loss %.3f, %s", r.prefix, format.Count(r.Options.Rounds.LocalSteps, "step"), loss, time.Since(start).Round(time.Second))
	return nil
}

// Merge merges a round, unless it is done, and writes the model file after the last one.
func (r *Ready) Merge(ctx context.Context, round, quorum int) error {
	log := r.newLog()
	if !train.MergeDone(r.Options, round) {
		err := train.Merge(ctx, r.model, r.pool, r.corpus.Data, r.Options, round, quorum, log.record)
		r.Progress.Clear()
		if err != nil {
			return Retried(err)
		}
	}
	if round == r.Options.Rounds.Rounds {
		result, err := train.Finish(ctx, r.model, r.pool, r.corpus.Data, r.Options, log.record)
		r.Progress.Clear()
		if err == nil && result.Reason == train.Interrupted {
			err = context.Cause(ctx)
		}
		path := ModelOfRounds(r.Options.Dir)
		if err == nil {
			err = r.finish(ctx, result).Save(path)
		}
		if err != nil {
			return Retried(err)
		}
		log.w.End(runlog.End{Time: time.Now(), Reason: string(result.Reason), Step: result.Step, BestStep: result.Best.Step, Model: path})
	}
	log.save(r.Options.OuterLog(round + 1))
	return nil
}

// roundLog is the log of a part of a round, in memory until the part is done.
type roundLog struct {
	ready *Ready
	lines bytes.Buffer
	w     *runlog.Writer
}

func (r *Ready) newLog() *roundLog {
	l := &roundLog{ready: r}
	l.w = runlog.NewWriter(&l.lines)
	return l
}

// record prints and records an event.
func (l *roundLog) record(e train.Event) {
	l.ready.event(e)
	e.Log(l.w)
}

// save writes the log, if it has lines. That it cannot is no error, because the weights are there.
func (l *roundLog) save(path string) {
	if l.w.Close(); l.lines.Len() == 0 {
		return
	}
	err := safetensors.WriteAtomic(path, func(to io.Writer) error {
		_, err := l.lines.WriteTo(to)
		return err
	})
	if err != nil {
		l.ready.Progress.Line("tfm: no log is written: %v", err)
	}
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
