package main

import (
	"strings"
	"testing"

	"tfm/model"
)

// The rows of a header name the reading of the paper that is in force.
func TestInfoSaysWhichReadingIsInForce(t *testing.T) {
	for _, c := range []struct {
		change func(*model.Config)
		want   string
	}{
		{func(c *model.Config) {}, "heads:           8 of d_k = d_v = 64, with biases\n"},
		{func(c *model.Config) {}, "positions:       sinusoids, sin at 2i and cos at 2i+1, first position 0, at most 1024\n"},
		{func(c *model.Config) {}, "norm:            post-norm, LayerNorm(x + Dropout(Sublayer(x))), biased variance, eps 1e-05 in the root, none after the stacks\n"},
		{func(c *model.Config) { c.Norm = model.PreNorm }, "pre-norm, x + Dropout(Sublayer(LayerNorm(x))), biased variance, eps 1e-05 in the root, one after each stack\n"},
		{func(c *model.Config) {
			c.Norm, c.FinalNorm, c.NormKind, c.NormEps = model.PreNorm, model.FinalNormOff, model.RMSNorm, 1e-6
		},
			"Sublayer(RMSNorm(x))), no mean, no bias, eps 1e-06 in the root, none after the stacks\n"},
		// 0.81·(6^4·6)^(1/16), (3·6)^(1/4), 0.87·(6^4·6)^(-1/16), (12·6)^(-1/4)
		{func(c *model.Config) { c.Norm = model.DeepNorm }, "DeepNorm, LayerNorm(α·x + Dropout(Sublayer(x))), α 1.418 and 2.06, β 0.497 and 0.3433 in encoder and decoder, "},
		{func(c *model.Config) { c.Heads, c.DK, c.DV, c.Biases = 3, 512, 512, model.NoBiases }, "heads:           3 of d_k = d_v = 512, without biases\n"},
		{func(c *model.Config) { c.Positions, c.FirstPosition = model.Halves, 1 }, "sines in the first half and cosines in the second, first position 1,"},
		{func(c *model.Config) { c.Unscaled, c.Tie, c.OutputBias = true, model.TieDecoder, true }, "not scaled, tied: decoder, with an output bias"},
	} {
		config, _ := model.Preset("base")
		c.change(&config)
		var h header
		h.layers(config)
		if !strings.Contains(h.String(), c.want) {
			t.Errorf("no %q in\n%s", c.want, h.String())
		}
	}
}
