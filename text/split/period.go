package split

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxToken is the limit in bytes of the word before a period that the rules look at.
const maxToken = 48

// periodEnds is ends for periods.
func (s *sentence) periodEnds(x stopContext) bool {
	token := s.tokenBefore(x.start)
	start := x.start - len(token)
	next := x.next
	class := s.classOf(token, start)
	switch next.kind {
	case lowerLetter:
		return class == regular && !next.dash && !x.quoted &&
			(next.branded || s.isLowerCase() && !isSingleLetter(token) && !strings.Contains(token, "."))
	case symbol:
		return class == regular || class == ending
	}
	closed := x.end > x.start+1 && next.kind != caseless // quotes or brackets close
	if isBracketed := start > 0 && s.w[start-1] == '('; closed && isBracketed {
		class = middle // a word in brackets, as in (Jr.)
	} else if closed && class != inner {
		class = regular
	}
	spaced := start == 0 || isSpace(lastRune(s.w[:start])) || opens(lastRune(s.w[:start]))
	if isSingleLetter(token) && spaced && !closed && (class == regular || class == numbered && next.kind != digit) {
		class = middle
	}
	if class == regular && isNumber(token) {
		return s.numberEnds(token, start, x)
	}
	if class == regular && isRoman(token) && (start == 0 || s.words.ordinals && !s.words.isStarter(next)) {
		return false
	}
	switch class {
	case ending:
		return next.kind != digit || !isQuantity(s.wordBefore(start))
	case inner:
		return false
	case middle:
		return next.kind == upperLetter && s.words.isStarter(next) && !s.isLabel(start)
	case numbered:
		return next.kind != digit && !isRoman(next.word) && !next.label
	case unit: // ends only after a number
		if next.kind == digit || !isQuantity(s.wordBefore(start)) {
			return next.kind == upperLetter && !s.isLabel(start) && s.words.isStarter(next)
		}
		return true
	}
	return true
}

// tokenBefore returns the word that ends at end: the characters after white space, an opening quote
// or bracket, a dash, a slash or a character of Chinese or Japanese. It is "" if it is too long.
func (s *sentence) tokenBefore(end int) string {
	start := end
	for start > 0 {
		r, size := utf8.DecodeLastRuneInString(s.w[:start])
		if isSpace(r) || r != '-' && r != '\'' && r != '’' && opens(r) || closes(r) && r != '’' || r == '/' || isCJK(r) {
			break
		}
		if start -= size; end-start > maxToken {
			return ""
		}
	}
	return s.w[start:end]
}

// wordBefore returns the word before the white space that ends at end, with its punctuation.
func (s *sentence) wordBefore(end int) string {
	before := strings.TrimRightFunc(s.w[max(0, end-2*maxToken):end], isSpace)
	return before[1+strings.LastIndexFunc(before, isSpace):] // 1 byte: other spaces remain
}

// classOf returns the class of the word before a period, which begins at start: that of the word
// with the short one before it, as in z. B., of the word, or of its part after a hyphen.
func (s *sentence) classOf(token string, start int) class {
	if before := s.wordBefore(start); strings.HasSuffix(before, ".") && utf8.RuneCountInString(before) <= 4 && start > 0 {
		before = strings.TrimLeftFunc(before, opens)
		if c := s.words.classOf(before, token); c != regular {
			return c
		}
	}
	if c := s.words.classOf("", token); c != regular {
		return c
	}
	if isInitials(token) {
		return middle
	}
	if isThaiAbbreviation(token) {
		return inner
	}
	if i := strings.LastIndexAny(token, "-'’"); i > 0 {
		_, size := utf8.DecodeRuneInString(token[i:])
		if c := s.words.classOf("", token[i+size:]); c != regular {
			return c
		}
	}
	if strings.HasSuffix(token, "str") { // a street of German
		return middle
	}
	return regular
}

// isSingleLetter reports whether token is one letter, or one with a line that lengthens it in
// Arabic.
func isSingleLetter(token string) bool {
	r, size := utf8.DecodeRuneInString(token)
	rest := strings.Trim(token[size:], "\u0640\u0301\u0306\u0308")
	return unicode.IsLetter(r) && rest == "" && !isCJK(r)
}

// isInitials reports whether token has single letters with periods or hyphens between them.
func isInitials(token string) bool {
	letters := 0
	for part := range strings.FieldsFuncSeq(token, func(r rune) bool { return r == '.' || r == '-' }) {
		n := 0
		for _, r := range part {
			switch {
			case unicode.IsLetter(r):
				n++
			case !unicode.IsMark(r):
				return false
			}
		}
		if n != 1 {
			return false
		}
		letters++
	}
	return letters > 1 && strings.Contains(token, ".")
}

// isThaiAbbreviation reports whether token, or each of its parts between periods, has at most four
// letters, all consonants of Thai. Words of Thai have no spaces between them, so that few other
// tokens lack vowels.
func isThaiAbbreviation(token string) bool {
	n := 0
	for _, r := range token {
		switch {
		case r == '.':
			n = 0
		case r < 0x0E01 || r > 0x0E2E || n == 4:
			return false
		default:
			n++
		}
	}
	return token != ""
}

// isNumber reports whether s is not empty and has digits only.
func isNumber(s string) bool {
	for _, r := range s {
		if !unicode.IsDigit(r) {
			return false
		}
	}
	return s != ""
}

// isRoman reports whether s is a Roman numeral of at least two digits.
func isRoman(s string) bool {
	for i := range len(s) {
		if !isRomanDigit(rune(s[i])) {
			return false
		}
	}
	return len(s) > 1
}

// isQuantity reports whether s, a word, is or ends with a number, or is a Roman numeral.
func isQuantity(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return unicode.IsDigit(r) || isRoman(s) || len(s) == 1 && isRomanDigit(rune(s[0]))
}

// isLabel reports whether a word that begins at start labels the sentence as an item of a list.
func (s *sentence) isLabel(start int) bool {
	return strings.TrimLeftFunc(s.w[:start], opens) == ""
}

// isNumbered reports whether word is an abbreviation before a number that is no ordinal, as in
// p. 12.
func (s *sentence) isNumbered(word string) bool {
	token, ok := strings.CutSuffix(strings.TrimLeftFunc(word, opens), ".")
	return ok && s.words.classOf("", token) == numbered
}

// maxOrdinalDigits is the limit of the digits of an ordinal before a noun.
const maxOrdinalDigits = 2

// numberEnds is periodEnds for a number that begins at start: the period ends the sentence unless
// the number labels an item, is an ordinal or belongs to a date.
func (s *sentence) numberEnds(token string, start int, x stopContext) bool {
	digits := utf8.RuneCountInString(token)
	before, next := s.wordBefore(start), x.next
	switch {
	case digits <= 3 && (s.isLabel(start) || strings.HasSuffix(before, ":")):
		return false
	case next.kind == digit:
		isDay := digits <= 2 && next.dotted && isNumber(next.word) && len(next.word) <= 2
		isMonth := digits <= 2 && strings.HasSuffix(before, ".") && isNumber(strings.TrimSuffix(before, ".")) && len(next.word) == 4
		return !isDay && !isMonth
	case next.kind != upperLetter || digits > maxOrdinalDigits || next.opened || next.dash || start > 0 && !isSpace(lastRune(s.w[:start])):
		return true
	case s.words.isOrdinalNoun(next.word):
		return false
	case s.words.isStarter(next) || s.isNumbered(before):
		return true
	}
	return !s.words.ordinals && !s.words.beforeOrdinal[before]
}
