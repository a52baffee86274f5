package document

import (
	"strings"

	"tfm/text"
	"tfm/text/markup"
)

// element is an inline element as the bytes of its format. An empty one has only open, and so has
// one whose text is kept, with its text.
type element struct{ open, close string }

// elements are the elements of a text by ID.
type elements []element

// marked is a text with its elements.
type marked struct {
	markup.Text
	elements elements
}

// plain returns s as a text without elements.
func plain(s string) marked { return marked{Text: markup.Text{Plain: s}} }

// builder builds a text from the bytes of its format, from left to right.
type builder struct {
	text     strings.Builder
	spans    []markup.Span
	elements elements
	open     []int // indices in spans of the elements that have begun
}

// begin begins an element, and end ends the one that began last.
func (b *builder) begin(open string) {
	b.open = append(b.open, len(b.spans))
	b.add(markup.Span{Range: text.Range{Start: b.text.Len(), End: b.text.Len()}}, element{open: open})
}

// end ends the element that began last. An element without text becomes an empty one with all
// elements in it, so that they stay together.
func (b *builder) end(close string) {
	i := b.open[len(b.open)-1]
	b.open = b.open[:len(b.open)-1]
	s := &b.spans[i]
	s.End = b.text.Len()
	if s.Start < s.End {
		b.elements[s.ID].close = close
		return
	}
	all := ""
	for _, inner := range b.spans[i:] {
		all += b.elements[inner.ID].open
	}
	b.spans, b.elements = b.spans[:i+1], b.elements[:s.ID+1]
	b.elements[s.ID].open = all + close
}

// empty adds an element without text.
func (b *builder) empty(bytes string) { b.keep("", bytes) }

// keep adds an element whose text is kept. Its bytes include the text.
func (b *builder) keep(plain, bytes string) {
	start := b.text.Len()
	b.text.WriteString(plain)
	b.add(markup.Span{Range: text.Range{Start: start, End: b.text.Len()}, Keep: plain != ""}, element{open: bytes})
}

func (b *builder) add(s markup.Span, e element) {
	s.ID = len(b.elements)
	b.spans, b.elements = append(b.spans, s), append(b.elements, e)
}

// done returns the text. All elements must have ended.
func (b *builder) done() marked {
	return marked{markup.Text{Plain: b.text.String(), Spans: b.spans}, b.elements}
}

// render returns t with the bytes of its elements. escape, if not nil, returns the bytes of text
// between them.
func (es elements) render(t markup.Text, escape func(string) string) string {
	var b strings.Builder
	at := 0
	var open []markup.Span
	advance := func(to int) { // writes the text up to byte to, and ends the elements there
		for at < to || len(open) > 0 && open[len(open)-1].End <= at {
			end := to
			if len(open) > 0 {
				end = min(to, open[len(open)-1].End)
			}
			if s := t.Plain[at:end]; escape != nil {
				b.WriteString(escape(s))
			} else {
				b.WriteString(s)
			}
			at = end
			for len(open) > 0 && open[len(open)-1].End <= at {
				b.WriteString(es[open[len(open)-1].ID].close)
				open = open[:len(open)-1]
			}
		}
	}
	for _, s := range t.Spans {
		advance(s.Start)
		b.WriteString(es[s.ID].open)
		switch {
		case s.Keep:
			at = s.End
		case s.Start == s.End: // its text may be gone
			b.WriteString(es[s.ID].close)
		default:
			open = append(open, s)
		}
	}
	advance(len(t.Plain))
	return b.String()
}
