package document

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"tfm/text/internal/xmltext"
)

// translateODF translates the paragraphs of OpenDocument (ISO/IEC 26300), with the title, subject
// and description of the document and of pictures.
func translateODF(d *document) error {
	a, err := openArchive(d)
	if err != nil {
		return err
	}
	if strings.Contains(string(a.part("META-INF/manifest.xml")), "encryption-data") {
		return fmt.Errorf("%s: protected by a password; save it without", d.name)
	}
	return a.translate(func(part string) func(*document) error {
		switch path.Base(part) {
		case "content.xml", "styles.xml", "meta.xml": // also those of objects in folders
			return textFile(translateODFXML)
		}
		return nil
	})
}

// translateODFXML translates the texts of a part.
func translateODFXML(e *editor) {
	p := &odfPart{e, map[string]string{}, map[string]string{}}
	e.nodes(p.isUnit, p.unit)
}

// odfPart is a part whose paragraphs are translated.
type odfPart struct {
	*editor
	properties map[string]string // of automatic styles of text, by their names
	styles     map[string]string // the first automatic style with such properties
}

// isUnit reports whether an element has texts that are translated as one edit, or is copied.
func (o *odfPart) isUnit(n *node) bool {
	switch n.name {
	case "text:p", "text:h", "svg:title", "svg:desc", "dc:title", "dc:subject", "dc:description", "style:style", "style:default-style",
		"presentation:footer-decl", "presentation:header-decl", "text:tracked-changes":
		return true
	case "dc:language":
		return o.To != ""
	case "table:table-cell": // A result or a date stays what the cell computes or means.
		t := n.attr("office:value-type")
		return n.attr("table:formula") != "" || t != "" && t != "string"
	}
	return false
}

// unit edits an element for which isUnit returns true.
func (o *odfPart) unit(n *node) {
	switch n.name {
	case "text:tracked-changes", "table:table-cell":
	case "style:style", "style:default-style":
		o.style(n)
	case "dc:language":
		o.setLanguage(n)
	default:
		p := &paragraph{escape: escapeODF}
		p.edit(o.editor, n, o.block(p, n))
	}
}

// style records the properties of a style of text, without those that only mark a revision or a
// language, and sets the language.
func (o *odfPart) style(n *node) {
	properties := ""
	for _, c := range n.nodes {
		if c.name == "" || c.name == "?" {
			continue
		}
		s := o.src[c.start:c.inner[0]]
		if c.name == "style:text-properties" {
			var attrs []string
			for _, a := range c.attrs {
				switch a.Name.Local {
				case "rsid", "paragraph-rsid", "language", "country", "language-asian", "country-asian", "language-complex", "country-complex":
				default:
					attrs = append(attrs, fmt.Sprintf(" %s=%q", tagName(a.Name), a.Value))
				}
			}
			slices.Sort(attrs)
			s = strings.Join(attrs, "")
			o.language(c)
		}
		properties += s + o.src[c.inner[0]:c.inner[1]]
	}
	if n.attr("style:family") == "text" && strings.HasSuffix(o.name, "content.xml") && n.attr("style:parent-style-name") == "" && n.attr("style:display-name") == "" {
		name := n.attr("style:name")
		o.properties[name] = properties
		if _, ok := o.styles[properties]; !ok {
			o.styles[properties] = name
		}
	}
}

// language sets the language of properties that have one.
func (o *odfPart) language(n *node) {
	if o.To == "" {
		return
	}
	suffix, prefix := map[string]string{"eastAsia": "-asian", "bidi": "-complex"}[langAttr(o.To)], "fo:"
	if suffix != "" {
		prefix = "style:"
	}
	if old := n.attr(prefix + "language" + suffix); old == "" || old == "zxx" || old == "none" {
		return
	}
	subtags := strings.Split(o.To, "-")
	country := "none"
	if last := subtags[len(subtags)-1]; len(subtags) > 1 && len(last) == 2 {
		country = last
	}
	tag := setAttr(o.src[n.start:n.inner[0]], prefix+"language"+suffix, subtags[0])
	o.put(n.start, n.inner[0], setAttr(tag, prefix+"country"+suffix, country))
}

// block returns the pieces of an element that is not in a paragraph, and adds its texts to p.
func (o *odfPart) block(p *paragraph, n *node) []piece {
	switch n.name {
	case "text:p", "text:h":
		if len(n.nodes) == 0 {
			break
		}
		start := true
		content := o.content(p, n.nodes, runFormat{}, &start)
		return o.around(n, n.inner, p.add(content))
	case "svg:title", "svg:desc", "dc:title", "dc:subject", "dc:description", "presentation:footer-decl", "presentation:header-decl":
		return p.leaf(o.editor, n)
	}
	if len(n.nodes) == 0 || o.isUnit(n) { // the latter is copied
		return raw(o.src[n.start:n.end])
	}
	return o.around(n, n.inner, p.blocks(n.nodes, o.block))
}

// content returns the content of a paragraph with the tags of the spans around it. space is whether
// white space that follows is ignored, as that after white space is.
func (o *odfPart) content(p *paragraph, nodes []*node, format runFormat, space *bool) (content []inline) {
	for _, c := range nodes {
		formatted := func(kind inlineKind, pieces []piece) {
			content = append(content, inline{kind: kind, open: slices.Concat(raw(format.open), pieces, raw(format.close))})
		}
		all := raw(o.src[c.start:c.end])
		switch c.name {
		case "?": // a comment
			content = append(content, inline{kind: object, open: all})
		case "":
			content = append(content, inline{text: collapse(c.text, space), format: format})
		case "text:s":
			n, err := strconv.Atoi(cmp.Or(c.attr("text:c"), "1"))
			if err != nil || n < 0 || n > maxSpaces {
				formatted(gap, all)
				break
			}
			content = append(content, inline{text: strings.Repeat(" ", n), format: format})
			*space = false
		case "text:span":
			content = append(content, o.content(p, c.nodes, o.span(c, format), space)...)
		case "text:ruby": // The reading belongs to the text that is replaced.
			if base := c.child("text:ruby-base"); base != nil {
				content = append(content, o.content(p, base.nodes, format, space)...)
			}
		case "text:soft-page-break": // It belongs to the text that is replaced.
		case "text:tab", "text:line-break":
			formatted(gap, all)
			content[len(content)-1].soft = c.name == "text:line-break"
			*space = false
		case "text:a", "text:meta":
			content = append(content, o.container(c, c.inner, o.content(p, c.nodes, format, space)))
		case "office:annotation", "office:annotation-end":
			kind := begin
			if c.name == "office:annotation-end" {
				kind = end
			}
			content = append(content, inline{kind: kind, key: "annotation" + c.attr("office:name"), open: o.block(p, c)})
		default:
			id := c.attr("text:name") + c.attr("text:id") + c.attr("text:change-id")
			if key, ok := strings.CutSuffix(c.name, "-start"); ok {
				content = append(content, inline{kind: begin, key: key + id, open: all})
			} else if key, ok := strings.CutSuffix(c.name, "-end"); ok {
				content = append(content, inline{kind: end, key: key + id, open: all})
			} else if s := c.content(); strings.HasPrefix(c.name, "text:") && c.name != "text:note" && s != "" {
				field := o.container(c, c.inner, []inline{{text: s}})
				field.open[0].raw = format.open + field.open[0].raw
				field.close[0].raw += format.close
				field.keep = true
				content = append(content, field)
				*space = false
			} else {
				formatted(object, o.block(p, c))
			}
		}
	}
	return content
}

// span returns the format of characters in a span whose own format is outer. Automatic styles with
// equal properties are one, and one without properties is none.
func (o *odfPart) span(n *node, outer runFormat) runFormat {
	tag := o.src[n.start:n.inner[0]]
	if properties, ok := o.properties[n.attr("text:style-name")]; ok {
		if properties == "" && len(n.attrs) == 1 {
			return outer
		}
		tag = setAttr(tag, n.prefixed("", "style-name"), o.styles[properties])
	}
	return runFormat{outer.open + tag, o.src[n.inner[1]:n.end] + outer.close}
}

// maxSpaces is the limit of the spaces that a text:s stands for.
const maxSpaces = 100

// collapse returns s with white space as one space, or none if space, which it sets.
func collapse(s string, space *bool) string {
	var b strings.Builder
	for _, r := range s {
		blank := r == ' ' || r == '\t' || r == '\n' || r == '\r'
		switch {
		case !blank:
			b.WriteRune(r)
		case !*space:
			b.WriteByte(' ')
		}
		*space = blank
	}
	return b.String()
}

// escapeODF returns plain[start:end] as character data in which white space has elements, unless it
// is a space after another character.
func escapeODF(plain string, start, end int) string {
	var b strings.Builder
	for i := start; i < end; i++ {
		switch c := plain[i]; {
		case c == '\n':
			b.WriteString("<text:line-break/>")
		case c == '\t':
			b.WriteString("<text:tab/>")
		case c == ' ' && (i == 0 || plain[i-1] == ' '):
			b.WriteString("<text:s/>")
		default:
			j := i + 1
			for j < end && plain[j] > ' ' {
				j++
			}
			b.WriteString(xmltext.EscapeAttr(plain[i:j]))
			i = j - 1
		}
	}
	return b.String()
}

// isODF reports whether a file begins with the type of OpenDocument of a kind.
func isODF(kind string) func(string) bool {
	return func(head string) bool { return hasMimetype(head, "application/vnd.oasis.opendocument."+kind) }
}
