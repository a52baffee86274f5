package score

import (
	"fmt"
	"strings"
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

	counts     []ngramCounts // of each character order, then of each word order
	references referenceCount
	refCounts  map[string]int // n-grams of one order of one reference
}

// ngramCounts are the numbers of n-grams of one order in the hypotheses, the references and both.
type ngramCounts struct{ hyp, ref, both int }

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
	if c.refCounts == nil {
		c.counts = make([]ngramCounts, c.charOrder()+c.WordOrder)
		c.refCounts = make(map[string]int)
	}
	c.references.add(1 + len(more))

	hypChars, hypWords := c.units(hypothesis)
	var best []ngramCounts
	bestScore := -1.0
	for _, r := range append([]string{reference}, more...) {
		refChars, refWords := c.units(r)
		var counts []ngramCounts
		for n := range c.charOrder() {
			counts = append(counts, c.count(hypChars, refChars, n+1))
		}
		for n := range c.WordOrder {
			counts = append(counts, c.count(hypWords, refWords, n+1))
		}
		if s := c.score(counts); s > bestScore {
			best, bestScore = counts, s
		}
	}
	for i, n := range best {
		c.counts[i].hyp += n.hyp
		c.counts[i].ref += n.ref
		c.counts[i].both += n.both
	}
}

// units returns the characters of s without white space, and its words. A punctuation mark at the
// end of a word, or else at its start, is a separate word.
func (c *CHRF) units(s string) (chars, words []string) {
	if c.Lowercase {
		s = pythonLower(s)
	}
	fields := strings.FieldsFunc(s, isPythonSpace)
	chars = strings.Split(strings.Join(fields, ""), "")
	if c.WordOrder == 0 {
		return chars, nil
	}
	const marks = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
	for _, w := range fields {
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
	return chars, words
}

// count counts the n-grams of order n. If the reference has none, those of the hypothesis do not
// count.
func (c *CHRF) count(hyp, ref []string, n int) ngramCounts {
	var counts ngramCounts
	clear(c.refCounts)
	eachNgram(ref, n, func(g string) {
		c.refCounts[g]++
		counts.ref++
	})
	if counts.ref == 0 {
		return counts
	}
	eachNgram(hyp, n, func(g string) {
		counts.hyp++
		if c.refCounts[g] > 0 {
			c.refCounts[g]--
			counts.both++
		}
	})
	return counts
}

// score returns the F-score of precision P and recall R, each averaged over the orders that both
// hypothesis and reference have, as sacreBLEU without eps smoothing:
//
//	F = (1+β²)·P·R / (β²·P + R)
func (c *CHRF) score(counts []ngramCounts) float64 {
	var precision, recall, orders float64
	for _, n := range counts {
		if n.hyp > 0 && n.ref > 0 {
			precision += float64(n.both) / float64(n.hyp)
			recall += float64(n.both) / float64(n.ref)
			orders++
		}
	}
	if precision+recall == 0 {
		return 0
	}
	precision /= orders
	recall /= orders
	weight := float64(c.beta() * c.beta())
	return 100 * ((1 + weight) * precision * recall / (float64(weight*precision) + recall))
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
		Score:     c.score(c.counts),
		Name:      fmt.Sprintf("chrF%d%s", c.beta(), strings.Repeat("+", c.WordOrder)),
		Signature: c.signature(),
	}
}

// signature returns the settings in sacreBLEU's notation, as BLEU.signature does.
func (c *CHRF) signature() string {
	return fmt.Sprintf("nrefs:%v|case:%s|eff:yes|nc:%d|nw:%d|space:no|version:tfm-%s",
		c.references, caseName(c.Lowercase), c.charOrder(), c.WordOrder, sacreBLEUVersion)
}

// String returns the score as sacreBLEU prints it: chrF2 = 57.55.
func (s CHRFResult) String() string { return fmt.Sprintf("%s = %.2f", s.Name, s.Score) }
