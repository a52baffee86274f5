package document

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tfm/text/markup"
)

// poEntry is a message of a po file.
type poEntry struct {
	start, end     int // of its lines, from the first comment, without the last line ending
	keywords       int // start of the line with the first keyword
	msgstrs        int // start of the line with the first msgstr
	id, plural     string
	hasPlural      bool
	hasMsgstr      bool
	msgstr         string // all of them together
	fuzzy, checked bool   // has these flags: fuzzy, one such as c-format
}

// poFile is a po file, and the forms of plurals of its language.
type poFile struct {
	*editor
	eol   string
	forms pluralForms
}

// translatePO translates the messages of a po file that have no translation or a fuzzy one. All
// others, and obsolete ones, are copied.
func translatePO(e *editor) {
	p := poFile{editor: e, eol: lineEnding(e.src), forms: pluralFormsOf(e.To)}
	p.entries(func(m poEntry) {
		switch {
		case m.id == "":
			p.header(m)
		case m.msgstr == "" || m.fuzzy:
			p.translate(m)
		}
	})
}

// lineEnding returns that of the first line.
func lineEnding(src string) string {
	if i := strings.IndexByte(src, '\n'); i > 0 && src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// entries calls f with each entry that has a msgstr.
func (p *poFile) entries(f func(poEntry)) {
	var m poEntry
	var last *string // the string that the next line may continue
	comments := -1   // start of the comments before an entry
	next := func() {
		if m.hasMsgstr {
			f(m)
		}
		m, last = poEntry{}, nil
	}
	for l := range lines(p.src) {
		line := strings.TrimSpace(p.src[l.Start:l.End])
		if line == "" {
			continue
		}
		n := strings.IndexAny(line, " \t\"")
		if n < 0 {
			n = len(line)
		}
		keyword := line[:n]
		if m.hasMsgstr && (line[0] == '#' || keyword == "msgid" || keyword == "msgctxt") {
			next()
		}
		if line[0] == '#' {
			if strings.HasPrefix(line, "#~") { // the comments before it are of an obsolete message
				m, last, comments = poEntry{}, nil, -1
				continue
			}
			if comments < 0 && last == nil { // not one within a message
				comments = l.Start
			}
			if strings.HasPrefix(line, "#,") {
				m.addFlags(line)
			}
			continue
		}
		if last == nil {
			m.start, m.keywords = l.Start, l.Start
			if comments >= 0 {
				m.start, comments = comments, -1
			}
		}
		switch {
		case keyword == "" && last != nil:
		case keyword == "msgctxt":
			last = new(string)
		case keyword == "msgid":
			last = &m.id
		case keyword == "msgid_plural":
			last, m.hasPlural = &m.plural, true
		case keyword == "msgstr", strings.HasPrefix(keyword, "msgstr["):
			if !m.hasMsgstr {
				m.msgstrs = l.Start
			}
			last, m.hasMsgstr = &m.msgstr, true
		default:
			p.fail(l.Start, "found %.20q, expected msgid, msgstr or a string", line)
			return
		}
		s, err := unquotePO(strings.TrimSpace(line[n:]))
		if err != nil {
			p.fail(l.Start, "%v", err)
			return
		}
		*last += s
		m.end = l.End
	}
	next()
}

// addFlags notes the flags of a comment.
func (m *poEntry) addFlags(line string) {
	for _, f := range splitFlags(line) {
		m.fuzzy = m.fuzzy || f == "fuzzy"
		m.checked = m.checked || strings.HasSuffix(f, "-format") && !strings.HasPrefix(f, "no-")
	}
}

// splitFlags returns the flags of a comment that begins with "#,".
func splitFlags(line string) []string {
	flags := strings.Split(strings.TrimSpace(line)[2:], ",")
	for i := range flags {
		flags[i] = strings.TrimSpace(flags[i])
	}
	return flags
}

// unquotePO returns the characters of a string with the escapes of C.
func unquotePO(s string) (string, error) {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return "", fmt.Errorf("found %.20q, expected a string in quotation marks", s)
	}
	s = s[1 : len(s)-1]
	var b strings.Builder
	for s != "" {
		i := strings.IndexAny(s, `\"`)
		if i < 0 {
			break
		}
		b.WriteString(s[:i])
		s = s[i:]
		if s[0] == '"' || len(s) == 1 {
			return "", fmt.Errorf("found %q within a string, expected it escaped", s[0])
		}
		c, multibyte, rest, err := strconv.UnquoteChar(s, '"')
		if err != nil {
			return "", fmt.Errorf("found the escape %.2q, expected one of C", s)
		}
		if c < 0x80 || multibyte {
			b.WriteRune(c)
		} else {
			b.WriteByte(byte(c))
		}
		s = rest
	}
	b.WriteString(s)
	return strings.ToValidUTF8(b.String(), "\uFFFD"), nil
}

var poEscaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\a", `\a`, "\b", `\b`, "\f", `\f`, "\v", `\v`, "\x00", `\000`)

// quote returns a keyword with a string, which has a line for each of its own lines.
func (p *poFile) quote(keyword, s string) string {
	rows := strings.SplitAfter(s, "\n")
	if rows[len(rows)-1] == "" && len(rows) > 1 {
		rows = rows[:len(rows)-1]
	}
	if len(rows) > 1 {
		rows = append([]string{""}, rows...)
	}
	for i, r := range rows {
		rows[i] = `"` + poEscaper.Replace(r) + `"`
	}
	return keyword + " " + strings.Join(rows, p.eol)
}

// translate makes an edit of a message. Its translation is fuzzy with Review, or if the arguments
// of a format string differ from those of the message, so that no program uses it.
func (p *poFile) translate(m poEntry) {
	messages := []message{newMessage(m.id), newMessage(m.plural)}
	n := len(messages[0].texts)
	texts := append(slices.Clone(messages[0].texts), messages[1].texts...)
	p.edit(edit{start: m.start, end: m.end, texts: texts, always: true, write: func(ts []markup.Text) string {
		one, other := messages[0].render(ts[:n]), messages[1].render(ts[n:])
		fuzzy := p.Review || m.checked && (!sameArguments(m.id, one) || !sameArguments(m.plural, other))
		head := p.comments(m, fuzzy)
		if !m.hasPlural {
			return head + p.quote("msgstr", one)
		}
		var forms []string
		for i := range p.forms.count {
			s := other
			if p.forms.one == i && p.forms.count > 1 {
				s = one
			}
			forms = append(forms, p.quote(fmt.Sprintf("msgstr[%d]", i), s))
		}
		return head + strings.Join(forms, p.eol)
	}})
}

// comments returns the lines of a message before its msgstr, with the flag fuzzy or without it and
// the previous message.
func (p *poFile) comments(m poEntry, fuzzy bool) string {
	var b strings.Builder
	flagged := false
	src := p.src[m.start:m.keywords]
	for l := range lines(src) {
		line := src[l.Start:l.End]
		if strings.HasPrefix(line, "#|") && !fuzzy {
			continue
		}
		if strings.HasPrefix(line, "#,") {
			flags := slices.DeleteFunc(splitFlags(line), func(f string) bool { return f == "fuzzy" || f == "" })
			if fuzzy && !flagged {
				flags = append([]string{"fuzzy"}, flags...)
			}
			flagged = true
			if len(flags) == 0 {
				continue
			}
			line = "#, " + strings.Join(flags, ", ")
		}
		b.WriteString(line + p.eol)
	}
	if fuzzy && !flagged {
		b.WriteString("#, fuzzy" + p.eol)
	}
	return b.String() + p.src[m.keywords:m.msgstrs]
}

// formatArgument matches the arguments of format strings, also invalid ones.
var formatArgument = regexp.MustCompile(`%(\([^()]*\))?[-+ #0']*(\d+\$)?[\d*.]*(hh|h|ll|l|q|j|z|t|L)?(.|$)|\{[^{}]*\}`)

// sameArguments reports whether two format strings have the same arguments, in any order if they
// are numbered or named.
func sameArguments(a, b string) bool {
	sorted := func(s string) []string {
		found := formatArgument.FindAllString(s, -1)
		if !slices.ContainsFunc(found, func(a string) bool { return a != "%%" && !strings.ContainsAny(a, "$({") }) {
			slices.Sort(found)
		}
		return found
	}
	return slices.Equal(sorted(a), sorted(b))
}

// header fills in the fields of the first entry that a template leaves open, and reads the forms of
// plurals.
func (p *poFile) header(m poEntry) {
	old := p.src[m.msgstrs:m.end]
	fields := old
	set := func(pattern, value string) {
		fields = regexp.MustCompile(pattern).ReplaceAllString(fields, "${1}"+strings.ReplaceAll(value, "$", "$$"))
	}
	if p.To != "" {
		set(`("Language: *)(\\n)`, strings.ReplaceAll(p.To, "-", "_")+`\n`)
		set(`("Plural-Forms: *)nplurals=INTEGER; plural=EXPRESSION;`, p.forms.String())
		if !strings.Contains(old, "Plural-Forms:") && strings.Contains(p.src, "msgid_plural") {
			fields += p.eol + `"Plural-Forms: ` + p.forms.String() + `\n"`
		}
	}
	set(`("Content-Type: text/plain; charset=)(CHARSET|US-ASCII|ASCII)\b`, "UTF-8")
	if given := pluralField.FindStringSubmatch(m.msgstr); given != nil { // may be on several lines
		forms, err := parsePluralForms(given[1], given[2])
		if err != nil {
			p.fail(m.msgstrs, "Plural-Forms: %v", err)
		}
		p.forms = forms
	}
	if fields != old {
		p.put(m.start, m.end, p.comments(m, false)+fields)
	}
}

// pluralField matches the field of a header with the forms of plurals.
var pluralField = regexp.MustCompile(`Plural-Forms:\s*nplurals\s*=\s*(\d+)\s*;\s*plural\s*=([^;\n]*)`)
