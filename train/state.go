package train

import (
	"errors"
	"fmt"
	"time"

	"tfm/layer"
	"tfm/mat"
	"tfm/model"
)

// State is the state of a run between two steps, except weights and moments.
type State struct {
	Step      int           `json:"step"`      // steps done
	Position  Position      `json:"position"`  // of the next batch
	Trained   time.Duration `json:"trained"`   // validations and saves included
	Validated int           `json:"validated"` // step of the last validation; 0 also: none
	Best      Validation    `json:"best"`
	SinceBest int           `json:"since_best"` // validations after Best

	// Cooldown is that of the learning rate, zero before it begins; EndReason is why it began,
	// and so why the run ends.
	Cooldown  Cooldown `json:"cooldown,omitzero"`
	EndReason Reason   `json:"end_reason,omitempty"`

	// OutOfTime is the Options.Time that ended the run; 0: none. A run that is resumed with a
	// limit up to this makes no further steps, so that it ends in the same weights. It could
	// not decide by the durations of a step and a save, because it has not measured them yet.
	OutOfTime time.Duration `json:"out_of_time,omitempty"`

	// Missing are the parts that rounds were merged without, as in Rounds.Missing.
	Missing string `json:"missing,omitempty"`

	Data     string `json:"data"`            // fingerprint of the training pairs
	Valid    string `json:"valid,omitempty"` // fingerprint of the validation pairs; "" is unknown
	Products string `json:"products"`        // layer.Precision.Kernel; the weights depend on it
}

// run is a run in memory.
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

// file returns the model file that a checkpoint contains.
func (r *run) file() model.File {
	return model.File{Model: r.t, Tokenizers: r.d.Tokenizers, SrcLang: r.d.SrcLang, TgtLang: r.d.TgtLang, Decoding: r.o.Search.Saved().String()}
}

// lastGood names the checkpoint from which a failed run can be resumed.
func (r *run) lastGood() string {
	if r.checkpoint == "" {
		return "there is no checkpoint yet"
	}
	return "the last good checkpoint is " + r.checkpoint
}
