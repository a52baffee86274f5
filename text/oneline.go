package text

import (
	"strings"
	"unicode/utf8"
)

// OneLine makes what a model says one line of valid UTF-8: a line's end becomes a space, and a
// run of bytes that are not UTF-8 becomes U+FFFD. It sets ranges of raw to those of the result,
// in place; if ranges of raw follow one another, so do they.
func OneLine(raw string, ranges []Range) (string, []Range) {
	if utf8.ValidString(raw) && !strings.ContainsAny(raw, "\r\n") {
		return raw, ranges
	}
	var b strings.Builder
	at := make([]int, len(raw)+1) // of each byte of raw, its place in the result
	invalid := false              // the last byte was not UTF-8
	for i := 0; i < len(raw); {
		r, size := utf8.DecodeRuneInString(raw[i:])
		for j := range size {
			at[i+j] = b.Len() + j
		}
		wasInvalid := invalid
		invalid = r == utf8.RuneError && size == 1
		switch {
		case invalid && wasInvalid: // belongs to the U+FFFD before it
		case invalid:
			b.WriteString("\uFFFD")
		case r == '\n' && i > 0 && raw[i-1] == '\r': // belongs to the space before it
		case r == '\n' || r == '\r':
			b.WriteByte(' ')
		default:
			b.WriteString(raw[i : i+size])
		}
		i += size
	}
	at[len(raw)] = b.Len()
	for i, r := range ranges {
		ranges[i] = Range{Start: at[r.Start], End: at[r.End]}
	}
	return b.String(), ranges
}
