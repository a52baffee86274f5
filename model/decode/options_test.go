package decode

import (
	"math"
	"strings"
	"testing"
)

func TestOptionsValidate(t *testing.T) {
	if err := DefaultOptions().Validate(); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*Options){
		"beam is 0, expected 1 to 64":                         func(o *Options) { o.Beam = 0 },
		"beam is 65":                                          func(o *Options) { o.Beam = 65 },
		"alpha is -1, expected 0 to 10":                       func(o *Options) { o.Alpha = -1 },
		"alpha is NaN":                                        func(o *Options) { o.Alpha = math.NaN() },
		`length_penalty is "gnmt", expected wu or power`:      func(o *Options) { o.Penalty = "gnmt" },
		"nbest is 5, expected 0 to 4, the beam":               func(o *Options) { o.NBest = 5 },
		"nbest is -1":                                         func(o *Options) { o.NBest = -1 },
		"nbest is 65, expected 0 to 64, the limit of samples": func(o *Options) { o.Sample, o.NBest = true, 65 },
		"temperature is 0, expected 0.001 to 1000":            func(o *Options) { o.Sample, o.Temperature = true, 0 },
		"temperature is NaN":                                  func(o *Options) { o.Sample, o.Temperature = true, math.NaN() },
		"temperature is +Inf":                                 func(o *Options) { o.Sample, o.Temperature = true, math.Inf(1) },
		"top_k is -1, expected 1 or more":                     func(o *Options) { o.Sample, o.TopK = true, -1 },
		"top_p is 0, expected above 0":                        func(o *Options) { o.Sample, o.TopP = true, 0 },
		"top_p is 1.5":                                        func(o *Options) { o.Sample, o.TopP = true, 1.5 },
		"alternatives is 65, expected 0 to 64":                func(o *Options) { o.Alternatives = 65 },
		"max_tokens is -1":                                    func(o *Options) { o.MaxTokens = -1 },
		"length_factor is 1001":                               func(o *Options) { o.LengthFactor = 1001 },
		"min_tokens is -1":                                    func(o *Options) { o.MinTokens = -1 },
		"no_repeat is -1":                                     func(o *Options) { o.NoRepeat = -1 },
		"repetition_penalty is -1, expected 0.01 to 100":      func(o *Options) { o.RepetitionPenalty = -1 },
	} {
		o := DefaultOptions()
		change(&o)
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// A model file keeps the length penalty of Options. Options without one have the paper's.
func TestSavedOptions(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want Settings
	}{
		{Options{}, Settings{LengthPenalty: PenaltyWu, Alpha: 0.6}},
		{Options{Beam: 1, MaxExtra: 50}, PaperSettings()},
		{DefaultOptions(), PaperSettings()},
		{Options{Alpha: 1}, Settings{LengthPenalty: PenaltyWu, Alpha: 1}},
		{Options{Penalty: PenaltyWu}, Settings{LengthPenalty: PenaltyWu}},
		{Options{Penalty: PenaltyPower, Alpha: 1}, Settings{LengthPenalty: PenaltyPower, Alpha: 1}},
		{Options{Suppressed: "3"}, Settings{LengthPenalty: PenaltyWu, Alpha: 0.6, Suppressed: "3"}},
		{Options{Alpha: 1, LengthFactor: 3}, Settings{LengthPenalty: PenaltyWu, Alpha: 1, LengthFactor: 3}},
		{Options{Alpha: 1, Suppressed: "3 5"}, Settings{LengthPenalty: PenaltyWu, Alpha: 1, Suppressed: "3 5"}},
	} {
		if got := c.o.Saved(); got != c.want {
			t.Errorf("%+v: Saved() = %+v, want %+v", c.o, got, c.want)
		}
		if got := OptionsFor(c.want).Saved(); got != c.want {
			t.Errorf("OptionsFor(%+v).Saved() = %+v", c.want, got)
		}
	}
}

func TestLengthsOfOptions(t *testing.T) {
	for _, c := range []struct {
		o              Options
		source, maxLen int
		want           int // without EOS
	}{
		{Options{MaxExtra: 50}, 10, 1024, 60},
		{Options{MaxExtra: 50}, 10, 31, 30},
		{Options{MaxExtra: 50, MaxTokens: 20}, 10, 1024, 20},
		{Options{MaxExtra: 5, MaxTokens: 20}, 10, 1024, 15},
		{Options{MaxExtra: 50, MaxTokens: math.MaxInt}, 10, 1024, 60},
		{Options{MaxExtra: 50, MaxTokens: 12}, 10, 1024, 12},
		{Options{MaxExtra: 50, LengthFactor: 3}, 10, 1024, 32},
		{Options{MaxExtra: 50, LengthFactor: 1.2}, 10, 1024, 13},
		{Options{MaxExtra: 50, LengthFactor: 3}, 1000, 1024, 1022},
		{Options{MaxExtra: 50, LengthFactor: 3, MaxTokens: 7}, 10, 1024, 7},
	} {
		if got := c.o.maxTokens(c.source, c.maxLen) - 1; got != c.want {
			t.Errorf("%+v, %d source tokens: limit %d, want %d", c.o, c.source, got, c.want)
		}
	}
}
