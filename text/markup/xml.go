package markup

import (
	"fmt"
	"html"
	"slices"
	"strings"

	"tfm/text"
)

// ReadXML reads a document of well-formed XML or a part of one.
//
// The elements of HTML are known by their names if the outermost one is html, as are XLIFF's inline
// elements. Of others the names decide: a name is that of inline elements if at least as many of
// its elements are beside text as there are elsewhere with text in them. The text of elements of
// the names code, pre and the like is kept, and of those with translate="no" or its:translate="no".
// No declaration of a document type is followed: a reference to an entity that HTML does not know
// is an empty span. s is in UTF-8, whatever encoding it declares. The error names a line and the
// violation of well-formedness.
func ReadXML(s string) (*Document, error) { return readXML(s, nil) }

// KeepXML returns a ReadXML for which the text of elements of some names is kept too.
func KeepXML(names []string) func(string) (*Document, error) {
	keep := map[string]bool{}
	for _, name := range names {
		keep[name] = true
	}
	return func(s string) (*Document, error) { return readXML(s, keep) }
}

func readXML(s string, keep map[string]bool) (*Document, error) {
	p := xmlParser{builder: builder{src: s, escape: escaper{xml: true}}, keep: keep}
	if err := p.read(); err != nil {
		return nil, err
	}
	p.count()
	for i := range p.tokens {
		p.add(i)
	}
	return p.document(), nil
}

// xmlParser finds the elements of XML.
type xmlParser struct {
	builder
	keep   map[string]bool // names of elements whose text is kept
	tokens []token
	other  []int // of each tag the index of the other of its element, of others -1
	names  map[string]*use
	xhtml  bool
	open   []bool // whether the text of each open element is kept
}

// use counts the elements of a name.
type use struct{ inText, withText int }

// inlineXLIFF are the inline elements of XLIFF 1.2 and 2, and whether they are native codes, which
// a reader does not see.
var inlineXLIFF = map[string]bool{"g": false, "x": true, "bx": true, "ex": true, "bpt": true, "ept": true, "it": true, "ph": true,
	"sub": false, "mrk": false, "pc": false, "sc": true, "ec": true, "cp": true, "sm": true, "em": true}

// read reads the tokens.
func (p *xmlParser) read() error {
	z := scanner{s: p.src, xml: true}
	var open []int
	root := true
	for z.more() {
		t, err := z.next()
		i := len(p.tokens)
		other := -1
		switch {
		case err != nil:
		case t.kind == textToken && strings.Contains(p.src[t.Start:t.End], "<"):
			err = fmt.Errorf("found < at the end, expected &lt;")
		case t.kind == startTag:
			if root {
				p.xhtml, root = t.name == "html", false
			}
			if !t.selfClosing {
				open = append(open, i)
			}
		case t.kind == endTag && len(open) == 0:
			err = fmt.Errorf("found </%.20s>, expected no end tag", t.name)
		case t.kind == endTag:
			other = open[len(open)-1]
			if open = open[:len(open)-1]; p.tokens[other].name != t.name {
				err = fmt.Errorf("found </%.20s>, expected </%.20s>", t.name, p.tokens[other].name)
			}
			p.other[other] = i
		}
		if len(open) > maxDepth {
			err = fmt.Errorf("found more than %d elements in one another", maxDepth)
		}
		if err != nil {
			return p.at(t.Start, err)
		}
		p.tokens, p.other = append(p.tokens, t), append(p.other, other)
	}
	if len(open) > 0 {
		return p.at(len(p.src), fmt.Errorf("found the end, expected </%.20s>", p.tokens[open[len(open)-1]].name))
	}
	return nil
}

// at returns an error with its line.
func (p *xmlParser) at(pos int, err error) error {
	return fmt.Errorf("line %d: %w", 1+strings.Count(p.src[:pos], "\n"), err)
}

// count counts the elements of each name beside text, and of those elsewhere that with text in
// them.
func (p *xmlParser) count() {
	type level struct {
		text     bool // has text itself
		withText bool // has text in it
		inner    []*use
		textIn   []bool // of inner
	}
	p.names = map[string]*use{}
	levels := []*level{{}}
	end := func(l *level) {
		for i, u := range l.inner {
			if l.text {
				u.inText++
			} else if l.textIn[i] {
				u.withText++
			}
		}
	}
	for _, t := range p.tokens {
		top := levels[len(levels)-1]
		switch {
		case t.kind == textToken || t.kind == cdataSection:
			if strings.Trim(p.src[t.Start:t.End], whiteSpace) != "" {
				top.text, top.withText = true, true
			}
		case t.kind == startTag:
			u := p.names[t.name]
			if u == nil {
				u = new(use)
				p.names[t.name] = u
			}
			top.inner, top.textIn = append(top.inner, u), append(top.textIn, false)
			if !t.selfClosing {
				levels = append(levels, new(level))
			}
		case t.kind == endTag:
			levels = levels[:len(levels)-1]
			end(top)
			outer := levels[len(levels)-1]
			outer.textIn[len(outer.textIn)-1] = top.withText
			outer.withText = outer.withText || top.withText
		}
	}
	end(levels[0])
}

// isBlock reports whether the elements of a name separate texts.
func (p *xmlParser) isBlock(name string) bool {
	if _, ok := inlineXLIFF[name]; ok && !p.xhtml {
		return false
	}
	if p.xhtml {
		return classes[name]&block != 0
	}
	u := p.names[name]
	return u.inText == 0 || u.inText < u.withText
}

// add adds the events of a token.
func (p *xmlParser) add(i int) {
	t := &p.tokens[i]
	keep := len(p.open) > 0 && p.open[len(p.open)-1]
	e := event{Range: t.Range, kind: pointEvent, element: i, keep: keep}
	switch t.kind {
	case textToken:
		p.characters(t.Range, keep)
		return
	case cdataSection:
		e.kind, e.cdata = textEvent, true
	case startTag:
		name := t.name
		if _, local, _ := strings.Cut(name, ":"); p.xhtml && isForeignRoot(local) {
			name = local
		}
		c := classes[name] & (kept | hidden)
		if hides, ok := inlineXLIFF[t.name]; ok && !p.xhtml {
			if c = 0; hides {
				c = kept | hidden
			}
			if kind, _ := t.attr(p.src, "mtype"); kind == "protected" {
				c = kept
			}
		}
		e.keep = keepOf(p.src, t, keep || c&kept != 0 || p.keep[t.name])
		e.hidden = c&hidden != 0
		switch {
		case p.isBlock(t.name):
			e.kind = breakEvent
		case !t.selfClosing:
			e.kind = openEvent
		default:
			e.line = p.xhtml && t.name == "br"
		}
		if !t.selfClosing {
			p.open = append(p.open, e.keep)
		}
		if !e.keep {
			p.attributes(t, p.xhtml)
		}
	case endTag:
		p.open = p.open[:len(p.open)-1]
		e.element = p.other[i]
		if e.kind = closeEvent; p.isBlock(t.name) {
			e.kind = breakEvent
		}
	}
	p.event(e)
}

// characters adds characters and references to entities.
func (p *xmlParser) characters(r text.Range, keep bool) {
	pos := r.Start
	for i := r.Start; i < r.End; i++ {
		if p.src[i] != '&' {
			continue
		}
		n := strings.IndexAny(p.src[i:r.End], "; \t\r\n<")
		if n < 0 || p.src[i+n] != ';' {
			continue
		}
		if reference := p.src[i : i+n+1]; html.UnescapeString(reference) == reference {
			p.event(event{Range: text.Range{Start: pos, End: i}, kind: textEvent, keep: keep})
			p.event(event{Range: text.Range{Start: i, End: i + n + 1}, kind: pointEvent, keep: keep})
			pos = i + n + 1
		}
		i += n
	}
	if pos < r.End {
		p.event(event{Range: text.Range{Start: pos, End: r.End}, kind: textEvent, keep: keep})
	}
}

// keepOf reports whether the text of an element is kept, by its attributes or else as given.
func keepOf(s string, t *token, keep bool) bool {
	for _, name := range []string{"translate", "its:translate"} {
		switch value, ok := t.attr(s, name); {
		case ok && strings.EqualFold(value, "no"):
			keep = true
		case ok && (value == "" || strings.EqualFold(value, "yes")):
			keep = false
		}
	}
	value, _ := t.attr(s, "class")
	return keep || slices.Contains(strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(whiteSpace, r) }), "notranslate")
}
