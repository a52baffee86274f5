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
)

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

// partName names the part of a worker in a round.
func partName(round, worker int) string { return fmt.Sprintf("%d/%d", round, worker) }

// isIn reports whether missing, as in Rounds.Missing, has a part.
func isIn(missing string, round, worker int) bool {
	return slices.Contains(strings.Fields(missing), partName(round, worker))
}
