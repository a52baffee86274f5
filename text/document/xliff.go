package document

import (
	"cmp"
	"regexp"
	"slices"
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
}

// translateXLIFF writes the target of each unit that has none, or whose state says that it is not
// translated.
func translateXLIFF(e *editor) {
	x := xliff{editor: e}
	e.nodes(x.isUnit, x.unit)
}

// isUnit reports whether an element is a trans-unit of XLIFF 1.2 or a segment of XLIFF 2. It writes
// the language of the targets into the elements that name it.
func (x *xliff) isUnit(n *node) bool {
	switch n.local() {
	case "xliff":
		if x.version2 = strings.HasPrefix(n.attr("version"), "2"); x.version2 {
			x.language(n, "trgLang")
		}
	case "file":
		if !x.version2 {
			x.language(n, "target-language")
		}
	case "trans-unit":
		return true
	case "segment":
		return x.version2
	}
	return false
}

// language adds the attribute that names the language of the targets, unless it has a value.
// XLIFF 2 requires one.
func (x *xliff) language(n *node, name string) {
	switch {
	case n.attr(name) != "":
	case x.To != "":
		x.setAttribute(n, name, x.To)
	case x.version2:
		x.fail(n.start, "found no %s, which a file with targets needs, and no language of the translation", name)
	}
}

// setAttribute makes an edit of a start tag that sets an attribute.
func (x *xliff) setAttribute(n *node, name, value string) {
	x.put(n.start, n.inner[0], withAttribute(x.src[n.start:n.inner[0]], name, value))
}

// withAttribute returns a start tag with the value of an attribute, the last one if it is new.
func withAttribute(tag, name, value string) string {
	if start, end, ok := attrRange(tag, name); ok {
		return tag[:start] + xmltext.EscapeAttr(value) + tag[end:]
	}
	end := len(strings.TrimRight(strings.TrimRight(tag, "/>"), " \t\r\n"))
	return tag[:end] + " " + name + `="` + xmltext.EscapeAttr(value) + `"` + tag[end:]
}

// untranslated are the states of a target that is to be translated.
var untranslated = map[string]bool{"new": true, "needs-translation": true, "initial": true}

// unit makes the edit of a unit.
func (x *xliff) unit(n *node) {
	var source, target *node
	after := 0 // where a missing target is inserted
	for _, c := range n.nodes {
		if c.name == "" || c.name == "?" {
			continue
		}
		switch c.local() {
		case "source":
			source, after = cmp.Or(source, c), c.end
		case "target":
			target, after = cmp.Or(target, c), c.end
		case "seg-source":
			after = c.end
		}
	}
	if n.copied || source == nil {
		return
	}
	state := ""
	hasText := false
	if x.version2 {
		state = n.attr("state")
	}
	if target != nil {
		hasText = slices.ContainsFunc(target.nodes, func(c *node) bool { return strings.TrimSpace(x.src[c.start:c.end]) != "" })
		if !x.version2 {
			state = target.attr("state")
		}
	}
	if hasText && !untranslated[state] {
		return
	}
	text := build(x.fragments(source.nodes), false)
	if text.Plain == "" && len(text.elements) == 0 {
		return
	}
	set := "translated"
	if x.Review && !x.version2 {
		set = "needs-review-translation"
	}
	if x.version2 && (state != "" || x.Review) { // the state after it is "reviewed"
		x.setAttribute(n, "state", set)
	}
	indent := x.src[len(strings.TrimRight(x.src[:source.start], " \t\r\n")):source.start]
	start, end, tag := after, after, indent+n.prefixed("<", "target>")
	if target != nil {
		start, end = target.start, target.end
		tag = strings.TrimSuffix(strings.TrimRight(x.src[start:target.inner[0]], ">"), "/") + ">"
	}
	if !x.version2 && (state != "" || x.Review) {
		tag = withAttribute(tag, "state", set)
	}
	x.edit(edit{start: start, end: end, texts: []markup.Text{text.Text}, always: true, write: func(ts []markup.Text) string {
		return tag + text.elements.render(ts[0], xmltext.Escape) + n.prefixed("</", "target>")
	}})
}

// enclosing has the inline elements of XLIFF that enclose text. Other elements have no text
// for a reader.
var enclosing = map[string]bool{"g": true, "pc": true, "mrk": true}

// inlinePairs are the elements that mark the begin and the end of another.
var inlinePairs = map[string]fragmentKind{"bx": openingTag, "ex": closingTag, "bpt": openingTag, "ept": closingTag, "sc": openingTag, "ec": closingTag}

// fragments returns nodes with inline elements as fragments.
func (x *xliff) fragments(nodes []*node) (all []fragment) {
	for _, n := range nodes {
		bytes := x.src[n.start:n.end]
		switch {
		case n.name == "":
			all = append(all, fragment{bytes: bytes, plain: n.text})
			continue
		case n.name == "?":
			all = append(all, fragment{kind: emptyElement, bytes: bytes})
			continue
		}
		name := n.local()
		isKept := n.attr("translate") == "no" || n.attr("mtype") == "protected"
		kind, isPaired := inlinePairs[name]
		switch {
		case enclosing[name] && !isKept && n.inner[1] < n.end:
			all = append(all, fragment{kind: openingTag, bytes: x.src[n.start:n.inner[0]], key: name})
			all = append(all, x.fragments(n.nodes)...)
			all = append(all, fragment{kind: closingTag, bytes: x.src[n.inner[1]:n.end], key: name})
		case isPaired:
			// The end names the begin by one of these, which both have if they are equal.
			key := "id " + cmp.Or(n.attr("rid"), n.attr("startRef"), n.attr("id"))
			all = append(all, fragment{kind: kind, bytes: bytes, key: key})
		case enclosing[name]:
			all = append(all, fragment{kind: keptElement, bytes: bytes, plain: n.content()})
		default:
			all = append(all, fragment{kind: emptyElement, bytes: bytes})
		}
	}
	return all
}
