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
	words  []wordCount // in ascending order
	recent []int32     // occurrences that are not counted yet
}

// wordCount is a word and a lower bound of its occurrences.
type wordCount struct{ word, n int32 }

const minRecent = 64

// add counts an occurrence of t. limit is 0 for no limit.
func (c *wordCounts) add(t int32, limit int) {
	c.recent = append(c.recent, t)
	if len(c.recent) >= max(minRecent, len(c.words)/2) {
		c.merge()
		if limit > 0 && len(c.words) > 2*limit {
			c.reduce(limit)
		}
	}
}

// merge adds the recent occurrences to words.
func (c *wordCounts) merge() {
	slices.Sort(c.recent)
	n := len(c.words)
	known := 0
	for i := 0; i < len(c.recent); {
		end := i + 1
		for end < len(c.recent) && c.recent[end] == c.recent[i] {
			end++
		}
		for known < n && c.words[known].word < c.recent[i] {
			known++
		}
		if known < n && c.words[known].word == c.recent[i] {
			c.words[known].n += int32(min(end-i, int(math.MaxInt32-c.words[known].n)))
		} else {
			c.words = append(c.words, wordCount{c.recent[i], int32(end - i)})
		}
		i = end
	}
	slices.SortFunc(c.words, func(a, b wordCount) int { return cmp.Compare(a.word, b.word) })
	c.recent = c.recent[:0]
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
	c.words = kept
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
