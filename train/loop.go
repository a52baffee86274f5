package train

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"tfm/mat"
	"tfm/model"
)

// loop makes steps until there is a reason to stop, and saves a checkpoint of the last step. The
// validation and the save of a step come at the start of an iteration, so that a run that was
// stopped before them makes them when it is resumed.
func (r *run) loop(ctx context.Context) (Reason, error) {
	for {
		if r.due(r.o.ValidEvery) {
			if err := r.validate(ctx); err != nil {
				return "", err
			}
		}
		r.beginCooldown()
		reason := r.stopReason(ctx)
		if reason == OutOfTime && r.state.OutOfTime < r.o.Time {
			r.state.OutOfTime, r.unsaved = r.o.Time, true
		}
		if reason != "" && reason != Interrupted {
			if err := r.validate(ctx); err != nil {
				return "", err
			}
			if ctx.Err() != nil {
				reason = Interrupted
			}
		}
		if reason != "" || r.due(r.o.SaveEvery) {
			if err := r.save(); err != nil {
				return "", err
			}
		}
		if reason != "" {
			return reason, nil
		}
		if err := r.step(); err != nil {
			return "", r.saveAfterStreamError(err)
		}
	}
}

// due reports whether the current step is a multiple of every. 0 is never due.
func (r *run) due(every int) bool { return every > 0 && r.state.Step%every == 0 }

// stopReason returns the reason to stop before the next step, "" to continue.
func (r *run) stopReason(ctx context.Context) Reason {
	switch {
	case ctx.Err() != nil:
		return Interrupted
	case r.o.Steps > 0 && r.state.Step >= r.o.Steps:
		return AllSteps
	case r.state.Cooldown.End > 0 && r.state.Step >= r.state.Cooldown.End:
		return r.state.EndReason
	case r.o.Cooldown == 0 && r.impatient():
		return NoImprovement
	case r.o.Time > 0 && (r.o.Time <= r.state.OutOfTime || r.elapsed()+r.timing.speed.perStep()+r.finishTime() >= r.o.Time):
		return OutOfTime
	}
	return ""
}

// impatient reports whether the last Options.Patience validations have not improved on the best.
func (r *run) impatient() bool { return r.o.Patience > 0 && r.state.SinceBest >= r.o.Patience }

// beginCooldown begins the cooldown of the learning rate if it is due, and so fixes the last step
// of the run.
func (r *run) beginCooldown() {
	if r.o.Cooldown == 0 || r.state.Cooldown.End > 0 || r.state.Step == 0 {
		return
	}
	switch {
	case r.o.Steps > 0 && r.state.Step >= cooldownFrom(r.o.Steps, r.o.Cooldown):
		r.state.EndReason = AllSteps
	case r.impatient():
		r.state.EndReason = NoImprovement
	case r.o.Steps == 0 && r.o.Time > 0 && r.elapsed() >= r.cooldownTime():
		r.state.EndReason = OutOfTime
	default:
		return
	}
	r.state.Cooldown = cooldownAfter(r.state.Step, r.o.Cooldown)
	if r.state.EndReason == AllSteps {
		r.state.Cooldown.End = r.o.Steps
	}
	r.rate.Cooldown, r.unsaved = r.state.Cooldown, true
	r.send(Event{Kind: CooldownBegan, Cooldown: r.state.Cooldown, EndReason: r.state.EndReason})
}

// step makes one update of the weights.
func (r *run) step() error {
	start := time.Now()
	size, err := r.next()
	if err != nil {
		return err
	}
	loss := r.backward(size.tgt)
	n, params := float64(loss.Tokens), r.t.Params // n counts both copies of R-Drop
	norm := r.norm.of(r.pool, params.G)
	clip := clipFactor(norm, r.o.ClipNorm)
	if err := divergence(loss, norm*float64(clip), params); err != nil {
		return fmt.Errorf("train: step %d diverged: %w; %s", r.state.Step+1, err, r.lastGood())
	}
	rate := r.rate.Rate(r.state.Step + 1)
	r.optimizer.StepAndClear(r.pool, params.W, params.G, rate, clip)
	r.state.Step++
	r.state.Position = r.loader.Position()
	r.unsaved = true
	r.timing.speed.add(size.src, size.tgt, time.Since(start))
	r.send(Event{Kind: Stepped, Loss: loss.Sum / n, NLL: loss.NLL / n, KL: loss.KL / n, Accuracy: float64(loss.Correct) / n, Rate: rate, GradNorm: norm})
	return nil
}

// next fills r.batches with the next Accumulate batches and returns their total size. backward
// needs it before the first batch, because the loss is a mean over the target tokens of all. The
// workers of a round deal the batches out among them, one after another.
func (r *run) next() (batchSize, error) {
	var size batchSize
	for i := range r.batches {
		b := &r.batches[i]
		for worker := range r.workers {
			to := b
			if worker != r.worker {
				to = &r.others
			}
			if err := r.loader.Next(to); err != nil {
				return size, streamError{err}
			}
		}
		size = size.plus(batchSize{len(b.Src), len(b.TgtOut)})
	}
	return size, nil
}

// backward takes r.batches, which have tgt target tokens, forward and backward. It adds the
// gradient of the mean loss per target token to Params.G, which the last step has cleared, and
// returns the total loss. All tokens have the same weight.
func (r *run) backward(tgt int) model.Loss {
	var loss model.Loss
	for i := range r.batches {
		seed := dropoutSeed(r.o.Seed, (r.state.Step*len(r.batches)+i)*r.workers+r.worker)
		if alpha := float32(r.o.RDrop); alpha != 0 {
			loss = loss.Plus(r.pass.TrainRDrop(&r.batches[i], seed, 1/float32(2*tgt), alpha))
		} else {
			loss = loss.Plus(r.pass.Train(&r.batches[i], seed, 1/float32(tgt)))
		}
	}
	return loss
}

// dropoutSeed returns the dropout seed of the n-th batch of a run. It uses the random streams from
// 2^63, makeEpoch those of small numbers.
func dropoutSeed(seed uint64, n int) uint64 {
	var random rand.PCG
	random.Seed(seed, 1<<63+uint64(n))
	return random.Uint64()
}

// streamError is an error of the loader or its Stream.
type streamError struct{ error }

func (e streamError) Unwrap() error { return e.error }

// saveAfterStreamError saves a checkpoint if err, the error of step, is a streamError: the state of
// the run is still valid. It returns err with a hint to the last checkpoint.
func (r *run) saveAfterStreamError(err error) error {
	if !errors.As(err, new(streamError)) {
		return err
	}
	if err := r.save(); err != nil {
		return err
	}
	return fmt.Errorf("train: no batch for step %d: %w; %s", r.state.Step+1, err, r.lastGood())
}

// validate validates the weights of this step, unless they have been validated, and saves a
// checkpoint if they are the best.
func (r *run) validate(ctx context.Context) error {
	if r.valid == nil || r.state.Step == r.state.Validated {
		return nil
	}
	if best := r.validateWeights(ctx); !best {
		return nil
	}
	return r.save()
}

// validateWeights validates the weights and reports whether they are the best so far. If ctx ends,
// it discards the validation and reports false.
func (r *run) validateWeights(ctx context.Context) (best bool) {
	v, done := r.valid.measure(ctx, r.state.Step)
	if !done {
		return false
	}
	r.timing.validation, r.state.Validated, r.unsaved = v.Took, v.Step, true
	if best = v.betterThan(r.state.Best); best {
		r.state.Best, r.state.SinceBest = v, 0
	} else {
		r.state.SinceBest++
	}
	r.send(r.valid.event(Event{Kind: Validated, Valid: v, Best: best}))
	if best && r.o.Dir == "" {
		r.bestWeights = append(r.bestWeights[:0], r.t.Params.W...)
	}
	return best
}

// save writes a checkpoint of this step, if the run has a folder and the state is not saved yet.
func (r *run) save() error {
	if r.o.Dir == "" || !r.unsaved || r.state.Step == 0 && !r.state.Best.Made() {
		return nil
	}
	start := time.Now()
	if sum := mat.Sum(r.t.Params.W); !finite(float64(sum)) {
		return fmt.Errorf("train: step %d diverged: %w; %s", r.state.Step, weights.fault(r.t.Params), r.lastGood())
	}
	path := r.o.checkpointPath(r.state.Step)
	r.send(Event{Kind: Saving, Path: path})
	r.state.Trained = r.elapsed()
	if err := writeCheckpoint(path, r.file(), r.optimizer.Moments(), r.o, r.state); err != nil {
		return fmt.Errorf("train: saving step %d: %w; %s", r.state.Step, err, r.lastGood())
	}
	r.checkpoint, r.unsaved = path, false
	prune(r.o, r.state.Best.Step)
	r.timing.save = time.Since(start)
	r.send(Event{Kind: Saved, Path: path})
	return nil
}
