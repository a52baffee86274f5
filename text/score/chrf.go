package score

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CHRF has the settings of chrF (Popović 2015), the F-score of character n-grams, as sacreBLEU
// computes it. The zero value is sacreBLEU's default, chrF2; WordOrder 2 is chrF++ (Popović 2017).
// Of several references of a segment only the one with the best score counts.
type CHRF struct {
	CharOrder int // longest character n-grams; 0 is 6
	WordOrder int // longest word n-grams; 0 is none
	Beta      int // weight of recall relative to precision; 0 is 2
	Lowercase bool

	Whitespace   bool // characters include white space
	EpsSmoothing bool // averages F-scores over all orders, as chrF++.py, NLTK and Moses do
}

func (c CHRF) charOrder() int { return cmp.Or(c.CharOrder, 6) }

func (c CHRF) beta() int { return cmp.Or(c.Beta, 2) }

// The statistics of a segment: for each order of characters and then of words, the n-grams of the
// hypothesis, of the reference and of both.
const (
	chrfHyp = iota
	chrfRef
	chrfBoth
	chrfColumns
)

func (c CHRF) columns() int { return chrfColumns * (c.charOrder() + c.WordOrder) }

func (c CHRF) count(m *counter, row []float64, hypothesis string, references []string) {
	chars, words := c.units(m.ids, hypothesis)
	best := -1.0
	for _, r := range references {
		refChars, refWords := c.units(m.ids, r)
		oneRef := countOrders(nil, m, chars, refChars, c.charOrder())
		oneRef = countOrders(oneRef, m, words, refWords, c.WordOrder)
		if score := c.score(oneRef); score > best {
			best = score
			copy(row, oneRef)
		}
	}
}

// countOrders appends the statistics of the orders from 1. If the reference has no n-grams of an
// order, those of the hypothesis do not count.
func countOrders(row []float64, m *counter, hyp, ref []uint32, orders int) []float64 {
	for n, both := range m.matcher.match(orders, hyp, ref) {
		inHyp, inRef := ngrams(len(hyp), n+1), ngrams(len(ref), n+1)
		if inRef == 0 {
			inHyp = 0
		}
		row = append(row, float64(inHyp), float64(inRef), float64(both))
	}
	return row
}

// units returns the characters of s, without white space unless c.Whitespace, and its words, equal
// ones with equal numbers. A punctuation mark at the end of a word, or else at its start, is a
// separate word.
func (c CHRF) units(ids tokenIDs, s string) (chars, words []uint32) {
	if c.Lowercase {
		s = pythonLower(s)
	}
	chars = make([]uint32, 0, len(s))
	for i, r := range s {
		if _, size := utf8.DecodeRuneInString(s[i:]); r == utf8.RuneError && size == 1 {
			r = unicode.MaxRune + 1 + rune(s[i]) // an invalid byte
		}
		if c.Whitespace || !isPythonSpace(r) {
			chars = append(chars, uint32(r))
		}
	}
	if c.WordOrder > 0 {
		words = ids.ids(chrfWords(s))
	}
	return chars, words
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
func chrfOf[F float](c CHRF, counts []F) (score F, computed bool) {
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

func (c CHRF) score(sums []float64) float64 {
	s, _ := chrfOf(c, sums)
	return s
}

func (c CHRF) scoreResample(sums []float32) (float64, bool) {
	s, computed := chrfOf(c, sums)
	return float64(s), computed
}

func (c CHRF) scoreTrial(sums []float64) float64 { return c.score(sums) }

func (c CHRF) name() string {
	return fmt.Sprintf("chrF%d%s", c.beta(), strings.Repeat("+", c.WordOrder))
}

func (c CHRF) settings() string {
	return fmt.Sprintf("case:%s|eff:%s|nc:%d|nw:%d|space:%s", word(c.Lowercase, "lc", "mixed"), yesNo(!c.EpsSmoothing),
		c.charOrder(), c.WordOrder, yesNo(c.Whitespace))
}

func (c CHRF) details([]float64) string { return "" }
