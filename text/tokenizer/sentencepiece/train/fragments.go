package train

import (
	"slices"
	"strings"
	"unicode/utf8"

	"tfm/text/tokenizer/internal/tally"
	"tfm/text/tokenizer/sentencepiece"
)

// MaxTableChars limits a Trainer's table: the number of characters of its distinct fragments.
const MaxTableChars = tally.DefaultLimit

const (
	maxFragment   = 4192    // bytes, spm_train's limit of a sentence
	maxCachedWord = 64      // bytes
	maxCacheBytes = 8 << 20 // total length of the cached words
)

// nextChar is the character after a string, if that is the same at all its places, or one of the
// constants. The end of a text has value 0.
type nextChar rune

const (
	noNext    nextChar = -1
	manyNexts nextChar = -2
)

// follow records that c follows the string at a place.
func (n *nextChar) follow(c nextChar) {
	if *n == noNext {
		*n = c
	} else if c != *n && c != noNext {
		*n = manyNexts
	}
}

// fragmentTable counts fragments: normalized text between two places that no piece can cross, such
// as spaces, changes of script and special pieces. Beyond its limit it is a sample.
type fragmentTable struct {
	tally.Table
	next []nextChar // of each fragment
}

// add counts one occurrence of a fragment and returns its index, or -1 if it is not in the sample.
func (t *fragmentTable) add(s []byte) int32 {
	i, added := t.Add(s)
	if added {
		t.next = append(t.next, noNext)
	}
	return i
}

// subsample makes room in a full table. Indices change.
func (t *fragmentTable) subsample() {
	t.Subsample(func(from, to int) { t.next[to] = t.next[from] })
	t.next = t.next[:len(t.Strings)]
}

// specialPieces are the pieces that are cut out of the text by first byte, the longest first.
type specialPieces [256][]string

// add adds a piece.
func (p *specialPieces) add(text string) {
	list := append(p[text[0]], text)
	slices.SortFunc(list, func(a, b string) int { return len(b) - len(a) })
	p[text[0]] = list
}

// longest returns the length of the longest piece that s, which is not empty, begins with, or 0.
func (p *specialPieces) longest(s []byte) int {
	for _, text := range p[s[0]] {
		if len(text) <= len(s) && text == string(s[:len(text)]) {
			return len(text)
		}
	}
	return 0
}

// fragmenter splits texts into fragments and counts them.
type fragmenter struct {
	table      fragmentTable
	scripts    *scriptTable
	normalizer *sentencepiece.Normalizer
	special    specialPieces

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
	whole := strings.Contains(s, space) // normalization trims ▁ too
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
				f.table.Counts[i]++
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
		if f.table.Full() {
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
func (f *fragmenter) followLast(c nextChar) {
	if f.last >= 0 {
		f.table.next[f.last].follow(c)
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
	f.cache[strings.Clone(word)] = slices.Clone(indices)
}

// count counts the fragments of normalized text, which is not empty. It returns their indices, of
// which the last is -1 if the text does not end in a fragment, and whether all are in the table.
func (f *fragmenter) count(normal []byte) (indices []int32, all bool) {
	f.found = f.found[:0]
	all = true
	start := 0
	flush := func(end int, next nextChar) {
		if end == start {
			return
		}
		i := f.table.add(normal[start:end])
		if i < 0 {
			all = false
		} else {
			f.table.next[i].follow(next)
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
		c, size := utf8.DecodeRune(normal[i:])
		class := f.scripts.class(c)
		if i > start && (splits(before, class) || i+size-start > maxFragment) {
			flush(i, nextChar(c))
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
