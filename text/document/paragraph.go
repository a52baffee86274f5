package document

import (
	"html"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tfm/text"
	"tfm/text/internal/xmltext"
	"tfm/text/markup"
)

// inline is a node of the content of a paragraph, in the form that office formats share.
type inline struct {
	kind   inlineKind
	text   string // of chars
	format runFormat
	open   []piece // the bytes, of an element those before its content
	close  []piece // of an element
	nodes  []inline
	keep   bool // the text of an element is copied
	soft   bool // a gap that is a line break, which may be in a sentence

	key         string // of begin, separate and end of a range
	instruction string // of an object in a field
}

type inlineKind int

const (
	chars     inlineKind = iota // characters of one format
	object                      // without text: a picture, a reference to a note
	gap                         // an object at which a text ends: a tab, a line break
	container                   // an element with content: a link

	// A range whose ends are objects of their own: a bookmark or a field. A field has an
	// instruction, up to separate, and a result.
	begin
	separate
	end
)

// fieldKey is the key of fields. The fields of a paragraph are nested.
const fieldKey = "field"

// runFormat is the bytes before and after characters, such as the tags of a run.
type runFormat struct{ open, close string }

// piece is bytes of a file, or a text in them.
type piece struct {
	raw  string
	text *segment
}

// raw returns s as a piece.
func raw(s string) []piece { return []piece{{raw: s}} }

// around returns pieces in the place of the range within of an element.
func (e *editor) around(n *node, within [2]int, pieces []piece) []piece {
	return slices.Concat(raw(e.src[n.start:within[0]]), pieces, raw(e.src[within[1]:n.end]))
}

// container returns an element whose content is the range within.
func (e *editor) container(n *node, within [2]int, nodes []inline) inline {
	return inline{kind: container, open: raw(e.src[n.start:within[0]]), nodes: nodes, close: raw(e.src[within[1]:n.end])}
}

// segment is a text of an edit: a paragraph, or the part of one between two gaps.
type segment struct {
	index    int // in the edit
	format   runFormat
	elements []segmentElement // by ID of spans
	escape   func(plain string, start, end int) string
}

type segmentElement struct {
	open, close []piece
	format      runFormat // of the text in it
	in          int       // 1 + ID of the element that it is in, or 0
}

// paragraph finds the texts of an edit.
type paragraph struct {
	texts []markup.Text

	// escape returns plain[start:end] in the form of the format.
	escape func(plain string, start, end int) string
}

// add returns the pieces of the content of a paragraph, and adds its texts.
func (p *paragraph) add(content []inline) []piece { return p.segments(p.merge(p.pair(content))) }

// blocks returns the pieces of nodes that are not in a paragraph, by the block of a format.
func (p *paragraph) blocks(nodes []*node, block func(*paragraph, *node) []piece) (pieces []piece) {
	for _, c := range nodes {
		pieces = append(pieces, block(p, c)...)
	}
	return pieces
}

// maxOpen is the limit of begins of ranges without their ends in a paragraph.
const maxOpen = 64

// pair returns nodes with the ranges that begin and end there as elements. A range that ends in
// another one, and begins before it, begins before the other one.
func (p *paragraph) pair(nodes []inline) []inline {
	type openRange struct {
		begin     inline
		nodes     []inline
		separated bool
	}
	stack := []openRange{{}}
	put := func(n ...inline) {
		top := &stack[len(stack)-1]
		top.nodes = append(top.nodes, n...)
	}
	single := func(n inline) inline { // without its other end
		n.kind = object
		if n.key == fieldKey {
			n.kind = gap
		}
		return n
	}
	// enclose makes the range with a key the last one that has begun. Those that begin in it, and
	// do not end there, begin before it. It returns false if no such range has begun.
	enclose := func(key string) bool {
		i := len(stack) - 1
		for i > 0 && stack[i].begin.key != key {
			i--
		}
		if i == 0 {
			return false
		}
		r, inner := stack[i], slices.Clone(stack[i+1:])
		stack = stack[:i]
		for _, c := range inner {
			if c.begin.key == fieldKey {
				r.nodes = append(r.nodes, single(c.begin))
			} else {
				stack = append(stack, openRange{begin: c.begin})
			}
			r.nodes = append(r.nodes, c.nodes...)
		}
		stack = append(stack, r)
		return true
	}
	for _, n := range nodes {
		switch {
		case n.kind == begin && len(stack) <= maxOpen:
			stack = append(stack, openRange{begin: n})
		case n.kind == separate && enclose(fieldKey) && !stack[len(stack)-1].separated:
			top := &stack[len(stack)-1]
			instruction := ""
			for _, n := range top.nodes {
				instruction += n.instruction
			}
			top.begin.keep = !hasTextResult(instruction)
			top.begin.open = slices.Concat(top.begin.open, p.bytes(top.nodes), n.open)
			top.nodes, top.separated = nil, true
		case n.kind == end && enclose(n.key):
			r := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			put(inline{kind: container, open: r.begin.open, nodes: r.nodes, close: n.open, keep: r.begin.keep})
		case n.kind == begin || n.kind == separate || n.kind == end:
			put(single(n))
		default:
			put(n)
		}
	}
	for len(stack) > 1 {
		r := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		put(single(r.begin))
		put(r.nodes...)
	}
	return stack[0].nodes
}

// bytes returns the bytes of nodes without texts of their own.
func (p *paragraph) bytes(nodes []inline) (pieces []piece) {
	for _, n := range nodes {
		if n.kind == chars {
			pieces = append(pieces, piece{raw: n.format.open + p.escape(n.text, 0, len(n.text)) + n.format.close})
			continue
		}
		pieces = append(append(pieces, n.open...), p.bytes(n.nodes)...)
		pieces = append(pieces, n.close...)
	}
	return pieces
}

// plainOf returns the characters of nodes.
func plainOf(nodes []inline) string {
	var b strings.Builder
	for _, n := range nodes {
		b.WriteString(n.text)
		b.WriteString(plainOf(n.nodes))
	}
	return b.String()
}

// merge returns nodes with adjacent characters of one format as one node, and adjacent objects. A
// container without text is an object. A space has the format of the characters before it, because
// programs divide runs there; longer white space in a format or container of its own is a gap, as
// it may be there to be filled in.
func (p *paragraph) merge(nodes []inline) (merged []inline) {
	nodes = p.simplify(nodes)
	for len(nodes) > 0 {
		n, rest := nodes[0], nodes[1:]
		switch n.kind {
		case object:
			for len(rest) > 0 && rest[0].kind == object {
				n.open = append(n.open, rest[0].open...)
				rest = rest[1:]
			}
		case chars:
			parts := []string{n.text}
			for len(rest) > 0 && rest[0].kind == chars && (rest[0].format == n.format || rest[0].text == " " || n.text == " " && len(parts) == 1) {
				if n.text == " " && len(parts) == 1 {
					n.format = rest[0].format
				}
				parts = append(parts, rest[0].text)
				rest = rest[1:]
			}
			n.text = strings.Join(parts, "")
		}
		merged, nodes = append(merged, n), rest
	}
	for i, n := range merged {
		if n.soft && i > 0 && i < len(merged)-1 && runsOn(plainOf(merged[i-1:i]), plainOf(merged[i+1:i+2])) {
			merged[i].kind = object
			if before := &merged[i-1]; before.kind == chars && !strings.HasSuffix(before.text, " ") {
				before.text += " "
			}
		}
		if n.kind == chars && n.text != " " && text.IsBlank(n.text) && len(merged) > 1 {
			merged[i] = inline{kind: gap, open: p.bytes(merged[i : i+1])}
		}
	}
	return merged
}

// simplify returns nodes without empty characters, and with containers merged. One without text
// is an object, one with a space an object before it, and one with more white space a gap.
func (p *paragraph) simplify(nodes []inline) (simple []inline) {
	for _, n := range nodes {
		if n.kind == chars && n.text == "" {
			continue
		}
		if n.kind != container {
			simple = append(simple, n)
			continue
		}
		n.nodes = p.merge(p.pair(n.nodes))
		s := plainOf(n.nodes)
		switch {
		case !text.IsBlank(s) || hasGap(n):
			simple = append(simple, n)
		case s == "" || s == " ":
			format := prevailing(n.nodes)
			n.nodes = slices.DeleteFunc(n.nodes, func(c inline) bool { return c.kind == chars })
			simple = append(simple, inline{kind: object, open: p.bytes([]inline{n})})
			if s != "" {
				simple = append(simple, inline{text: s, format: format})
			}
		default:
			simple = append(simple, inline{kind: gap, open: p.bytes([]inline{n})})
		}
	}
	return simple
}

// runsOn reports whether a sentence seems to continue after a line break.
func runsOn(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(before, " "))
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(after, " "))
	return (last == ',' || unicode.IsLetter(last) || unicode.IsDigit(last)) && unicode.IsLower(first)
}

// hasGap reports whether a text ends at n or in it.
func hasGap(n inline) bool { return n.kind == gap || slices.ContainsFunc(n.nodes, hasGap) }

// segments returns the pieces of nodes, with the texts between gaps.
func (p *paragraph) segments(nodes []inline) (pieces []piece) {
	start := 0
	for i, n := range nodes {
		if !hasGap(n) {
			continue
		}
		pieces = append(pieces, p.segment(nodes[start:i])...)
		pieces = append(pieces, n.open...)
		if n.keep {
			pieces = append(pieces, p.bytes(n.nodes)...)
		} else {
			pieces = append(pieces, p.segments(n.nodes)...)
		}
		pieces = append(pieces, n.close...)
		start = i + 1
	}
	return append(pieces, p.segment(nodes[start:])...)
}

// isBlank reports whether n is an object or white space.
func isBlank(n inline) bool { return n.kind == object || n.kind == chars && text.IsBlank(n.text) }

// segment returns the pieces of nodes, which are one text. Objects at its ends and an element
// around all of it are no spans.
func (p *paragraph) segment(nodes []inline) []piece {
	first, last := 0, len(nodes)
	for first < last && isBlank(nodes[first]) {
		first++
	}
	for first < last && isBlank(nodes[last-1]) {
		last--
	}
	inner := nodes[first:last]
	var pieces []piece
	switch {
	case !strings.ContainsFunc(plainOf(inner), unicode.IsLetter):
		return p.bytes(nodes)
	case len(inner) == 1 && inner[0].keep:
		return p.bytes(nodes)
	case len(inner) == 1 && inner[0].kind == container:
		pieces = slices.Concat(inner[0].open, p.segment(inner[0].nodes), inner[0].close)
	default:
		pieces = []piece{{text: p.text(inner)}}
	}
	return slices.Concat(p.bytes(nodes[:first]), pieces, p.bytes(nodes[last:]))
}

// prevailing returns the format of most characters of nodes. Those in elements count if all are in
// elements.
func prevailing(nodes []inline) (most runFormat) {
	bytes := map[runFormat]int{}
	for _, n := range nodes {
		if n.kind == chars {
			bytes[n.format] += len(n.text)
		}
	}
	for _, n := range nodes { // in order, so that the first of equal ones is taken
		if n.kind == chars && bytes[n.format] > bytes[most] {
			most = n.format
		}
	}
	for i := 0; len(bytes) == 0 && i < len(nodes); i++ {
		if plainOf(nodes[i].nodes) != "" {
			return prevailing(nodes[i].nodes)
		}
	}
	return most
}

// text adds the text of nodes. A format other than the prevailing one is a span, without a single
// space at its ends.
func (p *paragraph) text(nodes []inline) *segment {
	s := &segment{index: len(p.texts), format: prevailing(nodes), escape: p.escape}
	in := 0
	var plain strings.Builder
	var spans []markup.Span
	span := func(e segmentElement, content func()) {
		id := len(spans)
		e.in = in
		in = id + 1
		spans = append(spans, markup.Span{Range: text.Range{Start: plain.Len()}, ID: id})
		s.elements = append(s.elements, e)
		content()
		spans[id].End = plain.Len()
		in = e.in
	}
	var add func(nodes []inline, base runFormat)
	add = func(nodes []inline, base runFormat) {
		for _, n := range nodes {
			switch {
			case n.kind == chars && n.format == base:
				plain.WriteString(n.text)
			case n.kind == chars:
				words := strings.Trim(n.text, " ")
				lead, trail, _ := strings.Cut(n.text, words)
				if lead != " " {
					lead, words = "", lead+words
				}
				if trail != " " {
					words, trail = words+trail, ""
				}
				plain.WriteString(lead)
				span(segmentElement{format: n.format}, func() { plain.WriteString(words) })
				plain.WriteString(trail)
			case n.keep:
				i := len(spans)
				span(segmentElement{open: p.bytes([]inline{n})}, func() { plain.WriteString(plainOf(n.nodes)) })
				spans[i].Keep = true
			case n.kind == container:
				format := prevailing(n.nodes)
				span(segmentElement{open: n.open, close: n.close, format: format}, func() { add(n.nodes, format) })
			default:
				span(segmentElement{open: n.open}, func() {})
			}
		}
	}
	add(nodes, s.format)
	p.texts = append(p.texts, markup.Text{Plain: plain.String(), Spans: spans})
	return s
}

// render returns pieces with the translations of all texts.
func (p *paragraph) render(pieces []piece, translations []markup.Text) string {
	var b strings.Builder
	for _, x := range pieces {
		if x.text == nil {
			b.WriteString(x.raw)
		} else {
			b.WriteString(p.renderText(x.text, translations))
		}
	}
	return b.String()
}

// renderText returns the translation of a text.
func (p *paragraph) renderText(s *segment, translations []markup.Text) string {
	t := translations[s.index]
	es := make(elements, len(s.elements))
	for i, e := range s.elements {
		es[i] = element{p.render(e.open, translations), p.render(e.close, translations), e.in}
	}
	return render(t, es, func(start, end, in int) string {
		format := s.format
		if in >= 0 {
			format = s.elements[in].format
		}
		return format.open + s.escape(t.Plain, start, end) + format.close
	})
}

// edit replaces an element by pieces, if they have texts.
func (p *paragraph) edit(e *editor, n *node, pieces []piece) {
	if len(p.texts) > 0 {
		e.edit(edit{start: n.start, end: n.end, texts: p.texts, write: func(translations []markup.Text) string {
			return p.render(pieces, translations)
		}})
	}
}

// leaf returns the pieces of an element whose content is text only.
func (p *paragraph) leaf(e *editor, n *node) []piece {
	defer func(escape func(string, int, int) string) { p.escape = escape }(p.escape)
	p.escape = escapeRun
	return e.around(n, n.inner, []piece{{text: p.text([]inline{{text: n.content()}})}})
}

// attributes returns the pieces of a start tag, with texts as the values of attributes by the names
// as they are written. content, if not nil, returns the content of a value.
func (p *paragraph) attributes(tag string, content func(string) []inline, names ...string) (pieces []piece) {
	for at := 0; at < len(tag); {
		start, end := len(tag), len(tag)
		for _, name := range names {
			if i, j, ok := attrRange(tag, name); ok && i >= at && i < start && i < j {
				start, end = i, j
			}
		}
		pieces = append(pieces, piece{raw: tag[at:start]})
		if start < len(tag) {
			nodes := []inline{{text: html.UnescapeString(tag[start:end])}}
			if content != nil {
				nodes = content(nodes[0].text)
			}
			pieces = append(pieces, piece{text: p.text(nodes)})
		}
		at = end
	}
	return pieces
}

// setLanguage makes the target language the content of n, unless n has no end tag.
func (e *editor) setLanguage(n *node) {
	if n.inner[1] < n.end {
		e.put(n.inner[0], n.inner[1], xmltext.Escape(e.To))
	}
}

// put replaces a range without texts.
func (e *editor) put(start, end int, s string) {
	e.edit(edit{start: start, end: end, always: true, write: func([]markup.Text) string { return s }})
}
