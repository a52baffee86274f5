package align

import (
	"cmp"
	"math"
	"slices"
)

// wordCounts counts the target words that occur with a source word, in memory that limit bounds, by
// the algorithm of Misra and Gries (1982, "Finding repeated elements"). A word of more than
// 1/limit of all occurrences is kept. Without a limit, and with up to 2·limit different words, all
// are kept and counted exactly.
type wordCounts struct {
	words  []wordCount // the first distinct ones in ascending order, then recent occurrences
	merged int         // number of the first
}

// wordCount is a word and a lower bound of its occurrences.
type wordCount struct{ word, n int32 }

const minRecent = 64

// add counts an occurrence of t. limit is 0 for no limit.
func (c *wordCounts) add(t int32, limit int) {
	c.words = append(c.words, wordCount{t, 1})
	if len(c.words)-c.merged >= max(minRecent, c.merged/2) {
		c.merge()
		if limit > 0 && len(c.words) > 2*limit {
			c.reduce(limit)
		}
	}
}

// merge adds the recent occurrences to the others of their words.
func (c *wordCounts) merge() {
	slices.SortFunc(c.words, func(a, b wordCount) int { return cmp.Compare(a.word, b.word) })
	merged := c.words[:0]
	for _, w := range c.words {
		if last := len(merged) - 1; last >= 0 && merged[last].word == w.word {
			merged[last].n += min(w.n, math.MaxInt32-merged[last].n)
		} else {
			merged = append(merged, w)
		}
	}
	c.words, c.merged = merged, len(merged)
}

// reduce subtracts the count of the word after the limit most frequent ones from all counts, and
// removes the words without a count.
func (c *wordCounts) reduce(limit int) {
	counts := make([]int32, len(c.words))
	for i, w := range c.words {
		counts[i] = w.n
	}
	slices.Sort(counts)
	subtracted := counts[len(counts)-1-limit]
	kept := c.words[:0]
	for _, w := range c.words {
		if w.n -= subtracted; w.n > 0 {
			kept = append(kept, w)
		}
	}
	c.words, c.merged = kept, len(kept)
}

// list returns the limit most frequent words, of equal ones those with the smallest ids, in
// ascending order.
func (c *wordCounts) list(limit int) []int32 {
	c.merge()
	if limit > 0 && len(c.words) > limit {
		slices.SortStableFunc(c.words, func(a, b wordCount) int { return cmp.Compare(b.n, a.n) })
		c.words = c.words[:limit]
	}
	words := make([]int32, len(c.words))
	for i, w := range c.words {
		words[i] = w.word
	}
	slices.Sort(words)
	return words
}
