package bpe

import (
	"math/rand/v2"

	"tfm/text/tokenizer/internal/merges"
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
	return t.encode(dst, s, merges.NewDropout(p, random))
}
