package train

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tfm/layer"
	"tfm/mat"
	"tfm/model"
	"tfm/model/decode"
)

// Data is the training and validation data of a run. Either Train or Stream is set.
type Data struct {
	// Pairs have the tokens of their languages, if the model has some: see model.Config.Affixes.
	Train  *Pairs // training pairs in memory
	Stream Stream // training pairs that are read in windows

	// StreamFingerprint identifies what the first epoch of a Stream does not show. A resumed run
	// must have the same.
	StreamFingerprint string

	Valid *Pairs // validation pairs; nil: no validation

	// For the validation's BLEU: the reference of each pair of Valid, and a function that
	// returns the text of target ids. Both can be nil; then the loss alone chooses the best
	// step.
	References []string
	Detokenize func(ids []int32) string

	// ValidParts divides Valid, part after part, for Event.Parts. It can be nil.
	ValidParts []ValidPart

	// ByLoss lets the loss alone choose the best step: the maximum BLEU of several validations
	// on few pairs is mostly chance.
	ByLoss bool

	// TargetPiece returns the text of a target id, see text.Tokenizer.Bytes. With it the
	// validation's translations are valid UTF-8, as those of package translate are. It can be
	// nil.
	TargetPiece func(id int32) string

	// DetokenizeSource returns the text of source ids, for Event.Samples. With nil the samples
	// have no sources.
	DetokenizeSource func(ids []int32) string

	// Tokenizers are written into every checkpoint, as into a model file. They can be nil.
	Tokenizers map[string][]byte

	// The languages are written into every checkpoint, as into a model file. With "", a resumed
	// run uses the checkpoint's.
	SrcLang, TgtLang string
}

// Result is the result of a run.
type Result struct {
	Reason     Reason
	Step       int           // steps done
	Trained    time.Duration // duration of the training, time before a resume included
	Best       Validation    // of the final weights
	Averaged   int           // checkpoints in the mean; 0 if the weights are those of a step
	Position   Position      // of the next batch
	Checkpoint string        // of the last step, for Options.Resume; "" without Options.Dir

	// The languages, for model.File: those of Data, or else of the checkpoint that was resumed.
	SrcLang, TgtLang string

	Decoding decode.Settings // for model.File, from Options.Search
}

// Reason is the reason for the end of a run.
type Reason string

const (
	AllSteps      Reason = "all steps are done"
	OutOfTime     Reason = "the time is up"
	NoImprovement Reason = "the validation stopped improving"
	Interrupted   Reason = "interrupted"
)

// ErrOtherPairs is wrapped in the error of Run if the checkpoint to resume belongs to other
// training pairs.
var ErrOtherPairs = errors.New("the checkpoint belongs to other training pairs")

// ErrOtherValidation is wrapped in the error of Run if the checkpoint to resume belongs to other
// validation pairs, whose scores cannot be compared.
var ErrOtherValidation = errors.New("the checkpoint belongs to other validation pairs")

// Run trains t on the threads of p, starting from t's weights. The weights and gradients of t must
// be allocated. After each step and validation, and before and after each save, Run calls report,
// if that is not nil, on its goroutine.
//
// Run puts the best weights into t: those of the best validation, with Options.Init also the
// initial ones, or the mean of the last checkpoints if its BLEU or its NLL is better; without
// validations, those of the last step. They depend on t's initial weights, the training pairs and
// the Options that are not "free", but not on the number of threads or on interruptions.
//
// When ctx ends, Run finishes the current step, saves a checkpoint, and returns the Reason
// Interrupted without an error. A run with Options.Resume then continues from Result.Checkpoint.
// Only during the first reading of a Stream, before the first step, is the cause of ctx an error.
//
// Errors are
//   - invalid options, pairs or languages, and a checkpoint that does not match them,
//   - a folder of checkpoints that another run is using,
//   - a loss or gradient that is not finite, with its step and tensor,
//   - a failure of a Stream, after a checkpoint of the last step,
//   - a checkpoint that cannot be written.
//
// The last three name the last good checkpoint.
func Run(ctx context.Context, t *model.Transformer, p *mat.Pool, d Data, o Options, report func(Event)) (Result, error) {
	r, err := newRun(t, p, d, o, report)
	if err != nil {
		return Result{}, err
	}
	defer r.loader.stop()
	if err := r.loader.survey(ctx, o.BatchTokens); err != nil {
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
	worker    int           // of a round, from 0; 0 in a training by Run
	workers   int           // of a round; 1 in a training by Run
	others    model.Batch   // a batch of another worker
	end       int           // last step of the round; 0 in a training by Run
	rate      Schedule
	optimizer Optimizer
	norm      *gradientNorm
	valid     *validator // nil without validation pairs

	state       State
	checkpoint  string    // path of the last one written or resumed from
	unsaved     bool      // state differs from the checkpoint's
	bestWeights []float32 // of state.Best, in a run without a folder
	timing      timing
}

// newRun checks the arguments of Run and allocates the memory whose size does not depend on a
// Stream.
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
	case o.MaxLen > t.Config.MaxSource():
		return nil, fmt.Errorf("train: max_len is %d, expected at most %d, the model's limit without BOS and EOS", o.MaxLen, t.Config.MaxSource())
	case d.Train == nil && d.Stream == nil:
		return nil, errors.New("train: found no training pairs, expected Data.Train or Data.Stream")
	case d.Train != nil && d.Stream != nil:
		return nil, errors.New("train: found both Data.Train and Data.Stream, expected one of them")
	case d.Stream == nil && o.BPEDropout > 0:
		return nil, fmt.Errorf("train: bpe_dropout is %v, expected 0 without Data.Stream", o.BPEDropout)
	case d.References != nil && (d.Valid == nil || len(d.References) != d.Valid.Len()):
		return nil, fmt.Errorf("train: found %d references, expected one for each validation pair", len(d.References))
	case d.ValidParts != nil && (d.References == nil || partsLen(d.ValidParts) != d.Valid.Len()):
		return nil, fmt.Errorf("train: found parts of %d validation pairs, expected %d with references", partsLen(d.ValidParts), len(d.References))
	case d.References != nil && d.Detokenize == nil:
		return nil, errors.New("train: found references without Data.Detokenize")
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
	o.Schedule = o.scheduleName() // resume compares it with the checkpoint's
	r := &run{t: t, pool: p, d: d, o: o, report: report, workers: 1, rate: o.LearningRate(t.Config.DModel), pass: model.NewPass(t, p)}
	evaluate := r.pass // float32 in any case, because the model is used in float32
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
		return nil, errors.New("train: steps and time are 0, expected a limit for a run without validation pairs")
	}
	if dropout := max(t.Config.Dropout, t.Config.AttentionDropout, t.Config.FFDropout); o.RDrop != 0 && dropout == 0 {
		return nil, fmt.Errorf("train: r_drop is %v, expected 0 for a model without dropout, because both copies are equal", o.RDrop)
	}
	if r.valid != nil {
		r.state.Valid = d.Valid.fingerprint()
	}
	r.optimizer = o.newOptimizer(t.Params)
	r.norm = newGradientNorm(t.Params.Count())
	r.state.Products = o.precision().Kernel()
	return r, nil
}

// send completes an event with the state of the run and reports it.
func (r *run) send(e Event) {
	e.Step, e.Steps, e.Epoch = r.state.Step, r.lastStep(), r.state.Position.Epoch
	e.Elapsed, e.Left = r.elapsed(), r.timeLeft()
	e.SrcPerSec, e.TgtPerSec = r.timing.speed.perSec()
	r.report(e)
}
