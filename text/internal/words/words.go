// Package words measures sentences: their words as hashes, their lengths, and the scripts of their
// letters. It is what packages clean and holdout compare sentences by.
package words

import (
	"unicode"
	"unicode/utf8"

	"tfm/internal/hash"
	"tfm/text/script"
)

// Word is the hash of a word in lower case, the same in every run: of a run of letters and the
// marks on them, of one letter of a script without spaces, or of a run of digits. It has one of
// three flags.
type Word uint64

const (
	letterFlag Word = 1 << iota // letters
	wideFlag                    // a letter of a script without spaces
	digitFlag                   // digits

	// NoWord is different from all words.
	NoWord = letterFlag | wideFlag | digitFlag
)

// IsNumber reports whether w is of digits.
func (w Word) IsNumber() bool { return w&digitFlag != 0 }

// WithoutValue returns w, or of a number a word that all numbers have.
func (w Word) WithoutValue() Word {
	if w.IsNumber() {
		return digitFlag
	}
	return w
}

// Hash returns a hash of words in which all numbers are equal, the same in every run.
func Hash(list []Word) uint64 {
	h := uint64(len(list))
	for _, w := range list {
		h = hash.Mix(h ^ uint64(w.WithoutValue()))
	}
	return h
}

// Sentence has the measures of a sentence.
type Sentence struct {
	Chars   int // Unicode code points
	Words   []Word
	Stems   []Word            // by word: the hash of its first stemLetters letters
	Spaced  int               // words between white space, in scripts with spaces
	Longest int               // characters of the longest run without white space
	Run     int               // characters of the longest run of one character, white space aside
	Letters [script.Count]int // by script
	Digits  int
}

// stemLetters is the number of letters that forms of a word usually share.
const stemLetters = 5

// Measure sets the measures of s, which is valid UTF-8. It reuses the memory of words.
func (d *Sentence) Measure(s string) {
	*d = Sentence{Words: d.Words[:0], Stems: d.Stems[:0]}
	w := wordHash{of: d}
	length, counted := 0, false // of the run without white space
	last, same := rune(-1), 0
	for _, r := range s {
		d.Chars++
		if unicode.IsSpace(r) {
			w.end()
			length, counted = 0, false
			continue
		}
		if r != last {
			last, same = r, 0
		}
		same++
		d.Run = max(d.Run, same)
		length++
		class := script.Of(r)
		switch {
		case class != script.None && !class.Spaced():
			d.Letters[class]++
			w.end()
			w.add(r, wideFlag)
			w.end()
			length, counted = 0, false
		case class != script.None || unicode.IsDigit(r):
			if class != script.None {
				d.Letters[class]++
				w.add(unicode.ToLower(r), letterFlag)
			} else {
				d.Digits++
				w.add('0'+rune(DigitValue(r)), digitFlag)
			}
			if !counted {
				counted = true
				d.Spaced++
			}
		case !insideWord(r):
			w.end()
		}
		d.Longest = max(d.Longest, length)
	}
	w.end()
}

// wordHash hashes the words of a sentence.
type wordHash struct {
	of   *Sentence
	kind Word   // flag
	hash uint64 // of the current word; 0: none
	stem uint64
	n    int // letters
}

// add adds a letter in lower case, or a digit, to the current word.
func (w *wordHash) add(r rune, kind Word) {
	if kind != w.kind {
		w.end()
		w.kind = kind
	}
	w.hash = hash.Mix(w.hash ^ uint64(r))
	if w.n++; w.n <= stemLetters {
		w.stem = w.hash
	}
}

// end ends the current word, if there is one.
func (w *wordHash) end() {
	if w.n == 0 {
		return
	}
	w.of.Words = append(w.of.Words, Word(w.hash)&^NoWord|w.kind)
	w.of.Stems = append(w.of.Stems, Word(w.stem)&^NoWord|w.kind)
	w.hash, w.stem, w.n = 0, 0, 0
}

// Length returns the length of the sentence in words, or in characters of scripts without spaces.
func (d *Sentence) Length() int {
	length := d.Spaced
	for class, n := range d.Letters {
		if !script.Script(class).Spaced() {
			length += n
		}
	}
	return length
}

// insideWord reports whether a character that is neither letter nor digit ends no word: a combining
// mark, a joiner or a soft hyphen.
func insideWord(r rune) bool {
	return r >= utf8.RuneSelf && (r == '\u00AD' || r == '\u200C' || r == '\u200D' || unicode.Is(unicode.Mn, r))
}

// DigitValue returns the value of a decimal digit of any script. The digits of a script are ten
// consecutive characters.
func DigitValue(r rune) int {
	before := 0 // consecutive digits before r
	for unicode.IsDigit(r - rune(before) - 1) {
		before++
	}
	return before % 10
}
