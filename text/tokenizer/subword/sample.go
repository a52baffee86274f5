package subword

import (
	"math/rand/v2"

	"tfm/text"
	"tfm/text/tokenizer/internal/merges"
)

// EncodeSample implements text.Sampler with BPE-dropout (Provilkov, Emelianenko and Voita 2020,
// "BPE-Dropout: Simple and Effective Subword Regularization"), as apply_bpe.py --dropout. Each step
// of a word drops every place of a merge with probability p and applies the first merge at its
// remaining places; a step that drops all finishes the word. With p = 0 the ids are Encode's and
// random is unused. Of a word of more than 1,000 characters each 1,000 are split separately.
//
// The ids depend only on t, s, p and the state of random, and are the same on every machine.
// EncodeSample panics if p is not in [0, 1]. It is safe for concurrent use if random is not shared.
func (t *Tokenizer) EncodeSample(dst []int32, s string, p float64, random *rand.PCG) []int32 {
	dst, _ = t.encode(dst, nil, t.words(s), merges.NewDropout(p, random))
	return dst
}

var _ text.Sampler = (*Tokenizer)(nil)
