package sentencepiece

import (
	"bytes"
	"hash/maphash"
	"math"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"tfm/text/internal/dropout"
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
	const first = 0xE2 // of ▁
	i := 0
	for i < len(s) && s[i] == first && bytes.HasPrefix(s[i:], []byte(space)) {
		i += len(space)
	}
	if w == afterSpace && i > 0 {
		return i
	}
	for i < len(s) && (s[i] != first || !bytes.HasPrefix(s[i:], []byte(space))) {
		i++
	}
	if w == afterSpace {
		for i < len(s) && s[i] == first && bytes.HasPrefix(s[i:], []byte(space)) {
			i += len(space)
		}
	}
	return i
}

const (
	cacheSlots   = 1 << 15
	cacheMaxWord = 28 // bytes
	cacheMaxIDs  = 10
)

// wordCache is a hash table of recent words, each in one of two slots. It is safe for concurrent
// use.
type wordCache struct {
	seed  maphash.Seed
	slots []atomic.Pointer[cachedWord]
}

// cachedWord is immutable.
type cachedWord struct {
	n, m   uint8 // lengths of word and ids
	merges uint8 // BPE: how many merges make the pieces
	word   [cacheMaxWord]byte
	ids    [cacheMaxIDs]int32 // file ids

	// Unigram: the sum of the scores, and the limit of the magnitude of the sum before the
	// word.
	score, limit float32
}

func (c *wordCache) init() {
	c.seed = maphash.MakeSeed()
	c.slots = make([]atomic.Pointer[cachedWord], cacheSlots)
}

// lookup returns the cached word, or nil, and the slot where to store it.
func (c *wordCache) lookup(word []byte) (*cachedWord, *atomic.Pointer[cachedWord]) {
	hash := maphash.Bytes(c.seed, word)
	slot := &c.slots[hash%cacheSlots]
	w := slot.Load()
	if w == nil || string(w.word[:w.n]) == string(word) {
		return w, slot
	}
	second := &c.slots[hash>>32%cacheSlots]
	if w = second.Load(); w != nil && string(w.word[:w.n]) == string(word) {
		return w, second
	}
	return nil, second
}

// encodeWords appends the file ids of a text word by word. It reports whether they are those of the
// whole text; if not, what it appended is meaningless. drop is that of segmenter.
func (t *Tokenizer) encodeWords(dst []int32, normal []byte, sc *scratch, drop *dropout.Merges) ([]int32, bool) {
	start := len(dst)
	sum := 0.0
	for len(normal) > 0 {
		n := t.words.next(normal)
		word := normal[:n]
		normal = normal[n:]
		var cached *cachedWord // nil if it does not fit
		if n <= cacheMaxWord {
			var slot *atomic.Pointer[cachedWord]
			if cached, slot = t.cache.lookup(word); cached == nil {
				cached = t.newCachedWord(word, sc, slot)
			}
		}
		switch {
		case t.unigram != nil:
			if cached == nil || !(sum < float64(cached.limit)) {
				return dst, false
			}
			sum += math.Abs(float64(cached.score))
		case cached == nil || drop != nil && drop.Any(int(cached.merges)):
			sc.segments = t.bpe.segment(sc.segments[:0], word, sc, drop)
			dst = t.appendIDs(dst, start, sc.segments, word)
			continue
		}
		dst = t.appendCached(dst, start, cached)
	}
	return dst, true
}

// appendCached appends the file ids of a word. Those of the text before begin at dst[start].
func (t *Tokenizer) appendCached(dst []int32, start int, c *cachedWord) []int32 {
	ids := c.ids[:c.m]
	if len(ids) > 0 && ids[0] == t.unknown && len(dst) > start && dst[len(dst)-1] == t.unknown {
		ids = ids[1:]
	}
	return append(dst, ids...)
}

// newCachedWord segments a word and stores it in slot. It returns nil if the ids do not fit.
func (t *Tokenizer) newCachedWord(word []byte, sc *scratch, slot *atomic.Pointer[cachedWord]) *cachedWord {
	c := new(cachedWord)
	if t.unigram != nil {
		sc.segments, c.score, c.limit = t.unigram.segmentWord(sc.segments[:0], word, sc)
	} else {
		sc.segments = t.bpe.segment(sc.segments[:0], word, sc, nil)
		c.merges = uint8(len(sc.bpe.symbols) - len(sc.segments))
	}
	ids := t.appendIDs(c.ids[:0], 0, sc.segments, word)
	if len(ids) > len(c.ids) {
		return nil
	}
	c.n, c.m = uint8(copy(c.word[:], word)), uint8(len(ids))
	slot.Store(c)
	return c
}
