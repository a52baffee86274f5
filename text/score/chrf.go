package score

import (
	"fmt"
	"strings"
)

// CHRF adds up the statistics of a corpus for chrF (Popović 2015), the F-score
// of character n-grams, as sacreBLEU computes it. The zero value is sacreBLEU's
// default, chrF2; WordOrder 2 makes it chrF++ (Popović 2017). The exported fields
// must not change after the first Add. It is not safe for concurrent use.
type CHRF struct {
	CharOrder int // the longest n-grams of characters; 0 stands for 6
	WordOrder int // the longest n-grams of words
	Beta      int // how much more recall weighs than precision; 0 stands for 2
	Lowercase bool

	matches    []ngramMatch
	references referenceCount
	seen       map[string]int
}

// ngramMatch counts the n-grams of one order: those of the hypotheses, those of
// the references, and those in both.
type ngramMatch struct{ hyp, ref, both int }

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

// Add counts one segment. Of several references the one that gives the segment
// the best score counts.
func (c *CHRF) Add(hypothesis, reference string, more ...string) {
	if c.seen == nil {
		c.matches = make([]ngramMatch, c.charOrder()+c.WordOrder)
		c.seen = make(map[string]int)
	}
	c.references.add(1 + len(more))

	hypChars, hypWords := c.units(hypothesis)
	var best []ngramMatch
	bestScore := -1.0
	for _, r := range append([]string{reference}, more...) {
		refChars, refWords := c.units(r)
		var m []ngramMatch
		for n := range c.charOrder() {
			m = append(m, c.match(hypChars, refChars, n+1))
		}
		for n := range c.WordOrder {
			m = append(m, c.match(hypWords, refWords, n+1))
		}
		if s := c.score(m); s > bestScore {
			best, bestScore = m, s
		}
	}
	for i, m := range best {
		c.matches[i].hyp += m.hyp
		c.matches[i].ref += m.ref
		c.matches[i].both += m.both
	}
}

// units returns the characters of s without white space, and its words with a
// mark of punctuation cut off: the one at the end, else the one at the start.
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

func (c *CHRF) match(hyp, ref []string, n int) ngramMatch {
	var m ngramMatch
	clear(c.seen)
	eachNgram(ref, n, func(g string) {
		c.seen[g]++
		m.ref++
	})
	if m.ref == 0 {
		return m // the order does not count where the reference has none of it
	}
	eachNgram(hyp, n, func(g string) {
		m.hyp++
		if c.seen[g] > 0 {
			c.seen[g]--
			m.both++
		}
	})
	return m
}

// score is the F-score of precision and recall, each averaged over the orders
// that both sides have, as sacreBLEU does without eps smoothing:
//
//	F = (1+β²)·P·R / (β²·P + R)
func (c *CHRF) score(matches []ngramMatch) float64 {
	var precision, recall, orders float64
	for _, m := range matches {
		if m.hyp > 0 && m.ref > 0 {
			precision += float64(m.both) / float64(m.hyp)
			recall += float64(m.both) / float64(m.ref)
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

// CHRFResult is a score and how it was computed.
type CHRFResult struct {
	Score     float64 // 0 to 100
	Name      string  // chrF2, or chrF2++ for WordOrder 2
	Signature string  // as sacreBLEU notes it
}

// Score returns the score of the segments so far; more may be added.
func (c *CHRF) Score() CHRFResult {
	return CHRFResult{
		Score:     c.score(c.matches),
		Name:      fmt.Sprintf("chrF%d%s", c.beta(), strings.Repeat("+", c.WordOrder)),
		Signature: c.signature(),
	}
}

// signature says how the score is computed, as BLEU.signature does.
func (c *CHRF) signature() string {
	return fmt.Sprintf("nrefs:%v|case:%s|eff:yes|nc:%d|nw:%d|space:no|version:tfm-%s",
		c.references, caseName(c.Lowercase), c.charOrder(), c.WordOrder, sacreBLEUVersion)
}

// String returns the score as sacreBLEU prints it: chrF2 = 57.55.
func (s CHRFResult) String() string { return fmt.Sprintf("%s = %.2f", s.Name, s.Score) }
