package decode

import (
	"fmt"

	"tfm/mat"
	"tfm/model"
)

// The length penalties: what the log-probability of a translation of n tokens, EOS counted, is
// divided by.
const (
	PenaltyWu    = "wu"    // ((5+n)/6)^Alpha: Wu et al. (2016), equation 14, and the paper
	PenaltyPower = "power" // n^Alpha: with Alpha 1 the mean over the tokens
)

// Options say how translations are found: by greedy or beam search, or with Sample by chance.
type Options struct {
	Beam     int     // hypotheses kept a source, 1 to 64; 1 is greedy search
	Alpha    float64 // exponent of the length penalty, 0 to 10
	Penalty  string  // PenaltyWu, which "" is too, or PenaltyPower
	MaxExtra int     // a translation has at most this many tokens more than its source, and at most Config.MaxLen-1
	NBest    int     // translations that are listed of each source, at most Beam or, with Sample, 64; 0 is 1

	// Each token is drawn from softmax(logits/Temperature), of which the TopK most probable
	// tokens stay and of these the fewest that have TopP of the probability (Fan et al., 2018;
	// Holtzman et al., 2020). Beam has no effect.
	Sample      bool
	Temperature float64 // 0.001 to 1000; the lower, the more often the most probable token
	TopK        int     // 0 is all
	TopP        float64 // above 0; 1 is all

	// What is drawn is a function of Seed, the number of the source and the number of its
	// translation, and does not depend on other sources. Sources are numbered from First.
	Seed, First uint64
}

// DefaultOptions are the paper's (section 6.1): beam 4, alpha 0.6, at most 50 tokens more than the
// source. With Sample set, tokens are drawn from all of the model's distribution.
func DefaultOptions() Options {
	return Options{Beam: 4, Alpha: 0.6, Penalty: PenaltyWu, MaxExtra: 50, NBest: 1, Temperature: 1, TopP: 1, Seed: 1}
}

const maxBeam = 64 // bounds the memory and the time that a source can take

// Validate reports the first invalid field, as a *model.FieldError. Any MaxExtra is valid.
func (o Options) Validate() error {
	most, of := o.Beam, "the beam"
	if o.Sample {
		most, of = maxBeam, "samples"
	}
	for _, rule := range []struct {
		broken   bool
		name     string
		found    any
		expected string
	}{
		{!o.Sample && (o.Beam < 1 || o.Beam > maxBeam), "beam", o.Beam, fmt.Sprint("1 to ", maxBeam)},
		{!(o.Alpha >= 0 && o.Alpha <= 10), "alpha", o.Alpha, "0 to 10"},
		{o.Penalty != "" && o.Penalty != PenaltyWu && o.Penalty != PenaltyPower, "length_penalty", o.Penalty, PenaltyWu + " or " + PenaltyPower},
		{o.NBest < 0 || o.NBest > most, "nbest", o.NBest, fmt.Sprintf("at most %d, %s", most, of)},
		{o.Sample && !(o.Temperature >= 1e-3 && o.Temperature <= 1e3), "temperature", o.Temperature, "0.001 to 1000; greedy search always takes the most probable token"},
		{o.Sample && o.TopK < 0, "top_k", o.TopK, "1 or more, or 0 for all tokens"},
		{o.Sample && !(o.TopP > 0 && o.TopP <= 1), "top_p", o.TopP, "above 0 and at most 1"},
	} {
		if rule.broken {
			return &model.FieldError{Field: rule.name, Found: rule.found, Expected: rule.expected}
		}
	}
	return nil
}

// score is the log-probability of n tokens, EOS counted, divided by the length penalty.
func (o *Options) score(logP float64, n int) float64 {
	length := float64(5+n) / 6
	if o.Penalty == PenaltyPower {
		length = float64(n)
	}
	return logP / mat.Pow(length, o.Alpha)
}

// nBest is the number of translations of a source that are wanted.
func (o *Options) nBest() int { return max(1, o.NBest) }

// width is the most hypotheses of a source at once.
func (o *Options) width() int {
	if o.Sample {
		return o.nBest()
	}
	return o.Beam
}

// maxTokens is the most tokens, EOS counted, of the translation of a source of so many.
func (o *Options) maxTokens(source, maxLen int) int {
	return max(1, min(source+1+min(o.MaxExtra, maxLen), maxLen))
}

const (
	maxRows      = 256     // of a step: enough for the matrix kernels, few enough for caches
	maxPositions = 1 << 15 // of all rows together: bounds the memory that long sentences take
)

// batchSize is the number of sources decoded together if they and their translations have at most
// so many tokens.
func (o *Options) batchSize(tokens int) int {
	return max(1, min(maxRows, maxPositions/tokens)/o.width())
}
