package bpe

import (
	"fmt"
	"math/rand/v2"
)

// EncodeSample implements text.Sampler with BPE-dropout (Provilkov, Emelianenko and Voita 2020,
// "BPE-Dropout: Simple and Effective Subword Regularization", section 3, algorithm 1, on bytes).
// Each step of a word drops every candidate with probability p and applies the remaining one that
// was learned first. The word is finished when a step drops all candidates. With p = 0 the ids are
// Encode's and random is unused; with p = 1 they are the bytes. Decode returns s for any of them.
//
// The ids depend only on t, s, p and the state of random, and are the same on every machine.
// EncodeSample panics if p is not in [0, 1]. It is safe for concurrent use if random is not shared.
func (t *Tokenizer) EncodeSample(dst []int32, s string, p float64, random *rand.PCG) []int32 {
	if !(p >= 0 && p <= 1) {
		panic(fmt.Sprintf("bpe: dropout probability %v, expected 0 to 1", p))
	}
	if s == "" || p == 0 {
		return t.Encode(dst, s)
	}
	drop := &mergeDropout{random, uint64(p * (1 << 53))}
	e := t.encoders.Get().(*wordEncoder)
	e.text = append(append(e.text[:0], ' '), s...)
	for unread := e.text; len(unread) > 0; {
		n := wordLen(unread)
		word := unread[:n]
		unread = unread[n:]
		start := len(dst)
		dst = e.encodeCached(dst, word, t)
		// Most words lose no merge and have the ids of Encode, which may be cached.
		merges, state := len(word)-(len(dst)-start), *random
		if drop.any(merges) {
			*random = state
			dst = e.encode(dst[:start], word, t, drop)
		}
	}
	t.release(e)
	return dst
}

// mergeDropout draws whether merges are dropped. A step draws for its candidates in the order in
// which they were learned and stops at the first that is kept, because later ones have no effect.
type mergeDropout struct {
	random *rand.PCG
	below  uint64 // p·2^53 as an integer, so that draws do not depend on rounding
}

// next draws for one merge and reports whether it is dropped.
func (d *mergeDropout) next() bool { return d.random.Uint64()>>11 < d.below }

// any draws for up to n merges and reports whether one is dropped.
func (d *mergeDropout) any(n int) bool {
	for range n {
		if d.next() {
			return true
		}
	}
	return false
}
