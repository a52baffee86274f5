package sentencepiece

import (
	"math"
	"strings"
	"unicode/utf8"

	"tfm/text/tokenizer/internal/merges"
)

// sentencepiece segments a whole text. If no piece crosses the boundaries between words, the pieces
// of a word do not depend on its neighbours, with one exception: the sums of a unigram model, whose
// rounding depends on the text before. A word of a unigram model is therefore cached with the
// largest preceding sum for which rounding cannot change its segmentation.

// wordSplit is where a text may be split, so that no piece crosses.
type wordSplit int

const (
	noSplit     wordSplit = iota
	beforeSpace           // between another character and ▁
	afterSpace            // between ▁ and another character
)

// newWordSplit returns the split that all pieces of t allow. Unused pieces allow none, because bpe
// splits them according to their last merge in the text.
func newWordSplit(t *Tokenizer) wordSplit {
	if mt := t.model.Trainer.ModelType; mt == Word || mt == Char || !t.normalizer.validUTF8 {
		return noSplit
	}
	before, after := true, true
	for i := range t.model.Pieces {
		p := &t.model.Pieces[i]
		switch p.Type {
		case Unused:
			return noSplit
		case Normal, UserDefined:
			before = before && !strings.Contains(strings.TrimLeft(p.Text, space), space)
			after = after && !strings.Contains(strings.TrimRight(p.Text, space), space)
			if !utf8.ValidString(p.Text) {
				return noSplit
			}
		}
	}
	switch {
	case before:
		return beforeSpace
	case after:
		return afterSpace
	}
	return noSplit
}

// next returns the length of the first word of s, which is not empty.
func (w wordSplit) next(s []byte) int {
	i := 0
	for hasSpace(s[i:]) {
		i += len(space)
	}
	if w == afterSpace && i > 0 {
		return i
	}
	for i < len(s) && !hasSpace(s[i:]) {
		i++
	}
	for w == afterSpace && hasSpace(s[i:]) {
		i += len(space)
	}
	return i
}

// hasSpace reports whether s begins with ▁.
func hasSpace(s []byte) bool { return len(s) >= len(space) && string(s[:len(space)]) == space }

// wordSums returns what the cache knows of a word of a unigram model: the sum of the scores, and
// the limit of the magnitude of the sum before the word.
func wordSums(value uint64) (score, limit float32) {
	return math.Float32frombits(uint32(value >> 32)), math.Float32frombits(uint32(value))
}

// encodeWords appends the file ids of a text word by word. It reports whether they are those of the
// whole text; if not, what it appended is meaningless.
func (t *Tokenizer) encodeWords(dst []int32, normal []byte, sc *scratch) ([]int32, bool) {
	first := len(dst)
	sum := 0.0
	for len(normal) > 0 {
		n := t.words.next(normal)
		word := normal[:n]
		normal = normal[n:]
		if t.unigram != nil && n > merges.MaxWord {
			return dst, false
		}
		start := len(dst)
		var value uint64
		var ok bool
		if dst, value, ok = t.cache.Find(dst, word); !ok {
			dst, value = t.appendWord(dst, word, sc)
			t.cache.Store(word, dst[start:], value)
		}
		if t.unigram != nil {
			score, limit := wordSums(value)
			if !(sum < float64(limit)) {
				return dst, false
			}
			sum += math.Abs(float64(score))
		}
		if start > first && len(dst) > start && dst[start-1] == t.unknown && dst[start] == t.unknown { // as in appendIDs
			dst = append(dst[:start], dst[start+1:]...)
		}
	}
	return dst, true
}

// appendWord appends the file ids of a word and returns its value in the cache, 0 for BPE.
func (t *Tokenizer) appendWord(dst []int32, word []byte, sc *scratch) (_ []int32, value uint64) {
	if t.unigram != nil {
		var score, limit float32
		sc.segments, score, limit = t.unigram.segmentWord(sc.segments[:0], word, sc)
		value = uint64(math.Float32bits(score))<<32 | uint64(math.Float32bits(limit))
	} else {
		sc.segments = t.bpe.segment(sc.segments[:0], word, sc)
	}
	return t.appendIDs(dst, len(dst), sc.segments, word), value
}
