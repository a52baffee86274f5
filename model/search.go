package model

import (
	"cmp"
	"fmt"
	"slices"

	"tfm/mat"
)

// What the log-probability of a translation of n tokens, EOS counted, is divided by.
const (
	PenaltyWu    = "wu"    // ((5+n)/6)^Alpha: Wu et al. (2016), equation 14, and the paper
	PenaltyPower = "power" // n^Alpha: with Alpha 1 the mean over the tokens
)

// Search says how translations are found: by beam search, or with Sample by chance.
type Search struct {
	Beam     int     // hypotheses kept a sentence, 1 to 64; 1 is greedy search
	Alpha    float64 // exponent of the length penalty, 0 to 10
	Penalty  string  // PenaltyWu, which "" is too, or PenaltyPower
	MaxExtra int     // a translation has at most this many tokens more than its source, and at most Config.MaxLen-1
	NBest    int     // translations of each source that NBest lists, at most Beam or, with Sample, 64; 0 is 1

	// Each token is drawn from softmax(logits/Temperature), of which the TopK most probable tokens stay and of these the
	// fewest that have TopP of the probability (Fan et al., 2018; Holtzman et al., 2020). Beam has no part in it.
	Sample      bool
	Temperature float64 // 0.001 to 1000; the lower, the more often the most probable token
	TopK        int     // 0 is all
	TopP        float64 // above 0; 1 is all

	// What is drawn is a function of Seed, the number of the source and the number of its translation, and does not
	// depend on other sources. Sources are numbered from First.
	Seed, First uint64
}

// DefaultSearch is the paper's (section 6.1): beam 4, alpha 0.6, at most 50 tokens more than the source. With Sample
// tokens are drawn from all of the model's distribution.
func DefaultSearch() Search {
	return Search{Beam: 4, Alpha: 0.6, Penalty: PenaltyWu, MaxExtra: 50, NBest: 1, Temperature: 1, TopP: 1, Seed: 1}
}

const maxBeam = 64 // the slots of a sentence are a set in 64 bits

// Validate reports the first invalid field, as a *FieldError. Any MaxExtra is valid.
func (s Search) Validate() error {
	most, of := s.Beam, "the beam"
	if s.Sample {
		most, of = maxBeam, "samples"
	}
	for _, rule := range []struct {
		broken   bool
		name     string
		found    any
		expected string
	}{
		{!s.Sample && (s.Beam < 1 || s.Beam > maxBeam), "beam", s.Beam, fmt.Sprint("1 to ", maxBeam)},
		{!(s.Alpha >= 0 && s.Alpha <= 10), "alpha", s.Alpha, "0 to 10"},
		{s.Penalty != "" && s.Penalty != PenaltyWu && s.Penalty != PenaltyPower, "length_penalty", s.Penalty, PenaltyWu + " or " + PenaltyPower},
		{s.NBest < 0 || s.NBest > most, "nbest", s.NBest, fmt.Sprintf("at most %d, %s", most, of)},
		{s.Sample && !(s.Temperature >= 1e-3 && s.Temperature <= 1e3), "temperature", s.Temperature, "0.001 to 1000; greedy search always takes the most probable token"},
		{s.Sample && s.TopK < 0, "top_k", s.TopK, "1 or more, or 0 for all tokens"},
		{s.Sample && !(s.TopP > 0 && s.TopP <= 1), "top_p", s.TopP, "above 0 and at most 1"},
	} {
		if rule.broken {
			return &FieldError{rule.name, rule.found, rule.expected}
		}
	}
	return nil
}

// score is the log-probability of n tokens, EOS counted, divided by the length penalty.
func (s Search) score(logP float64, n int) float64 {
	length := float64(5+n) / 6
	if s.Penalty == PenaltyPower {
		length = float64(n)
	}
	return logP / mat.Pow(length, s.Alpha)
}

// listed is how many translations of a source are wanted.
func (s Search) listed() int { return max(1, s.NBest) }

// width is how many hypotheses of a sentence there are at once, at most.
func (s Search) width() int {
	if s.Sample {
		return s.listed()
	}
	return s.Beam
}

// most is how many tokens, EOS counted, the translation of a source of so many may have.
func (s Search) most(source, maxLen int) int {
	return max(1, min(source+1+min(s.MaxExtra, maxLen), maxLen))
}

const (
	maxRows      = 256     // sentences × hypotheses that are decoded together: enough for the matrix kernels, few enough for caches
	maxPositions = 1 << 15 // that these may come to: bounds the memory that long sentences take
)

// together is how many sentences are decoded together if they and their translations have at most so many tokens.
func (s Search) together(tokens int) int {
	return max(1, min(maxRows, maxPositions/tokens)/s.width())
}

// Hypothesis is a translation.
type Hypothesis struct {
	Tokens    []int32 // without BOS and EOS
	Score     float64 // log-probability divided by the length penalty
	Truncated bool    // the length limit came before EOS; Score counts the token that came in its place and is cut off
}

// Translate returns the best translation of each source, in the order of srcs, which are token ids without
// EOS: the first of those that NBest lists. It panics on ids outside the vocabulary, on more than Config.MaxLen-1 of them, and
// on a Search that is not valid.
func (d *Decoder) Translate(srcs [][]int32, s Search) []Hypothesis {
	results := make([]Hypothesis, len(srcs))
	d.translate(srcs, s, func(i int, list []Hypothesis) { results[i] = list[0] })
	return results
}

// NBest lists up to Search.NBest translations of each source, the ones with the highest scores first. A beam
// lists those that ended, or if none did those that the length limit cut, all different; sampling lists all
// that it drew, equal ones too. It panics as Translate does.
func (d *Decoder) NBest(srcs [][]int32, s Search) [][]Hypothesis {
	results := make([][]Hypothesis, len(srcs))
	d.translate(srcs, s, func(i int, list []Hypothesis) { results[i] = list })
	return results
}

// translate gives to done the translations of each source, with its number.
func (d *Decoder) translate(srcs [][]int32, s Search, done func(int, []Hypothesis)) {
	if err := s.Validate(); err != nil {
		panic("model: " + err.Error())
	}
	order := make([]int, len(srcs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(srcs[b]), len(srcs[a])) })
	var batch Batch
	for len(order) > 0 {
		longest := len(srcs[order[0]])
		most := s.most(longest, d.Config.MaxLen)
		n := min(len(order), s.together(max(longest+1, most)))
		batch.Reset()
		for _, i := range order[:n] {
			batch.Append(srcs[i], nil)
		}
		batch.check(d.Config)
		d.begin(&batch, s.width(), most)
		d.decode(&batch, s, order, func(i int, list []Hypothesis) { done(order[i], list) })
		order = order[n:]
	}
}
