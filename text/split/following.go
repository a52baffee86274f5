package split

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// letterKind is the kind of a character that begins the text after a stop.
type letterKind uint8

const (
	symbol letterKind = iota
	upperLetter
	lowerLetter
	caseless // a letter of a script without case
	digit
)

func kindOf(r rune) letterKind {
	switch {
	case isUpper(r):
		return upperLetter
	case isLower(r):
		return lowerLetter
	case unicode.IsLetter(r):
		return caseless
	case unicode.IsDigit(r):
		return digit
	}
	return symbol
}

// following describes the text after a stop and white space.
type following struct {
	kind    letterKind
	word    string // with the first letter
	opened  bool   // quotes or brackets precede it
	dash    bool   // a dash precedes it
	branded bool   // a word such as iPhone, whose lower-case first letter may begin a sentence
	closing bool   // only quotes precede the end of the text or of a clause
	dotted  bool   // a period follows the word
	label   bool   // a letter with a number, as A1 or A.1
}

const (
	maxOpeners = 8  // characters before the first letter
	maxNext    = 64 // bytes of its word
)

// following returns the description of the text at i.
func (s *sentence) following(i int) (f following) {
	w := s.w
	marker := s.isMarker(i)
	for range maxOpeners {
		if i == len(w) {
			break
		}
		r, size := utf8.DecodeRuneInString(w[i:])
		if !opens(r) {
			break
		}
		f.opened = f.opened || !isDash(r)
		f.dash = f.dash || isDash(r)
		i += size
		if n, breaks := white(w[i:]); n > 0 && breaks == 0 && (isDash(r) || r == '«') {
			i += n
		}
	}
	f.closing = f.opened && (i == len(w) || isSpace(firstRune(w[i:])) || isClauseEnd(firstRune(w[i:])))
	f.word = wordAt(w[i:])
	f.dotted = strings.HasPrefix(w[i+len(f.word):], ".")
	f.label = f.word != "" && isLabel(w[i:])
	if i < len(w) {
		f.kind = kindOf(firstRune(w[i:]))
	}
	if f.kind == lowerLetter && (marker || isElided(w[:i], w[i:])) {
		f.kind = upperLetter
	}
	f.branded = f.kind == lowerLetter && strings.IndexFunc(f.word, isUpper) > 0
	return f
}

// wordAt returns the letters and digits at the begin of w, up to maxNext bytes.
func wordAt(w string) string {
	n := 0
	for n < min(len(w), maxNext) {
		r, size := utf8.DecodeRuneInString(w[n:])
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) {
			break
		}
		n += size
	}
	return w[:n]
}

// isLabel reports whether w begins with a letter and a number, between which a period may be.
func isLabel(w string) bool {
	r, size := utf8.DecodeRuneInString(w)
	return unicode.IsLetter(r) && unicode.IsDigit(firstRune(strings.TrimPrefix(w[size:], ".")))
}

// isElided reports whether a single letter after an apostrophe begins word and the next word is
// upper-case, as in ’s Morgens.
func isElided(before, word string) bool {
	if r := lastRune(before); r != '’' && r != '\'' {
		return false
	}
	return len(word) > 2 && word[1] == ' ' && isUpper(firstRune(word[2:]))
}

// isMarker reports whether the marker of an item of a list is at i.
func (s *sentence) isMarker(i int) bool {
	w := s.w[i:min(len(s.w), i+maxNext)]
	r, size := utf8.DecodeRuneInString(w)
	spaced := size < len(w) && isSpace(firstRune(w[size:]))
	switch {
	case r == '・':
		return true
	case strings.ContainsRune("-*+•‣◦·#", r):
		return spaced
	case r == '—' || r == '–': // a dialogue
		n, _ := white(w[size:])
		k := kindOf(firstRune(w[size+n:]))
		return k == upperLetter || k == caseless || opens(firstRune(w[size+n:]))
	}
	bracketed := r == '(' || r == '（'
	if bracketed {
		w = w[size:]
	}
	label, n := listLabel(w)
	if n == 0 {
		return false
	}
	r, size = utf8.DecodeRuneInString(w[n:])
	rest := w[n+size:]
	switch {
	case r == ')' || r == '）':
		return true
	case bracketed:
		return false
	case r == '、':
		return label != letterLabel
	case r == '．':
		return label == numberLabel && kindOf(firstRune(rest)) != digit
	case r != '.' || label == letterLabel:
		return false
	}
	space, _ := white(rest)
	if space == 0 {
		return isCJK(firstRune(rest))
	}
	word := wordAt(rest[space:])
	return kindOf(firstRune(word)) != lowerLetter && !(label == numberLabel && s.words.has(word, ordinalNoun))
}

const (
	numberLabel = iota + 1
	romanLabel
	letterLabel
)

// labels are the labels of items of a list, each in the group of its kind.
var labels = regexp.MustCompile(`^(?:([\p{Nd}一二三四五六七八九十]{1,3})|([` + romanDigits + `]{2,5})|(\pL))`)

// listLabel returns the kind and length of the number, Roman numeral or letter that labels an item
// of a list at the begin of w. The length is 0 without one.
func listLabel(w string) (kind, n int) {
	groups := labels.FindStringSubmatch(w)
	for kind = numberLabel; kind < len(groups); kind++ {
		if n = len(groups[kind]); n > 0 {
			break
		}
	}
	if kind == letterLabel && isCJK(firstRune(w)) {
		return 0, 0
	}
	return kind, n
}
