package document

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"tfm/text/internal/xmltext"
)

// node is an element of an XML file, a text or another token between elements.
type node struct {
	name       string // with a prefix of prefixes, "" of a text, "?" of other tokens
	raw        string // the name as it is written
	copied     bool   // it or an element around it has translate="no"
	start, end int    // bytes of the file, with the tags
	inner      [2]int // the content, which is empty at the end of <br/>
	attrs      []xml.Attr
	scope      map[string]string
	text       string // of a text
	nodes      []*node
}

// prefixes are the usual prefixes of the namespaces of documents. Files may use others.
var prefixes = map[string]string{
	"http://www.w3.org/XML/1998/namespace":                                   "xml",
	"http://schemas.openxmlformats.org/wordprocessingml/2006/main":           "w",
	"http://purl.oclc.org/ooxml/wordprocessingml/main":                       "w",
	"http://schemas.openxmlformats.org/drawingml/2006/main":                  "a",
	"http://purl.oclc.org/ooxml/drawingml/main":                              "a",
	"http://schemas.openxmlformats.org/drawingml/2006/chart":                 "c",
	"http://purl.oclc.org/ooxml/drawingml/chart":                             "c",
	"http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing": "wp",
	"http://purl.oclc.org/ooxml/drawingml/wordprocessingDrawing":             "wp",
	"http://schemas.openxmlformats.org/spreadsheetml/2006/main":              "x",
	"http://purl.oclc.org/ooxml/spreadsheetml/main":                          "x",
	"http://schemas.openxmlformats.org/presentationml/2006/main":             "p",
	"http://purl.oclc.org/ooxml/presentationml/main":                         "p",
	"http://purl.org/dc/elements/1.1/":                                       "dc",
	"urn:oasis:names:tc:opendocument:xmlns:text:1.0":                         "text",
	"urn:oasis:names:tc:opendocument:xmlns:office:1.0":                       "office",
	"urn:oasis:names:tc:opendocument:xmlns:style:1.0":                        "style",
	"urn:oasis:names:tc:opendocument:xmlns:presentation:1.0":                 "presentation",
	"urn:oasis:names:tc:opendocument:xmlns:table:1.0":                        "table",
	"urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0":            "fo",
	"urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0":               "svg",
	"http://openoffice.org/2009/office":                                      "officeooo",
	"urn:oasis:names:tc:opendocument:xmlns:container":                        "container",
	"http://www.w3.org/2001/04/xmlenc#":                                      "enc",
	"http://www.idpf.org/2007/opf":                                           "opf",
	"http://www.daisy.org/z3986/2005/ncx/":                                   "ncx",
}

// Limits of XML, so that its nodes need little more memory than the file.
const (
	maxNamespaces = 200     // of an element
	maxNodes      = 1 << 19 // of a paragraph
)

// qualified returns a name with the usual prefix of its namespace. Names of unknown namespaces keep
// theirs after a "?".
func qualified(scope map[string]string, n xml.Name) string {
	if prefix, ok := scope[n.Space]; ok && prefix != "" {
		return prefix + ":" + n.Local
	}
	return "?" + tagName(n)
}

// within returns the namespaces in an element, as the usual prefix by the one that the file uses.
func within(scope map[string]string, attrs []xml.Attr) map[string]string {
	own := false
	for _, a := range attrs {
		prefix := ""
		switch {
		case a.Name.Space == "xmlns":
			prefix = a.Name.Local
		case a.Name.Space != "" || a.Name.Local != "xmlns":
			continue
		}
		if !own {
			outer := scope
			scope, own = make(map[string]string, len(outer)+1), true
			for k, v := range outer {
				scope[k] = v
			}
		}
		scope[prefix] = prefixes[a.Value]
	}
	return scope
}

// nodes calls use with each element that is returns true for and that is not in another one. It
// reports faults of syntax, and entities that a document type defines, which are never read.
func (e *editor) nodes(is func(*node) bool, use func(*node)) {
	d := xml.NewDecoder(strings.NewReader(e.src))
	d.CharsetReader = func(charset string, in io.Reader) (io.Reader, error) {
		if strings.HasPrefix(strings.ToLower(charset), "utf-16") { // e.src is already UTF-8
			return in, nil
		}
		return nil, fmt.Errorf("encoding %s, expected UTF-8 or UTF-16", charset)
	}
	stack := []*node{{scope: map[string]string{"xml": "xml"}}} // the open elements, below them the file
	used, count := 0, 0                                        // the place in it of the element for use, 0 for none; its nodes
	add := func(n *node) {
		if used > 0 {
			top := stack[len(stack)-1]
			top.nodes = append(top.nodes, n)
			count++
		}
	}
	for e.err == nil {
		n := &node{start: int(d.InputOffset())}
		token, err := d.RawToken()
		n.end = int(d.InputOffset())
		top := stack[len(stack)-1]
		switch token := token.(type) {
		case xml.StartElement:
			n.inner, n.attrs, n.scope, n.raw = [2]int{n.end, n.end}, token.Attr, within(top.scope, token.Attr), tagName(token.Name)
			n.name, n.copied = qualified(n.scope, token.Name), top.copied
			if own := n.attr("translate"); own != "" {
				n.copied = own == "no" || own != "yes" && top.copied
			}
			switch {
			case len(stack) > maxDepth:
				err = fmt.Errorf("elements nested deeper than %d", maxDepth)
			case len(n.scope) > maxNamespaces || count > maxNodes:
				err = fmt.Errorf("more than %d namespaces, or %d elements in a paragraph", maxNamespaces, maxNodes)
			case used == 0 && is(n):
				used = len(stack)
			default:
				add(n)
			}
			stack = append(stack, n)
		case xml.EndElement:
			if top.raw != tagName(token.Name) {
				err = fmt.Errorf("found the end of <%s>, expected that of another element", tagName(token.Name))
				break
			}
			stack = stack[:len(stack)-1]
			top.inner[1], top.end = n.start, n.end
			if used == len(stack) {
				used, count = 0, 0
				use(top)
			}
		case xml.CharData:
			n.text = string(token)
			add(n)
		default:
			n.name = "?"
			add(n)
		}
		if err == io.EOF && len(stack) == 1 {
			return
		}
		if err == io.EOF {
			err = fmt.Errorf("the file ends in <%s>", top.raw)
		}
		if syntax := new(xml.SyntaxError); errors.As(err, &syntax) {
			err = errors.New(syntax.Msg)
		}
		if err != nil {
			e.fail(min(n.end, len(e.src)), "%v", err)
		}
	}
}

// local returns the name of an element without its namespace.
func (n *node) local() string { return n.raw[strings.IndexByte(n.raw, ':')+1:] }

// attr returns the value of an attribute by its name with the usual prefix, or "".
func (n *node) attr(name string) string {
	prefix, local, ok := strings.Cut(name, ":")
	if !ok {
		prefix, local = "", name
	}
	for _, a := range n.attrs {
		if a.Name.Local == local && (a.Name.Space == "" && prefix == "" || a.Name.Space != "" && n.scope[a.Name.Space] == prefix) {
			return a.Value
		}
	}
	return ""
}

// child returns the first child with a name, or nil.
func (n *node) child(name string) *node {
	for _, c := range n.nodes {
		if c.name == name {
			return c
		}
	}
	return nil
}

// content returns all text in n.
func (n *node) content() string {
	var b strings.Builder
	var add func(n *node)
	add = func(n *node) {
		b.WriteString(n.text)
		for _, c := range n.nodes {
			add(c)
		}
	}
	add(n)
	return b.String()
}

// attrRange returns the range in a start tag of the value of an attribute, by its name as it is
// written, without the quotes. The tag is well formed. It returns false if n has no such attribute.
func attrRange(tag, name string) (start, end int, ok bool) {
	for at := 1; at < len(tag); {
		eq := strings.IndexByte(tag[at:], '=')
		if eq < 0 {
			break
		}
		key := strings.TrimSpace(tag[at : at+eq])
		if i := strings.LastIndexAny(key, " \t\r\n"); i >= 0 {
			key = key[i+1:]
		}
		start = at + eq + 1
		start += strings.IndexAny(tag[start:], `"'`) + 1
		end = start + strings.IndexByte(tag[start:], tag[start-1])
		if key == name {
			return start, end, true
		}
		at = end + 1
	}
	return 0, 0, false
}

// setAttr returns a start tag with a value of an attribute, by the name as it is written.
func setAttr(tag, name, value string) string {
	value = xmltext.EscapeAttr(value)
	if start, end, ok := attrRange(tag, name); ok {
		return tag[:start] + value + tag[end:]
	}
	at := strings.IndexAny(tag, " \t\r\n/>")
	return tag[:at] + " " + name + `="` + value + `"` + tag[at:]
}

// prefixed returns a tag with the prefix of the name of n as it is written.
func (n *node) prefixed(before, after string) string {
	return before + strings.TrimSuffix(n.raw, n.local()) + after
}

// tagName returns the name as it is written.
func tagName(n xml.Name) string {
	if n.Space == "" {
		return n.Local
	}
	return n.Space + ":" + n.Local
}
