package sentencepiece

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// sentencepiece segments a whole text. If no piece crosses the boundaries between words, the pieces
// of a word of BPE do not depend on its neighbours. Those of a unigram model do, because the
// rounding of its sums depends on the text before.

// splitsWords reports whether a text may be split between another character and ▁, so that no piece
// crosses. Unused pieces forbid it, because bpe splits them according to their last merge in the
// text.
func (t *Tokenizer) splitsWords() bool {
	if t.bpe == nil || t.bpe.unused || !t.normalizer.validUTF8 {
		return false
	}
	for i := range t.model.Pieces {
		p := &t.model.Pieces[i]
		crosses := strings.Contains(strings.TrimLeft(p.Text, space), space) || !utf8.ValidString(p.Text)
		if crosses && (p.Type == Normal || p.Type == UserDefined) {
			return false
		}
	}
	return true
}

// wordLen returns the length of the first word of s: spaces and the characters up to the next one.
func wordLen(s []byte) int {
	i := 0
	for bytes.HasPrefix(s[i:], []byte(space)) {
		i += len(space)
	}
	if n := bytes.Index(s[i:], []byte(space)); n >= 0 {
		return i + n
	}
	return len(s)
}

// encodeWords appends the file ids of a text word by word.
func (t *Tokenizer) encodeWords(dst []int32, normal []byte, sc *scratch) []int32 {
	first := len(dst)
	for len(normal) > 0 {
		word := normal[:wordLen(normal)]
		normal = normal[len(word):]
		start := len(dst)
		var ok bool
		if dst, ok = t.cache.Find(dst, word); !ok {
			sc.segments = t.bpe.segment(sc.segments[:0], word, sc)
			dst = t.appendIDs(dst, start, sc.segments, word)
			t.cache.Store(word, dst[start:])
		}
		if start > first && len(dst) > start && dst[start-1] == t.unknown && dst[start] == t.unknown { // as in appendIDs
			dst = append(dst[:start], dst[start+1:]...)
		}
	}
	return dst
}
