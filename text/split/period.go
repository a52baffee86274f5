package split

import (
	"regexp"
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
	}
	return true
}

// tokenBefore returns the word that ends at end: the characters after white space, an opening quote
// or bracket, a dash, a slash or a character of Chinese or Japanese. It is "" if it is too long.
func (s *sentence) tokenBefore(end int) string {
	before := s.w[max(0, end-maxToken-utf8.UTFMax):end]
	token := before[len(strings.TrimRightFunc(before, inToken)):]
	if len(token) > maxToken {
		return ""
	}
	return token
}

func inToken(r rune) bool {
	switch r {
	case '-', '\'', '’':
		return true
	}
	return !isSpace(r) && !opens(r) && !closes(r) && r != '/' && !isCJK(r)
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
	if strings.Contains(token, ".") && initials.MatchString(token) {
		return middle
	}
	if thaiAbbreviation.MatchString(token) {
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

// initials are single letters with periods or hyphens between them.
var initials = regexp.MustCompile(`^[.-]*\pM*\pL\pM*([.-]+\pM*\pL\pM*)+[.-]*$`)

// thaiAbbreviation has at most four letters between periods, all consonants of Thai. Words of Thai
// have no spaces between them, so that few other tokens lack vowels.
var thaiAbbreviation = regexp.MustCompile(`^([ก-ฮ]{1,4}|[ก-ฮ]{0,4}(\.[ก-ฮ]{0,4})+)$`)

// isNumber reports whether s is not empty and has digits only.
func isNumber(s string) bool { return s != "" && strings.TrimFunc(s, unicode.IsDigit) == "" }

const romanDigits = "IVXLC"

// isRoman reports whether s is a Roman numeral of at least two digits.
func isRoman(s string) bool { return len(s) > 1 && strings.Trim(s, romanDigits) == "" }

// isQuantity reports whether s, a word, is or ends with a number, or is a Roman numeral.
func isQuantity(s string) bool {
	return s != "" && (unicode.IsDigit(lastRune(s)) || strings.Trim(s, romanDigits) == "")
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
	case s.words.has(next.word, ordinalNoun):
		return false
	case s.words.isStarter(next) || s.isNumbered(before):
		return true
	}
	return !s.words.ordinals && !s.words.has(before, beforeOrdinal)
}
