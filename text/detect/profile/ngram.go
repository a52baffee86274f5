package profile

import (
	"unicode"
	"unicode/utf8"
)

// HashBits is the size of the hash of an n-gram.
const HashBits = 22

const (
	maxWord  = 40 // characters of a word; the rest is ignored
	boundary = ' '
	maxGram  = 5 // characters of an n-gram
	maxHan   = 2 // of Chinese and Japanese
)

// Words reads the words of a text in one script.
type Words struct {
	text   string
	script Script
	word   [1 + maxWord + 1]rune // with boundaries
	hashes [(maxWord + 2) * maxGram]uint32
}

// NewWords returns the words of a text in a script.
func NewWords(text string, s Script) Words { return Words{text: text, script: s} }

// Next returns the hashes of the n-grams of the next word, in lower case and with the boundaries of
// the word, until the call after it. It returns nil at the end.
func (w *Words) Next() []uint32 {
	n := w.read()
	if n == 0 {
		return nil
	}
	w.word[0], w.word[n+1] = boundary, boundary
	return w.hash(w.word[:n+2])
}

// read sets word to the next word and returns its length. Marks of accents and apostrophes between
// letters belong to a word.
func (w *Words) read() int {
	n, apostrophe := 0, false
	for i := 0; i < len(w.text); {
		r, size := rune(w.text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(w.text[i:])
		}
		i += size
		switch {
		case ScriptOf(r) == w.script:
			r = lower(r)
		case n == 0:
			continue
		case r == '\'' || r == '’' || r == 'ʼ':
			apostrophe = true
			continue
		case unicode.Is(unicode.Mn, r) && r >= utf8.RuneSelf:
		default:
			w.text = w.text[i:]
			return n
		}
		if apostrophe && n < maxWord {
			n++
			w.word[n] = '\''
		}
		apostrophe = false
		if n < maxWord {
			n++
			w.word[n] = r
		}
	}
	w.text = ""
	return n
}

// lower returns a letter in lower case.
func lower(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		return r | 0x20
	case r < 0x530 || 0x1E00 <= r && r < 0x1F00: // Latin and Cyrillic
		return unicode.ToLower(r)
	}
	return r
}

// hash returns the hashes of the n-grams of a word, and of the word if it is longer.
func (w *Words) hash(word []rune) []uint32 {
	longest := maxGram
	if w.script == Han {
		longest = maxHan
	}
	n := 0
	for i := range word {
		h := uint64(0)
		for j, r := range word[i:min(i+longest, len(word))] {
			h = mix(h, r)
			if j > 0 || r != boundary {
				w.hashes[n] = uint32(h >> (64 - HashBits))
				n++
			}
		}
		if i == 0 && len(word) > longest {
			for _, r := range word[longest:] {
				h = mix(h, r)
			}
			w.hashes[n] = uint32(h >> (64 - HashBits))
			n++
		}
	}
	return w.hashes[:n]
}

// mix returns the hash of an n-gram with hash h and a further character.
func mix(h uint64, r rune) uint64 {
	h = (h ^ h>>32 ^ uint64(r)) * 0x9E3779B97F4A7C15
	return h
}
