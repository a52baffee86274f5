package train

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tfm/layer"
	"tfm/mat"
	"tfm/model"
)

// Data is the pairs that a run is trained and validated on. One of Train and Source is set.
type Data struct {
	Train  *Pairs // in memory
	Source Source // read in windows
	Valid  *Pairs // nil for no validation

	// For the validation's BLEU: the reference of each pair of Valid, and the text of target ids.
	// Both may be nil; then the loss alone chooses the best step.
	References []string
	Detokenize func(ids []int32) string

	// DetokenizeSource is the text of source ids, for Event.Samples. nil leaves their sources
	// empty.
	DetokenizeSource func(ids []int32) string

	// Tokenizers go into every checkpoint, as into a model file, so that it says what its ids mean.
	// They may be nil.
	Tokenizers map[string][]byte

	// The languages go into every checkpoint, as into a model file. "" is the checkpoint's in a run
	// that is resumed.
	SrcLang, TgtLang string
}

// Result is how a run ended.
type Result struct {
	Reason     Reason
	Step       int           // steps made
	Skipped    int           // steps whose update was dropped: see Options.OnNaN
	Trained    time.Duration // duration of the training, before a resume too
	Best       Validation    // of the weights that are left; Step 0 if there was no validation
	Averaged   int           // checkpoints whose mean the weights are; 0 if they are a step's
	Checkpoint string        // of the last step, for Options.Resume; "" without Options.Dir

	// The languages, for model.File: those of Data, or else of the checkpoint that the run was
	// resumed from.
	SrcLang, TgtLang string
}

// Reason is why a run ended.
type Reason string

const (
	AllSteps      Reason = "all steps are done"
	OutOfTime     Reason = "the time is up"
	NoImprovement Reason = "validation no longer gets better"
	Interrupted   Reason = "interrupted"
)

// ErrOtherPairs is in the error of a Run with Options.Resume whose training pairs are not the
// checkpoint's.
var ErrOtherPairs = errors.New("a checkpoint of a run on other training pairs")

// Run trains t on the threads of p, beginning with the weights that t has. Its weights and
// gradients must be allocated. After each step and validation, and before and after each save, it
// calls report, if that is not nil, on the same goroutine.
//
// Run leaves the best weights in t: those of the best validation, or the mean of the last
// checkpoints if its BLEU or its NLL is better; without a validation, those of the last step. They
// depend on t's first weights, the training pairs and the Options that are not "free", and neither
// on the number of threads nor on how often the run was stopped.
//
// When ctx ends, Run finishes the current step, saves, and returns the Reason Interrupted and no
// error. With Options.Resume the next run goes on from Result.Checkpoint. Only while a Source is
// first read, before the first step, is the cause of ctx an error.
//
// Errors are
//   - invalid options, pairs or languages, and a checkpoint that does not fit them,
//   - a folder of checkpoints that another run is using,
//   - a loss or gradient that is not a finite number, with its step and tensor; see Options.OnNaN,
//   - a Source that fails, after a checkpoint of the last step,
//   - a checkpoint that cannot be written.
//
// The last three name the last good checkpoint.
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

// run is the state of Run.
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

	state       State
	checkpoint  string    // path of the last one written or resumed from
	unsaved     bool      // state differs from the checkpoint's
	bestWeights []float32 // of state.Best, without a folder to keep them in
	timing      timing
}

// newRun checks what Run is given, and allocates everything whose size is known before a Source is
// read.
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
	o.Schedule = o.scheduleName() // which a resume compares with the checkpoint's
	r := &run{t: t, pool: p, d: d, o: o, report: report, rate: o.LearningRate(t.Config.DModel), pass: model.NewPass(t, p)}
	evaluate := r.pass // validations are float32, as the finished model is used
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
	r.state.Products = o.precision().Kernel()
	if d.Source == nil {
		r.allocBatches()
	}
	return r, nil
}

// survey reads a Source once, to know how large its windows are.
func (r *run) survey(ctx context.Context) error {
	if r.d.Source == nil {
		return nil
	}
	if err := r.loader.survey(ctx, r.o.BatchTokens); err != nil {
		return err
	}
	r.allocBatches()
	return nil
}

// allocBatches allocates the batches of a step.
func (r *run) allocBatches() {
	for range r.o.Accumulate {
		r.batches = append(r.batches, r.loader.newBuffer())
	}
	r.state.Data = r.loader.fingerprint
}

// send reports an event with the state of the run.
func (r *run) send(e Event) {
	e.Step, e.Steps, e.Skipped, e.Epoch = r.state.Step, r.o.Steps, r.state.Skipped, r.state.Position.Epoch
	e.Elapsed, e.Left = r.elapsed(), r.timeLeft()
	e.SrcPerSec, e.TgtPerSec = r.timing.speed.perSec()
	r.report(e)
}
