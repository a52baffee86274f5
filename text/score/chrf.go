package score

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CHRF accumulates the statistics of a corpus for chrF (Popović 2015), the F-score of character
// n-grams, as sacreBLEU computes it. The zero value is sacreBLEU's default, chrF2; WordOrder 2 is
// chrF++ (Popović 2017). The exported fields must not change after the first Add. A CHRF is not
// safe for concurrent use.
type CHRF struct {
	CharOrder int // longest character n-grams; 0 is 6
	WordOrder int // longest word n-grams; 0 is none
	Beta      int // weight of recall relative to precision; 0 is 2
	Lowercase bool

	Whitespace   bool // characters include white space
	EpsSmoothing bool // averages F-scores over all orders, as chrF++.py, NLTK and Moses do

	accumulator
	scratch *chrfScratch
}

// chrfScratch is the memory of the count of one segment.
type chrfScratch struct {
	hyp, ref chrfUnits
	wordIDs  tokenIDs
	matches  []int
	matcher  ngramMatcher
	oneRef   []float64 // statistics with one reference
}

// chrfUnits are the characters and the words of a text, equal ones with equal numbers.
type chrfUnits struct{ chars, words []uint32 }

func (c *CHRF) charOrder() int {
	if c.CharOrder == 0 {
		return 6
	}
	return c.CharOrder
}

func (c *CHRF) beta() int {
	if c.Beta == 0 {
		return 2
	}
	return c.Beta
}

// Add adds one segment. Of several references only the one with the best score for the segment
// counts.
func (c *CHRF) Add(hypothesis, reference string, more ...string) {
	c.add(c, hypothesis, reference, more)
}

// The statistics of a segment: for each order of characters and then of words, the n-grams of the
// hypothesis, of the reference and of both.
const (
	chrfHyp = iota
	chrfRef
	chrfBoth
	chrfColumns
)

func (c *CHRF) columns() int { return chrfColumns * (c.charOrder() + c.WordOrder) }

func (c *CHRF) count(row []float64, hypothesis string, references []string) {
	if c.scratch == nil {
		c.scratch = new(chrfScratch)
	}
	s := c.scratch
	if s.wordIDs == nil {
		s.wordIDs = make(tokenIDs)
	}
	clear(s.wordIDs)
	c.units(&s.hyp, hypothesis)
	best := -1.0
	for _, r := range references {
		c.units(&s.ref, r)
		s.oneRef = c.countOrders(s.oneRef[:0], s.hyp.chars, s.ref.chars, c.charOrder())
		s.oneRef = c.countOrders(s.oneRef, s.hyp.words, s.ref.words, c.WordOrder)
		if score := c.score(s.oneRef); score > best {
			best = score
			copy(row, s.oneRef)
		}
	}
}

// countOrders appends the statistics of the orders from 1. If the reference has no n-grams of an
// order, those of the hypothesis do not count.
func (c *CHRF) countOrders(row []float64, hyp, ref []uint32, orders int) []float64 {
	s := c.scratch
	s.matches = append(s.matches[:0], make([]int, orders)...)
	s.matcher.match(s.matches, hyp, ref)
	for n, both := range s.matches {
		inHyp, inRef := ngrams(len(hyp), n+1), ngrams(len(ref), n+1)
		if inRef == 0 {
			inHyp = 0
		}
		row = append(row, float64(inHyp), float64(inRef), float64(both))
	}
	return row
}

// units sets u to the characters of s, without white space unless c.Whitespace, and its words. A
// punctuation mark at the end of a word, or else at its start, is a separate word.
func (c *CHRF) units(u *chrfUnits, s string) {
	if c.Lowercase {
		s = pythonLower(s)
	}
	u.chars, u.words = u.chars[:0], u.words[:0]
	for i, size := 0, 0; i < len(s); i += size {
		r := rune(s[i])
		if size = 1; r >= utf8.RuneSelf {
			if r, size = utf8.DecodeRuneInString(s[i:]); size == 1 {
				r = unicode.MaxRune + 1 + rune(s[i]) // an invalid byte
			}
		}
		if c.Whitespace || !isPythonSpace(r) {
			u.chars = append(u.chars, uint32(r))
		}
	}
	if c.WordOrder > 0 {
		u.words = c.scratch.wordIDs.ids(u.words, chrfWords(s))
	}
}

func chrfWords(s string) (words []string) {
	const marks = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
	for _, w := range strings.FieldsFunc(s, isPythonSpace) {
		last := len(w) - 1
		switch {
		case last > 0 && strings.IndexByte(marks, w[last]) >= 0:
			words = append(words, w[:last], w[last:])
		case last > 0 && strings.IndexByte(marks, w[0]) >= 0:
			words = append(words, w[:1], w[1:])
		default:
			words = append(words, w)
		}
	}
	return words
}

// chrfOf returns the F-score of precision P and recall R, each averaged over the orders that both
// hypothesis and reference have:
//
//	F = (1+β²)·P·R / (β²·P + R)
//
// With c.EpsSmoothing it returns the average over all orders of their F-scores. A zero that
// sacreBLEU does not compute from the counts has computed false.
func chrfOf[F float](c *CHRF, counts []F) (score F, computed bool) {
	const eps = 1e-16 // for a precision or recall without n-grams
	weight := F(c.beta() * c.beta())
	f := func(p, r F) F { return (1 + weight) * p * r / (F(weight*p) + r) }
	var precision, recall, orders, sum F
	for n := range slices.Chunk(counts, chrfColumns) {
		p, r := F(eps), F(eps)
		if n[chrfHyp] > 0 {
			p = n[chrfBoth] / n[chrfHyp]
		}
		if n[chrfRef] > 0 {
			r = n[chrfBoth] / n[chrfRef]
		}
		if n[chrfHyp] > 0 && n[chrfRef] > 0 {
			precision += p
			recall += r
			orders++
		}
		if p+r > 0 {
			sum += f(p, r)
		} else {
			sum += eps
		}
	}
	if c.EpsSmoothing {
		return 100 * sum / F(len(counts)/chrfColumns), true
	}
	if precision+recall == 0 {
		return 0, false
	}
	return 100 * f(precision/orders, recall/orders), true
}

func (c *CHRF) score(sums []float64) float64 {
	s, _ := chrfOf(c, sums)
	return s
}

func (c *CHRF) scoreResample(sums []float32) (float64, bool) {
	s, computed := chrfOf(c, sums)
	return float64(s), computed
}

func (c *CHRF) scoreTrial(sums []float64) float64 { return c.score(sums) }

func (c *CHRF) name() string {
	return fmt.Sprintf("chrF%d%s", c.beta(), strings.Repeat("+", c.WordOrder))
}

// worker returns a copy with its own memory.
func (c *CHRF) worker() Metric {
	w := *c
	w.scratch = nil
	return &w
}

// CHRFResult is a chrF score and its settings.
type CHRFResult struct {
	Score     float64 // 0 to 100
	Name      string  // chrF2; chrF2++ for WordOrder 2
	Signature string  // settings in sacreBLEU's notation
}

// Score returns the score of the segments added so far. More segments may be added afterwards.
func (c *CHRF) Score() CHRFResult {
	return CHRFResult{
		Score:     c.score(c.totals(c)),
		Name:      c.name(),
		Signature: c.signature(c.references, ""),
	}
}

// signature returns the settings in sacreBLEU's notation, as BLEU.signature does.
func (c *CHRF) signature(references referenceCount, test string) string {
	return fmt.Sprintf("nrefs:%v|%scase:%s|eff:%s|nc:%d|nw:%d|space:%s|version:tfm-%s", references, test, caseName(c.Lowercase),
		yesNo(!c.EpsSmoothing), c.charOrder(), c.WordOrder, yesNo(c.Whitespace), sacreBLEUVersion)
}

// String returns the score as sacreBLEU prints it: chrF2 = 57.55.
func (s CHRFResult) String() string { return fmt.Sprintf("%s = %.2f", s.Name, s.Score) }
