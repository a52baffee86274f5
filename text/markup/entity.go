package markup

import (
	"html"
	"strings"
	"unicode/utf8"
)

// decodeAttribute returns the characters of an attribute's value. A reference without a semicolon
// counts there only if neither a letter, a digit nor "=" follows it, so that those of a URL's
// parameters do not (section 13.2.5.73 of the HTML standard).
func decodeAttribute(s string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '&')
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		s = s[i:]
		n := 1
		for n < len(s) && (isLetter(s[n]) || '0' <= s[n] && s[n] <= '9' || s[n] == '#' && n == 1) {
			n++
		}
		reference := s[:n]
		if n < len(s) && s[n] == ';' {
			n++
			reference = html.UnescapeString(s[:n])
		} else if c := html.UnescapeString(reference); strings.HasPrefix(s, "&#") || utf8.RuneCountInString(c) == 1 && !strings.HasPrefix(s[n:], "=") {
			reference = c
		}
		b.WriteString(reference)
		s = s[n:]
	}
}

// escaper writes characters as text of a document.
type escaper struct {
	xml   bool
	quote byte // of an attribute's value, 0 for text
}

func (e escaper) append(dst []byte, s string) []byte {
	for _, r := range s {
		switch {
		case r == '&':
			dst = append(dst, "&amp;"...)
		case r == '<':
			dst = append(dst, "&lt;"...)
		case r == '>' && e.quote == 0:
			dst = append(dst, "&gt;"...)
		case r == '"' && e.quote == '"':
			dst = append(dst, "&quot;"...)
		case r == '\'' && e.quote == '\'':
			dst = append(dst, "&#39;"...)
		case r == 0xA0 && !e.xml:
			dst = append(dst, "&nbsp;"...)
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return dst
}
