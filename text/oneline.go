package text

import (
	"strings"
	"unicode/utf8"
)

// OneLine returns raw, the output of a model, as one line of valid UTF-8: line endings become
// spaces and runs of invalid bytes become U+FFFD. The edits carry ranges of raw to the result.
func OneLine(raw string) (string, Edits) {
	if utf8.ValidString(raw) && !strings.ContainsAny(raw, "\r\n") {
		return raw, Edits{}
	}
	var edits []Edit
	for i := 0; i < len(raw); {
		r, size := utf8.DecodeRuneInString(raw[i:])
		e := Edit{Range: Range{i, i + size}, With: " "}
		switch {
		case isInvalid(raw[i:]):
			for isInvalid(raw[e.End:]) {
				e.End++
			}
			e.With = "\uFFFD"
		case strings.HasPrefix(raw[i:], "\r\n"):
			e.End++
		case r != '\n' && r != '\r':
			i += size
			continue
		}
		edits, i = append(edits, e), e.End
	}
	return Apply(raw, edits)
}

// isInvalid reports whether s begins with a byte that is not valid UTF-8.
func isInvalid(s string) bool {
	r, size := utf8.DecodeRuneInString(s)
	return r == utf8.RuneError && size == 1
}
