package markup

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"tfm/text"
)

// Text is a text with inline elements, which is translated as a whole: a paragraph of HTML or of
// a word processor, a subtitle, a cell of a table. It may have several sentences and lines.
type Text struct {
	Plain string // valid UTF-8

	// Spans are sorted by Start, with those that enclose others before them, and are well
	// nested.
	Spans []Span
}

// Span is an inline element of a Text.
type Span struct {
	// Range is the bytes of Plain that the element encloses. It is empty for an element without
	// text, such as a line break, a picture or a comment.
	text.Range

	ID   int  // of the element in its document, unique in a Text
	Keep bool // the text of the element is copied, not translated, as that of code
}

// Check returns an error unless s, a translation of source, is valid UTF-8 and has the IDs of
// source, each once, in spans of whole characters.
func (s Text) Check(source Text) error {
	if !utf8.ValidString(s.Plain) {
		return errors.New("found invalid UTF-8")
	}
	var ids, want []int
	for _, p := range source.Spans {
		want = append(want, p.ID)
	}
	for _, p := range s.Spans {
		ids = append(ids, p.ID)
		if p.Start < 0 || p.End < p.Start || p.End > len(s.Plain) || !isBoundary(s.Plain, p.Start) || !isBoundary(s.Plain, p.End) {
			return fmt.Errorf("found span %d at %d to %d, expected characters of the text of %d bytes", p.ID, p.Start, p.End, len(s.Plain))
		}
	}
	slices.Sort(ids)
	slices.Sort(want)
	if !slices.Equal(ids, want) {
		return fmt.Errorf("found spans %v, expected %v", ids, want)
	}
	return nil
}

func isBoundary(s string, i int) bool { return i == len(s) || utf8.RuneStart(s[i]) }
