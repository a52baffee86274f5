package markup

import (
	"fmt"
	"slices"
	"strings"
)

// maxDepth limits the elements that are open at the same time.
const maxDepth = 4096

// ReadHTML reads a document or a part of one. It reads markup that is not valid as the HTML
// standard prescribes, as browsers do, so that it finds the same elements and the same paragraphs.
// The error reports elements in more than 4,096 others. s is in UTF-8, whatever encoding it
// declares.
//
// The text of elements such as code, and of those with translate="no" or of the class notranslate,
// is kept.
func ReadHTML(s string) (*Document, error) {
	p := htmlParser{builder: builder{src: s}, scanner: scanner{s: s}}
	for p.scanner.more() {
		top := p.top()
		p.scanner.foreign = top != nil && top.foreign
		t, _ := p.scanner.next()
		p.add(t)
		if len(p.open) > maxDepth {
			return nil, fmt.Errorf("line %d: found more than %d elements in one another", 1+strings.Count(s[:t.Start], "\n"), maxDepth)
		}
	}
	return p.document(), nil
}

// element is an element of the document.
type element struct {
	id      int // of its tags' events
	name    string
	class   class
	keep    bool   // as declared, with the elements around its start tag
	keeps   bool   // declares its text as kept
	free    bool   // declares its text as not kept
	foreign bool   // of SVG or MathML
	html    bool   // a foreign element whose content may be HTML
	tag     string // source of the start tag
}

// htmlParser finds the elements of HTML. It follows the tree construction of the HTML standard
// (https://html.spec.whatwg.org, section 13.2.6; numbers of sections below are of it) as far as it
// decides which elements enclose a text: there are a stack of open elements (13.2.4.2) and a list
// of formatting elements (13.2.4.3), but no tree. The document types do not matter, and elements
// that a browser would add, such as tbody, are not added.
type htmlParser struct {
	builder
	scanner    scanner
	open       []*element
	formatting []*element // nil is a marker
	inBody     bool
	elements   int
}

func (p *htmlParser) top() *element {
	if len(p.open) == 0 {
		return nil
	}
	return p.open[len(p.open)-1]
}

// keep reports whether text is kept.
func (p *htmlParser) keep() bool {
	for i := len(p.open) - 1; i >= 0; i-- {
		if e := p.open[i]; e.keeps || e.free {
			return e.keeps
		}
	}
	return false
}

// add processes a token.
func (p *htmlParser) add(t token) {
	foreign := len(p.open) > 0 && p.top().foreign
	switch t.kind {
	case textToken:
		if blank := strings.Trim(p.src[t.Start:t.End], whiteSpace) == ""; !blank || p.inBody {
			p.inBody = p.inBody || !blank
			if !foreign && !(blank && p.tableMode() != "") && !(p.top() != nil && p.top().class&raw != 0) {
				p.reconstruct()
			}
		}
		e := event{Range: t.Range, kind: textEvent, keep: p.keep()}
		if top := p.top(); top != nil && top.class&raw != 0 && top.class&hidden != 0 {
			e.kind = pointEvent
		}
		p.event(e)
	case startTag:
		if foreign && !p.leaveForeign(t) {
			p.push(t, true)
			return
		}
		p.start(t)
	case endTag:
		if foreign && p.endForeign(t) {
			return
		}
		p.end(t)
	default:
		p.point(t, p.keep())
	}
}

// point adds a token without content.
func (p *htmlParser) point(t token, keep bool) {
	p.event(event{Range: t.Range, kind: pointEvent, keep: keep, stray: t.kind == endTag})
}

// push opens the element of a start tag.
func (p *htmlParser) push(t token, foreign bool) *element {
	e := &element{id: p.elements, name: t.name, class: classes[t.name], foreign: foreign, tag: p.src[t.Start:t.End]}
	p.elements++
	if foreign {
		e.class = 0
		switch t.name {
		case "svg", "math":
			e.class = classes[t.name]
		case "mi", "mo", "mn", "ms", "mtext", "foreignobject", "desc", "title", "annotation-xml":
			encoding, _ := t.attr(p.src, "encoding")
			e.html = t.name != "annotation-xml" || lower(encoding) == "text/html" || lower(encoding) == "application/xhtml+xml"
			e.class = special | scope
		}
	}
	e.keeps = keepOf(p.src, &t, e.class&kept != 0)
	e.free = !keepOf(p.src, &t, true)
	e.keep = e.keeps || !e.free && p.keep()
	ev := event{Range: t.Range, kind: openEvent, element: e.id, keep: e.keep, hidden: e.class&hidden != 0, foreign: isForeignRoot(t.name)}
	switch {
	case e.class&block != 0:
		ev.kind = breakEvent
	case e.class&void != 0, foreign && t.selfClosing:
		ev.kind = pointEvent
		ev.line = t.name == "br"
	}
	p.event(ev)
	if !e.keep {
		p.attributes(&t, true)
	}
	if e.class&void == 0 && !(foreign && t.selfClosing) {
		p.open = append(p.open, e)
	}
	return e
}

// find returns the index on the stack of the innermost element for which is holds, -1 if there is
// none or if an element for which boundary holds is further in.
func (p *htmlParser) find(is, boundary func(*element) bool) int {
	for i := len(p.open) - 1; i >= 0; i-- {
		if is(p.open[i]) {
			return i
		}
		if boundary(p.open[i]) {
			return -1
		}
	}
	return -1
}

// named returns a function that reports whether an element has one of the names and is of HTML.
func named(names ...string) func(*element) bool {
	return func(e *element) bool { return !e.foreign && slices.Contains(names, e.name) }
}

func isScope(e *element) bool { return e.class&scope != 0 }

// inScope returns the index of the innermost element of a name in the scope of end tags, or -1
// (13.2.4.2, "has an element in scope").
func (p *htmlParser) inScope(names ...string) int { return p.find(named(names...), isScope) }

// inTableScope is like inScope for parts of tables (13.2.4.2, "in table scope").
func (p *htmlParser) inTableScope(names ...string) int {
	return p.find(named(names...), named("html", "table", "template"))
}

// closeP ends a paragraph (13.2.6.4.7, "close a p element").
func (p *htmlParser) closeP() {
	if i := p.find(named("p"), func(e *element) bool { return isScope(e) || e.name == "button" }); i >= 0 {
		p.open = p.open[:i]
	}
}

// closeImplied ends the elements with optional end tags, except those of a name (13.2.6.3).
func (p *htmlParser) closeImplied(except string) {
	for len(p.open) > 0 && p.top().class&implied != 0 && p.top().name != except {
		p.open = p.open[:len(p.open)-1]
	}
}

// popUntil ends elements until the innermost has one of the names.
func (p *htmlParser) popUntil(names ...string) {
	for len(p.open) > 0 && !named(names...)(p.top()) {
		p.open = p.open[:len(p.open)-1]
	}
}

// pop ends the elements from the one at an index, and the text if one is a block.
func (p *htmlParser) pop(i int) {
	if slices.ContainsFunc(p.open[i:], func(e *element) bool { return e.class&block != 0 }) {
		p.event(event{kind: breakEvent})
	}
	p.open = p.open[:i]
}

// start processes a start tag (13.2.6.4.7, "in body").
func (p *htmlParser) start(t token) {
	if t.name == "image" {
		t.name = "img"
	}
	c := classes[t.name]
	if p.startInTable(&t) {
		return
	}
	switch t.name {
	case "html", "head", "body":
		if !p.inBody {
			p.inBody = t.name == "body"
			p.attributes(&t, true)
		}
		p.point(t, false)
		return
	case "frameset", "frame":
		p.event(event{Range: t.Range, kind: breakEvent})
		return
	case "title", "script", "style", "template", "noframes", "base", "basefont", "bgsound", "link", "meta", "noscript":
	default:
		p.inBody = true
	}
	switch {
	case c&tablePart != 0:
		p.point(t, p.keep()) // not in a table
		return
	case t.name == "li", t.name == "dd", t.name == "dt":
		of := []string{"dd", "dt"}
		if t.name == "li" {
			of = []string{"li"}
		}
		if i := p.find(named(of...), func(e *element) bool {
			return e.class&special != 0 && !named("address", "div", "p")(e)
		}); i >= 0 {
			p.open = p.open[:i]
		}
	case t.name == "button":
		if i := p.inScope("button"); i >= 0 {
			p.pop(i)
		}
	case t.name == "a":
		if a := p.lastFormatting("a"); a >= 0 {
			e := p.formatting[a]
			p.endFormatting("a")
			remove(&p.formatting, e)
			remove(&p.open, e)
		}
	case t.name == "select", t.name == "input":
		if i := p.inScope("select"); i >= 0 {
			e := p.open[i]
			p.pop(i)
			if t.name == "select" { // an end tag
				p.close(t, e)
				return
			}
		}
	case t.name == "option", t.name == "optgroup", t.name == "hr":
		if p.inScope("select") >= 0 && t.name == "option" {
			p.closeImplied("optgroup")
		} else if p.inScope("select") >= 0 {
			p.closeImplied("")
		} else if top := p.top(); top != nil && top.name == "option" && t.name != "hr" {
			p.open = p.open[:len(p.open)-1]
		}
	case t.name == "rb", t.name == "rtc", t.name == "rp", t.name == "rt":
		if p.inScope("ruby") >= 0 {
			if t.name == "rp" || t.name == "rt" {
				p.closeImplied("rtc")
			} else {
				p.closeImplied("")
			}
		}
	}
	if c&closesP != 0 || t.name == "table" {
		p.closeP()
		if top := p.top(); top != nil && isHeading(t.name) && isHeading(top.name) {
			p.open = p.open[:len(p.open)-1]
		}
	} else if isInline := c&block == 0 && (c&special == 0 || c&void != 0); isInline || slices.Contains(reconstructing, t.name) {
		p.reconstruct()
	}
	if t.name == "nobr" && p.inScope("nobr") >= 0 {
		p.endFormatting("nobr")
		p.reconstruct()
	}
	e := p.push(t, isForeignRoot(t.name))
	switch {
	case c&raw != 0:
		p.scanner.rawName = t.name
	case c&formatting != 0:
		p.addFormatting(e)
	case c&marker != 0:
		p.formatting = append(p.formatting, nil)
	}
}

// reconstructing are the other elements before which formatting elements are opened again
// (13.2.6.4.7).
var reconstructing = []string{"applet", "marquee", "object", "select", "option", "optgroup", "button"}

func isForeignRoot(name string) bool { return name == "svg" || name == "math" }

func isHeading(name string) bool {
	return len(name) == 2 && name[0] == 'h' && '1' <= name[1] && name[1] <= '6'
}

// end processes an end tag (13.2.6.4.7, "in body").
func (p *htmlParser) end(t token) {
	if t.name == "br" {
		t.kind = startTag
		p.start(t)
		return
	}
	if p.endInTable(t) {
		return
	}
	keep, before := p.keep(), p.open
	closed := -1 // index of the element that t ends
	c := classes[t.name]
	switch {
	case t.name == "html", t.name == "body", t.name == "head":
		p.inBody = p.inBody || t.name == "head"
	case t.name == "p":
		if closed = p.find(named("p"), func(e *element) bool { return isScope(e) || e.name == "button" }); closed < 0 {
			p.event(event{Range: t.Range, kind: breakEvent, keep: keep}) // an empty paragraph
			return
		}
	case t.name == "template":
		if closed = p.find(named("template"), named()); closed >= 0 {
			p.clearFormatting()
		}
	case t.name == "li":
		closed = p.find(named("li"), func(e *element) bool { return isScope(e) || named("ol", "ul")(e) })
	case isHeading(t.name):
		closed = p.inScope("h1", "h2", "h3", "h4", "h5", "h6")
	case t.name == "dd", t.name == "dt", c&ends != 0:
		if closed = p.inScope(t.name); closed >= 0 && c&marker != 0 {
			p.clearFormatting()
		}
	case c&formatting != 0:
		if e := p.endFormatting(t.name); e != nil {
			p.close(t, e)
			return
		}
		fallthrough
	default:
		if closed = p.find(func(e *element) bool { return e.name == t.name || e.class&special != 0 }, named()); closed >= 0 && p.open[closed].name != t.name {
			closed = -1
		}
	}
	if closed < 0 {
		p.point(t, keep)
		return
	}
	p.pop(closed)
	p.close(t, before[closed])
}

// close adds the end tag of an element.
func (p *htmlParser) close(t token, e *element) {
	kind := closeEvent
	if e.class&block != 0 {
		kind = breakEvent
	}
	p.event(event{Range: t.Range, kind: kind, element: e.id, keep: e.keep, foreign: isForeignRoot(t.name)})
}

// addFormatting adds an element to the list of formatting elements, of equal ones at most three
// (13.2.4.3, the "Noah's Ark clause").
func (p *htmlParser) addFormatting(e *element) {
	first, equal := -1, 0
	for i := len(p.formatting) - 1; i >= 0 && p.formatting[i] != nil; i-- {
		if p.formatting[i].tag == e.tag {
			first = i
			equal++
		}
	}
	if equal >= 3 {
		p.formatting = slices.Delete(p.formatting, first, first+1)
	}
	p.formatting = append(p.formatting, e)
}

// clearFormatting removes the formatting elements after the last marker, and the marker
// (13.2.4.3).
func (p *htmlParser) clearFormatting() {
	for len(p.formatting) > 0 {
		last := p.formatting[len(p.formatting)-1]
		p.formatting = p.formatting[:len(p.formatting)-1]
		if last == nil {
			return
		}
	}
}

// lastFormatting returns the index of the last formatting element of a name after the last marker,
// or -1.
func (p *htmlParser) lastFormatting(name string) int {
	for i := len(p.formatting) - 1; i >= 0 && p.formatting[i] != nil; i-- {
		if p.formatting[i].name == name {
			return i
		}
	}
	return -1
}

// reconstruct opens the formatting elements again that ended with an element around them
// (13.2.4.3, "reconstruct the active formatting elements").
func (p *htmlParser) reconstruct() {
	i := len(p.formatting)
	for i > 0 && p.formatting[i-1] != nil && !slices.Contains(p.open, p.formatting[i-1]) {
		i--
	}
	p.open = append(p.open, p.formatting[i:]...)
}

// remove removes an element from a list.
func remove(list *[]*element, e *element) {
	if i := slices.Index(*list, e); i >= 0 {
		*list = slices.Delete(*list, i, i+1)
	}
}

// endFormatting ends the innermost formatting element of a name by the "adoption agency algorithm"
// (13.2.6.4.7), in which the copies of an element that a tree needs are the element itself. It
// returns nil if the tag is to be processed as that of an ordinary element.
func (p *htmlParser) endFormatting(name string) (ended *element) {
	if top := p.top(); top != nil && top.name == name && !slices.Contains(p.formatting, top) {
		p.open = p.open[:len(p.open)-1]
		return top
	}
	for range 8 {
		inList := p.lastFormatting(name)
		if inList < 0 {
			return ended
		}
		e := p.formatting[inList]
		at := slices.Index(p.open, e)
		if at < 0 {
			remove(&p.formatting, e)
			return ended
		}
		if p.find(func(o *element) bool { return o == e }, isScope) < 0 {
			return ended
		}
		ended = e
		furthest := at + 1
		for furthest < len(p.open) && p.open[furthest].class&special == 0 {
			furthest++
		}
		if furthest == len(p.open) {
			p.pop(at)
			remove(&p.formatting, e)
			return ended
		}
		block := p.open[furthest]
		inner := slices.Clone(p.open[at+1 : furthest])
		for k := len(inner) - 1; k >= 0; k-- {
			if node := inner[k]; len(inner)-k > 3 || !slices.Contains(p.formatting, node) {
				remove(&p.formatting, node)
				remove(&p.open, node)
			}
		}
		remove(&p.open, e)
		p.open = slices.Insert(p.open, slices.Index(p.open, block)+1, e)
	}
	return ended
}

// tableMode returns the name of the innermost part of a table that is open, "" if none is, or if it
// is one of text. It stands for the insertion modes of tables (13.2.6.4.9 and 13.2.6.4.11 to 14).
func (p *htmlParser) tableMode() string {
	for i := len(p.open) - 1; i >= 0; i-- {
		switch e := p.open[i]; {
		case e.foreign:
		case e.name == "td", e.name == "th", e.name == "caption", e.name == "template":
			return ""
		case e.name == "table", e.class&tablePart != 0:
			return e.name
		}
	}
	return ""
}

// inCell returns the index of the cell or caption that is open, or -1.
func (p *htmlParser) inCell() int { return p.inTableScope("td", "th", "caption") }

// closeCell ends the cell or caption at an index (13.2.6.4.15, "close the cell").
func (p *htmlParser) closeCell(i int) {
	p.open = p.open[:i]
	p.clearFormatting()
}

// startInTable prepares a start tag within a table (13.2.6.4.9 to 13.2.6.4.15). It returns
// true if it has processed the tag.
func (p *htmlParser) startInTable(t *token) bool {
	part := classes[t.name]&tablePart != 0
	if i := p.inCell(); i >= 0 && part {
		p.closeCell(i)
	}
	mode := p.tableMode()
	if mode == "" {
		return false
	}
	switch {
	case t.name == "tr":
		p.popUntil("tbody", "thead", "tfoot", "table", "template")
	case t.name == "td", t.name == "th":
		p.popUntil("tr", "tbody", "thead", "tfoot", "table", "template")
	case part && !(t.name == "col" && mode == "colgroup"):
		p.popUntil("table", "template")
	case t.name == "table":
		p.popUntil("table")
		p.open = p.open[:len(p.open)-1]
		return false
	case t.name == "form": // empty within a table
		p.push(*t, false)
		p.open = p.open[:len(p.open)-1]
		return true
	case t.name == "input":
		if kind, _ := t.attr(p.src, "type"); strings.EqualFold(kind, "hidden") {
			p.push(*t, false)
			return true
		}
		return false
	default:
		return false
	}
	p.inBody = true
	if e := p.push(*t, false); e.class&marker != 0 {
		p.formatting = append(p.formatting, nil)
	}
	return true
}

// endInTable processes an end tag of a part of a table (13.2.6.4.9 to 13.2.6.4.15). It returns
// false if t is another.
func (p *htmlParser) endInTable(t token) bool {
	if t.name != "table" && classes[t.name]&tablePart == 0 {
		return false
	}
	i := p.inTableScope(t.name)
	if i < 0 {
		p.point(t, p.keep())
		return true
	}
	e := p.open[i]
	if cell := p.inCell(); cell >= i {
		p.closeCell(cell)
	}
	p.open = p.open[:i]
	p.close(t, e)
	return true
}

// leaveForeign reports whether a start tag within SVG or MathML is one of HTML, and ends the
// foreign elements that do not contain it (13.2.6.5).
func (p *htmlParser) leaveForeign(t token) bool {
	if p.top().html {
		return true
	}
	breaks := classes[t.name]&breakout != 0
	for _, a := range t.attrs {
		breaks = breaks || t.name == "font" && (a.name == "color" || a.name == "face" || a.name == "size")
	}
	for breaks && len(p.open) > 0 && p.top().foreign && !p.top().html {
		p.open = p.open[:len(p.open)-1]
	}
	return breaks
}

// endForeign processes an end tag within SVG or MathML (13.2.6.5). It returns false if it is
// one of HTML.
func (p *htmlParser) endForeign(t token) bool {
	if t.name == "br" || t.name == "p" {
		p.leaveForeign(token{name: "p"})
		return false
	}
	for i := len(p.open) - 1; i >= 0 && p.open[i].foreign; i-- {
		if e := p.open[i]; e.name == t.name {
			p.open = p.open[:i]
			p.close(t, e)
			return true
		}
	}
	return false
}
