package split

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Unwrap returns a sentence as one line. Line breaks with the white space around them become a
// space, or nothing between characters of Chinese or Japanese and after a hyphen within a word.
func Unwrap(s string) string {
	if !strings.ContainsAny(s, lineBreaks) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !isSpace(r) {
			b.WriteString(s[i : i+size])
			i += size
			continue
		}
		n, breaks := white(s[i:])
		if breaks == 0 {
			b.WriteString(s[i : i+n])
		} else if !joinsWord(s[:i], s[i+n:]) {
			b.WriteByte(' ')
		}
		i += n
	}
	return b.String()
}

// joinsWord reports whether a line break between before and after separates no words.
func joinsWord(before, after string) bool {
	last, first := lastRune(before), firstRune(after)
	if last == '-' {
		return isLower(first) && unicode.IsLetter(lastRune(before[:len(before)-1]))
	}
	return isCJK(last) && isCJK(first)
}

// Gap returns the text between the translations before and after of two sentences, where gap is the
// text between the sentences. It is gap, with two exceptions: a single space is dropped between
// translations in Chinese or Japanese, and a space separates translations in other scripts of
// sentences without one between them. A side counts as Chinese or Japanese if its character next to
// the gap, apart from quotation marks, is one of their letters or punctuation marks. If a
// translation is empty, Gap returns gap.
func Gap(gap, before, after string) string {
	if before == "" || after == "" {
		return gap
	}
	isQuote := func(r rune) bool { return quotes(r) || r == '”' || r == '’' }
	dense := isCJK(lastRune(strings.TrimRightFunc(before, isQuote))) && isCJK(firstRune(strings.TrimLeftFunc(after, isQuote)))
	switch {
	case gap == "" && !dense, gap == "\u3000" && !dense:
		return " "
	case gap == " " && dense:
		return ""
	}
	return gap
}
