package train

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"tfm/layer"
	"tfm/model"
	"tfm/model/decode"
	"tfm/text/score"
)

// Options are the settings of a training run. A checkpoint contains them, and a run can be resumed
// only with the same values, except for the fields tagged "free": the weights of a step do not
// depend on these, only when the run stops, when a cooldown begins, and which step is the best.
type Options struct {
	// The run ends when it reaches the first of these limits; training before a resume counts.
	// 0 is no limit; one must be set. Time includes the last validation and save, whose
	// durations are estimated.
	Steps    int           `json:"steps" resume:"free"`
	Time     time.Duration `json:"time" resume:"free"`
	Patience int           `json:"patience" resume:"free"` // validations without a new best

	BatchTokens int `json:"batch_tokens"` // limit of target tokens in a batch, with EOS
	Accumulate  int `json:"accumulate"`   // batches per step; all their tokens have the same weight
	MaxLen      int `json:"max_len"`      // limit of tokens per side, without EOS; else skipped

	// ShuffleWindow is the limit of pairs in a window of Data.Stream; 0 is one window. Run only
	// compares it with a checkpoint's.
	ShuffleWindow int `json:"shuffle_window"`

	// The learning rate, see Schedule. "" is inverse-sqrt with LR, else paper.
	Schedule string  `json:"schedule"`
	Factor   float64 `json:"factor"` // multiplies the paper's peak
	LR       float64 `json:"lr"`     // peak; 0 is the paper's peak times Factor
	Warmup   int     `json:"warmup"` // steps to the peak

	// Cooldown is the share of the run's steps, at its end, in which the learning rate falls
	// linearly to 0; 0 is none. It begins when this share of
	// Steps remains or, with Steps of 0, of Time, or earlier if Patience is exhausted, which
	// then does not end the run at once. Its last step, the last of the run, is fixed when it
	// begins: a checkpoint contains it, and a run with this number as Steps has the same
	// weights.
	Cooldown float64 `json:"cooldown"`

	Optimizer   string  `json:"optimizer"`
	Beta1       float64 `json:"beta1"` // of adam and adamw
	Beta2       float64 `json:"beta2"`
	Eps         float64 `json:"eps"`
	WeightDecay float64 `json:"weight_decay"` // of adamw
	Momentum    float64 `json:"momentum"`     // of sgd and muon

	// MuonScale is the ratio of the root mean square of muon's update of a matrix to the
	// learning rate.
	MuonScale float64 `json:"muon_scale,omitempty"`

	// RDrop is the α of R-Drop (Liang et al., 2021, "R-Drop: Regularized Dropout for Neural
	// Networks"); 0 is off. Each batch passes through the model twice with different dropout,
	// and the loss of a token is ½(CE₁ + CE₂) + α/4·(KL(p₁‖p₂) + KL(p₂‖p₁)): half
	// of the paper's equation 4, so that the gradient has the same scale as without R-Drop.
	// BatchTokens counts a batch once, so that batches, epochs and steps do not change; the
	// memory of activations and the time of a step double. Loss, NLL and Accuracy of a step are
	// means over both copies, without KL.
	RDrop float64 `json:"r_drop"`

	// ClipNorm is the limit of the norm of the gradient of the mean loss per target token; 0 is
	// no limit.
	ClipNorm float64 `json:"clip_norm"`

	ValidEvery int  `json:"valid_every" resume:"free"` // steps per validation; 0: off
	Entropies  bool `json:"-"`                         // compute Event.Entropies

	// Search are the options of the validation's translations. Their length penalty is also the
	// model's: Result.Decoding and the checkpoints contain it.
	Search decode.Options `json:"search" resume:"free"`

	// Tokenize is how the validation's BLEU, which chooses the best weights, splits text. Auto
	// chooses the one that suits the references when the run first has some. Checkpoints record
	// the choice, and a resumed run keeps it.
	Tokenize score.Tokenizer `json:"tokenize"`

	Dir       string `json:"-"`                        // folder of the checkpoints; "" is none
	Resume    bool   `json:"-"`                        // resume from the newest checkpoint in Dir
	Replace   bool   `json:"-"`                        // remove checkpoints in Dir, else an error
	SaveEvery int    `json:"save_every" resume:"free"` // steps between saves; 0: best and last
	Keep      int    `json:"keep" resume:"free"`       // newest checkpoints kept besides the best

	// Average is the number of checkpoints to average at the end: the last step's and the
	// newest of every SaveEvery steps. The mean is used if it is better. Below 2 is off.
	Average int `json:"average" resume:"free"`

	// BF16 computes the products with the weights in bfloat16, forward and backward, where that
	// is faster, see layer.BF16. Weights, optimizer and validations are float32.
	BF16 bool `json:"bf16"`

	Seed uint64 `json:"seed"` // of the order of the pairs and of dropout

	Init string `json:"init,omitempty"` // file of the initial weights; not read; "": random

	// Imported is the system of the first training of Init; "" is this one.
	Imported string `json:"imported,omitempty"`

	Rounds Rounds `json:"rounds,omitzero"` // of Work and Merge; the zero value is a training by Run
}

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

// DefaultOptions returns the paper's settings (sections 5.1 to 5.4) of the optimizer, the schedule
// and the number of steps of the base model. Four things differ. BatchTokens suits a CPU; the paper
// has 25,000. Average is off; the paper averages the last 5 checkpoints of a base model. SaveEvery
// counts steps; the paper saves every 10 minutes. ClipNorm, Patience, MaxLen and the validations
// have no equivalent in the paper.
//
// The default preset of tfm train is tiny, whose OptionsFor have the schedule inverse-sqrt.
func DefaultOptions() Options {
	search := decode.DefaultOptions()
	search.Beam = 1
	return Options{
		Steps:       100_000,
		Patience:    10,
		BatchTokens: 4096,
		Accumulate:  1,
		MaxLen:      256,

		ShuffleWindow: 500_000,

		Factor:     1,
		Warmup:     4000,
		Optimizer:  OptimizerAdam,
		Beta1:      0.9,
		Beta2:      0.98,
		Eps:        1e-9,
		ClipNorm:   1,
		ValidEvery: 1000,
		Search:     search,
		SaveEvery:  1000,
		Keep:       3,
		Seed:       1,
	}
}

// OptionsFor returns the settings for a preset of package model: DefaultOptions for the paper's
// presets. The presets tiny and small get small batches, Muon, a short warmup to a high learning
// rate that stays constant, and a cooldown: the best settings for minutes to hours on an ordinary
// CPU, see BENCHMARKS.md. Students get the same. They have no limit of steps. The score of a
// translation is the mean log-probability of its tokens, because under the paper's length penalty
// the translations of models trained so briefly are too short. The preset demo has the schedule
// inverse-sqrt and averages its last checkpoints.
func OptionsFor(preset string) Options {
	o := DefaultOptions()
	switch preset {
	case "demo":
		o.BatchTokens, o.LR, o.Warmup = 1500, 2e-3, 800
		o.SaveEvery, o.Keep, o.Average = 250, 6, 6
		return o
	case "tiny":
		o.BatchTokens = 1500
	case "small", "student-tiny", "student-base":
		o.BatchTokens = 2000
	default:
		return o
	}
	o.Steps = 0
	o.Optimizer, o.Momentum, o.MuonScale = OptimizerMuon, 0.95, 0.2
	o.LR, o.Warmup = 4e-3, 100
	o.Schedule, o.Cooldown = ScheduleConstant, 0.4
	o.ValidEvery, o.SaveEvery = 500, 500
	o.Search.Penalty, o.Search.Alpha = decode.PenaltyPower, 1
	return o
}

// Validate reports the first invalid field, as a *model.FieldError.
func (o Options) Validate() error {
	schedule := o.scheduleName()
	paper := schedule == SchedulePaper
	sgd, muon := o.Optimizer == OptimizerSGD, o.Optimizer == OptimizerMuon
	_, noTokenizer := o.Tokenize.MarshalText()
	if err := firstBroken([]rule{
		{o.Steps < 0, "steps", o.Steps, "0 or more"},
		{o.Time < 0, "time", o.Time, "0 or more"},
		{o.Patience < 0, "patience", o.Patience, "0 or more"},
		{o.Steps == 0 && o.Time == 0 && (o.Patience == 0 || o.ValidEvery == 0), "steps", o.Steps, "a number of steps, a time, or a patience with validations, to end the run"},
		{o.MaxLen < 1 || o.MaxLen >= 1<<16, "max_len", o.MaxLen, "1 to 65535"},
		{o.BatchTokens < o.MaxLen+1, "batch_tokens", o.BatchTokens, fmt.Sprintf("at least %d, so that a sentence of %d tokens and EOS fits in a batch", o.MaxLen+1, o.MaxLen)},
		{o.Accumulate < 1 || o.Accumulate > 1<<16, "accumulate", o.Accumulate, "1 to 65536"},
		{o.ShuffleWindow < 0 || o.ShuffleWindow > math.MaxInt32, "shuffle_window", o.ShuffleWindow, "0 to 2147483647"},
		{!slices.Contains([]string{SchedulePaper, ScheduleInverseSqrt, ScheduleConstant}, schedule), "schedule", o.Schedule, "paper, inverse-sqrt or constant"},
		{!(o.LR >= 0) || !finite(o.LR), "lr", o.LR, "a finite number, 0 or more"},
		{o.LR == 0 && !(o.Factor > 0) || !finite(o.Factor), "factor", o.Factor, "a finite number, more than 0"},
		{o.LR != 0 && paper, "lr", o.LR, "0 with the schedule paper, whose peak follows from factor"},
		{o.LR == 0 && !paper, "lr", o.LR, "more than 0 with the schedule " + schedule},
		{o.Warmup < 0 || o.Warmup < 1 && schedule != ScheduleConstant, "warmup", o.Warmup, "1 or more, or 0 with the schedule constant"},
		{!(o.Cooldown >= 0 && o.Cooldown < 1), "cooldown", o.Cooldown, "at least 0 and below 1"},
		{!slices.Contains([]string{OptimizerAdam, OptimizerAdamW, OptimizerSGD, OptimizerMuon}, o.Optimizer), "optimizer", o.Optimizer, "adam, adamw, sgd or muon"},
		{!(o.Beta1 >= 0 && o.Beta1 < 1), "beta1", o.Beta1, "0 ≤ beta1 < 1"},
		{!(o.Beta2 >= 0 && o.Beta2 < 1), "beta2", o.Beta2, "0 ≤ beta2 < 1"},
		{!(o.Eps > 0) || !finite(o.Eps), "eps", o.Eps, "a finite number, more than 0"},
		{!(o.WeightDecay >= 0) || !finite(o.WeightDecay), "weight_decay", o.WeightDecay, "a finite number, 0 or more"},
		{o.WeightDecay != 0 && o.Optimizer != OptimizerAdamW, "weight_decay", o.WeightDecay, "0 with the optimizer " + o.Optimizer + "; only adamw decays weights"},
		{o.WeightDecay*o.LR >= 1, "weight_decay", o.WeightDecay, fmt.Sprintf("less than 1/lr, %v, because a step subtracts lr·weight_decay of a weight", 1/o.LR)},
		{!(o.Momentum >= 0 && o.Momentum < 1), "momentum", o.Momentum, "0 ≤ momentum < 1"},
		{o.Momentum != 0 && !sgd && !muon, "momentum", o.Momentum, "0 with the optimizer " + o.Optimizer + "; only sgd and muon have it"},
		{o.MuonScale != 0 && !muon, "muon_scale", o.MuonScale, "0 with the optimizer " + o.Optimizer + "; only muon has it"},
		{muon && !(o.MuonScale > 0 && finite(o.MuonScale)), "muon_scale", o.MuonScale, "a finite number, more than 0"},
		{o.RDrop != 0 && !(o.RDrop >= 1e-6 && o.RDrop <= 1e6), "r_drop", o.RDrop, "0, or 1e-6 to 1e6"},
		{!(o.ClipNorm >= 0) || !finite(o.ClipNorm), "clip_norm", o.ClipNorm, "a finite number, 0 or more"},
		{o.ValidEvery < 0, "valid_every", o.ValidEvery, "0 or more"},
		{o.ValidEvery > 0 && (o.Search.MaxExtra < 0 || o.Search.MaxExtra >= 1<<16), "search.max_extra", o.Search.MaxExtra, "0 to 65535"},
		{noTokenizer != nil, "tokenize", o.Tokenize, "a way in which BLEU splits text"},
		{o.SaveEvery < 0, "save_every", o.SaveEvery, "0 or more"},
		{o.Keep < 1, "keep", o.Keep, "1 or more"},
		{o.Average < 0, "average", o.Average, "0 or more"},
		{o.Average > o.Keep, "average", o.Average, fmt.Sprintf("at most %d, the checkpoints to keep", o.Keep)},
		{o.Average > 1 && o.Dir == "", "average", o.Average, "below 2 without a folder of checkpoints"},
		{o.Resume && o.Replace, "resume", o.Resume, "false with replace"},
		{o.Resume && o.Dir == "", "resume", o.Resume, "false without a folder of checkpoints"},
	}); err != nil {
		return err
	}
	if err := o.validateRounds(); err != nil {
		return err
	}
	search := o.Search.Saved().Validate()
	if o.ValidEvery > 0 {
		search = o.Search.Validate()
	}
	var invalid *model.FieldError
	if errors.As(search, &invalid) {
		return &model.FieldError{Field: "search." + invalid.Field, Found: invalid.Found, Expected: invalid.Expected}
	}
	return nil
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

// rule is a rule for a field.
type rule struct {
	broken   bool
	name     string
	found    any
	expected string
}

// firstBroken returns the error of the first rule that is broken, or nil.
func firstBroken(rules []rule) error {
	for _, r := range rules {
		if r.broken {
			return &model.FieldError{Field: r.name, Found: r.found, Expected: r.expected}
		}
	}
	return nil
}

// LearningRate returns the schedule for a model of width dModel. o must be valid.
func (o Options) LearningRate(dModel int) Schedule {
	peak := o.LR
	if peak == 0 {
		peak = PaperSchedule(dModel, o.Warmup, o.Factor).Peak
	}
	return Schedule{Name: o.scheduleName(), Peak: peak, Warmup: o.Warmup}
}

// scheduleName returns the name of the schedule, with the default for "".
func (o Options) scheduleName() string {
	switch {
	case o.Schedule != "":
		return o.Schedule
	case o.LR != 0:
		return ScheduleInverseSqrt
	}
	return SchedulePaper
}

// precision returns the precision of the products of a step.
func (o Options) precision() layer.Precision {
	if o.BF16 {
		return layer.BF16
	}
	return layer.Float32
}

// newOptimizer returns an optimizer of params at step 0.
func (o Options) newOptimizer(params *layer.Params) Optimizer {
	switch o.Optimizer {
	case OptimizerMuon:
		return NewMuon(params, o.Beta1, o.Beta2, o.Eps, o.Momentum, o.MuonScale)
	case OptimizerSGD:
		return NewSGD(params.Count(), o.Momentum)
	case OptimizerAdamW:
		return NewAdamW(params, o.Beta1, o.Beta2, o.Eps, o.WeightDecay)
	}
	return NewAdam(params.Count(), o.Beta1, o.Beta2, o.Eps)
}

// sameFields returns an error that names the first field in which two structs of one type differ.
// It ignores fields tagged resume:"free" or json:"-".
func sameFields(found, expected any) error {
	f, e := reflect.ValueOf(found), reflect.ValueOf(expected)
	for i := range f.NumField() {
		field := f.Type().Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Tag.Get("resume") == "free" || name == "-" {
			continue
		}
		if a, b := f.Field(i).Interface(), e.Field(i).Interface(); !reflect.DeepEqual(a, b) {
			return fmt.Errorf("%s is %v, expected %v", name, a, b)
		}
	}
	return nil
}
