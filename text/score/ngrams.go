package score

import (
	"math/bits"
	"slices"
)

// ngramMatcher counts the n-grams that hypotheses and references have in common. It is used for one
// segment after another, because most need no allocation. It is not safe for concurrent use.
type ngramMatcher struct {
	table []ngram // of one order: a hash table with open addressing, its length a power of two
}

// ngram is an n-gram of the references: an (n-1)-gram and a token.
type ngram struct {
	prefix    uint32 // index of the (n-1)-gram in the table of the order n-1
	token     uint32
	reference uint32 // the last reference with the n-gram, from 1; 0 in a free slot
	count     uint32 // in this reference
	unmatched uint32 // maximum of the counts in the references, less the matches
}

// absent is the index of n-grams that no reference has.
const absent = 1<<32 - 1

// match returns the number of n-grams of each order in hyp that are also in the references, clipped
// to the maximum of their counts in these.
func (m *ngramMatcher) match(orders int, hyp []uint32, refs ...[]uint32) []int {
	matches := make([]int, orders)
	// Indices of the (n-1)-grams from each position. Those of the order 0 are equal.
	inHyp, inRefs := make([]uint32, len(hyp)), make([][]uint32, len(refs))
	tokens := 0
	for r, ref := range refs {
		inRefs[r] = make([]uint32, len(ref))
		tokens += len(ref)
	}
	size := 1 << bits.Len(uint(2*tokens))
	m.table = slices.Grow(m.table[:0], size)[:size]
	for n := range matches {
		clear(m.table)
		for r, ref := range refs {
			for i := 0; i < len(ref)-n; i++ {
				inRefs[r][i] = m.add(inRefs[r][i], ref[i+n], uint32(r+1))
			}
		}
		for i := 0; i < len(hyp)-n; i++ {
			if inHyp[i] == absent {
				continue
			}
			inHyp[i] = m.find(inHyp[i], hyp[i+n])
			g := &m.table[inHyp[i]]
			if g.reference == 0 {
				inHyp[i] = absent
			} else if g.unmatched > 0 {
				g.unmatched--
				matches[n]++
			}
		}
	}
	return matches
}

// add counts an n-gram of a reference and returns its index.
func (m *ngramMatcher) add(prefix, token, reference uint32) uint32 {
	i := m.find(prefix, token)
	g := &m.table[i]
	if g.reference != reference {
		g.prefix, g.token, g.reference, g.count = prefix, token, reference, 0
	}
	g.count++
	g.unmatched = max(g.unmatched, g.count)
	return i
}

// find returns the index of an n-gram, or of the free slot for it.
func (m *ngramMatcher) find(prefix, token uint32) uint32 {
	mask := uint32(len(m.table) - 1)
	hash := (uint64(prefix)<<32 | uint64(token)) * 0x9e3779b97f4a7c15
	for i := uint32(hash >> 32); ; i++ {
		g := &m.table[i&mask]
		if g.reference == 0 || g.prefix == prefix && g.token == token {
			return i & mask
		}
	}
}

// ngrams returns the number of n-grams of order n in a text of tokens.
func ngrams(tokens, n int) int { return max(tokens-n+1, 0) }

// tokenIDs numbers different tokens.
type tokenIDs map[string]uint32

// ids returns the number of each token.
func (m tokenIDs) ids(tokens []string) []uint32 {
	ids := make([]uint32, len(tokens))
	for i, token := range tokens {
		id, ok := m[token]
		if !ok {
			id = uint32(len(m))
			m[token] = id
		}
		ids[i] = id
	}
	return ids
}
