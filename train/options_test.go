package train

import (
	"math"
	"testing"

	"tfm/model"
	"tfm/model/decode"
)

func TestDefaultOptionsAreValid(t *testing.T) {
	for _, preset := range model.PresetNames() {
		o := OptionsFor(preset)
		o.Dir = "checkpoints"
		if err := o.Validate(); err != nil {
			t.Errorf("%s: %v", preset, err)
		}
	}
	if err := DefaultOptions().Validate(); err != nil {
		t.Error(err)
	}
}

// The presets of the paper have its length penalty, those for short trainings the mean of the
// log-probabilities.
func TestLengthPenaltyOfPresets(t *testing.T) {
	for preset, want := range map[string]decode.Settings{
		"base": decode.PaperSettings(), "big": decode.PaperSettings(), "C1": decode.PaperSettings(), "demo": decode.PaperSettings(), "": decode.PaperSettings(),
		"tiny": {LengthPenalty: decode.PenaltyPower, Alpha: 1}, "small": {LengthPenalty: decode.PenaltyPower, Alpha: 1},
	} {
		if got := OptionsFor(preset).Search.Saved(); got != want {
			t.Errorf("%q: %+v, want %+v", preset, got, want)
		}
	}
}

func TestOptionsValidate(t *testing.T) {
	for _, c := range []struct {
		want   string
		change func(*Options)
	}{
		{"steps is -1", func(o *Options) { o.Steps = -1 }},
		{"time is -1ns", func(o *Options) { o.Time = -1 }},
		{"patience is -1", func(o *Options) { o.Patience = -1 }},
		{"max_len is 0", func(o *Options) { o.MaxLen = 0 }},
		{"batch_tokens is 256, expected at least 257", func(o *Options) { o.BatchTokens = 256 }},
		{"accumulate is 0", func(o *Options) { o.Accumulate = 0 }},
		{"lr is -1", func(o *Options) { o.LR = -1 }},
		{"lr is NaN", func(o *Options) { o.LR = math.NaN() }},
		{"lr is +Inf", func(o *Options) { o.LR = math.Inf(1) }},
		{"max_len is 65536", func(o *Options) { o.MaxLen = 1 << 16 }},
		{"accumulate is 65537", func(o *Options) { o.Accumulate = 1<<16 + 1 }},
		{"factor is +Inf", func(o *Options) { o.Factor = math.Inf(1) }},
		{"eps is +Inf", func(o *Options) { o.Eps = math.Inf(1) }},
		{"clip_norm is +Inf", func(o *Options) { o.ClipNorm = math.Inf(1) }},
		{"search.beam is 0", func(o *Options) { o.Search.Beam = 0 }},
		{`search.length_penalty is "gnmt"`, func(o *Options) { o.Search.Penalty, o.ValidEvery = "gnmt", 0 }},
		{"search.alpha is -1", func(o *Options) { o.Search.Alpha, o.ValidEvery = -1, 0 }},
		{"search.max_extra is -1", func(o *Options) { o.Search.MaxExtra = -1 }},
		{"resume is true, expected false with replace", func(o *Options) { o.Resume, o.Replace, o.Dir = true, true, "d" }},
		{"factor is 0", func(o *Options) { o.Factor = 0 }},
		{"warmup is 0", func(o *Options) { o.Warmup = 0 }},
		{`schedule is "step", expected paper`, func(o *Options) { o.Schedule = "step" }},
		{"lr is 0.001, expected 0 with the schedule paper", func(o *Options) { o.Schedule, o.LR = SchedulePaper, 1e-3 }},
		{"lr is 0, expected more than 0 with the schedule inverse-sqrt", func(o *Options) { o.Schedule = ScheduleInverseSqrt }},
		{"lr is 0, expected more than 0 with the schedule constant", func(o *Options) { o.Schedule = ScheduleConstant }},
		{"warmup is 0", func(o *Options) { o.LR, o.Warmup = 1e-3, 0 }},
		{"warmup is -1", func(o *Options) { o.Schedule, o.LR, o.Warmup = ScheduleConstant, 1e-3, -1 }},
		{"cooldown is 1, expected at least 0 and below 1", func(o *Options) { o.Cooldown = 1 }},
		{`optimizer is "adagrad", expected adam`, func(o *Options) { o.Optimizer = "adagrad" }},
		{`optimizer is ""`, func(o *Options) { o.Optimizer = "" }},
		{"weight_decay is 0.01, expected 0 with the optimizer adam", func(o *Options) { o.WeightDecay = 0.01 }},
		{"weight_decay is 0.01, expected 0 with the optimizer sgd", func(o *Options) { o.Optimizer, o.WeightDecay = OptimizerSGD, 0.01 }},
		{"weight_decay is -1", func(o *Options) { o.Optimizer, o.WeightDecay = OptimizerAdamW, -1 }},
		{"weight_decay is 2000, expected less than 1/lr", func(o *Options) { o.Optimizer, o.WeightDecay, o.LR = OptimizerAdamW, 2000, 1e-3 }},
		{"momentum is 0.9, expected 0 with the optimizer adam", func(o *Options) { o.Momentum = 0.9 }},
		{"momentum is 1,", func(o *Options) { o.Optimizer, o.Momentum = OptimizerSGD, 1 }},
		{"momentum is NaN", func(o *Options) { o.Optimizer, o.Momentum = OptimizerSGD, math.NaN() }},
		{"momentum is 0.9, expected 0 with the optimizer adamw; only sgd and muon", func(o *Options) { o.Optimizer, o.Momentum = OptimizerAdamW, 0.9 }},
		{"muon_scale is 0, expected a finite number", func(o *Options) { o.Optimizer, o.Momentum = OptimizerMuon, 0.95 }},
		{"muon_scale is NaN, expected a finite number", func(o *Options) { o.Optimizer, o.MuonScale = OptimizerMuon, math.NaN() }},
		{"muon_scale is 0.7, expected 0 with the optimizer adam", func(o *Options) { o.MuonScale = 0.7 }},
		{`search.length_penalty is "short"`, func(o *Options) { o.Search.Penalty = "short" }},
		{"beta1 is 1", func(o *Options) { o.Beta1 = 1 }},
		{"beta2 is NaN", func(o *Options) { o.Beta2 = math.NaN() }},
		{"eps is 0", func(o *Options) { o.Eps = 0 }},
		{"clip_norm is -1", func(o *Options) { o.ClipNorm = -1 }},
		{"r_drop is -1, expected 0, or 1e-6 to 1e6", func(o *Options) { o.RDrop = -1 }},
		{"r_drop is NaN", func(o *Options) { o.RDrop = math.NaN() }},
		{`tokenize is Tokenizer(9), expected a way in which BLEU splits text`, func(o *Options) { o.Tokenize = 9 }},
		{"valid_every is -1", func(o *Options) { o.ValidEvery = -1 }},
		{"save_every is -1", func(o *Options) { o.SaveEvery = -1 }},
		{"keep is 0", func(o *Options) { o.Keep = 0 }},
		{"average is -1", func(o *Options) { o.Average = -1 }},
		{"average is 4, expected at most 3, the checkpoints to keep", func(o *Options) { o.Average = 4 }},
		{"average is 2, expected below 2 without a folder", func(o *Options) { o.Average = 2 }},
		{"resume is true, expected false without a folder", func(o *Options) { o.Resume = true }},
	} {
		o := DefaultOptions()
		c.change(&o)
		wantError(t, o.Validate(), c.want)
	}
}
