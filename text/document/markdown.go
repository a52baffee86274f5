package document

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"tfm/text"
	"tfm/text/markup"
)

// markdown finds the blocks of a file of Markdown, by the rules of CommonMark 0.31 and the tables,
// task lists and footnotes of GitHub.
type markdown struct {
	*editor
	eol        string
	references map[string]bool // labels of links that are defined
	containers []mdContainer
	paragraph  []text.Range // lines, without the markers of containers
	fence      string       // that ends the code block in progress, or ""
	html       *text.Range  // the HTML block in progress
	htmlEnd    *regexp.Regexp
	table      bool // rows of a table follow
}

// mdContainer is a block quote, or an item of a list whose lines are indented by indent columns.
type mdContainer struct {
	quote  bool
	indent int
}

var (
	referencePattern = regexp.MustCompile(`(?m)^[ \t>]*\[([^\[\]^][^\[\]]*)\]:[ \t]*\S`)
	footnotePattern  = regexp.MustCompile(`^\[\^[^\[\]\s]+\]:[ \t]*`)
	rulePattern      = regexp.MustCompile(`^(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$`)
	headingPattern   = regexp.MustCompile(`^#{1,6}(?:[ \t]+|$)`)
	headingEnd       = regexp.MustCompile(`(?:^|[ \t]+)#+[ \t]*$`)
	underline        = regexp.MustCompile(`^(?:=+|-+)[ \t]*$`)
	fencePattern     = regexp.MustCompile("^(```+)[^`]*$|^(~~~+)")
	itemPattern      = regexp.MustCompile(`^([-+*]|(\d{1,9})[.)])(?:[ \t]|$)`)
	taskPattern      = regexp.MustCompile(`^\[[ xX]\][ \t]+`)
	delimiterRow     = regexp.MustCompile(`^\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$`)

	// htmlStarts has the begins of HTML blocks, and their ends: nil is a blank line. Only the last
	// one does not interrupt a paragraph.
	htmlStarts = []struct{ start, end *regexp.Regexp }{
		{regexp.MustCompile(`(?i)^<(?:script|pre|style|textarea)(?:[ \t>]|$)`), regexp.MustCompile(`(?i)</(?:script|pre|style|textarea)>`)},
		{regexp.MustCompile(`^<!--`), regexp.MustCompile(`-->`)},
		{regexp.MustCompile(`^<\?`), regexp.MustCompile(`\?>`)},
		{regexp.MustCompile(`^<![A-Za-z]`), regexp.MustCompile(`>`)},
		{regexp.MustCompile(`(?i)^</?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|` +
			`figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|` +
			`search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul)(?:[ \t>]|/>|$)`), nil},
		{regexp.MustCompile(`^(?:<[A-Za-z][A-Za-z0-9-]*(?:[ \t]+[A-Za-z_:][\w.:-]*(?:[ \t]*=[ \t]*(?:[^ \t"'=<>` + "`" + `]+|'[^']*'|"[^"]*"))?)*[ \t]*/?>|</[A-Za-z][A-Za-z0-9-]*[ \t]*>)[ \t]*$`), nil},
	}
)

// translateMarkdown translates the text of paragraphs, headings, items, cells and HTML blocks, and
// the title and description in front matter. Code, links' targets and HTML's tags are copied.
func translateMarkdown(e *editor) {
	m := markdown{editor: e, eol: lineEnding(e.src), references: map[string]bool{}}
	for _, r := range referencePattern.FindAllStringSubmatch(e.src, -1) {
		m.references[linkLabel(r[1])] = true
	}
	start := m.frontMatter()
	for l := range lines(e.src[start:]) {
		m.line(text.Range{Start: start + l.Start, End: start + l.End})
	}
	m.close()
}

// linkLabel returns a label in the form in which labels are compared.
func linkLabel(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

var frontMatterText = regexp.MustCompile(`^((?:title|subtitle|description|summary|excerpt):[ \t]+)(\S.*?)[ \t]*$`)

// frontMatter translates fields of front matter in YAML, skips that in TOML, and returns its end.
func (m *markdown) frontMatter() (end int) {
	fence := ""
	type field struct {
		text.Range
		value string
	}
	var fields []field
	for l := range lines(m.src) {
		line := m.src[l.Start:l.End]
		switch trimmed := strings.TrimRight(line, " \t"); {
		case l.Start == 0 && (trimmed == "---" || trimmed == "+++"):
			fence = trimmed
		case l.Start == 0:
			return 0
		case trimmed == fence || fence == "---" && trimmed == "...":
			for _, f := range fields {
				m.replace(f.Start, f.End, plain(f.value), quoteYAML)
			}
			return l.End
		case fence == "---":
			if at := frontMatterText.FindStringSubmatchIndex(line); at != nil {
				if value, ok := unquoteYAML(line[at[4]:at[5]]); ok {
					fields = append(fields, field{text.Range{Start: l.Start + at[4], End: l.Start + at[5]}, value})
				}
			}
		}
	}
	return 0 // a rule, not front matter
}

// unquoteYAML returns the value of a scalar on one line, or false for other values.
func unquoteYAML(s string) (string, bool) {
	switch s[0] {
	case '"':
		value, err := strconv.Unquote(s)
		return value, err == nil
	case '\'':
		if len(s) < 2 || s[len(s)-1] != '\'' {
			return "", false
		}
		return strings.ReplaceAll(s[1:len(s)-1], "''", "'"), true
	}
	return s, !strings.ContainsAny(s[:1], "|>&*!%@`[{#") && !strings.Contains(s, " #") && !strings.Contains(s, ": ")
}

// quoteYAML returns a scalar in double quotation marks.
func quoteYAML(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\r", `\r`).Replace(s) + `"`
}

// close ends the block in progress.
func (m *markdown) close() {
	m.table = false
	if m.html != nil {
		block := *m.html
		m.html = nil
		m.htmlBlock(block)
	} else if lines := m.paragraph; len(lines) > 0 {
		m.paragraph = nil
		m.inlines(lines, false)
	}
}

// skip returns the offset after at most n columns of white space from at, and how many there are.
func (m *markdown) skip(at, end, n int) (int, int) {
	columns := 0
	for ; at < end && columns < n && (m.src[at] == ' ' || m.src[at] == '\t'); at++ {
		columns++
		if m.src[at] == '\t' {
			columns += 3
		}
	}
	return at, columns
}

// line reads a line.
func (m *markdown) line(l text.Range) {
	at := l.Start
	matched := 0
	for ; matched < len(m.containers); matched++ {
		c := m.containers[matched]
		if c.quote {
			next, _ := m.skip(at, l.End, 3)
			if next == l.End || m.src[next] != '>' {
				break
			}
			at, _ = m.skip(next+1, l.End, 1)
			continue
		}
		next, columns := m.skip(at, l.End, c.indent)
		if columns < c.indent && !text.IsBlank(m.src[at:l.End]) {
			break
		}
		at = next
	}
	inside := matched == len(m.containers)
	if m.fence != "" && inside {
		rest := strings.TrimSpace(m.src[at:l.End])
		if strings.HasPrefix(rest, m.fence) && strings.Trim(rest, m.fence[:1]) == "" {
			m.fence = ""
		}
		return
	}
	m.fence = ""
	if m.html != nil && inside && !(m.htmlEnd == nil && text.IsBlank(m.src[at:l.End])) {
		m.html.End = l.End
		if m.htmlEnd != nil && m.htmlEnd.MatchString(m.src[at:l.End]) {
			m.close()
		}
		return
	}
	if m.html != nil {
		m.close()
	}
	m.block(at, l.End, matched)
}

// block reads the rest of a line, which continues the first containers.
func (m *markdown) block(at, end, matched int) {
	inside := matched == len(m.containers)
	opened := m.containers[:matched:matched]
	for {
		start, columns := m.skip(at, end, 1<<20)
		rest := m.src[start:end]
		inParagraph := len(m.paragraph) > 0 && len(opened) == matched
		switch {
		case rest == "":
			m.containers = opened
			m.close()
			return
		case columns >= 4 && inParagraph:
			m.paragraph = append(m.paragraph, text.Range{Start: start, End: end})
			return
		case columns >= 4: // indented code
			m.containers = opened
			m.close()
			return
		case rest[0] == '>':
			at, _ = m.skip(start+1, end, 1)
			opened = append(opened, mdContainer{quote: true})
		case inParagraph && inside && underline.MatchString(rest):
			m.close()
			return
		case rulePattern.MatchString(rest):
			m.containers = opened
			m.close()
			return
		default:
			item := itemPattern.FindStringSubmatch(rest)
			// An item that is empty, or has a number other than 1, does not interrupt a paragraph.
			if item == nil || inParagraph && inside && (text.IsBlank(rest[len(item[1]):]) || item[2] != "" && item[2] != "1") {
				m.leaf(opened, start, end, inParagraph)
				return
			}
			width := len(item[1])
			next, space := m.skip(start+width, end, 5)
			if space > 4 || next == end {
				next, space = m.skip(start+width, end, 1)
			}
			at = next + len(taskPattern.FindString(m.src[next:end]))
			opened = append(opened, mdContainer{indent: columns + width + space})
		}
		if len(opened) > maxDepth {
			m.fail(at, "quotes and lists nested deeper than %d", maxDepth)
			return
		}
	}
}

// leaf reads the text of a line, which is in the containers opened.
func (m *markdown) leaf(opened []mdContainer, start, end int, inParagraph bool) {
	rest := m.src[start:end]
	startsBlock := headingPattern.MatchString(rest) || fencePattern.MatchString(rest)
	html := -1
	for i, h := range htmlStarts {
		if h.start.MatchString(rest) && !(inParagraph && i == len(htmlStarts)-1) {
			startsBlock, html = true, i
			break
		}
	}
	if inParagraph && !startsBlock { // also one that continues without the markers of containers
		m.paragraphLine(start, end)
		return
	}
	if !m.table || len(opened) != len(m.containers) || startsBlock {
		m.close()
	}
	m.containers = opened
	switch fence := fencePattern.FindStringSubmatch(rest); {
	case m.table:
		m.row(start, end)
	case fence != nil:
		m.fence = fence[1] + fence[2]
	case html >= 0:
		m.html, m.htmlEnd = &text.Range{Start: start, End: end}, htmlStarts[html].end
		if m.htmlEnd != nil && m.htmlEnd.MatchString(rest) {
			m.close()
		}
	case headingPattern.MatchString(rest):
		start += len(headingPattern.FindString(rest))
		end -= len(headingEnd.FindString(m.src[start:end]))
		m.inlines([]text.Range{{Start: start, End: end}}, false)
	case referencePattern.MatchString(rest) && strings.HasPrefix(rest, "["):
	default:
		start += len(footnotePattern.FindString(rest))
		m.paragraph = []text.Range{{Start: start, End: end}}
	}
}

// paragraphLine adds a line to the paragraph. A row of dashes makes the line before it the first
// row of a table.
func (m *markdown) paragraphLine(start, end int) {
	last := m.paragraph[len(m.paragraph)-1]
	header := m.src[last.Start:last.End]
	if rest := m.src[start:end]; strings.Contains(rest, "|") && delimiterRow.MatchString(rest) && len(tableCells(header)) == len(tableCells(rest)) {
		m.paragraph = m.paragraph[:len(m.paragraph)-1]
		m.close()
		m.table = true
		m.row(last.Start, last.End)
		return
	}
	m.paragraph = append(m.paragraph, text.Range{Start: start, End: end})
}

// tableCells returns the ranges of the cells of a row.
func tableCells(row string) (cells []text.Range) {
	start := 0
	if strings.HasPrefix(row, "|") {
		start = 1
	}
	row = strings.TrimRight(row, " \t")
	for i := start; i < len(row); i++ {
		switch row[i] {
		case '\\':
			i++
		case '|':
			cells = append(cells, text.Range{Start: start, End: i})
			start = i + 1
		}
	}
	if start < len(row) {
		cells = append(cells, text.Range{Start: start, End: len(row)})
	}
	return cells
}

// row translates the cells of a row.
func (m *markdown) row(start, end int) {
	for _, c := range tableCells(m.src[start:end]) {
		m.inlines([]text.Range{{Start: start + c.Start, End: start + c.End}}, true)
	}
}

// htmlBlock translates a block of HTML, except in a quote, whose markers may be within tags.
func (m *markdown) htmlBlock(r text.Range) {
	src := m.src[r.Start:r.End]
	if slices.ContainsFunc(m.containers, func(c mdContainer) bool { return c.quote }) {
		return
	}
	doc, err := markup.ReadHTML(src)
	if err != nil {
		m.fail(r.Start, "%v", err)
		return
	}
	m.edit(edit{start: r.Start, end: r.End, texts: doc.Texts, write: func(ts []markup.Text) string {
		s, _ := doc.Append(nil, ts, "") // they are checked
		return string(s)
	}})
}

// blockStart matches text that would begin another block.
var blockStart = regexp.MustCompile(`^(?:[-+*>=|~` + "`" + `#<:]|\d{1,9}[.)]|\[[^\[\]]*\]:|__)`)

// inlines translates lines with inline elements. A cell of a table has \| in the place of |.
func (m *markdown) inlines(lines []text.Range, cell bool) {
	first, last := lines[0], lines[len(lines)-1]
	var rows []string
	width := 0
	for _, l := range lines {
		rows = append(rows, m.src[l.Start:l.End])
		width = max(width, utf8.RuneCountInString(m.src[l.Start:l.End]))
	}
	s := strings.Join(rows, "\n")
	if cell {
		s = strings.ReplaceAll(s, `\|`, "|")
	}
	between := m.eol
	if len(lines) > 1 {
		between = m.src[first.End:lines[1].Start]
	}
	t := parseInlines(s, m.references)
	write := func(ts []markup.Text) string {
		translation := ts[0]
		if len(lines) > 1 {
			translation = wrap(translation, width, blockStart.MatchString)
		}
		out := t.render(translation, m.references)
		for i, image := range t.images {
			alt := image.elements.render(ts[i+1], escapeInlines)
			out = strings.ReplaceAll(out, imageMark(i), strings.ReplaceAll(alt, "\n", " "))
		}
		if !cell && blockStart.MatchString(out) && !blockStart.MatchString(s) {
			n := len(out) - len(strings.TrimLeft(out, "0123456789"))
			out = out[:n] + `\` + out[n:]
		}
		if cell {
			return strings.ReplaceAll(strings.ReplaceAll(out, "\n", " "), "|", `\|`)
		}
		return strings.ReplaceAll(out, "\n", between)
	}
	texts := []markup.Text{t.Text}
	for _, image := range t.images {
		texts = append(texts, image.Text)
	}
	m.edit(edit{start: first.Start, end: last.End, texts: texts, write: write})
}
