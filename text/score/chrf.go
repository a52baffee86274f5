package score

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CHRF has the settings of chrF (Popović 2015), the F-score of character n-grams, as sacreBLEU
// computes it by default: of up to 6 characters, without white space, with β = 2. WordOrder 2 is
// chrF++ (Popović 2017). Of several references of a segment only the one with the best score
// counts.
type CHRF struct {
	WordOrder int // longest word n-grams; 0 is none
}

const (
	chrfOrder = 6 // longest character n-grams
	chrfBeta  = 2 // weight of recall relative to precision
)

// The statistics of a segment: for each order of characters and then of words, the n-grams of the
// hypothesis, of the reference and of both.
const (
	chrfHyp = iota
	chrfRef
	chrfBoth
	chrfColumns
)

func (c CHRF) columns() int { return chrfColumns * (chrfOrder + c.WordOrder) }

func (c CHRF) count(m *counter, row []float64, hypothesis string, references []string) {
	chars, words := c.units(m.ids, hypothesis)
	best := -1.0
	for _, r := range references {
		refChars, refWords := c.units(m.ids, r)
		oneRef := countOrders(nil, m, chars, refChars, chrfOrder)
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

// units returns the characters of s, without white space, and its words, equal ones with equal
// numbers. A punctuation mark at the end of a word, or else at its start, is a
// separate word.
func (c CHRF) units(ids tokenIDs, s string) (chars, words []uint32) {
	chars = make([]uint32, 0, len(s))
	for i, r := range s {
		if _, size := utf8.DecodeRuneInString(s[i:]); r == utf8.RuneError && size == 1 {
			r = unicode.MaxRune + 1 + rune(s[i]) // an invalid byte
		}
		if !isPythonSpace(r) {
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

// score returns the F-score of precision P and recall R, each averaged over the orders that both
// hypothesis and reference have:
//
//	F = (1+β²)·P·R / (β²·P + R)
func (c CHRF) score(sums []float64) float64 {
	const weight = chrfBeta * chrfBeta
	var precision, recall, orders float64
	for n := range slices.Chunk(sums, chrfColumns) {
		if n[chrfHyp] > 0 && n[chrfRef] > 0 {
			precision += n[chrfBoth] / n[chrfHyp]
			recall += n[chrfBoth] / n[chrfRef]
			orders++
		}
	}
	if precision+recall == 0 {
		return 0
	}
	p, r := precision/orders, recall/orders
	return 100 * ((1 + weight) * p * r / (float64(weight*p) + r))
}

func (c CHRF) name() string {
	return fmt.Sprintf("chrF%d%s", chrfBeta, strings.Repeat("+", c.WordOrder))
}

func (c CHRF) settings() string {
	return fmt.Sprintf("case:mixed|eff:yes|nc:%d|nw:%d|space:no", chrfOrder, c.WordOrder)
}

func (c CHRF) details([]float64) string { return "" }
