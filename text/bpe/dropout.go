package bpe

import (
	"fmt"
	"math/rand/v2"
)

// EncodeSample implements text.Sampler with BPE-dropout (Provilkov, Emelianenko and Voita 2020,
// "BPE-Dropout: Simple and Effective Subword Regularization", section 3, algorithm 1, on bytes).
// At each step of a word every possible merge is dropped with probability p, drawn anew in each
// step; of the rest the one learned first is done, and when a step drops all of them the word is
// finished. With p = 0 nothing is drawn and the ids are Encode's; with p = 1 they are the bytes.
// Decode returns s for all of them.
//
// The ids depend on t, s, p and the state of random alone, on every machine. It panics if p is
// not 0 to 1. It is safe for concurrent use if random is not shared.
func (t *Tokenizer) EncodeSample(dst []int32, s string, p float64, random *rand.PCG) []int32 {
	if !(p >= 0 && p <= 1) {
		panic(fmt.Sprintf("bpe: probability %v, want 0 to 1", p))
	}
	if s == "" || p == 0 {
		return t.Encode(dst, s)
	}
	drop := &mergeDropout{random, uint64(p * (1 << 53))}
	e := t.encoders.Get().(*wordEncoder)
	e.text = append(append(e.text[:0], ' '), s...)
	for rest := e.text; len(rest) > 0; {
		n := wordLen(rest)
		word := rest[:n]
		rest = rest[n:]
		start := len(dst)
		dst = e.encodeCached(dst, word, t)
		// Most words lose no merge and so keep the ids of Encode, which the cache may have.
		merges, before := len(word)-(len(dst)-start), *random
		if drop.any(merges) {
			*random = before
			dst = e.encode(dst[:start], word, t, drop)
		}
	}
	t.release(e)
	return dst
}

// mergeDropout draws whether merges are dropped. A step asks for its candidates in the order in
// which they were learned until one stays, because the rest has no effect on the step.
type mergeDropout struct {
	random *rand.PCG
	below  uint64 // p·2^53, an integer, so that no draw depends on rounding
}

// next draws for one merge.
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
