package document

import (
	"strings"

	"tfm/text"
	"tfm/text/markup"
)

// element is an inline element as the bytes of its format. An empty one has only open, and so has
// one whose text is kept, with its text.
type element struct {
	open, close string
	in          int // 1 + ID of the element in which an empty one stays, or 0
}

// elements are the elements of a text by ID.
type elements []element

// marked is a text with its elements.
type marked struct {
	markup.Text
	elements elements
}

// plain returns s as a text without elements.
func plain(s string) marked { return marked{Text: markup.Text{Plain: s}} }

// fragment is a part of a text as a parser finds it, from left to right.
type fragment struct {
	kind  fragmentKind
	bytes string // of the document
	plain string // characters, or those of a kept element
	key   string // a closing tag belongs to the last opening one with the same key
}

type fragmentKind int8

const (
	plainText    fragmentKind = iota
	emptyElement              // an element without text
	keptElement               // an element whose text is kept, and which has no elements
	openingTag
	closingTag
)

// build returns the text of fragments. An opening or closing tag without the other is an empty
// element, or with keepUnpaired its bytes are kept text.
func build(fragments []fragment, keepUnpaired bool) marked {
	pair(fragments, keepUnpaired)
	var m marked
	var b strings.Builder
	var open []int // indices of the spans that have begun
	for _, p := range fragments {
		start := b.Len()
		switch p.kind {
		case plainText:
			b.WriteString(p.plain)
			continue
		case closingTag:
			i := open[len(open)-1]
			open = open[:len(open)-1]
			m.endElement(i, start, p.bytes)
			continue
		case openingTag:
			open = append(open, len(m.Spans))
		case keptElement:
			b.WriteString(p.plain)
		}
		span := markup.Span{Range: text.Range{Start: start, End: b.Len()}, ID: len(m.elements), Keep: p.kind == keptElement && p.plain != ""}
		m.Spans, m.elements = append(m.Spans, span), append(m.elements, element{open: p.bytes})
	}
	m.Plain = b.String()
	return m
}

// pair makes each opening and closing tag without the other empty or kept, also those that are
// nested deeper than maxDepth.
func pair(fragments []fragment, keepUnpaired bool) {
	alone := func(p *fragment) {
		p.kind = emptyElement
		if keepUnpaired {
			p.kind, p.plain = keptElement, p.bytes
		}
	}
	var open []int
	for i := range fragments {
		p := &fragments[i]
		switch p.kind {
		case openingTag:
			if len(open) == maxDepth {
				alone(p)
				break
			}
			open = append(open, i)
		case closingTag:
			n := len(open) - 1
			for n >= 0 && fragments[open[n]].key != p.key {
				n--
			}
			if n < 0 {
				alone(p)
				break
			}
			for _, j := range open[n+1:] {
				alone(&fragments[j])
			}
			open = open[:n]
		}
	}
	for _, j := range open {
		alone(&fragments[j])
	}
}

// endElement ends the element of span i. One without text becomes an empty one with all elements in
// it, so that they stay together.
func (m *marked) endElement(i, end int, bytes string) {
	s := &m.Spans[i]
	s.End = end
	if s.Start < s.End {
		m.elements[s.ID].close = bytes
		return
	}
	all := ""
	for _, inner := range m.Spans[i:] {
		all += m.elements[inner.ID].open
	}
	m.Spans, m.elements = m.Spans[:i+1], m.elements[:s.ID+1]
	m.elements[s.ID].open = all + bytes
}

// render returns t with the bytes of its elements. escape, if not nil, returns the bytes of text
// between them.
func (es elements) render(t markup.Text, escape func(string) string) string {
	return render(t, es, func(start, end, _ int) string {
		if escape == nil {
			return t.Plain[start:end]
		}
		return escape(t.Plain[start:end])
	})
}

// render returns t with the bytes of its elements. write returns the bytes of Plain[start:end],
// which is in the element with an ID, or -1.
func render(t markup.Text, es elements, write func(start, end, in int) string) string {
	var b strings.Builder
	at := 0
	var open []markup.Span
	// advance writes the text up to byte to and ends the elements that end there, except one.
	advance := func(to, except int) {
		for {
			end, in := to, -1
			if len(open) > 0 {
				end, in = min(to, open[len(open)-1].End), open[len(open)-1].ID
			}
			if at < end {
				b.WriteString(write(at, end, in))
				at = end
			}
			if in < 0 || open[len(open)-1].End > to || in == except {
				return
			}
			b.WriteString(es[in].close)
			open = open[:len(open)-1]
		}
	}
	for _, s := range t.Spans {
		e, around := es[s.ID], -1
		if s.Start == s.End {
			around = e.in - 1
		}
		advance(s.Start, around)
		b.WriteString(e.open)
		switch {
		case s.Keep:
			at = s.End
		case s.Start == s.End: // its text may be gone
			b.WriteString(e.close)
		default:
			open = append(open, s)
		}
	}
	advance(len(t.Plain), -1)
	return b.String()
}
