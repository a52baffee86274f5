package train

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"

	"tfm/text/sentencepiece"
)

// MaxTableChars limits a Trainer's table: the number of characters of its distinct fragments.
const MaxTableChars = 16 << 20

const (
	maxFragment   = 4192    // bytes, spm_train's limit of a sentence
	maxCachedWord = 64      // bytes
	maxCacheBytes = 8 << 20 // total length of the cached words
)

// Values of fragment.next besides a character. The end of a text has value 0.
const (
	noNext    = -1
	manyNexts = -2
)

// fragment is normalized text between two places that no piece can cross: spaces, changes of
// script and special pieces.
type fragment struct {
	text  string
	count int64
	next  rune // the character after it if that is the same in all texts
}

// follow records that c follows the fragment.
func (f *fragment) follow(c rune) {
	if f.next != c {
		if f.next == noNext {
			f.next = c
		} else {
			f.next = manyNexts
		}
	}
}

// fragmentTable counts fragments. Beyond its limit it is a sample, like the table of bpe.Trainer,
// which describes the method.
type fragmentTable struct {
	fragments []fragment
	index     map[string]int32 // inverse of fragments
	chars     int              // total length of the fragments
	maxChars  int              // limit of chars; 0 is MaxTableChars
	threshold int64            // a power of two; 0 while the table holds all fragments
	random    rand.PCG
}

// add counts one occurrence of a fragment and returns its index, or -1 if it is not in the sample.
func (t *fragmentTable) add(s []byte) int32 {
	if i, ok := t.index[string(s)]; ok {
		t.fragments[i].count++
		return i
	}
	if t.draw() > 0 {
		return -1
	}
	return t.insert(fragment{string(s), max(t.threshold, 1), noNext})
}

// insert adds a new fragment.
func (t *fragmentTable) insert(f fragment) int32 {
	if t.index == nil {
		t.index = make(map[string]int32)
	}
	i := int32(len(t.fragments))
	t.index[f.text] = i
	t.fragments = append(t.fragments, f)
	t.chars += utf8.RuneCountInString(f.text)
	return i
}

// full reports whether the table exceeds its limit.
func (t *fragmentTable) full() bool { return t.chars > cmp.Or(t.maxChars, MaxTableChars) }

// draw returns a uniform random number from 0 to threshold-1.
func (t *fragmentTable) draw() int64 {
	if t.threshold == 0 {
		return 0
	}
	return int64(t.random.Uint64() & uint64(t.threshold-1))
}

// subsample doubles the threshold until a quarter of the table is free. Indices change.
func (t *fragmentTable) subsample() {
	for t.chars > cmp.Or(t.maxChars, MaxTableChars)/4*3 {
		t.threshold = 2 * max(t.threshold, 1)
		old := t.fragments
		t.fragments, t.chars = old[:0], 0
		clear(t.index)
		for _, f := range old {
			if f.count >= t.threshold || t.draw() < f.count {
				f.count = max(f.count, t.threshold)
				t.insert(f)
			}
		}
		clear(old[len(t.fragments):]) // frees the strings
	}
}

// specialPieces are the pieces that are cut out of the text.
type specialPieces struct {
	texts   map[string]bool
	lengths []int     // of texts, descending
	first   [256]bool // whether a text begins with a byte
}

// add adds a piece.
func (p *specialPieces) add(text string) {
	if p.texts == nil {
		p.texts = map[string]bool{}
	}
	p.texts[text] = true
	p.first[text[0]] = true
	if !slices.Contains(p.lengths, len(text)) {
		p.lengths = append(p.lengths, len(text))
		slices.SortFunc(p.lengths, func(a, b int) int { return b - a })
	}
}

// longest returns the length of the longest piece that s, which is not empty, begins with, or 0.
func (p *specialPieces) longest(s []byte) int {
	if !p.first[s[0]] {
		return 0
	}
	for _, n := range p.lengths {
		if n <= len(s) && p.texts[string(s[:n])] {
			return n
		}
	}
	return 0
}

// fragmenter splits texts into fragments and counts them.
type fragmenter struct {
	table      fragmentTable
	rules      *pieceRules
	normalizer *sentencepiece.Normalizer
	special    specialPieces
	wholeLines bool // words are not normalized alone

	normal []byte // scratch
	found  []int32
	last   int32 // index of the last fragment of the text, or -1

	// cache has the fragments of words that are in the table.
	cache      map[string][]int32
	cacheBytes int
}

// add counts the fragments of a text.
func (f *fragmenter) add(s string) {
	f.last = -1
	whole := f.wholeLines || strings.Contains(s, space) // normalization trims ▁ too
	for s != "" {
		word := s
		if !whole {
			word, s, _ = strings.Cut(s, " ")
			if word == "" {
				continue
			}
		} else {
			s = ""
		}
		indices, ok := f.cache[word]
		if ok {
			for _, i := range indices {
				f.table.fragments[i].count++
			}
			if len(indices) == 0 {
				continue
			}
		} else {
			f.normal = f.normalizer.Append(f.normal[:0], word)
			if len(f.normal) == 0 {
				f.remember(word, nil)
				continue
			}
		}
		f.followLast(spaceRune)
		if !ok {
			indices, ok = f.count(f.normal)
			if ok {
				f.remember(word, indices)
			}
		}
		f.last = -1
		if n := len(indices); n > 0 {
			f.last = indices[n-1]
		}
		if f.table.full() {
			f.followLast(manyNexts) // not known any more
			f.table.subsample()
			f.last = -1
			clear(f.cache)
			f.cacheBytes = 0
		}
	}
	f.followLast(0)
}

// followLast records that c follows the last fragment.
func (f *fragmenter) followLast(c rune) {
	if f.last >= 0 {
		f.table.fragments[f.last].follow(c)
	}
}

// remember caches the fragments of a word.
func (f *fragmenter) remember(word string, indices []int32) {
	if len(word) > maxCachedWord {
		return
	}
	if f.cache == nil {
		f.cache = make(map[string][]int32)
	}
	if f.cacheBytes += len(word); f.cacheBytes > maxCacheBytes {
		clear(f.cache)
		f.cacheBytes = len(word)
	}
	own := make([]int32, len(indices))
	copy(own, indices)
	f.cache[strings.Clone(word)] = own
}

// count counts the fragments of normalized text, which is not empty. It returns their indices, of
// which the last is -1 if the text does not end in a fragment, and whether all are in the table.
func (f *fragmenter) count(normal []byte) (indices []int32, all bool) {
	f.found = f.found[:0]
	all = true
	start := 0
	flush := func(end int, next rune) {
		if end == start {
			return
		}
		i := f.table.add(normal[start:end])
		if i < 0 {
			all = false
		} else if next >= 0 {
			f.table.fragments[i].follow(next)
		}
		f.found = append(f.found, i)
		start = end
	}
	before := reserved
	for i := 0; i < len(normal); {
		if n := f.special.longest(normal[i:]); n > 0 {
			flush(i, boundaryChar)
			i += n
			start, before = i, reserved
			continue
		}
		c, size := rune(normal[i]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRune(normal[i:])
		}
		class := f.rules.class(c)
		if i > start && (f.rules.splits(before, class) || i+size-start > maxFragment) {
			flush(i, c)
		}
		i += size
		if class == reserved {
			start = i
		}
		before = class
	}
	if start == len(normal) {
		f.found = append(f.found, -1)
		all = false
	}
	flush(len(normal), noNext)
	return f.found, all
}
