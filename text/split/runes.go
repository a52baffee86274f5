package split

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// isSpace reports whether r is white space, or a byte order mark.
func isSpace(r rune) bool {
	if r < utf8.RuneSelf {
		return r == ' ' || '\t' <= r && r <= '\r'
	}
	return r == '\uFEFF' || unicode.IsSpace(r)
}

// isCJK reports whether r belongs to a script without spaces between words whose sentences have no
// space between them either: Chinese or Japanese, with their punctuation.
func isCJK(r rune) bool {
	switch {
	case r < 0x2E80:
		return false
	case r <= 0x312F: // radicals, punctuation, kana, bopomofo
		return true
	case r < 0x31A0 || 0xA000 <= r && r < 0xF900: // Hangul, Yi and others
		return false
	case r <= 0x9FFF || r <= 0xFAFF:
		return true
	}
	return 0xFE30 <= r && r <= 0xFE4F || 0xFF00 <= r && r <= 0xFF9F || 0x1B000 <= r && r <= 0x1B16F || 0x20000 <= r && r <= 0x3FFFF
}

// isUpper reports whether r is an upper-case or titlecase letter.
func isUpper(r rune) bool { return unicode.IsUpper(r) || unicode.IsTitle(r) }

// isLower reports whether r is a lower-case letter. Georgian letters count as letters without case,
// because text does not begin sentences with the upper-case ones.
func isLower(r rune) bool { return unicode.IsLower(r) && !(0x10D0 <= r && r <= 0x10FF) }

// isEmoji reports whether r belongs to an emoji.
func isEmoji(r rune) bool {
	return 0x1F000 <= r && r <= 0x1FAFF || 0x2600 <= r && r <= 0x27BF || r == 0xFE0F || r == 0x200D
}

// isClauseEnd reports whether r ends a clause.
func isClauseEnd(r rune) bool {
	return strings.ContainsRune(",;:–—،؛、，；：·፣፤፥", r) || stopOf(r) != noStop
}

// The brackets within which sentences do not end. Those that match are at the same offset.
const (
	openers = "([{（［【《〈「『"
	closers = ")]}）］】》〉」』"
)

// closerOf returns the bracket that closes the bracket r, 0 if r opens none.
func closerOf(r rune) rune {
	i := strings.IndexRune(openers, r)
	if i < 0 {
		return 0
	}
	return firstRune(closers[i:])
}

// openerOf returns the quotation mark that opens what r closes, r for others.
func openerOf(r rune) string {
	i := strings.IndexRune("”’」』", r)
	if i < 0 {
		return string(r)
	}
	return string(firstRune("“‘「『"[i:]))
}

// isDirectionEnd reports whether r is a mark or the end of a direction of text.
func isDirectionEnd(r rune) bool {
	return r == '\u200E' || r == '\u200F' || r == '\u202C' || r == '\u2069'
}

// closes reports whether r closes a quotation or a bracket wherever it is.
func closes(r rune) bool { return strings.ContainsRune(closers+"”’›", r) }

// quotes reports whether r opens quotations in some languages and closes them in others.
func quotes(r rune) bool { return strings.ContainsRune("\"'“‘«»‹*_`＂", r) }

// opens reports whether r may precede the first letter of a sentence.
func opens(r rune) bool {
	return strings.ContainsRune("\"'“”„‟‘’‚«»‹›¿¡*_`#-–—―"+openers, r)
}

func isDash(r rune) bool { return r == '-' || r == '–' || r == '—' || r == '―' }

// lastRune returns the last character of s, utf8.RuneError of an empty string.
func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

// firstRune returns the first character of s, utf8.RuneError of an empty string.
func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}
