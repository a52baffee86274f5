package document

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tfm/lang"
	"tfm/text/internal/xmltext"
)

// translateOffice translates the paragraphs of Office Open XML (ECMA-376): those of
// WordprocessingML (w:p), of DrawingML (a:p) and the strings of SpreadsheetML, in all parts that
// have them; also alternative texts, strings of charts, title, subject and description.
func translateOffice(d *document) error {
	a, err := openArchive(d)
	if err != nil {
		return err
	}
	names := columnNames(a)
	return a.translate(func(part string) func(*document) error {
		if path.Ext(part) != ".xml" || strings.HasPrefix(part, "customXml/") || part == "[Content_Types].xml" {
			return nil
		}
		return textFile(func(e *editor) {
			if !strings.HasPrefix(part, "xl/worksheets/") || strings.Contains(e.src, "inlineStr") { // sheets can be large
				p := &officePart{e, names}
				e.nodes(p.isUnit, p.unit)
			}
		})
	})
}

// columnNames returns the names of columns in tables and pivot tables of a workbook. A cell that
// has such a name keeps it, because formulas name columns and Excel repairs a table whose header
// differs.
func columnNames(a *archive) map[string]bool {
	names := map[string]bool{}
	for _, f := range a.File {
		name := partName(f)
		if !strings.HasPrefix(name, "xl/tables/") && !strings.HasPrefix(name, "xl/pivotCache/pivotCacheDefinition") || path.Ext(name) != ".xml" {
			continue
		}
		for _, element := range []string{"x:tableColumn", "x:cacheField"} {
			for _, v := range a.attributes(name, element, "name") {
				names[decodeCell(v[0])] = true
			}
		}
	}
	return names
}

// officePart is a part whose paragraphs are translated.
type officePart struct {
	*editor
	columnNames map[string]bool
}

// isUnit reports whether an element has texts that are translated as one edit, or a language.
func (o *officePart) isUnit(n *node) bool {
	switch n.name {
	case "w:p", "a:p", "x:si", "x:is", "x:text", "p:text", "c:strCache", "c:multiLvlStrCache", "dc:title", "dc:subject", "dc:description":
		return true
	case "w:lang", "dc:language":
		return o.To != ""
	case "w:lvlText":
		return numberWord.MatchString(n.attr("w:val"))
	}
	return hasAltText(n)
}

// hasAltText reports whether an element describes a picture or the like.
func hasAltText(n *node) bool {
	return (n.local() == "docPr" || n.local() == "cNvPr") && (n.attr("descr") != "" || n.attr("title") != "")
}

// unit edits an element for which isUnit returns true.
func (o *officePart) unit(n *node) {
	switch n.name {
	case "w:lang":
		o.put(n.start, n.inner[0], setAttr(o.src[n.start:n.inner[0]], n.prefixed("", langAttr(o.To)), o.To))
	case "dc:language":
		o.setLanguage(n)
	default:
		p := &paragraph{escape: escapeRun}
		p.edit(o.editor, n, o.block(p, n))
	}
}

// langAttr returns the attribute of w:lang for the script of a language.
func langAttr(language string) string {
	switch lang.Script(language) {
	case "Hans", "Hant", "Jpan", "Kore":
		return "eastAsia"
	case "Arab", "Hebr", "Thaa":
		return "bidi"
	}
	return "val"
}

// numberWord matches the numbers of a list with a word, as in "Chapter %1", where %1 is the number.
var numberWord = regexp.MustCompile(`\pL{2}.*%\d|%\d.*\pL{2}`)

var levelNumber = regexp.MustCompile(`%\d`)

// numberText returns the text of such numbers.
func numberText(s string) (content []inline) {
	at := 0
	for _, m := range levelNumber.FindAllStringIndex(s, -1) {
		number := inline{kind: container, nodes: []inline{{text: s[m[0]:m[1]]}}, keep: true}
		content = append(content, inline{text: s[at:m[0]]}, number)
		at = m[1]
	}
	return append(content, inline{text: s[at:]})
}

// block returns the pieces of an element that is not in a paragraph, and adds its texts to p.
func (o *officePart) block(p *paragraph, n *node) []piece {
	switch n.name {
	case "w:p", "a:p", "x:si", "x:is", "x:text":
		return o.paragraph(p, n)
	case "dc:title", "dc:subject", "dc:description", "p:text", "c:v":
		return p.leaf(o.editor, n)
	case "w:del", "w:moveFrom":
		return raw(o.src[n.start:n.end])
	case "w:lvlText":
		tag := p.attributes(o.src[n.start:n.inner[0]], numberText, n.prefixed("", "val"))
		return append(tag, piece{raw: o.src[n.inner[0]:n.end]})
	}
	if hasAltText(n) {
		tag := p.attributes(o.src[n.start:n.inner[0]], nil, "descr", "title")
		return slices.Concat(tag, p.blocks(n.nodes, o.block), raw(o.src[n.inner[1]:n.end]))
	}
	if len(n.nodes) == 0 {
		return raw(o.src[n.start:n.end])
	}
	return o.around(n, n.inner, p.blocks(n.nodes, o.block))
}

// paragraph returns the pieces of a paragraph. Its properties are its first child, those of its end
// the last one.
func (o *officePart) paragraph(p *paragraph, n *node) []piece {
	all := raw(o.src[n.start:n.end])
	if len(n.nodes) == 0 {
		return all
	}
	first, last := n.inner[0], n.inner[1]
	nodes := slices.DeleteFunc(slices.Clone(n.nodes), func(c *node) bool {
		switch c.name {
		case "w:pPr", "a:pPr":
			first = c.end
		case "a:endParaRPr", "x:phoneticPr":
			last = c.start
		default:
			return false
		}
		return true
	})
	escape := p.escape
	defer func() { p.escape = escape }()
	content := o.content(p, nodes)
	if strings.HasPrefix(n.name, "x:") {
		p.escape = escapeCell
		if o.columnNames[plainOf(content)] {
			return all
		}
	}
	pieces := p.add(content)
	return o.around(n, [2]int{first, last}, pieces)
}

// content returns the content of a paragraph.
func (o *officePart) content(p *paragraph, nodes []*node) (content []inline) {
	for _, c := range nodes {
		all := raw(o.src[c.start:c.end])
		switch c.name {
		case "w:r", "a:r", "x:r":
			content = append(content, o.run(p, c)...)
		case "x:t": // without a run
			format := runFormat{c.prefixed("<", `t xml:space="preserve">`), c.prefixed("</", "t>")}
			content = append(content, inline{text: decodeCell(c.content()), format: format})
		case "", "w:proofErr", "x:rPh":
			// Marks of spelling and readings belong to the text that is replaced.
		case "w:hyperlink", "w:ins", "w:moveTo", "w:smartTag", "w:customXml", "w:bdo", "w:dir", "w:fldSimple":
			within, nodes := c.inner, c.nodes
			for len(nodes) > 0 && strings.HasSuffix(nodes[0].name, "Pr") {
				within[0], nodes = nodes[0].end, nodes[1:]
			}
			link := o.container(c, within, o.content(p, nodes))
			link.keep = c.name == "w:fldSimple" && !hasTextResult(c.attr("w:instr"))
			content = append(content, link)
		case "w:sdt":
			inner := c.child("w:sdtContent")
			if inner == nil {
				content = append(content, inline{kind: object, open: all})
				break
			}
			control := o.container(c, inner.inner, o.content(p, inner.nodes))
			control.keep = isChoice(c)
			content = append(content, control)
		case "a:fld": // number of the slide, date
			t := c.child("a:t")
			if t == nil {
				content = append(content, inline{kind: object, open: all})
				break
			}
			field := o.container(c, t.inner, []inline{{text: t.content()}})
			field.keep = true
			content = append(content, field)
		case "a:br":
			content = append(content, inline{kind: gap, open: all, soft: true})
		default:
			kind, key := object, ""
			if start, ok := strings.CutSuffix(c.name, "Start"); ok {
				kind, key = begin, start+c.attr("w:id")
			} else if start, ok := strings.CutSuffix(c.name, "End"); ok {
				kind, key = end, start+c.attr("w:id")
			}
			content = append(content, inline{kind: kind, key: key, open: o.block(p, c)})
		}
	}
	return content
}

// isChoice reports whether the text of a content control is one of a list or a date.
func isChoice(sdt *node) bool {
	properties := sdt.child("w:sdtPr")
	return properties != nil && slices.ContainsFunc([]string{"w:dropDownList", "w:comboBox", "w:date"}, func(name string) bool {
		return properties.child(name) != nil
	})
}

// hasTextResult reports whether the result of a field is text of the document, not a number, date
// or data.
func hasTextResult(instruction string) bool {
	name, _, _ := strings.Cut(strings.TrimSpace(instruction), " ")
	switch strings.ToUpper(name) {
	case "HYPERLINK", "REF", "TOC", "STYLEREF", "QUOTE", "TITLE", "SUBJECT", "FORMTEXT", "INDEX":
		return true
	}
	return false
}

// run returns the content of a run.
func (o *officePart) run(p *paragraph, n *node) (content []inline) {
	tag := n.prefixed("<", "r>")
	if own := o.src[n.start:n.inner[0]]; strings.Contains(own, "xmlns") {
		tag = own
	}
	closing := n.prefixed("</", "r>")
	text, properties, all := "t>", "", ""
	for _, c := range n.nodes {
		switch c.name {
		case "w:rPr":
			properties = o.wordFormat(c)
		case "a:rPr": // below
		case "x:rPr":
			properties = o.src[c.start:c.end]
		default:
			continue
		}
		all = o.src[c.start:c.end]
	}
	if n.name == "a:r" {
		properties = o.drawingFormat(n)
	} else {
		text = `t xml:space="preserve">`
	}
	format := runFormat{tag + properties + n.prefixed("<", text), n.prefixed("</", "t>") + closing}
	for _, c := range n.nodes {
		alone := func() []piece {
			return slices.Concat(raw(tag+all), o.block(p, c), raw(closing))
		}
		switch c.name {
		case "", "w:rPr", "a:rPr", "x:rPr":
		case "w:softHyphen", "w:lastRenderedPageBreak": // They belong to the text that is replaced.
		case "w:t":
			s := c.content()
			if c.attr("xml:space") != "preserve" {
				s = strings.Trim(s, " \t\r\n")
			}
			content = append(content, inline{text: strings.ReplaceAll(s, "\n", " "), format: format})
		case "a:t":
			content = append(content, inline{text: c.content(), format: format})
		case "x:t":
			content = append(content, inline{text: decodeCell(c.content()), format: format})
		case "w:noBreakHyphen":
			content = append(content, inline{text: noBreakHyphen, format: format})
		case "w:tab", "w:ptab", "w:br", "w:cr":
			soft := c.name == "w:br" && c.attr("w:type") == ""
			content = append(content, inline{kind: gap, open: alone(), soft: soft})
		case "w:instrText":
			content = append(content, inline{kind: object, open: alone(), instruction: c.content()})
		case "w:fldChar":
			kind := map[string]inlineKind{"begin": begin, "separate": separate, "end": end}[c.attr("w:fldCharType")]
			if kind == chars {
				kind = object
			}
			content = append(content, inline{kind: kind, key: fieldKey, open: alone()})
		case "w:ruby": // The reading belongs to the text that is replaced.
			if base := c.child("w:rubyBase"); base != nil {
				content = append(content, o.content(p, base.nodes)...)
			}
		default:
			content = append(content, inline{kind: object, open: alone()})
		}
	}
	return content
}

// wordFormat returns w:rPr without the language, or "" if it has no other properties.
func (o *officePart) wordFormat(n *node) string {
	s := ""
	for _, c := range n.nodes {
		if c.name != "" && c.name != "w:lang" {
			s += o.src[c.start:c.end]
		}
	}
	if s == "" {
		return ""
	}
	return o.src[n.start:n.inner[0]] + s + o.src[n.inner[1]:n.end]
}

// drawingFormat returns a:rPr of a run, in the target language if that is known and without marks
// of spelling, or "" if it has no properties.
func (o *officePart) drawingFormat(run *node) string {
	tag, content, lang := run.prefixed("<", "rPr/>"), "", ""
	if n := run.child("a:rPr"); n != nil {
		tag, content = o.src[n.start:n.inner[0]], o.src[n.inner[0]:n.end]
	}
	for _, name := range []string{"lang", "altLang", "dirty", "err", "smtClean"} {
		if start, end, ok := attrRange(tag, name); ok {
			start = strings.LastIndex(tag[:start], name)
			tag = strings.TrimRight(tag[:start], " \t\r\n") + tag[end+1:]
		}
	}
	if o.To != "" {
		lang = ` lang="` + xmltext.EscapeAttr(o.To) + `"`
	}
	name := strings.TrimRight(tag, "/>")
	if i := strings.IndexAny(name, " \t\r\n"); i >= 0 {
		name = name[:i]
	} else if lang == "" && content == "" {
		return ""
	}
	return name + lang + tag[len(name):] + content
}

const noBreakHyphen = "\u2011"

// escapeRun returns a range of text as character data.
func escapeRun(plain string, start, end int) string { return xmltext.EscapeAttr(plain[start:end]) }

// decodeCell returns a string of SpreadsheetML with _xHHHH_ as the UTF-16 unit HHHH.
func decodeCell(s string) string {
	if !strings.Contains(s, "_x") {
		return s
	}
	var b strings.Builder
	for {
		i := strings.Index(s, "_x")
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		s = s[i:]
		if unit, ok := cellUnit(s); ok {
			b.WriteRune(unit)
			s = s[7:]
		} else {
			b.WriteString(s[:2])
			s = s[2:]
		}
	}
}

// cellUnit returns the character that s begins with in the form _xHHHH_.
func cellUnit(s string) (rune, bool) {
	if len(s) < 7 || s[:2] != "_x" || s[6] != '_' {
		return 0, false
	}
	unit, err := strconv.ParseUint(s[2:6], 16, 16)
	return rune(unit), err == nil && (unit < 0xD800 || unit >= 0xE000)
}

// escapeCell is like escapeRun, for SpreadsheetML.
func escapeCell(plain string, start, end int) string {
	var b strings.Builder
	for i, r := range plain[start:end] {
		_, coded := cellUnit(plain[start+i : end])
		switch {
		case coded:
			b.WriteString("_x005F_")
		case r < ' ' && r != '\n' && r != '\t':
			fmt.Fprintf(&b, "_x%04X_", r)
		default:
			b.WriteRune(r)
		}
	}
	return xmltext.Escape(b.String())
}

// isOffice reports whether a file begins with parts of Office Open XML and with some in a folder.
func isOffice(folder string) func(string) bool {
	return func(head string) bool {
		return strings.HasPrefix(head, zipMagic) && strings.Contains(head, "_rels/") && strings.Contains(head, folder)
	}
}
