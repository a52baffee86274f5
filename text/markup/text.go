package markup

import "tfm/text"

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
