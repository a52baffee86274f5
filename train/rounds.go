package train

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tfm/mat"
	"tfm/model"
	"tfm/model/safetensors"
	"tfm/train/runlog"
)

// Rounds are the settings of a training in rounds. In each, every worker makes LocalSteps steps on
// its own, from the same weights and on batches of its own; then the mean of their weights becomes
// the weights of the next round. Weights are exchanged once a round instead of at every step
// (Stich, 2019, "Local SGD Converges Fast and Communicates Little"). The result depends on Workers,
// but not on the number of machines, nor on when and how often a worker's part was computed.
type Rounds struct {
	Workers    int `json:"workers"`
	LocalSteps int `json:"local_steps"` // steps of a worker in a round
	Rounds     int `json:"rounds"`

	// Missing are parts to leave out though they may be there, as ROUND/WORKER separated by
	// spaces, so that a training with State.Missing is repeated.
	Missing string `json:"-"`
}

// validateRounds reports the first invalid field of a training in rounds, as a *model.FieldError.
func (o Options) validateRounds() error {
	r := o.Rounds
	if r.Workers == 0 && r.LocalSteps == 0 && r.Rounds == 0 {
		return nil
	}
	steps := r.LocalSteps * r.Rounds
	return firstBroken([]rule{
		{r.Workers < 1 || r.Workers > 1024, "workers", r.Workers, "1 to 1024"},
		{r.LocalSteps < 1 || r.LocalSteps > 1<<20, "local_steps", r.LocalSteps, "1 to 1048576"},
		{r.Rounds < 1 || r.Rounds > 9999, "rounds", r.Rounds, "1 to 9999"},
		{o.Steps != steps, "steps", o.Steps, fmt.Sprintf("%d, the steps of a worker in all rounds", steps)},
		{o.ValidEvery != 0 && o.ValidEvery != r.LocalSteps, "valid_every", o.ValidEvery, fmt.Sprintf("%d, a round, or 0", r.LocalSteps)},
		{o.SaveEvery != r.LocalSteps, "save_every", o.SaveEvery, fmt.Sprintf("%d, a round", r.LocalSteps)},
		{o.Time != 0, "time", o.Time, "0 in rounds, whose number is fixed"},
		{o.Patience != 0, "patience", o.Patience, "0 in rounds, whose number is fixed"},
		{o.BF16, "bf16", o.BF16, "false in rounds, whose bits must not depend on the processor"},
		{o.Dir == "", "dir", o.Dir, "the folder of the rounds"},
	})
}

// roundDir returns the folder of the files of a round, from 1.
func (o Options) roundDir(round int) string {
	return filepath.Join(o.Dir, fmt.Sprintf("round-%04d", round))
}

// OuterPath returns the file that a round begins with: a checkpoint of the means of the workers'
// weights and moments. That of round Rounds+1 has the last weights.
func (o Options) OuterPath(round int) string {
	return filepath.Join(o.roundDir(round), "outer"+checkpointSuffix)
}

// WorkerPath returns the file that a worker writes in a round: a checkpoint of its run.
func (o Options) WorkerPath(round, worker int) string {
	return filepath.Join(o.roundDir(round), fmt.Sprintf("worker-%d%s", worker, checkpointSuffix))
}

// OuterLog returns the file of the log, of package runlog, of the merge that wrote the weights of
// OuterPath, and WorkerLog that of a worker.
func (o Options) OuterLog(round int) string { return filepath.Join(o.roundDir(round), runlog.FileName) }

// WorkerLog is described at OuterLog.
func (o Options) WorkerLog(round, worker int) string {
	return filepath.Join(o.roundDir(round), fmt.Sprintf("worker-%d.jsonl", worker))
}

// checkpointPath returns the path of the checkpoint of a step; in rounds, of a whole number.
func (o Options) checkpointPath(step int) string {
	if o.Rounds.Workers > 0 {
		return o.OuterPath(step/o.Rounds.LocalSteps + 1)
	}
	return checkpointPath(o.Dir, step)
}

// checkpointSteps returns the steps of the checkpoints of a run, without the initial weights.
func (o Options) checkpointSteps() ([]int, error) {
	if o.Rounds.Workers == 0 {
		return checkpointSteps(o.Dir)
	}
	var steps []int
	for round := range o.Rounds.Rounds {
		if exists(o.OuterPath(round + 2)) {
			steps = append(steps, (round+1)*o.Rounds.LocalSteps)
		}
	}
	return steps, nil
}

// merged reports whether a round is merged. Its own weights may have been removed since.
func (o Options) merged(round int) bool {
	for later := round + 1; later <= o.Rounds.Rounds+1; later++ {
		if exists(o.OuterPath(later)) {
			return true
		}
	}
	return false
}

// exists reports whether a file is there. Files of a round are whole when they are.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// IncompleteError is the error of a round whose files are not all there yet.
type IncompleteError struct {
	Round   int
	Missing []string // files
}

func (e IncompleteError) Error() string {
	const shown = 5
	names := strings.Join(e.Missing[:min(shown, len(e.Missing))], ", ")
	if n := len(e.Missing) - shown; n > 0 {
		names += fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("round %d is incomplete: %s is missing", e.Round, names)
}

// Begin writes the weights of t and the settings as the file of round 1, with which Work and Merge
// begin. It replaces one that is there. Its arguments and errors are those of Run.
func Begin(ctx context.Context, t *model.Transformer, p *mat.Pool, d Data, o Options) error {
	r, err := newRun(t, p, d, o, nil)
	if err != nil {
		return err
	}
	defer r.loader.stop()
	if err := r.loader.survey(ctx, o.BatchTokens); err != nil {
		return err
	}
	r.chooseTokenizer()
	r.state.Data = r.loader.fingerprint
	return r.writeRound(o.OuterPath(1), nil)
}

// openRound prepares a run that begins with the file of a round.
func openRound(ctx context.Context, t *model.Transformer, p *mat.Pool, d Data, o Options, round int, report func(Event)) (r *run, c *Checkpoint, err error) {
	if r, err = newRun(t, p, d, o, report); err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			r.loader.stop()
		}
	}()
	if err := r.loader.survey(ctx, o.BatchTokens); err != nil {
		return r, nil, err
	}
	c, err = OpenPart(o.OuterPath(round))
	if errors.Is(err, os.ErrNotExist) {
		return r, nil, IncompleteError{round, []string{o.OuterPath(round)}}
	}
	if err != nil {
		return r, nil, err
	}
	if err := r.beginRound(c, round); err != nil {
		c.Close()
		return r, nil, fmt.Errorf("%s: %w", c.Path, err)
	}
	return r, c, nil
}

// beginRound restores weights and state of the file of a round.
func (r *run) beginRound(c *Checkpoint, round int) error {
	valid, err := r.match(c)
	if err != nil {
		return err
	}
	if want := (round - 1) * r.o.Rounds.LocalSteps; c.State.Step != want {
		return fmt.Errorf("found step %d, expected %d", c.State.Step, want)
	}
	if c.State.Products != r.state.Products {
		return fmt.Errorf("the products of the training are %s, those of this processor %s, whose weights would differ", c.State.Products, r.state.Products)
	}
	if err := c.partWeights(r.t.Params); err != nil {
		return err
	}
	r.state = c.State
	r.state.Valid = valid
	r.d.SrcLang, r.d.TgtLang = c.SrcLang, c.TgtLang
	r.alloc()
	r.timing.start = time.Now()
	if o := r.o; o.Cooldown > 0 {
		r.rate.Cooldown = Cooldown{cooldownFrom(o.Steps, o.Cooldown), o.Steps}
	}
	return r.loader.Seek(r.state.Position)
}

// writeRound writes a file of a round. It holds no times, so that its bytes are those of every
// attempt.
func (r *run) writeRound(path string, moments []Moment) error {
	r.state.Trained, r.state.Best.Took = 0, 0
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	if err := writeCheckpoint(path, r.file(), moments, r.o, r.state); err != nil {
		return err
	}
	safetensors.RemoveStale(path)
	return nil
}

// part names the part of a worker in a round.
func part(round, worker int) string { return fmt.Sprintf("%d/%d", round, worker) }

// isIn reports whether missing, as in Rounds.Missing, has a part.
func isIn(missing string, round, worker int) bool {
	return slices.Contains(strings.Fields(missing), part(round, worker))
}
