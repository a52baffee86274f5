package sentencepiece

import (
	"fmt"
	"math"
	"math/rand/v2"

	"tfm/text/internal/exact"
	"tfm/text/tokenizer/internal/merges"
)

// EncodeSample implements text.Sampler. For a unigram model it draws a segmentation with a
// probability proportional to exp(alpha * the sum of its scores) (Kudo 2018, "Subword
// Regularization"): alpha = 0 makes all segmentations equally likely, and a larger alpha favours
// the one of Encode. For BPE, alpha is the probability of dropping a merge where it applies, until
// a neighbour of its symbols changes (Provilkov, Emelianenko and Voita 2020, "BPE-Dropout"): with
// alpha = 0 the ids are Encode's, and with alpha = 1 they are those of the characters. Word and
// character models have one segmentation.
//
// The ids are the same on every machine. EncodeSample panics if alpha is negative, infinite or NaN,
// or more than 1 for BPE.
func (t *Tokenizer) EncodeSample(dst []int32, s string, alpha float64, random *rand.PCG) []int32 {
	if !(alpha >= 0 && (t.bpe == nil || alpha <= 1)) || math.IsInf(alpha, 1) {
		expected := "at least 0"
		if t.bpe != nil {
			expected = "0 to 1"
		}
		panic(fmt.Sprintf("sentencepiece: alpha %v, expected %s", alpha, expected))
	}
	sc := t.scratch.Get().(*scratch)
	defer t.release(sc)
	sc.normal = t.normalizer.normalize(sc.normal[:0], nil, s)
	start := len(dst)
	if t.unigram != nil {
		sc.segments = t.unigram.sample(sc.segments[:0], sc.normal, sc, alpha, random)
		dst = t.appendIDs(dst, start, t.nameUnknown(sc.segments, sc.normal), sc.normal)
	} else {
		var drop *merges.Dropout
		if t.bpe != nil {
			drop = merges.NewDropout(alpha, random)
		}
		dst = t.encodeNormal(dst, sc.normal, sc, drop)
	}
	t.renumber(dst[start:])
	return dst
}

// sample appends a segmentation drawn with probabilities proportional to exp(alpha * score).
func (u *unigram) sample(dst []segment, s []byte, sc *scratch, alpha float64, random *rand.PCG) []segment {
	// rest[i] is the sum of exp(alpha * score) over the segmentations of s[i:], and 0 within a
	// character.
	rest := sized(&sc.unigram.rest, len(s)+1)
	clear(rest)
	for i := 0; i < len(s); i += charLen(s[i]) {
		rest[i].mantissa = 1 // marks the beginning of a character
	}
	rest[len(s)] = scaled{1, 0}
	for i := len(s) - 1; i >= 0; i-- {
		if rest[i].mantissa == 0 {
			continue
		}
		var sum scaled
		u.edges(s, i, func(_ int32, length int, score float32) {
			sum = sum.add(exp(float64(alpha * float64(score))).mul(rest[i+length]))
		})
		rest[i] = sum
	}
	for i := 0; i < len(s); {
		draw := scaled{float64(random.Uint64()>>11) * 0x1p-53, 0}.mul(rest[i])
		var sum scaled
		var chosen segment
		done := false
		u.edges(s, i, func(id int32, length int, score float32) {
			if done || rest[i+length].mantissa == 0 {
				return
			}
			sum = sum.add(exp(float64(alpha * float64(score))).mul(rest[i+length]))
			chosen = segment{id, int32(length)}
			done = draw.less(sum)
		})
		dst = append(dst, chosen)
		i += int(chosen.length)
	}
	return dst
}

// scaled is the number mantissa * 2^exponent, not negative. Its range does not limit the length of
// a text. Its operations are the same on every machine.
type scaled struct {
	mantissa float64 // 0, or from 0.5 to 1
	exponent int
}

func newScaled(mantissa float64, exponent int) scaled {
	m, e := math.Frexp(mantissa)
	return scaled{m, e + exponent}
}

func (a scaled) mul(b scaled) scaled {
	return newScaled(float64(a.mantissa*b.mantissa), a.exponent+b.exponent)
}

func (a scaled) add(b scaled) scaled {
	switch {
	case a.mantissa == 0:
		return b
	case b.mantissa == 0:
		return a
	case a.exponent < b.exponent:
		a, b = b, a
	}
	return newScaled(a.mantissa+math.Ldexp(b.mantissa, max(b.exponent-a.exponent, -100)), a.exponent)
}

func (a scaled) less(b scaled) bool {
	if a.mantissa == 0 || b.mantissa == 0 || a.exponent == b.exponent {
		return a.mantissa < b.mantissa
	}
	return a.exponent < b.exponent
}

// exp returns e^x, or the largest or smallest power that scaled allows.
func exp(x float64) scaled {
	const maxExponent = 1 << 30         // a sum of them over a text fits an int
	if !(math.Abs(x) < maxExponent/2) { // not 0, so that each text has a segmentation to draw
		return scaled{0.5, int(math.Copysign(maxExponent, x))}
	}
	return newScaled(exact.ExpParts(x))
}
