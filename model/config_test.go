package model

import (
	"strings"
	"testing"
)

func TestParameterCounts(t *testing.T) {
	for _, c := range []struct {
		preset string
		vocab  int
		want   int
	}{
		{"base", 32000, 60522496}, // as other implementations report
		{"base", 37000, 63082496},
		// 10000·128 + 4·(4·(128²+128) + 2·128·256+384 + 4·128) + 4·(8·(128²+128) +
		// 2·128·256+384 + 6·128) + 4·128
		{"tiny", 10000, 2605568},
	} {
		config, err := Preset(c.preset)
		if err != nil {
			t.Fatal(err)
		}
		config.SrcVocab, config.TgtVocab = c.vocab, c.vocab
		if got := config.CountParams(); got != c.want {
			t.Errorf("%s with %d pieces: CountParams() = %d, want %d", c.preset, c.vocab, got, c.want)
		}
	}
}

func TestConfigValidate(t *testing.T) {
	for _, c := range []struct {
		change func(*Config)
		want   string
	}{
		{func(c *Config) {}, ""},
		{func(c *Config) { c.Heads = 3 }, "d_model is 16, expected a multiple of the 3 heads"},
		{func(c *Config) { c.DModel = 0 }, "d_model is 0, expected 1 to"},
		{func(c *Config) { c.EncoderLayers = 1 << 30 }, "encoder_layers is 1073741824"},
		{func(c *Config) { c.DecoderLayers = -1 }, "decoder_layers is -1"},
		{func(c *Config) { c.Dropout = 1 }, "dropout is 1, expected at least 0 and below 1"},
		{func(c *Config) { c.SrcVocab, c.TgtVocab = 3, 3 }, "src_vocab is 3, expected 4 to"},
		{func(c *Config) { c.TgtVocab = 12 }, "a shared matrix needs a joint vocabulary"},
		{func(c *Config) { c.Tie = "both" }, `tie is "both", expected all, decoder or none`},
		{func(c *Config) { c.NormEps = 0 }, "norm_eps is 0"},
		{func(c *Config) { c.Heads = 0 }, "heads is 0"},
		{func(c *Config) { c.DFF = 1 << 25 }, "d_ff is 33554432"},
		{func(c *Config) { c.MaxLen = 1 << 17 }, "max_len is 131072"},
		{func(c *Config) { c.MaxLen, c.DModel = 1<<16, 1024 }, ""},
		{func(c *Config) { c.MaxLen, c.DModel = 1<<16, 1040 }, "max_len is 65536, expected at most 64527 with a d_model of 1040"},
		{func(c *Config) { c.MaxLen, c.DModel, c.Positions = 1<<16, 1040, Learned }, ""},
		{func(c *Config) { c.LabelSmoothing = -0.1 }, "label_smoothing is -0.1"},
		{func(c *Config) { c.Heads, c.DK = 3, 8 }, "d_model is 16, expected a multiple of the 3 heads, or both d_k and d_v"},
		{func(c *Config) { c.Heads, c.DK, c.DV = 3, 8, 2 }, ""},
		{func(c *Config) { c.DK = -1 }, "d_k is -1"},
		{func(c *Config) { c.DV = 1 << 21 }, "d_v is 2097152"},
		{func(c *Config) { c.Norm = 9 }, "norm is 9, expected one of post, pre, deep"},
		{func(c *Config) { c.Init = 9 }, "start is 9, expected one of xavier, pytorch"},
		{func(c *Config) { c.FFDropout = 1 }, "ff_dropout is 1, expected at least 0 and below 1"},
		{func(c *Config) { c.AttentionDropout = -1 }, "attention_dropout is -1"},
		{func(c *Config) { c.FirstPosition = 3 }, "first_position is 3, expected 0, 1 or 2"},
		{func(c *Config) { c.FirstPosition, c.Positions = 1, Learned }, "first_position is 1, expected 0 with learned positions"},
		{func(c *Config) { c.DModel, c.Heads, c.Positions = 15, 1, TimingSignal }, "d_model is 15, expected an even number with positions in two halves"},
		{func(c *Config) { c.DModel, c.Heads, c.NormKind = 1, 1, UnbiasedNorm }, `norm_kind is "unbiased", expected layer or rms with a d_model of 1`},
		{func(c *Config) { c.Smoothing, c.LabelSmoothing = SmoothAll, 0 }, `smoothing is "all", expected others with a label_smoothing of 0`},
		{func(c *Config) { c.Tie, c.SrcVocab = TieNone, 1<<24+1 }, "src_vocab is 16777217"},
	} {
		config := toy()
		c.change(&config)
		_, err := New(config)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	if _, err := Preset("huge"); err == nil || !strings.Contains(err.Error(), "base, big, tiny") {
		t.Errorf("Preset(\"huge\"): error %v, want a list of the presets", err)
	}
}
