package text

import (
	"strings"
	"unicode/utf8"
)

// OneLine returns raw, the output of a model, as one line of valid UTF-8: line endings become
// spaces and runs of invalid bytes become U+FFFD. It maps ranges of raw to ranges of the result, in
// place; adjacent ranges stay adjacent.
func OneLine(raw string, ranges []Range) (string, []Range) {
	if utf8.ValidString(raw) && !strings.ContainsAny(raw, "\r\n") {
		return raw, ranges
	}
	var b strings.Builder
	at := make([]int, len(raw)+1) // offset in the result of each byte of raw
	invalid := false              // whether the previous byte is invalid UTF-8
	for i := 0; i < len(raw); {
		r, size := utf8.DecodeRuneInString(raw[i:])
		for j := range size {
			at[i+j] = b.Len() + j
		}
		wasInvalid := invalid
		invalid = r == utf8.RuneError && size == 1
		switch {
		case invalid && wasInvalid: // part of the previous U+FFFD
		case invalid:
			b.WriteString("\uFFFD")
		case r == '\n' && i > 0 && raw[i-1] == '\r': // part of the previous space
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
