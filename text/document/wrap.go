package document

import (
	"iter"
	"strings"
	"unicode/utf8"

	"tfm/text"
	"tfm/text/markup"
)

// The widths in characters that programs wrap lines to. Lines of other widths end where the author
// ended them.
const minWrapWidth, maxWrapWidth = 40, 100

// lines returns the ranges of the lines of s without their endings.
func lines(s string) iter.Seq[text.Range] {
	return func(yield func(text.Range) bool) {
		for at := 0; at < len(s); {
			end, next := len(s), len(s)
			if i := strings.IndexByte(s[at:], '\n'); i >= 0 {
				end, next = at+i, at+i+1
			}
			if end > at && s[end-1] == '\r' {
				end--
			}
			if !yield(text.Range{Start: at, End: end}) {
				return
			}
			at = next
		}
	}
}

// wrap returns t with line breaks in the place of spaces, so that lines have at most width
// characters if the words allow it. It leaves spaces in kept spans, and before words for which
// glued, if not nil, returns true.
func wrap(t markup.Text, width int, glued func(word string) bool) markup.Text {
	b := []byte(t.Plain)
	spans := t.Spans
	kept := func(i int) bool { // for ascending i
		for len(spans) > 0 && (!spans[0].Keep || spans[0].End <= i) {
			spans = spans[1:]
		}
		return len(spans) > 0 && spans[0].Start <= i
	}
	lineStart, space := 0, -1 // the last space of the line that can be a line break
	for i := 0; i <= len(b); i++ {
		if i < len(b) && b[i] == '\n' {
			lineStart, space = i+1, -1
			continue
		}
		if i < len(b) && b[i] != ' ' {
			continue
		}
		if space >= lineStart && utf8.RuneCount(b[lineStart:i]) > width {
			b[space] = '\n'
			lineStart = space + 1
		}
		if i < len(b) && !kept(i) && (glued == nil || !glued(t.Plain[i+1:])) {
			space = i
		}
	}
	return markup.Text{Plain: string(b), Spans: t.Spans}
}
