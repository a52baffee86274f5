package document

import (
	"cmp"
	"encoding/xml"
	"regexp"
	"strings"

	"tfm/text/internal/xmltext"
	"tfm/text/markup"
)

var xliffRoot = regexp.MustCompile(`<(\w+:)?xliff[\s>]`)

func isXLIFF(head string) bool { return xliffRoot.MatchString(head) }

// xliff is a file of XLIFF 1.2 or 2.
type xliff struct {
	*editor
	version2 bool
	skipped  []bool // for each open element, whether it has translate="no"
}

// xliffUnit is a trans-unit of XLIFF 1.2 or a segment of XLIFF 2.
type xliffUnit struct {
	open           xmlToken
	prefix         string // of the names of elements, with the colon
	source, target []xmlToken
	after          int // where a missing target is inserted
	indent         string
}

// translateXLIFF writes the target of each unit that has none, or whose state says that it is not
// translated.
func translateXLIFF(e *editor) error {
	x := xliff{editor: e}
	var unit *xliffUnit
	var into *[]xmlToken // of the source or target that is read
	depth, unitDepth := 0, 0
	for t, err := range e.xml() {
		if err != nil {
			return err
		}
		switch token := t.Token.(type) {
		case xml.StartElement:
			token = token.Copy()
			t.Token = token
			depth++
			outer := len(x.skipped) > 0 && x.skipped[len(x.skipped)-1]
			x.skipped = append(x.skipped, (outer || attribute(token, "translate") == "no") && attribute(token, "translate") != "yes")
			switch name := token.Name.Local; {
			case into != nil:
			case name == "xliff":
				x.version2 = strings.HasPrefix(attribute(token, "version"), "2")
				if x.version2 {
					err = x.language(t, token, "trgLang")
				}
			case name == "file" && !x.version2:
				err = x.language(t, token, "target-language")
			case name == "trans-unit" || name == "segment" && x.version2:
				unit, unitDepth = &xliffUnit{open: t, prefix: strings.TrimSuffix(tagName(token.Name), name)}, depth
			case unit == nil || depth != unitDepth+1:
			case name == "source" && unit.source == nil:
				into, unit.indent = &unit.source, whiteSpaceBefore(e.src, t.start)
			case name == "target" && unit.target == nil:
				into = &unit.target
			}
			if err != nil {
				return err
			}
		case xml.CharData:
			t.Token = token.Copy()
		}
		if into != nil {
			*into = append(*into, t)
		}
		if _, isEnd := t.Token.(xml.EndElement); !isEnd {
			continue
		}
		depth--
		copied := x.skipped[depth]
		x.skipped = x.skipped[:depth]
		if unit == nil || depth > unitDepth {
			continue
		}
		if depth == unitDepth { // a child of the unit ends
			if name := t.Token.(xml.EndElement).Name.Local; name == "source" || name == "seg-source" || name == "target" {
				unit.after = t.end
			}
			into = nil
		} else if !copied && len(unit.source) > 0 {
			if err := x.unit(unit); err != nil {
				return err
			}
			unit = nil
		} else {
			unit = nil
		}
	}
	return nil
}

// whiteSpaceBefore returns the white space before an element.
func whiteSpaceBefore(src string, at int) string {
	return src[len(strings.TrimRight(src[:at], " \t\r\n")):at]
}

// language adds the attribute that names the language of the targets, unless it has a value.
// XLIFF 2 requires one.
func (x *xliff) language(t xmlToken, start xml.StartElement, name string) error {
	switch {
	case attribute(start, name) != "":
		return nil
	case x.To == "" && x.version2:
		return x.errorf(t.start, "found no %s, which a file with targets needs, and no language of the translation", name)
	case x.To == "":
		return nil
	}
	return x.setAttribute(t, name, x.To)
}

// setAttribute makes an edit of a start tag that sets an attribute.
func (x *xliff) setAttribute(t xmlToken, name, value string) error {
	return x.put(t.start, t.end, withAttribute(x.src[t.start:t.end], name, value))
}

// withAttribute returns a start tag with the value of an attribute.
func withAttribute(tag, name, value string) string {
	value = xmltext.EscapeAttr(value)
	old := regexp.MustCompile(`(\s` + regexp.QuoteMeta(name) + `\s*=\s*)("[^"]*"|'[^']*')`)
	if m := old.FindStringSubmatchIndex(tag); m != nil {
		return tag[:m[4]] + `"` + value + `"` + tag[m[5]:]
	}
	end := len(strings.TrimRight(tag, "/>"))
	end = len(strings.TrimRight(tag[:end], " \t\r\n"))
	return tag[:end] + " " + name + `="` + value + `"` + tag[end:]
}

// untranslated are the states of a target that is to be translated.
var untranslated = map[string]bool{"new": true, "needs-translation": true, "initial": true}

// unit makes the edit of a unit.
func (x *xliff) unit(u *xliffUnit) error {
	state := ""
	unitStart := u.open.Token.(xml.StartElement)
	if x.version2 {
		state = attribute(unitStart, "state")
	} else if len(u.target) > 0 {
		state = attribute(u.target[0].Token.(xml.StartElement), "state")
	}
	hasText := false
	for _, t := range u.target {
		_, isEnd := t.Token.(xml.EndElement)
		hasText = hasText || t.start > u.target[0].start && !isEnd && strings.TrimSpace(x.src[t.start:t.end]) != ""
	}
	if hasText && !untranslated[state] {
		return nil
	}
	source := x.inline(u.source[1 : len(u.source)-1])
	if source.Plain == "" && len(source.elements) == 0 {
		return nil
	}
	set := "translated"
	if x.Review && !x.version2 {
		set = "needs-review-translation"
	}
	if x.version2 && (state != "" || x.Review) { // the state after it is "reviewed"
		if err := x.setAttribute(u.open, "state", set); err != nil {
			return err
		}
	}
	start, end, tag := u.after, u.after, u.indent+"<"+u.prefix+"target>"
	if len(u.target) > 0 {
		start, end = u.target[0].start, u.target[len(u.target)-1].end
		tag = strings.TrimSuffix(strings.TrimRight(x.src[start:u.target[0].end], ">"), "/") + ">"
	}
	if !x.version2 && (state != "" || x.Review) {
		tag = withAttribute(tag, "state", set)
	}
	return x.edit(edit{start: start, end: end, texts: []markup.Text{source.Text}, always: true, write: func(ts []markup.Text) (string, error) {
		return tag + source.elements.render(ts[0], xmltext.Escape) + "</" + u.prefix + "target>", nil
	}})
}

// enclosing has the inline elements of XLIFF that enclose text. Other elements have no text
// for a reader.
var enclosing = map[string]bool{"g": true, "pc": true, "mrk": true}

// inlinePairs are the elements that mark the begin and the end of another.
var inlinePairs = map[string]fragmentKind{"bx": openingTag, "ex": closingTag, "bpt": openingTag, "ept": closingTag, "sc": openingTag, "ec": closingTag}

// inline returns the text of XML tokens with inline elements.
func (e *editor) inline(tokens []xmlToken) marked {
	var fragments []fragment
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		bytes := e.src[t.start:t.end]
		switch token := t.Token.(type) {
		case xml.CharData:
			fragments = append(fragments, fragment{bytes: bytes, plain: string(token)})
		case xml.EndElement:
			if bytes != "" { // of an element that encloses text
				fragments = append(fragments, fragment{kind: closingTag, bytes: bytes, key: token.Name.Local})
			}
		case xml.StartElement:
			name := token.Name.Local
			isKept := attribute(token, "translate") == "no" || attribute(token, "mtype") == "protected"
			if enclosing[name] && !isKept && !strings.HasSuffix(bytes, "/>") {
				fragments = append(fragments, fragment{kind: openingTag, bytes: bytes, key: name})
				break
			}
			last, plain := wholeElement(tokens, i)
			p := fragment{kind: emptyElement, bytes: e.src[t.start:tokens[last].end]}
			i = last
			if kind, found := inlinePairs[name]; found {
				p.kind = kind
				// The end names the begin by one of these, which both have if they are equal.
				p.key = "id " + cmp.Or(attribute(token, "rid"), attribute(token, "startRef"), attribute(token, "id"))
			} else if enclosing[name] {
				p.kind, p.plain = keptElement, plain
			}
			fragments = append(fragments, p)
		default:
			fragments = append(fragments, fragment{kind: emptyElement, bytes: bytes})
		}
	}
	return build(fragments, false)
}

// wholeElement returns the index of the last token of the element that begins with token i, and its
// characters.
func wholeElement(tokens []xmlToken, i int) (last int, characters string) {
	depth := 0
	for last = i; ; last++ {
		switch token := tokens[last].Token.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		case xml.CharData:
			characters += string(token)
		}
		if depth == 0 {
			return last, characters
		}
	}
}
