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

// maxFragment is spm_train's limit of a sentence in bytes.
const maxFragment = 4192

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
	last   int32  // index of the last fragment of the text, or -1
}

// add counts the fragments of a text.
func (f *fragmenter) add(s string) {
	f.last = -1
	words := strings.SplitSeq(s, " ")
	if strings.Contains(s, space) { // normalization trims ▁ too
		words = slices.Values([]string{s})
	}
	for word := range words {
		f.normal = f.normalizer.Append(f.normal[:0], word)
		if len(f.normal) == 0 {
			continue
		}
		f.followLast(spaceRune)
		f.count(f.normal)
		if f.table.Full() {
			f.followLast(manyNexts) // not known any more
			f.table.subsample()
			f.last = -1
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

// count counts the fragments of normalized text, which is not empty, and sets last.
func (f *fragmenter) count(normal []byte) {
	f.last = -1
	start := 0
	flush := func(end int, next nextChar) {
		if end == start {
			return
		}
		if f.last = f.table.add(normal[start:end]); f.last >= 0 {
			f.table.next[f.last].follow(next)
		}
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
		f.last = -1
	}
	flush(len(normal), noNext)
}
