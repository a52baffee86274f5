package train

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"tfm/layer"
	"tfm/mat"
	"tfm/model"
)

// Data is what a run is trained and validated on.
type Data struct {
	Train  *Pairs
	Source Source // instead of Train
	Valid  *Pairs // nil for no validation

	// For BLEU while training: the reference of each pair of Valid, and how token ids become text. Without
	// them the loss says which step is the best.
	References []string
	Detokenize func(ids []int32) string

	DetokenizeSource func(ids []int32) string // likewise of source ids, for Event.Samples; nil leaves their sources empty

	// Tokenizers go into every checkpoint as into a model file, so that it says what its ids mean. They may be nil.
	Tokenizers map[string][]byte

	// The languages, for checkpoints as for model.File. Where one is "", a run that resumes
	// keeps that of its checkpoint.
	SrcLang, TgtLang string
}

// Result is how a run ended.
type Result struct {
	Reason     Reason
	Step       int           // steps made
	Skipped    int           // of these, whose update was dropped: see Options.OnNaN
	Trained    time.Duration // time of the whole training, also before a resume
	Best       Validation    // of the weights that are left in the Transformer; Step 0 if there was no validation
	Averaged   int           // the weights are the mean of this many checkpoints, whose Best.Step is the last; 0 if they are a step's
	Checkpoint string        // the last step's: what a run with Options.Resume goes on from; "" if Options.Dir is ""

	SrcLang, TgtLang string // those of Data, or of the checkpoint that was resumed: for model.File
}

// Reason is why a run ended.
type Reason string

const (
	AllSteps      Reason = "all steps are done"
	OutOfTime     Reason = "the time is up"
	NoImprovement Reason = "validation no longer gets better"
	Interrupted   Reason = "interrupted"
)

// ErrOtherPairs is in the error of a Run that is to resume a run on other training pairs.
var ErrOtherPairs = errors.New("a checkpoint of a run on other training pairs")

// Run trains t, whose weights and gradients must be allocated and whose weights are the start, on p's threads.
// After each step and validation, and before and after each save, it calls report, if that is not nil.
//
// When it returns no error, t holds the weights of the best validation, or the average of the last ones if its BLEU or
// its NLL is better; without a validation, those of the last step. A cancelled ctx lets the current step finish and saves;
// that is no error but the Reason Interrupted, and with Options.Resume the next run goes on from Result.Checkpoint as if nothing had
// happened: the weights of a run depend on t's first weights, the training pairs and the Options that are not
// "free", and neither on the number of threads nor on how often it was stopped.
//
// A Source is read once before the first step, to count its pairs; a ctx that is cancelled meanwhile is an error, its cause.
//
// Errors are options, pairs or a checkpoint that do not fit, a folder of checkpoints that another run is using, a loss or
// gradient that is no longer a number (naming step and tensor; see Options.OnNaN), a Source that fails, after a checkpoint
// of the last step, and a checkpoint that cannot be written; the last three name the last good checkpoint.
func Run(ctx context.Context, t *model.Transformer, p *mat.Pool, d Data, o Options, report func(Event)) (Result, error) {
	r, err := newRun(t, p, d, o, report)
	if err != nil {
		return Result{}, err
	}
	defer r.loader.stop()
	if err := r.survey(ctx); err != nil {
		return Result{}, err
	}
	unlock, err := o.lockDir()
	if err != nil {
		return Result{}, err
	}
	defer unlock()
	if err := r.begin(); err != nil {
		return Result{}, err
	}
	reason, err := r.loop(ctx)
	if err != nil {
		return Result{}, err
	}
	return r.finish(ctx, reason)
}

type run struct {
	t      *model.Transformer
	pool   *mat.Pool
	d      Data
	o      Options
	report func(Event)

	pass      *model.Pass
	loader    *loader
	batches   []model.Batch // of one step
	rate      Schedule
	optimizer Optimizer
	ema       *movingAverage // nil without Options.EMA
	norm      *gradientNorm
	valid     *validator // nil without validation pairs

	state          State
	start          time.Time // when the run would have begun had it not been stopped
	speed          speed
	lastSave       time.Duration // how long the last save took
	lastValidation time.Duration // how long the last validation took
	checkpoint     string        // the last one written or resumed from
	unsaved        bool          // the state differs from that of the checkpoint
	bestWeights    []float32     // weights of state.Best, if there is no folder to keep them in
}

func newRun(t *model.Transformer, p *mat.Pool, d Data, o Options, report func(Event)) (*run, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	if report == nil {
		report = func(Event) {}
	}
	switch {
	case len(t.Params.W) == 0 || len(t.Params.G) != len(t.Params.W):
		return nil, errors.New("train: the model's weights and gradients are not allocated")
	case o.MaxLen+1 > t.Config.MaxLen:
		return nil, fmt.Errorf("train: max_len is %d, expected at most %d, which with its end is the longest sentence of the model", o.MaxLen, t.Config.MaxLen-1)
	case d.Train == nil && d.Source == nil:
		return nil, errors.New("train: there are no training pairs")
	case d.Train != nil && d.Source != nil:
		return nil, errors.New("train: there are training pairs and a source of them, expected one of the two")
	case d.Source == nil && o.BPEDropout > 0:
		return nil, fmt.Errorf("train: bpe_dropout is %v, expected a source whose pairs are others in each epoch", o.BPEDropout)
	case d.References != nil && (d.Valid == nil || len(d.References) != d.Valid.Len()):
		return nil, fmt.Errorf("train: there are %d references, expected one for each validation pair", len(d.References))
	case d.References != nil && d.Detokenize == nil:
		return nil, errors.New("train: references without a function that turns tokens into text")
	}
	if d.Valid != nil {
		if err := d.Valid.check("validation pairs", t.Config.SrcVocab, t.Config.TgtVocab); err != nil {
			return nil, err
		}
	}
	var err error
	if d.SrcLang, d.TgtLang, err = model.CanonicalLanguages(d.SrcLang, d.TgtLang); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	o.Schedule = o.scheduleName() // what a resume compares with
	r := &run{t: t, pool: p, d: d, o: o, report: report, rate: o.LearningRate(t.Config.DModel), pass: model.NewPass(t, p)}
	evaluate := r.pass // in float32, as the model will be used
	if o.BF16 {
		r.pass = evaluate.Sharing(t.In(layer.BF16))
	}
	if r.loader, err = newLoader(d, o, t.Config); err != nil {
		return nil, err
	}
	if r.valid, err = newValidator(t, evaluate, p, d, o); err != nil {
		return nil, err
	}
	if r.valid == nil && o.Steps == 0 && o.Time == 0 {
		return nil, errors.New("train: without validation pairs a number of steps or a time must end the run")
	}
	if dropout := max(t.Config.Dropout, t.Config.AttentionDropout, t.Config.FFDropout); o.RDrop != 0 && dropout == 0 {
		return nil, fmt.Errorf("train: r_drop is %v, expected 0 for a model without dropout, which says the same of both copies", o.RDrop)
	}
	r.optimizer, r.ema = o.newOptimizer(t.Params)
	r.norm = newGradientNorm(t.Params.Count())
	r.state.Products = o.precision().InForce()
	if d.Source == nil {
		r.allocBatches()
	}
	return r, nil
}

// survey reads a Source once.
func (r *run) survey(ctx context.Context) error {
	if r.d.Source == nil {
		return nil
	}
	if err := r.loader.survey(ctx, r.o.Tokens); err != nil {
		return err
	}
	r.allocBatches()
	return nil
}

// allocBatches takes the memory for the batches of a step, once it is known how large they are.
func (r *run) allocBatches() {
	for range r.o.Accumulate {
		r.batches = append(r.batches, r.loader.newBuffer())
	}
	r.state.Data = r.loader.fingerprint
}

// loop trains to the end. A validation or save that is due comes before the question whether to go on, and so
// also after a resume from a run that was stopped before it.
func (r *run) loop(ctx context.Context) (Reason, error) {
	for {
		if r.o.ValidEvery > 0 && r.state.Step%r.o.ValidEvery == 0 {
			if err := r.validate(ctx); err != nil {
				return "", err
			}
		}
		reason := r.stopReason(ctx)
		if reason == OutOfTime && r.state.OutOfTime < r.o.Time {
			r.state.OutOfTime, r.unsaved = r.o.Time, true
		}
		if reason == AllSteps || reason == OutOfTime {
			if err := r.validate(ctx); err != nil {
				return "", err
			}
			if ctx.Err() != nil {
				reason = Interrupted
			}
		}
		if reason != "" || r.o.SaveEvery > 0 && r.state.Step%r.o.SaveEvery == 0 {
			if err := r.save(); err != nil {
				return "", err
			}
		}
		if reason != "" {
			return reason, nil
		}
		if err := r.step(); err != nil {
			return "", r.saveAfterInputError(err)
		}
	}
}

// failed is what a step's error is to the run: one of the Source finds a good state, which is saved.
func (r *run) saveAfterInputError(err error) error {
	if !errors.As(err, new(inputError)) {
		return err
	}
	if err := r.save(); err != nil {
		return err
	}
	return fmt.Errorf("train: step %d has no batch: %w; %s", r.state.Step+1, err, r.lastGood())
}

// inputError is the error of a Source.
type inputError struct{ error }

func (e inputError) Unwrap() error { return e.error }

// end says whether the run is to end now, and why.
func (r *run) stopReason(ctx context.Context) Reason {
	switch {
	case ctx.Err() != nil:
		return Interrupted
	case r.o.Steps > 0 && r.state.Step >= r.o.Steps:
		return AllSteps
	case r.o.Patience > 0 && r.state.SinceBest >= r.o.Patience:
		return NoImprovement
	case r.o.Time > 0 && (r.o.Time <= r.state.OutOfTime || r.elapsed()+r.speed.step()+r.finishTime() >= r.o.Time):
		return OutOfTime
	}
	return ""
}

// closing is how long the end of a run takes: a validation, a save, and the validation of the average.
func (r *run) finishTime() time.Duration {
	rest := r.lastSave
	if r.valid != nil {
		rest += r.validationTime()
		if r.o.Average > 1 {
			rest += r.validationTime()
		}
	}
	return rest
}

// validation is how long one takes.
func (r *run) validationTime() time.Duration {
	if r.lastValidation > 0 {
		return r.lastValidation
	}
	_, tgt := r.speed.perSec()
	return r.valid.estimate(tgt)
}

// step is one update of the weights, or one that is dropped.
func (r *run) step() error {
	start := time.Now()
	loss, src, tgt, err := r.gradient()
	if err != nil {
		return err
	}
	n, params := float64(loss.Tokens), r.t.Params // with R-Drop both copies count
	norm := r.norm.of(r.pool, params.G)
	clip := clipFactor(norm, r.o.Clip)
	why := divergence(loss, norm*float64(clip), params)
	rate := r.rate.Rate(r.state.Step + 1)
	if why == nil {
		r.optimizer.Step(r.pool, params.W, params.G, rate, clip)
		r.state.Step++
		r.state.SkippedInRow = 0
	} else if err := r.drop(why); err != nil {
		return err
	}
	r.state.Position = r.loader.Position()
	r.unsaved = true
	r.speed.add(src, tgt, time.Since(start))
	if why != nil {
		r.send(Event{Kind: Skipped, Why: why})
		return nil
	}
	r.send(Event{Kind: Stepped, Loss: loss.Sum / n, NLL: loss.NLL / n, KL: loss.KL / n, Accuracy: float64(loss.Correct) / n, Rate: rate, GradNorm: norm})
	return nil
}

// gradient adds that of the mean loss over the tokens of the next Accumulate batches: every token weighs the
// same, whichever batch it is in. It returns the summed loss and the number of source and target tokens.
func (r *run) gradient() (loss model.Loss, src, tgt int, err error) {
	for i := range r.batches {
		if err := r.loader.Next(&r.batches[i]); err != nil {
			return loss, src, tgt, inputError{err}
		}
		src += len(r.batches[i].Src)
		tgt += len(r.batches[i].TgtOut)
	}
	for i := range r.batches {
		seed := dropoutSeed(r.o.Seed, r.state.Step*len(r.batches)+i)
		if alpha := float32(r.o.RDrop); alpha != 0 {
			loss = loss.Plus(r.pass.TrainRDrop(&r.batches[i], seed, 1/float32(2*tgt), alpha))
		} else {
			loss = loss.Plus(r.pass.Train(&r.batches[i], seed, 1/float32(tgt)))
		}
	}
	return loss, src, tgt, nil
}

// dropoutSeed is the seed of the n-th batch of a run. The sequences for shuffling begin at small numbers, these at 2^63.
func dropoutSeed(seed uint64, n int) uint64 {
	var random rand.PCG
	random.Seed(seed, 1<<63+uint64(n))
	return random.Uint64()
}

// validate validates the weights of this step if that can be and has not been done, and keeps them if they are
// the best.
func (r *run) validate(ctx context.Context) error {
	if r.valid == nil || r.state.Step == r.state.Validated {
		return nil
	}
	best, done := r.validateAverage(ctx)
	if !done || !best {
		return nil
	}
	return r.save()
}

// validateAverage validates the moving average if there is one, else the weights. It reports false if it was cancelled.
func (r *run) validateAverage(ctx context.Context) (best, done bool) {
	r.swapEMA()
	defer r.swapEMA()
	v, done := r.valid.run(ctx, r.state.Step)
	if !done {
		return false, false
	}
	r.lastValidation, r.state.Validated, r.unsaved = v.Took, v.Step, true
	if best = v.betterThan(r.state.Best); best {
		r.state.Best, r.state.SinceBest = v, 0
	} else {
		r.state.SinceBest++
	}
	r.send(r.valid.event(Event{Kind: Validated, Valid: v, Best: best}))
	if best && r.o.Dir == "" {
		r.bestWeights = append(r.bestWeights[:0], r.t.Params.W...)
	}
	return best, true
}

// save writes a checkpoint of this step, unless there is nothing new to save or no folder.
func (r *run) save() error {
	if r.o.Dir == "" || !r.unsaved || r.state.Step == 0 {
		return nil
	}
	start := time.Now()
	if sum := mat.Sum(r.t.Params.W); !finite(float64(sum)) {
		return fmt.Errorf("train: step %d diverged: %w; %s", r.state.Step, badWeight(r.t.Params), r.lastGood())
	}
	path := checkpointPath(r.o.Dir, r.state.Step)
	r.send(Event{Kind: Saving, Path: path})
	r.state.Trained = r.elapsed()
	r.swapEMA()
	file := model.File{Model: r.t, Tokenizers: r.d.Tokenizers, SrcLang: r.d.SrcLang, TgtLang: r.d.TgtLang}
	err := writeCheckpoint(path, file, r.optimizer, r.o, r.state)
	r.swapEMA()
	if err != nil {
		return fmt.Errorf("train: step %d could not be saved: %w; %s", r.state.Step, err, r.lastGood())
	}
	r.checkpoint, r.unsaved = path, false
	prune(r.o, r.state.Best.Step)
	r.lastSave = time.Since(start)
	r.send(Event{Kind: Saved, Path: path})
	return nil
}

// lastGood tells where a run that fails can be taken up again.
func (r *run) lastGood() string {
	if r.checkpoint == "" {
		return "there is no checkpoint yet"
	}
	return "the last good checkpoint is " + r.checkpoint
}

func (r *run) elapsed() time.Duration { return time.Since(r.start) }

// left estimates the time to the end of the run; 0 if that is not known.
func (r *run) timeLeft() time.Duration {
	var left time.Duration
	if steps := r.o.Steps - r.state.Step; steps > 0 {
		left = time.Duration(steps) * r.speed.step()
		if r.valid != nil {
			left += time.Duration(steps/r.o.ValidEvery) * r.validationTime()
		}
		if r.o.SaveEvery > 0 {
			left += time.Duration(steps/r.o.SaveEvery) * r.lastSave
		}
	}
	if r.o.Time > 0 {
		if rest := max(0, r.o.Time-r.elapsed()); r.o.Steps == 0 || rest < left {
			left = rest
		}
	}
	return left
}

func (r *run) send(e Event) {
	e.Skipped = r.state.Skipped
	e.Step, e.Steps, e.Epoch = r.state.Step, r.o.Steps, r.state.Position.Epoch
	e.Elapsed, e.Left = r.elapsed(), r.timeLeft()
	e.SrcPerSec, e.TgtPerSec = r.speed.perSec()
	r.report(e)
}
