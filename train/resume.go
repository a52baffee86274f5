package train

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"time"
)

// begin prepares the folder, resumes the run with Options.Resume, and allocates the memory of a
// step.
func (r *run) begin() error {
	started := Event{
		Kind: Started, Pairs: r.loader.pairs, TooLong: r.loader.TooLong, Empty: r.loader.Empty,
		SrcTokens: r.loader.tokens.src, TgtTokens: r.loader.tokens.tgt, UnigramNLL: r.loader.tokens.entropy(),
	}
	r.state.Data, r.unsaved = r.loader.fingerprint, true
	if r.o.Resume {
		warning, err := r.resume()
		if err != nil {
			return err
		}
		started.Path, started.Warning = r.checkpoint, warning
	} else {
		if r.o.Init != "" {
			r.state.Validated = -1 // so that the initial weights are validated
		}
		if err := r.clearFolder(); err != nil {
			return err
		}
	}
	removeStale(r.o.Dir)
	if r.valid != nil {
		started.ValidPairs = r.d.Valid.Len()
	}
	r.alloc()
	r.timing.start = time.Now().Add(-r.state.Trained)
	r.send(started)
	return nil
}

// chooseTokenizer chooses how BLEU splits text, unless that is chosen.
func (r *run) chooseTokenizer() {
	if r.valid != nil && r.d.References != nil {
		r.o.Tokenize = r.o.Tokenize.For(r.d.References)
		r.valid.tokenize = r.o.Tokenize
	}
}

// alloc allocates the memory of a step and a validation, and chooses how BLEU splits text.
func (r *run) alloc() {
	r.chooseTokenizer()
	for range r.o.Accumulate {
		r.batches = append(r.batches, r.loader.newBuffer())
	}
	clear(r.t.Params.G)
	src, tgt, longest := r.loader.MaxSrc, r.loader.MaxTgt, r.o.MaxLen+max(1, r.t.Config.Source.Marks())
	if r.valid != nil {
		src, tgt = max(src, r.valid.batches.MaxSrc), max(tgt, r.valid.batches.MaxTgt)
	}
	if r.o.RDrop != 0 {
		r.pass.AllocRDrop(r.loader.MaxSrc, r.loader.MaxTgt, longest)
	}
	r.pass.Alloc(src, tgt, longest)
}

// clearFolder removes the checkpoints of another run from the folder. Without Options.Replace it
// fails if there are any.
func (r *run) clearFolder() error {
	if r.o.Dir == "" {
		return nil
	}
	paths, err := Checkpoints(r.o.Dir)
	if err != nil {
		return err
	}
	if len(paths) > 0 && !r.o.Replace {
		return fmt.Errorf("train: %s contains checkpoints of a run, the newest is %s: resume that run or choose another folder", r.o.Dir, paths[len(paths)-1])
	}
	for _, path := range paths {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

// resume restores weights, moments and state from the newest checkpoint. The warning describes
// problems that do not prevent the resume.
func (r *run) resume() (warning, err error) {
	c, err := Newest(r.o.Dir)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	valid, err := r.match(c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Path, err)
	}
	if c.State.Step < 0 || c.State.Trained < 0 || c.Path != checkpointPath(r.o.Dir, c.State.Step) {
		return nil, fmt.Errorf("%s: found step %d after %v of training, expected the step in the file's name", c.Path, c.State.Step, c.State.Trained)
	}
	if err := errors.Join(c.Weights(r.t.Params), c.resume(r.t.Params, r.optimizer)); err != nil {
		return nil, err
	}
	if err := r.loader.Seek(c.State.Position); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Path, err)
	}
	r.d.SrcLang, r.d.TgtLang = cmp.Or(r.d.SrcLang, c.SrcLang), cmp.Or(r.d.TgtLang, c.TgtLang)
	products := r.state.Products
	r.state, r.checkpoint, r.unsaved = c.State, c.Path, false
	r.state.Valid, r.rate.Cooldown = valid, r.state.Cooldown
	if products != r.state.Products {
		warning = fmt.Errorf("the products of the checkpoint are %s, those of this run %s: the weights will differ from those of an uninterrupted run", r.state.Products, products)
		r.state.Products = products
	}
	if end := r.state.Cooldown.End; end > 0 && (r.o.Steps > max(end, c.Options.Steps) || r.o.Time > c.Options.Time && c.Options.Time > 0) {
		warning = errors.Join(warning, fmt.Errorf("the learning rate already falls to 0 until step %d, where the run ends: a new run from its weights can train longer", end))
	}
	r.timing.validation = r.state.Best.Took
	if best := r.state.Best.Step; r.state.Best.Made() && best != r.state.Step {
		if b, err := OpenCheckpoint(checkpointPath(r.o.Dir, best)); err == nil {
			b.Close()
		} else {
			r.state.Best, r.state.SinceBest = Validation{}, 0
			warning = errors.Join(warning, fmt.Errorf("the best checkpoint is missing, so the next validation becomes the best: %w", err))
		}
	}
	return warning, nil
}

// match checks that a checkpoint is one of this run, and returns the fingerprint of its validation
// pairs. How BLEU splits text is what either has chosen.
func (r *run) match(c *Checkpoint) (valid string, err error) {
	if err := sameFields(c.Config, r.t.Config); err != nil {
		return "", fmt.Errorf("the checkpoint's model configuration differs: %w", err)
	}
	// score.Auto, the zero value, is compatible with every tokenizer.
	tokenize := cmp.Or(r.o.Tokenize, c.Options.Tokenize)
	r.o.Tokenize, c.Options.Tokenize = tokenize, cmp.Or(c.Options.Tokenize, tokenize)
	c.Options.Rounds.Missing = r.o.Rounds.Missing
	if err := sameFields(c.Options, r.o); err != nil {
		return "", fmt.Errorf("the checkpoint's options differ: %w", err)
	}
	if c.State.Data != r.loader.fingerprint {
		return "", ErrOtherPairs
	}
	valid = cmp.Or(r.state.Valid, c.State.Valid)
	if valid != cmp.Or(c.State.Valid, valid) {
		return "", ErrOtherValidation
	}
	return valid, nil
}
