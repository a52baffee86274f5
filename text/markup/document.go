package markup

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strings"
	"unicode"

	"tfm/text"
)

// Document is a document of HTML or XML as its texts and the bytes around them.
//
// White space at the ends of a text belongs to the bytes around it, and so do elements that enclose
// a whole text or are at its ends. Within a text a run of white space is one space. A line break,
// the element br, is an empty span before a line break of Plain. Text without a letter is copied.
type Document struct {
	// Texts are the texts of the document: what its blocks contain, and its attributes that a
	// reader sees.
	Texts []Text

	src      string
	runs     []run   // sorted
	values   []value // sorted
	language string  // of the document, "" if it has none
	escape   escaper
}

// run is where a text is in the document.
type run struct {
	text.Range
	text  int
	items []item // in the order of the document

	// ordered is set for a text with tags that end elements of other texts, or that are not
	// well nested. Its tags remain in this order, whatever the order of the words around them.
	ordered bool
}

// item is a span of a text, or its begin or end.
type item struct {
	text.Range // bytes of the document
	kind       kindOfItem
	id         int    // of the span
	parent     int    // id of the span around it, or -1
	line       bool   // a line break
	plain      string // in the place of the bytes, unless it is ""

	spaceBefore, spaceAfter bool // the text of the bytes begins, ends with white space
}

type kindOfItem uint8

const (
	openItem kindOfItem = iota
	closeItem
	wholeItem // without text, or with text that is kept
)

// value is an attribute whose value is translated, or names the language.
type value struct {
	text.Range
	text  int // -1 for the language
	quote byte
}

// Language returns the language that the document declares as its own, as it spells it, or "".
func (d *Document) Language() string { return d.language }

// Append appends the document to dst with other texts in the place of its own. A text has the spans
// of the document's, each once, and the text of those that are kept is not used. A text that equals
// the document's is written as its bytes are. The attributes that name the document's language are
// set to language, unless it is "". Append reports texts that are not those of the document, and
// appends nothing then.
func (d *Document) Append(dst []byte, texts []Text, language string) ([]byte, error) {
	if len(texts) != len(d.Texts) {
		return dst, fmt.Errorf("found %d texts, expected %d", len(texts), len(d.Texts))
	}
	for i := range texts {
		if err := texts[i].Check(d.Texts[i]); err != nil {
			return dst, fmt.Errorf("text %d: %w", i, err)
		}
	}
	o := output{Document: d, dst: dst, texts: texts, language: language}
	pos := 0
	for i := range d.runs {
		r := &d.runs[i]
		o.copy(text.Range{Start: pos, End: r.Start})
		o.run(r)
		pos = r.End
	}
	o.copy(text.Range{Start: pos, End: len(d.src)})
	return o.dst, nil
}

// output writes a document.
type output struct {
	*Document
	dst      []byte
	texts    []Text
	language string
}

// copy writes bytes of the document, with the values of attributes in the place of their own.
func (o *output) copy(r text.Range) {
	i, _ := slices.BinarySearchFunc(o.values, r.Start, func(v value, pos int) int { return v.Start - pos })
	for ; i < len(o.values) && o.values[i].End <= r.End; i++ {
		v := o.values[i]
		s := o.language
		if v.text >= 0 {
			s = o.texts[v.text].Plain
		}
		if v.text >= 0 && s == o.Texts[v.text].Plain || v.text < 0 && s == "" {
			continue
		}
		o.dst = append(o.dst, o.src[r.Start:v.Start]...)
		e := o.escape
		if e.quote = v.quote; v.quote == 0 {
			e.quote = '"'
			o.dst = append(o.dst, '"')
		}
		o.dst = e.append(o.dst, s)
		if v.quote == 0 {
			o.dst = append(o.dst, '"')
		}
		r.Start = v.End
	}
	o.dst = append(o.dst, o.src[r.Start:r.End]...)
}

// run writes the translation of a text.
func (o *output) run(r *run) {
	t := &o.texts[r.text]
	source := &o.Texts[r.text]
	if t.Plain == source.Plain && slices.Equal(t.Spans, source.Spans) {
		o.copy(r.Range)
		return
	}
	w := runWriter{output: o, plain: t.Plain, spans: make([]Span, len(t.Spans))}
	for _, p := range t.Spans {
		w.spans[p.ID] = p
		if p.Keep = source.Spans[p.ID].Keep; p.Keep {
			w.kept = append(w.kept, p)
		}
	}
	w.opens, w.closes, w.inner = make([]item, len(t.Spans)), make([]item, len(t.Spans)), make([][]int, len(t.Spans)+1)
	for _, it := range r.items {
		if it.kind == closeItem {
			w.closes[it.id] = it
		} else {
			w.opens[it.id] = it
		}
	}
	if r.ordered {
		w.inOrder(r.items)
	} else {
		for _, p := range t.Spans {
			parent := w.opens[p.ID].parent
			w.inner[parent+1] = append(w.inner[parent+1], p.ID)
		}
		w.tree(-1, len(w.plain))
	}
	w.text(len(w.plain))
}

// runWriter writes a text with its spans.
type runWriter struct {
	*output
	plain         string
	pos           int    // bytes of plain before it have been written
	spans         []Span // by id
	kept          []Span // by Start: the text of elements that are copied
	opens, closes []item
	inner         [][]int // ids of the spans within span i-1, in order
}

// inOrder writes items in their order.
func (w *runWriter) inOrder(items []item) {
	at := 0
	for _, it := range items {
		s := w.spans[it.id]
		if s.Keep {
			continue
		}
		if at = max(at, s.Start); it.kind == closeItem {
			at = max(at, s.End)
		}
		w.item(it, at)
	}
}

// tree writes the spans within span i, which ends at end.
func (w *runWriter) tree(i, end int) {
	for _, id := range w.inner[i+1] {
		open := w.opens[id]
		if w.spans[id].Keep {
			continue
		}
		stop := min(max(w.spans[id].End, w.pos), end)
		w.item(open, min(w.spans[id].Start, stop))
		if open.kind == openItem {
			w.tree(id, stop)
			w.item(w.closes[id], stop)
		}
	}
}

// item writes an item after the text up to at.
func (w *runWriter) item(it item, at int) {
	w.text(at)
	w.copy(it.Range)
	if it.line && strings.HasPrefix(w.plain[w.pos:], "\n") {
		w.pos++
	}
}

// text writes the text up to end, with the elements that are kept at the place of their text.
func (w *runWriter) text(end int) {
	write := func(end int) {
		if end > w.pos {
			w.dst = w.escape.append(w.dst, strings.ReplaceAll(w.plain[w.pos:end], "\n", " "))
			w.pos = end
		}
	}
	for ; len(w.kept) > 0 && (w.kept[0].Start < end || end == len(w.plain)); w.kept = w.kept[1:] {
		it, start := w.opens[w.kept[0].ID], w.kept[0].Start
		if it.spaceBefore && start > w.pos && w.plain[start-1] == ' ' {
			write(start - 1)
			w.pos = start
		}
		write(start)
		if it.plain != "" {
			w.dst = w.escape.append(w.dst, it.plain)
		} else {
			w.copy(it.Range)
		}
		w.pos = max(w.pos, w.kept[0].End)
		if it.spaceAfter && strings.HasPrefix(w.plain[w.pos:], " ") {
			w.pos++
		}
	}
	write(end)
}

// event is a token that a parser has understood.
type event struct {
	text.Range
	kind    eventKind
	element int  // number of the element of an openEvent or closeEvent
	keep    bool // the text is kept, or the tag is one of an element whose text is
	hidden  bool // of an openEvent: a reader does not see the text
	line    bool // of a pointEvent: a line break
	stray   bool // of a pointEvent: an end tag without effect
	foreign bool // a tag of svg or math
	cdata   bool // of a textEvent: a CDATA section
	plain   string
}

type eventKind uint8

const (
	textEvent  eventKind = iota
	openEvent            // begin of an inline element
	closeEvent           // its end
	pointEvent           // an inline element without text, a comment, a tag without effect
	breakEvent           // separates texts
)

// builder makes a Document of events.
type builder struct {
	src    string
	escape escaper
	events []event // of the text that has not ended
	texts  []Text
	runs   []run
	values []value
	root   string
}

// event adds an event.
func (b *builder) event(e event) {
	if e.kind == breakEvent {
		b.endRun()
		return
	}
	b.events = append(b.events, e)
}

// text returns the characters of s, text with character references.
func (b *builder) text(s string) string {
	return strings.ReplaceAll(html.UnescapeString(validUTF8(s)), "\x00", "")
}

func validUTF8(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// attributes adds the attributes of a start tag: those of HTML that a reader sees, and those of the
// language.
func (b *builder) attributes(t *token, ofHTML bool) {
	for i, a := range t.attrs {
		if slices.ContainsFunc(t.attrs[:i], func(b attribute) bool { return b.name == a.name }) {
			continue
		}
		of, seen := textAttributes[a.name]
		seen = seen && (of == "" || slices.Contains(strings.Fields(of), t.name))
		switch {
		case a.name == "lang", a.name == "xml:lang":
			b.language(a)
		case t.name == "input" && a.name == "value":
			kind, _ := t.attr(b.src, "type")
			seen = slices.Contains([]string{"button", "submit", "reset"}, lower(kind))
		case t.name == "meta" && a.name == "content":
			name, _ := t.attr(b.src, "name")
			property, _ := t.attr(b.src, "property")
			seen = slices.Contains(seenMeta, lower(name+property))
		}
		if seen && ofHTML {
			b.attribute(a, decodeAttribute(validUTF8(b.src[a.value.Start:a.value.End])))
		}
	}
}

// attribute adds an attribute that is translated.
func (b *builder) attribute(a attribute, plain string) {
	if !hasLetter(plain) {
		return
	}
	b.values = append(b.values, value{a.value, len(b.texts), a.quote})
	b.texts = append(b.texts, Text{Plain: strings.Join(strings.FieldsFunc(plain, func(r rune) bool { return strings.ContainsRune(whiteSpace, r) }), " ")})
}

// language adds an attribute that names the language of the document, which is that of the first
// one before any text.
func (b *builder) language(a attribute) {
	if s := b.src[a.value.Start:a.value.End]; b.root == "" && len(b.runs) == 0 || s == b.root {
		b.root = s
		b.values = append(b.values, value{a.value, -1, a.quote})
	}
}

// document returns the document of all events.
func (b *builder) document() *Document {
	b.endRun()
	return &Document{Texts: b.texts, src: b.src, runs: b.runs, values: b.values, language: b.root, escape: b.escape}
}

func hasLetter(s string) bool { return strings.ContainsFunc(s, unicode.IsLetter) }

// endRun makes a text of the events since the last one.
func (b *builder) endRun() {
	events := b.events
	b.events = b.events[:0]
	found := false
	for i := range events {
		if e := &events[i]; e.kind == textEvent {
			if e.cdata {
				e.plain = validUTF8(strings.TrimSuffix(strings.TrimPrefix(e.source(b), cdataBegin), cdataEnd))
			} else {
				e.plain = b.text(e.source(b))
			}
			found = found || !e.keep && hasLetter(e.plain)
		}
	}
	if !found {
		return
	}
	pair := pairs(events)
	lo, hi := 0, len(events)
	for trimmed := true; trimmed && lo < hi; {
		switch first, last := &events[lo], &events[hi-1]; {
		case isEdge(first, pair[lo]):
			lo++
		case isEdge(last, pair[hi-1]):
			hi--
		case first.kind == openEvent && pair[lo] >= 0 && isEmpty(events[lo:pair[lo]]):
			lo = pair[lo] + 1
		case last.kind == closeEvent && pair[hi-1] >= 0 && isEmpty(events[pair[hi-1]:hi]):
			hi = pair[hi-1]
		case first.kind == openEvent && pair[lo] == hi-1 && !first.keep:
			lo, hi = lo+1, hi-1
		default:
			trimmed = false
		}
	}
	if lo == hi {
		return
	}
	ordered := false
	for i := range hi {
		e := &events[i]
		isUnpaired := (e.kind == openEvent || e.kind == closeEvent && i >= lo) && pair[i] < 0
		if isUnpaired && e.foreign {
			return // because other elements would be in it if words moved
		}
		ordered = ordered || i >= lo && (e.stray || isUnpaired)
	}
	t := textBuilder{builder: b, pair: pair, run: run{text: len(b.texts), ordered: ordered, Range: text.Range{Start: events[lo].Start, End: events[hi-1].End}}}
	if e := events[lo]; e.kind == textEvent && !e.keep {
		t.run.Start += len(e.source(b)) - len(strings.TrimLeft(e.source(b), whiteSpace))
	}
	if e := events[hi-1]; e.kind == textEvent && !e.keep {
		t.run.End -= len(e.source(b)) - len(strings.TrimRight(e.source(b), whiteSpace))
	}
	t.build(events, lo, hi)
	plain := strings.TrimRight(string(t.plain), whiteSpace)
	n := len(plain) - len(strings.TrimLeft(plain, whiteSpace))
	plain = plain[n:]
	for i := range t.spans {
		s := &t.spans[i]
		s.Start, s.End = min(max(s.Start-n, 0), len(plain)), min(max(s.End-n, 0), len(plain))
	}
	b.texts = append(b.texts, Text{Plain: plain, Spans: t.spans})
	b.runs = append(b.runs, t.run)
}

// source returns the bytes of an event.
func (e *event) source(b *builder) string { return b.src[e.Start:e.End] }

// isEdge reports whether an event at the end of a text, with the given pair, is no part of it.
func isEdge(e *event, pair int) bool {
	switch e.kind {
	case textEvent:
		return strings.Trim(e.plain, whiteSpace) == ""
	case openEvent, closeEvent:
		return pair < 0
	}
	return true
}

// isEmpty reports whether a reader sees no text of an element.
func isEmpty(events []event) bool {
	return events[0].hidden || !slices.ContainsFunc(events, func(e event) bool { return e.kind == textEvent && strings.Trim(e.plain, whiteSpace) != "" })
}

// pairs returns for each openEvent and closeEvent the index of the other of its element, if both
// are well nested, and -1 for all others.
func pairs(events []event) []int {
	pair := make([]int, len(events))
	var open []int
	for i, e := range events {
		pair[i] = -1
		switch e.kind {
		case openEvent:
			open = append(open, i)
		case closeEvent:
			k := len(open) - 1
			for k >= 0 && events[open[k]].element != e.element {
				k--
			}
			if k >= 0 {
				pair[i], pair[open[k]] = open[k], i
				open = open[:k]
			}
		}
	}
	return pair
}

// textBuilder makes a Text of events.
type textBuilder struct {
	*builder
	pair  []int
	run   run
	plain []byte
	spans []Span
	open  []int // ids of the spans around the end of plain
	space bool  // white space is pending
}

// build adds the events from lo to hi.
func (t *textBuilder) build(events []event, lo, hi int) {
	for i := lo; i < hi; i++ {
		e := events[i]
		switch {
		case e.keep && e.kind == openEvent && t.isWhole(events, i):
			t.kept(events[i : t.pair[i]+1])
			i = t.pair[i]
			t.absorb(events[i+1 : hi])
		case e.keep && e.kind == textEvent:
			t.kept(events[i : i+1])
		case e.kind == textEvent:
			t.text(e.plain)
		case e.kind == pointEvent || t.pair[i] < 0:
			id := t.add(e.Range, e.line)
			if e.line {
				t.line(id)
			}
			t.absorb(events[i+1 : hi])
		case e.kind == openEvent:
			id := t.add(e.Range, false)
			t.run.items[len(t.run.items)-1].kind = openItem
			t.open = append(t.open, id)
		default:
			id := t.open[len(t.open)-1]
			t.open = t.open[:len(t.open)-1]
			s := &t.spans[id]
			if s.End = max(s.Start, len(t.plain)); s.End > s.Start && t.plain[s.End-1] == ' ' {
				s.End--
			}
			if s.End > s.Start && t.plain[s.Start] == ' ' && (id+1 == len(t.spans) || t.spans[id+1].Start > s.Start) {
				s.Start++
			}
			t.run.items = append(t.run.items, item{Range: e.Range, kind: closeItem, id: id, parent: t.parent()})
		}
	}
}

// absorb adds the white space after an empty span, which is not in Plain if there is some before
// it, to the bytes of the span.
func (t *textBuilder) absorb(events []event) {
	n := len(t.plain)
	if n > 0 && isSpace(t.plain[n-1]) && len(events) > 0 && events[0].kind == textEvent && !events[0].keep {
		s := events[0].source(t.builder)
		t.run.items[len(t.run.items)-1].End += len(s) - len(strings.TrimLeft(s, whiteSpace))
	}
}

// isWhole reports whether the element that begins with event i is well nested.
func (t *textBuilder) isWhole(events []event, i int) bool {
	for k := i; k <= t.pair[i]; k++ {
		e := &events[k]
		if isTag := e.kind == openEvent || e.kind == closeEvent; e.stray || isTag && (t.pair[k] < i || t.pair[k] > t.pair[i]) {
			return false
		}
	}
	return t.pair[i] >= 0
}

func (t *textBuilder) parent() int {
	if len(t.open) == 0 {
		return -1
	}
	return t.open[len(t.open)-1]
}

// add adds an empty span at the end of the text, after the pending white space.
func (t *textBuilder) add(bytes text.Range, line bool) (id int) {
	if !line {
		t.flush()
	}
	id = len(t.spans)
	t.spans = append(t.spans, Span{Range: text.Range{Start: len(t.plain), End: len(t.plain)}, ID: id})
	t.run.items = append(t.run.items, item{Range: bytes, kind: wholeItem, id: id, parent: t.parent(), line: line})
	return id
}

// flush adds pending white space.
func (t *textBuilder) flush() {
	if t.space && len(t.plain) > 0 && !isSpace(t.plain[len(t.plain)-1]) {
		t.plain = append(t.plain, ' ')
	}
	t.space = false
}

// text adds characters.
func (t *textBuilder) text(s string) {
	for s != "" {
		n := strings.IndexAny(s, whiteSpace)
		if n < 0 {
			n = len(s)
		}
		if n > 0 {
			t.flush()
			t.plain = append(t.plain, s[:n]...)
		}
		rest := strings.TrimLeft(s[n:], whiteSpace)
		t.space = t.space || len(rest) < len(s)-n
		s = rest
	}
}

// line adds a line break after span id.
func (t *textBuilder) line(id int) {
	if n := len(t.plain); n > 0 && t.plain[n-1] == ' ' {
		t.plain = t.plain[:n-1]
		for i := len(t.spans) - 1; i >= 0 && (t.spans[i].Start >= n || t.spans[i].End >= n); i-- {
			t.spans[i].Start, t.spans[i].End = min(t.spans[i].Start, n-1), min(t.spans[i].End, n-1)
		}
	}
	t.plain = append(t.plain, '\n')
	t.space = false
}

// kept adds events whose text is kept as one span.
func (t *textBuilder) kept(events []event) {
	id := t.add(text.Range{Start: events[0].Start, End: events[len(events)-1].End}, false)
	var first, last string // texts
	if !events[0].hidden {
		for _, e := range events {
			if e.kind == textEvent && e.plain != "" {
				t.text(e.plain)
				first, last = cmp.Or(first, e.plain), e.plain
			}
		}
	}
	s := &t.spans[id]
	if s.End = len(t.plain); s.End > s.Start && t.plain[s.Start] == ' ' {
		s.Start++
	}
	it := &t.run.items[len(t.run.items)-1]
	if s.Keep = s.End > s.Start; s.Keep && len(events) == 1 && strings.ContainsAny(t.src[it.Start:it.End], "<&") {
		it.plain = string(t.plain[s.Start:s.End]) // because other characters may follow
		return
	}
	if s.Keep {
		it.spaceBefore, it.spaceAfter = isSpace(first[0]), isSpace(last[len(last)-1])
	}
}
