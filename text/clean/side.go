package clean

import (
	"unicode"
	"unicode/utf8"

	"tfm/internal/hash"
	"tfm/text"
	"tfm/text/script"
)

// pair is a pair with the measures of both sides.
type pair struct {
	text.RepairedPair
	src, tgt side
}

// measure sets the measures.
func (p *pair) measure() {
	p.src.measure(p.Source)
	p.tgt.measure(p.Target)
}

// word is the hash of a word in lower case, the same in every run: of a run of letters and the
// marks on them, of one letter of a script without spaces, or of a run of digits. It has one of
// three flags.
type word uint64

const (
	letterFlag word = 1 << iota // letters
	wideFlag                    // a letter of a script without spaces
	digitFlag                   // digits

	wordFlags = letterFlag | wideFlag | digitFlag
)

// anyNumber replaces all numbers where their values do not count.
const anyNumber = digitFlag

func (w word) isNumber() bool { return w&digitFlag != 0 }

// hashWords returns a hash of words in which all numbers are equal, the same in every run.
func hashWords(words []word) uint64 {
	h := uint64(len(words))
	for _, w := range words {
		if w.isNumber() {
			w = anyNumber
		}
		h = hash.Mix(h ^ uint64(w))
	}
	return h
}

// side are the measures of a sentence.
type side struct {
	chars   int // Unicode code points
	words   []word
	stems   []word            // by word: the hash of its first stemLetters letters
	spaced  int               // words between white space, in scripts with spaces
	longest int               // characters of the longest run without white space
	run     int               // characters of the longest run of one character, white space aside
	letters [script.Count]int // by script
	digits  int
}

// stemLetters is the number of letters that forms of a word usually share.
const stemLetters = 5

// measure sets the measures of s, which is valid UTF-8. It reuses the memory of words.
func (d *side) measure(s string) {
	*d = side{words: d.words[:0], stems: d.stems[:0]}
	w := wordHash{side: d}
	length, counted := 0, false // of the run without white space
	last, same := rune(-1), 0
	for _, r := range s {
		d.chars++
		if unicode.IsSpace(r) {
			w.end()
			length, counted = 0, false
			continue
		}
		if r != last {
			last, same = r, 0
		}
		same++
		d.run = max(d.run, same)
		length++
		class := script.Of(r)
		switch {
		case class != script.None && !class.Spaced():
			d.letters[class]++
			w.end()
			w.add(r, wideFlag)
			w.end()
			length, counted = 0, false
		case class != script.None || unicode.IsDigit(r):
			if class != script.None {
				d.letters[class]++
				w.add(unicode.ToLower(r), letterFlag)
			} else {
				d.digits++
				w.add('0'+rune(digitValue(r)), digitFlag)
			}
			if !counted {
				counted = true
				d.spaced++
			}
		case !insideWord(r):
			w.end()
		}
		d.longest = max(d.longest, length)
	}
	w.end()
}

// wordHash hashes the words of a sentence.
type wordHash struct {
	side *side
	kind word   // flag
	hash uint64 // of the current word; 0: none
	stem uint64
	n    int // letters
}

// add adds a letter in lower case, or a digit, to the current word.
func (w *wordHash) add(r rune, kind word) {
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
	w.side.words = append(w.side.words, word(w.hash)&^wordFlags|w.kind)
	w.side.stems = append(w.side.stems, word(w.stem)&^wordFlags|w.kind)
	w.hash, w.stem, w.n = 0, 0, 0
}

// length returns the length of the sentence in words, or in characters of scripts without spaces.
func (d *side) length() int {
	length := d.spaced
	for class, n := range d.letters {
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

// digitValue returns the value of a decimal digit of any script. The digits of a script are ten
// consecutive characters.
func digitValue(r rune) int {
	before := 0 // consecutive digits before r
	for unicode.IsDigit(r - rune(before) - 1) {
		before++
	}
	return before % 10
}
