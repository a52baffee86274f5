package decode

import (
	"cmp"
	"fmt"
	"math"

	"tfm/internal/exact"
	"tfm/model"
)

// Options select greedy search, beam search or sampling, and their parameters.
type Options struct {
	Beam    int     // hypotheses of a source, 1 to 64; 1 is greedy search
	Alpha   float64 // exponent of the length penalty, 0 to 10
	Penalty string  // PenaltyWu (also "") or PenaltyPower

	// MaxExtra limits a translation to MaxExtra tokens more than its source. MaxTokens is
	// a further limit if it is not 0, as is Config.MaxLen-1. None of them counts EOS.
	MaxExtra  int
	MaxTokens int `json:",omitempty"`

	// LengthFactor, if it is not 0, is the limit in the place of MaxExtra, see Settings:
	// LengthFactor times the tokens of the source, rounded up, EOS counted in both. As in
	// Marian, a translation that this limit truncates has no EOS but a last token like all
	// others.
	LengthFactor float64 `json:",omitempty"`

	// EOS follows at least MinTokens tokens, or the length limit if that is less.
	MinTokens int `json:",omitempty"`

	// NoRepeat is the number of consecutive tokens that do not occur twice in a translation. 0
	// is off.
	NoRepeat int `json:",omitempty"`

	// RepetitionPenalty divides the positive logits of tokens that occur in the translation,
	// and multiplies the negative ones (Keskar et al., 2019). Scores include it. 0 and 1 are
	// off.
	RepetitionPenalty float64 `json:",omitempty"`

	// Search decides when beam search ends, see Settings.
	Search string `json:",omitempty"`

	// Suppressed lists pieces that a search does not select, see Settings. They keep
	// their share of the softmax, so scores are those of a model that may select them. A
	// suppressed piece is selected only where Prefixes or Pieces leave no other.
	Suppressed string `json:",omitempty"`

	// Pieces makes the text of every translation valid UTF-8: a token that cannot continue or
	// end a character is not chosen. With nil a translation may have a part of a character.
	Pieces *Pieces `json:"-"`

	// Begins, if not nil, has for each source of a call the tokens that the target begins with
	// after BOS, such as that of its language. They are given to the model, and are no part of
	// a Hypothesis; its length penalty counts them with a log-probability of 0, as in
	// transformers and CTranslate2. Further sources have none.
	Begins *Begins `json:"-"`

	// Prefixes, if not nil, has for each source of a call ids whose text its translation begins
	// with; the last word may continue. Without Pieces it begins with the ids. Further sources,
	// and those without ids, are free.
	Prefixes *Begins `json:"-"`

	// Shortlist, if not nil, leaves only the tokens of the list of a source, and those that
	// Prefixes and Pieces require. It must be valid for the model. Others are impossible, and
	// log-probabilities those of a softmax over the list.
	Shortlist *Shortlist `json:"-"`

	// NBest is the length limit of the list of translations of each source: up to Beam or, with
	// Sample, 64. 0 is 1.
	NBest int

	// NoScore makes greedy search leave Score 0, which saves the softmax and, in float32, most
	// of the output projection: only logits that may be the largest are computed.
	NoScore bool `json:",omitempty"`

	// TokenScores and Alternatives, the length of its lists, up to 64, ask for these fields of
	// Hypothesis.
	TokenScores  bool `json:",omitempty"`
	Alternatives int  `json:",omitempty"`

	// Background pauses the sources of a call of an Engine in seven eighths of the time while
	// other calls are in progress that are not in the background, and keeps steps short until a
	// second after them. No translation depends on it.
	Background bool `json:",omitempty"`

	// Sample draws each token from softmax(logits/Temperature), restricted to the TopK most
	// probable tokens and then to the smallest set of most probable ones with TopP of their
	// probability (Fan et al., 2018; Holtzman et al., 2020). It ignores Beam.
	Sample      bool
	Temperature float64 // 0.001 to 1000; low temperatures favour the most probable tokens
	TopK        int     // 0 is all
	TopP        float64 // above 0; 1 is all

	// Seed, the number of the source and the number of its translation determine the draws,
	// which do not depend on other sources. Source i of a call has number First+i.
	Seed, First uint64
}

// DefaultOptions returns the paper's options (section 6.1): beam 4, alpha 0.6, at most 50 tokens
// more than the source. With Sample set, they draw from the model's unrestricted distribution.
func DefaultOptions() Options { return OptionsFor(PaperSettings()) }

// OptionsFor returns DefaultOptions with the settings of a model file.
func OptionsFor(d Settings) Options {
	o := Options{
		Beam: cmp.Or(d.Beam, 4), Alpha: d.Alpha, Penalty: d.LengthPenalty, Search: d.Search, Suppressed: d.Suppressed,
		MaxExtra: 50, MaxTokens: d.MaxTokens, LengthFactor: d.LengthFactor, NBest: 1, Temperature: 1, TopP: 1, Seed: 1,
	}
	if d.MaxTokens > 0 {
		o.MaxExtra = unlimitedExtra
	}
	return o
}

// Saved returns the settings in o that a model file contains, without the beam. They are the
// paper's if Penalty and Alpha are zero, as in options for greedy search, which needs neither.
func (o Options) Saved() Settings {
	d := PaperSettings()
	if o.Penalty != "" || o.Alpha != 0 {
		d.LengthPenalty, d.Alpha = cmp.Or(o.Penalty, PenaltyWu), o.Alpha
	}
	d.Search, d.Suppressed, d.LengthFactor = o.Search, o.Suppressed, o.LengthFactor
	if o.MaxExtra == unlimitedExtra && o.LengthFactor == 0 {
		d.MaxTokens = o.MaxTokens
	}
	return d
}

const (
	// maxRows is the row limit of a step: kernels at full speed, activations in the cache. One
	// source may exceed it alone.
	maxRows = 256

	unlimitedExtra = 1<<16 - 1 // MaxExtra above every Config.MaxLen in use
)

// Validate reports the first invalid field, as a *model.FieldError. Any MaxExtra is valid.
func (o Options) Validate() error {
	maxNBest, reason := o.Beam, "the beam"
	if o.Sample {
		maxNBest, reason = MaxBeam, "the limit of samples"
	}
	for _, rule := range []struct {
		broken   bool
		name     string
		found    any
		expected string
	}{
		{!o.Sample && (o.Beam < 1 || o.Beam > MaxBeam), "beam", o.Beam, fmt.Sprint("1 to ", MaxBeam)},
		{o.NBest < 0 || o.NBest > maxNBest, "nbest", o.NBest, fmt.Sprintf("0 to %d, %s", maxNBest, reason)},
		{o.Alternatives < 0 || o.Alternatives > MaxBeam, "alternatives", o.Alternatives, fmt.Sprint("0 to ", MaxBeam)},
		{o.MaxTokens < 0, "max_tokens", o.MaxTokens, "1 or more, or 0 for no limit"},
		{o.MinTokens < 0, "min_tokens", o.MinTokens, "0 or more"},
		{o.NoRepeat < 0, "no_repeat", o.NoRepeat, "1 or more, or 0 for off"},
		{o.RepetitionPenalty != 0 && !(o.RepetitionPenalty >= 0.01 && o.RepetitionPenalty <= 100), "repetition_penalty", o.RepetitionPenalty, "0.01 to 100, or 0 for off"},
		{o.Sample && !(o.Temperature >= 1e-3 && o.Temperature <= 1e3), "temperature", o.Temperature, "0.001 to 1000; use greedy search for the most probable tokens"},
		{o.Sample && o.TopK < 0, "top_k", o.TopK, "1 or more, or 0 for all tokens"},
		{o.Sample && !(o.TopP > 0 && o.TopP <= 1), "top_p", o.TopP, "above 0 and at most 1"},
	} {
		if rule.broken {
			return &model.FieldError{Field: rule.name, Found: rule.found, Expected: rule.expected}
		}
	}
	return o.Saved().Validate()
}

// score returns logP, of n tokens with EOS, divided by the length penalty.
func (o *Options) score(logP float64, n int) float64 {
	length := float64(5+n) / 6
	if o.Penalty == PenaltyPower {
		length = float64(n)
	}
	return logP / exact.Pow(length, o.Alpha)
}

// omitsScore reports whether the search needs no log-probabilities.
func (o *Options) omitsScore() bool {
	return o.NoScore && !o.Sample && o.Beam == 1 && !o.TokenScores && o.Alternatives == 0
}

// repetitionPenalty returns RepetitionPenalty, 1 if it is off.
func (o *Options) repetitionPenalty() float64 { return cmp.Or(o.RepetitionPenalty, 1) }

// nBest returns the length limit of the n-best list.
func (o *Options) nBest() int { return max(1, o.NBest) }

// StepSources returns the number of sources with these options that have rows in one step, if no
// others have.
func (o *Options) StepSources() int { return max(1, maxRows/o.selection().width) }

// Begins are the begins of the targets of a call, see Options.Begins and Prefixes.
type Begins struct{ Targets [][]int32 }

// of returns that of source i.
func (b *Begins) of(i int) []int32 {
	if b == nil || i >= len(b.Targets) {
		return nil
	}
	return b.Targets[i]
}

// selection returns the selection of o.
func (o *Options) selection() selection {
	switch {
	case o.Sample:
		return selection{o.nBest(), independent}
	case o.Beam == 1:
		return selection{1, independent}
	}
	return selection{o.Beam, endRules[o.Search]}
}

// maxTokens returns the limit of the tokens, EOS counted, of the translation of a source with the
// given number of tokens.
func (o *Options) maxTokens(source, maxLen int) int {
	n := source + 1 + min(o.MaxExtra, maxLen)
	if o.LengthFactor > 0 {
		n = min(o.factorTokens(source), maxLen-1) // the last token may be the input of another pass
	}
	if o.MaxTokens > 0 {
		n = min(n, min(o.MaxTokens, maxLen)+1)
	}
	return max(1, min(n, maxLen))
}

// factorTokens returns the limit of LengthFactor, which Marian computes in float32.
func (o *Options) factorTokens(source int) int {
	return int(math.Ceil(float64(float32(o.LengthFactor) * float32(source+1))))
}

// keepsLast reports whether a translation of a source with the given number of tokens that is
// truncated at maxTokens keeps its last token: LengthFactor, and no other limit, truncates it.
func (o *Options) keepsLast(source, maxTokens int) bool {
	return o.LengthFactor > 0 && maxTokens == o.factorTokens(source) && (o.MaxTokens == 0 || maxTokens <= o.MaxTokens)
}

// constraint returns the constraint of o, nil if every token is allowed.
func (o *Options) constraint() *constraint {
	c := &constraint{pieces: o.Pieces, minTokens: o.MinTokens, noRepeat: o.NoRepeat}
	if o.Prefixes != nil {
		c.prefixes = newPrefixes(o.Pieces, o.Prefixes.Targets)
	}
	if c.pieces == nil && c.prefixes == nil && c.minTokens <= 0 && c.noRepeat <= 0 {
		return nil
	}
	return c
}
