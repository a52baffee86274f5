package score

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tfm/internal/exact"
)

// BLEU has the settings of BLEU (Papineni et al. 2002) as sacreBLEU computes it (Post 2018, "A Call
// for Clarity in Reporting BLEU Scores"). The zero value is sacreBLEU's default for a corpus.
//
//	BLEU = BP · exp(1/N · Σ log p_n),  BP = min(1, exp(1 - refLen/hypLen))
//
// With several references, the matches of an n-gram are clipped to the maximum of its counts in
// them, and the reference length is the one closest to that of the hypothesis, of two equally close
// ones the shorter.
type BLEU struct {
	Tokenizer Tokenizer // Auto is Tok13a; see Tokenizer.For
	Lowercase bool

	// EffectiveOrder leaves out the orders for which the hypotheses are too short. It is meant
	// for single sentences.
	EffectiveOrder bool
}

// bleuOrder is the length of the longest n-grams.
const bleuOrder = 4

// The statistics of a segment: the lengths of the hypothesis and the reference in tokens, and for
// each order the matched n-grams and all n-grams of the hypothesis.
const (
	bleuHypLen = iota
	bleuRefLen
	bleuCorrect // of order 1
)

func (b BLEU) columns() int { return bleuCorrect + 2*bleuOrder }

// correctTotal returns the n-grams of each order in statistics.
func correctTotal(s []float64) (correct, total []float64) {
	return s[bleuCorrect:][:bleuOrder], s[bleuCorrect+bleuOrder:]
}

func (b BLEU) count(c *counter, row []float64, hypothesis string, references []string) {
	hyp := c.ids.ids(b.tokens(hypothesis))
	refs := make([][]uint32, len(references))
	for r, text := range references {
		refs[r] = c.ids.ids(b.tokens(text))
	}
	closest := slices.MinFunc(refs, func(x, y []uint32) int {
		return cmp.Or(abs(len(x)-len(hyp))-abs(len(y)-len(hyp)), len(x)-len(y))
	})
	row[bleuHypLen], row[bleuRefLen] = float64(len(hyp)), float64(len(closest))
	correct, total := correctTotal(row)
	for i, n := range c.matcher.match(bleuOrder, hyp, refs...) {
		correct[i], total[i] = float64(n), float64(ngrams(len(hyp), i+1))
	}
}

func (b BLEU) tokens(s string) []string {
	if b.Lowercase {
		s = pythonLower(s)
	}
	return b.Tokenizer.Tokens(s)
}

func abs(x int) int { return max(x, -x) }

func brevityPenalty(sums []float64) float64 {
	hyp, ref := sums[bleuHypLen], sums[bleuRefLen]
	switch {
	case hyp >= ref:
		return 1
	case hyp == 0:
		return 0
	}
	return exact.Exp(1 - ref/hyp)
}

// precisions returns the precision of each order, and the number of orders that count. That of the
// k-th order without matches is smoothed: 1/(2^k · total) (Chen and Cherry 2014, "A Systematic
// Comparison of Smoothing Techniques for Sentence-Level BLEU", method 3). Without any match it
// returns zeros, because smoothing needs one.
func (b BLEU) precisions(sums []float64) (p [bleuOrder]float64, orders int) {
	correct, total := correctTotal(sums)
	if slices.Max(correct) == 0 {
		return p, len(p)
	}
	divisor := 1.0
	orders = len(p)
	for n := range p {
		if total[n] == 0 {
			break
		}
		if b.EffectiveOrder {
			orders = n + 1
		}
		if correct[n] > 0 {
			p[n] = 100 * correct[n] / total[n]
		} else {
			divisor *= 2
			p[n] = 100 / (divisor * total[n])
		}
	}
	return p, orders
}

func (b BLEU) score(sums []float64) float64 {
	p, orders := b.precisions(sums)
	sum := 0.0
	for _, p := range p[:orders] {
		sum += exact.Log(p) // -Inf for 0, so that the score is 0
	}
	return brevityPenalty(sums) * exact.Exp(sum/float64(orders))
}

func (b BLEU) name() string { return "BLEU" }

func (b BLEU) settings() string {
	return fmt.Sprintf("case:%s|eff:%s|tok:%v|smooth:exp",
		word(b.Lowercase, "lc", "mixed"), word(b.EffectiveOrder, "yes", "no"), cmp.Or(b.Tokenizer, Tok13a))
}

// word returns a word for a setting that is on or off.
func word(on bool, yes, no string) string {
	if on {
		return yes
	}
	return no
}

func (b BLEU) details(sums []float64) string {
	orders, _ := b.precisions(sums)
	percent := make([]string, len(orders))
	for n, p := range orders {
		percent[n] = fmt.Sprintf("%.1f", p)
	}
	hyp, ref := sums[bleuHypLen], sums[bleuRefLen]
	ratio := 0.0
	if ref > 0 {
		ratio = hyp / ref
	}
	return fmt.Sprintf("%s (BP = %.3f ratio = %.3f hyp_len = %.0f ref_len = %.0f)",
		strings.Join(percent, "/"), brevityPenalty(sums), ratio, hyp, ref)
}
