package train

import (
	"encoding/json"
	"math"
	"testing"

	"tfm/model"
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

func TestOptionsSurviveJSON(t *testing.T) {
	o := DefaultOptions()
	o.Peak, o.Time, o.Average = 2e-3, 900e9, 2
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	var back Options
	if err := json.Unmarshal(text, &back); err != nil || back != o {
		t.Errorf("%+v became %+v, %v", o, back, err)
	}
}

func TestOptionsValidate(t *testing.T) {
	for _, c := range []struct {
		says   string
		change func(*Options)
	}{
		{"steps is -1", func(o *Options) { o.Steps = -1 }},
		{"time is -1ns", func(o *Options) { o.Time = -1 }},
		{"patience is -1", func(o *Options) { o.Patience = -1 }},
		{"max_len is 0", func(o *Options) { o.MaxLen = 0 }},
		{"tokens is 256, expected at least max_len+1, 257", func(o *Options) { o.Tokens = 256 }},
		{"accumulate is 0", func(o *Options) { o.Accumulate = 0 }},
		{"peak is -1", func(o *Options) { o.Peak = -1 }},
		{"peak is NaN", func(o *Options) { o.Peak = math.NaN() }},
		{"peak is +Inf", func(o *Options) { o.Peak = math.Inf(1) }},
		{"max_len is 65536", func(o *Options) { o.MaxLen = 1 << 16 }},
		{"accumulate is 65537", func(o *Options) { o.Accumulate = 1<<16 + 1 }},
		{"factor is +Inf", func(o *Options) { o.Factor = math.Inf(1) }},
		{"eps is +Inf", func(o *Options) { o.Eps = math.Inf(1) }},
		{"clip is +Inf", func(o *Options) { o.Clip = math.Inf(1) }},
		{"search.beam is 0", func(o *Options) { o.Search.Beam = 0 }},
		{"search.max_extra is -1", func(o *Options) { o.Search.MaxExtra = -1 }},
		{"resume is true, expected not to replace", func(o *Options) { o.Resume, o.Replace, o.Dir = true, true, "d" }},
		{"factor is 0", func(o *Options) { o.Factor = 0 }},
		{"warmup is 0", func(o *Options) { o.Warmup = 0 }},
		{"beta1 is 1", func(o *Options) { o.Beta1 = 1 }},
		{"beta2 is NaN", func(o *Options) { o.Beta2 = math.NaN() }},
		{"eps is 0", func(o *Options) { o.Eps = 0 }},
		{"clip is -1", func(o *Options) { o.Clip = -1 }},
		{"valid_every is -1", func(o *Options) { o.ValidEvery = -1 }},
		{"save_every is -1", func(o *Options) { o.SaveEvery = -1 }},
		{"keep is 0", func(o *Options) { o.Keep = 0 }},
		{"average is 4, expected at most keep, 3", func(o *Options) { o.Average = 4 }},
		{"average is 2, expected a folder", func(o *Options) { o.Average = 2 }},
		{"resume is true, expected a folder", func(o *Options) { o.Resume = true }},
	} {
		o := DefaultOptions()
		c.change(&o)
		wantError(t, o.Validate(), c.says)
	}
}
