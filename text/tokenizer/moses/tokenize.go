package moses

import (
	"strings"
	"unicode/utf8"
)

// tokenizer separates words and punctuation, as tokenizer.perl of Moses.
type tokenizer struct {
	language string
	classes  *classTable
	letters  class // of words
	word     class // letters and digits of words
	prefixes prefixes
}

// newTokenizer returns the tokenizer of a language, with the defaults of sacremoses.
func newTokenizer(language string) *tokenizer {
	t := &tokenizer{language: language, classes: classes(), prefixes: prefixesOf(language)}
	t.letters, t.word = wordClasses(language)
	return t
}

// tokenize puts white space between the words of a line.
func (t *tokenizer) tokenize(l *line) {
	l.joinSpaces(isSpace)
	l.keep(func(r rune) bool { return r >= ' ' })
	l.trim()
	t.separateSymbols(l)
	l.markDots()
	t.separateCommas(l)
	t.separateApostrophes(l)
	t.separateStops(l)
	l.separateLastApostrophe()
	l.restoreDots()
	l.replace(escapes)
}

// separateSymbols puts spaces around characters that are no part of words.
func (t *tokenizer) separateSymbols(l *line) {
	for _, c := range l.chars {
		if t.classes.is(c.r, t.word) || isSpace(c.r) || strings.ContainsRune(".'`,-", c.r) {
			l.out = append(l.out, c)
		} else {
			l.out = append(l.out, char{' ', c.at}, c, char{' ', c.at})
		}
	}
	l.may.add(' ')
	l.swap()
}

// A run of several full stops is the word DOT for each and MULTI while other rules are applied.
const (
	dot   = "DOT"
	multi = "MULTI"
)

var dotRunes, multiRunes = []rune(dot), []rune(multi)

// markDots replaces runs of full stops.
func (l *line) markDots() {
	l.rewrite('.', func(i, _ int) int {
		end := l.run(i, func(r rune) bool { return r == '.' })
		if end == i+1 {
			return i
		}
		l.write(" ", l.chars[i])
		for _, c := range l.chars[i:end] {
			l.write(dot, c)
		}
		l.write(multi, l.chars[end-1])
		if end < len(l.chars) {
			l.write(" ", l.chars[end-1])
		}
		return end
	})
}

// restoreDots replaces what markDots wrote, and such words of the text, by full stops.
func (l *line) restoreDots() {
	if !l.mayHave(multiRunes) {
		return
	}
	l.rewrite('D', func(i, _ int) int {
		end := i
		for l.hasAt(end, dotRunes) {
			end += len(dot)
		}
		if !l.hasAt(end, multiRunes) {
			l.out = append(l.out, l.chars[i:end]...)
			return end
		}
		for ; i < end; i += len(dot) {
			l.write(".", l.chars[i])
		}
		return end + len(multi)
	})
}

// separateCommas puts spaces around commas that are not between numbers.
func (t *tokenizer) separateCommas(l *line) {
	isNumber := func(i int) bool { return t.classes.is(l.chars[i].r, number) }
	l.rewrite(',', func(i, last int) int {
		if i == last || isNumber(i-1) {
			return i
		}
		l.write(" , ", l.chars[i])
		return i + 1
	})
	l.rewrite(',', func(i, _ int) int {
		if i+1 == len(l.chars) || isNumber(i+1) {
			return i
		}
		l.write(" , ", l.chars[i])
		l.out = append(l.out, l.chars[i+1])
		return i + 2
	})
	if n := len(l.chars); n > 1 && l.chars[n-1].r == ',' && isNumber(n-2) {
		comma := l.chars[n-1]
		l.out = append(l.out, l.chars[:n-1]...)
		l.write(" , ", comma)
		l.swap()
	}
}

// apostropheRule puts spaces around an apostrophe between characters of two kinds.
type apostropheRule struct {
	left, right func(*classTable, rune) bool
	new         string
}

func isLetter(t *classTable, r rune) bool   { return t.is(r, alpha|mark) }
func isNoLetter(t *classTable, r rune) bool { return !t.is(r, alpha|mark) }
func isNumber(t *classTable, r rune) bool   { return t.is(r, number) }
func isOther(t *classTable, r rune) bool    { return !t.is(r, alpha|mark|number) }
func isPlural(_ *classTable, r rune) bool   { return r == 's' }

var apostropheRules = rulesOf("'", " ' ")

var (
	englishApostrophes = []apostropheRule{
		{isNoLetter, isNoLetter, " ' "}, {isOther, isLetter, " ' "}, {isLetter, isNoLetter, " ' "}, {isLetter, isLetter, " '"}, {isNumber, isPlural, " '"},
	}
	frenchApostrophes = []apostropheRule{
		{isNoLetter, isNoLetter, " ' "}, {isNoLetter, isLetter, " ' "}, {isLetter, isNoLetter, " ' "}, {isLetter, isLetter, "' "},
	}
)

// separateApostrophes separates the parts of contractions.
func (t *tokenizer) separateApostrophes(l *line) {
	var rules []apostropheRule
	switch t.language {
	case "en":
		rules = englishApostrophes
	case "fr", "it":
		rules = frenchApostrophes
	default:
		l.replace(apostropheRules)
	}
	for _, u := range rules {
		l.rewrite('\'', func(i, last int) int {
			if i == last || i+1 == len(l.chars) || !u.left(t.classes, l.chars[i-1].r) || !u.right(t.classes, l.chars[i+1].r) {
				return i
			}
			l.write(u.new, l.chars[i])
			l.out = append(l.out, l.chars[i+1])
			return i + 2
		})
	}
}

// separateStops separates a full stop at the end of a word, unless it is part of the word.
func (t *tokenizer) separateStops(l *line) {
	if l.may.has('.') {
		var previous []char
		write := func(word, next []char) {
			if len(l.out) > 0 {
				l.out = append(l.out, char{' ', word[0].at})
			}
			l.out = append(l.out, word...)
			if n := len(word) - 1; n > 0 && word[n].r == '.' && !t.keepsStop(word[:n], next) {
				l.out = append(l.out[:len(l.out)-1], char{' ', word[n].at}, word[n])
			}
		}
		l.words(func(word []char) {
			if previous != nil {
				write(previous, word)
			}
			previous = word
		})
		if previous != nil {
			write(previous, nil)
		}
		l.swap()
		return
	}
	l.joinSpaces(isSpace)
	l.trim()
}

// keepsStop reports whether the full stop after a word is part of it: in abbreviations such as e.g.
// and U.S., after prefixes and before lower case. next is the next word, nil for none.
func (t *tokenizer) keepsStop(word, next []char) bool {
	hasStop, hasLetter := false, false
	for _, c := range word {
		hasStop = hasStop || c.r == '.'
		hasLetter = hasLetter || t.classes.is(c.r, t.letters)
	}
	numeric, isPrefix := false, false
	if len(word) < 64 { // more than any prefix
		var buf [64 * utf8.UTFMax]byte
		s := buf[:0]
		for _, c := range word {
			s = utf8.AppendRune(s, c.r)
		}
		numeric, isPrefix = t.prefixes[string(s)]
	}
	return hasStop && hasLetter || isPrefix && !numeric || next != nil && t.classes.is(next[0].r, lower) ||
		numeric && next != nil && next[0].r >= '0' && next[0].r <= '9'
}

// separateLastApostrophe separates .' at the end of a line.
func (l *line) separateLastApostrophe() {
	n := len(l.chars)
	if n < 2 || !l.hasAt(n-2, []rune(".'")) {
		return
	}
	stop, apostrophe := l.chars[n-2], l.chars[n-1]
	l.chars = append(l.chars[:n-2], char{' ', stop.at}, stop, char{' ', apostrophe.at}, apostrophe)
}

// escapes are the names of the characters with a meaning in Moses' files.
var escapes = rulesOf("&", "&amp;", "|", "&#124;", "<", "&lt;", ">", "&gt;", "'", "&apos;", `"`, "&quot;", "[", "&#91;", "]", "&#93;")
