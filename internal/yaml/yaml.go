// Package yaml reads the part of YAML that files of settings use: mappings and lists by
// indentation, plain and quoted scalars on one line, lists in brackets, comments, anchors and
// aliases. All scalars are strings. Other YAML is an error with its line, not read as something
// else.
package yaml

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Node is a scalar, a list or a mapping.
type Node struct {
	Line    int    // from 1
	Scalar  string // "" of a list, a mapping, and of null
	List    []*Node
	Entries []Entry // of a mapping, in order

	Anchored bool // has a name for aliases

	keys map[string]struct{} // of Entries
}

// Entry is a key of a mapping with its value.
type Entry struct {
	Key   string
	Value *Node
}

// IsScalar reports whether n is no list and no mapping.
func (n *Node) IsScalar() bool { return n.List == nil && n.Entries == nil }

// Find returns the value of a key of a mapping, nil if it has none.
func (n *Node) Find(key string) *Node {
	for _, e := range n.Entries {
		if e.Key == key {
			return e.Value
		}
	}
	return nil
}

// Errorf returns an error that begins with the name of the file and the line of n.
func (n *Node) Errorf(name, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", name, n.Line, fmt.Errorf(format, args...))
}

// maxDepth is the limit of nested lists and mappings.
const maxDepth = 20

// line is a line with content.
type line struct {
	number int
	indent int
	text   string // without indentation and comment
}

// parser has the lines of a file that are not read yet: the first one, and the text after it.
type parser struct {
	name    string
	first   line   // of number 0 at the end
	rest    string // after it
	number  int    // of the last line that was read
	begun   bool   // a line with content was read
	anchors map[string]*Node
	depth   int
	err     error
}

// Parse reads a document. name is that of the file, for errors. An empty one is a mapping without
// entries.
func Parse(name, text string) (*Node, error) {
	if !utf8.ValidString(text) {
		return nil, fmt.Errorf("%s: found invalid UTF-8", name)
	}
	p := &parser{name: name, rest: strings.TrimPrefix(text, "\uFEFF"), anchors: map[string]*Node{}}
	p.next()
	n, err := &Node{Line: 1}, error(nil)
	if p.more() {
		n, err = p.block(p.first.indent)
	}
	switch {
	case p.err != nil:
		return nil, p.err
	case err == nil && p.more():
		err = p.errorf("found %.80q, expected it to fit the indentation and kind of the lines before", p.first.text)
	}
	if err != nil {
		return nil, err
	}
	return n, nil
}

// more reports whether a line is left.
func (p *parser) more() bool { return p.first.number > 0 }

// next returns the first line and moves on to the next one with content. Those after an error are
// not read.
func (p *parser) next() line {
	last := p.first
	p.first = line{}
	for p.rest != "" && p.err == nil {
		l, rest, _ := strings.Cut(p.rest, "\n")
		p.rest = rest
		p.number++
		l = strings.TrimRight(cutComment(l), " \t\r")
		content := strings.TrimLeft(l, " ")
		if content == "" || !p.begun && content == "---" {
			continue
		}
		p.begun = true
		if content[0] == '\t' {
			p.err = fmt.Errorf("%s:%d: found a tab, expected spaces before the text", p.name, p.number)
			break
		}
		p.first = line{p.number, len(l) - len(content), content}
		break
	}
	return last
}

func (p *parser) errorf(format string, args ...any) error {
	return (&Node{Line: p.first.number}).Errorf(p.name, format, args...)
}

// cutComment returns a line without its comment, which begins after a space and outside of quotes.
func cutComment(l string) string {
	if strings.IndexByte(l, '#') < 0 {
		return l
	}
	quote := byte(0)
	for i := 0; i < len(l); i++ {
		switch c := l[i]; {
		case quote == '"' && c == '\\':
			i++
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
		case (c == '"' || c == '\'') && (i == 0 || strings.IndexByte(" \t[,-", l[i-1]) >= 0):
			quote = c
		case c == '#' && (i == 0 || l[i-1] == ' ' || l[i-1] == '\t'):
			return l[:i]
		}
	}
	return l
}

// block reads the lines of an indentation and the deeper ones after them.
func (p *parser) block(indent int) (n *Node, err error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.errorf("found lists and mappings nested deeper than %d", maxDepth)
	}
	defer func() { p.depth-- }()
	n = &Node{Line: p.first.number}
	_, _, entries := cutKey(p.first.text)
	list := isItem(p.first.text)
	if !entries && !list {
		return p.value(p.next().text, n)
	}
	for p.more() && p.first.indent == indent && isItem(p.first.text) == list {
		if list {
			err = p.item(n)
		} else {
			err = p.entry(n)
		}
		if err != nil {
			return nil, err
		}
	}
	return n, nil
}

// isItem reports whether a line begins an item of a list.
func isItem(text string) bool {
	rest, dash := strings.CutPrefix(text, "-")
	return dash && endsMark(rest)
}

// endsMark reports whether what follows a dash, or the colon of a key, makes it one.
func endsMark(rest string) bool { return rest == "" || strings.IndexByte(blanks, rest[0]) >= 0 }

const blanks = " \t"

// item adds the item of a list that begins in the first line.
func (p *parser) item(n *Node) error {
	l := &p.first
	indent := l.indent
	rest := strings.TrimLeft(l.text[1:], blanks)
	if _, _, entry := cutKey(rest); entry || isItem(rest) {
		l.indent, l.text = indent+len(l.text)-len(rest), rest
		item, err := p.block(l.indent)
		n.List = append(n.List, item)
		return err
	}
	item, err := p.content(rest, p.next().number, indent, false)
	n.List = append(n.List, item)
	return err
}

// entry adds the entry of a mapping that is in the first line.
func (p *parser) entry(n *Node) error {
	key, rest, ok := cutKey(p.first.text)
	if !ok {
		return p.errorf("found %.80q, expected a key and a colon", p.first.text)
	}
	if n.keys == nil {
		n.keys = map[string]struct{}{}
	}
	if n.keys[key] = struct{}{}; len(n.keys) == len(n.Entries) {
		return p.errorf("found %.80q twice", key)
	}
	l := p.next()
	value, err := p.content(rest, l.number, l.indent, true)
	n.Entries = append(n.Entries, Entry{key, value})
	return err
}

// content reads what follows a dash or a key: rest, or the lines after it, which are deeper than
// indent. A list in an entry needs no deeper indentation.
func (p *parser) content(rest string, number, indent int, inEntry bool) (n *Node, err error) {
	anchor, isAnchor := strings.CutPrefix(rest, "&")
	if isAnchor {
		end := strings.IndexAny(anchor+" ", blanks)
		anchor, rest = anchor[:end], strings.TrimLeft(anchor[end:], blanks)
	}
	n = &Node{Line: number}
	switch {
	case rest != "":
		n, err = p.value(rest, n)
	case p.more() && (p.first.indent > indent || inEntry && p.first.indent == indent && isItem(p.first.text)):
		n, err = p.block(p.first.indent)
	}
	if isAnchor && err == nil {
		p.anchors[anchor], n.Anchored = n, true
	}
	return n, err
}

// value sets n to the value that text is, and returns it, or that of an alias.
func (p *parser) value(text string, n *Node) (*Node, error) {
	switch text[0] {
	case '*':
		if of := p.anchors[text[1:]]; of != nil {
			return of, nil
		}
		return nil, n.Errorf(p.name, "found the alias %.80q of no anchor before it", text)
	case '[':
		inner, ok := strings.CutSuffix(text[1:], "]")
		if !ok {
			return nil, n.Errorf(p.name, "found a list without ] in the same line")
		}
		n.List = []*Node{}
		for rest := strings.TrimSpace(inner); rest != ""; {
			item, after, err := cutItem(rest, ',')
			if err != nil {
				return nil, n.Errorf(p.name, "%w", err)
			}
			n.List = append(n.List, &Node{Line: n.Line, Scalar: item})
			rest = strings.TrimSpace(strings.TrimPrefix(after, ","))
		}
		return n, nil
	}
	var err error
	if n.Scalar, _, err = cutItem(text, 0); err != nil {
		return nil, n.Errorf(p.name, "%w", err)
	}
	return n, nil
}

// cutItem returns the scalar that text begins with, and the rest, which begins with the character
// end.
func cutItem(text string, end byte) (scalar, rest string, err error) {
	if strings.IndexByte(reserved, text[0]) >= 0 || strings.HasPrefix(text, "? ") {
		return "", "", fmt.Errorf("found %.80q, expected text on one line, quoted if it begins with %c", text, text[0])
	}
	quoted := text[0] == '"' || text[0] == '\''
	scalar, rest, err = cutScalar(text, end)
	if !quoted && (scalar == "null" || scalar == "~") {
		return "", rest, nil
	}
	switch {
	case err != nil:
	case rest != "" && rest[0] != end:
		err = fmt.Errorf("found %.80q after a quoted text", rest)
	case !quoted && (scalar == "" && end != 0 || strings.Contains(scalar, ": ") || strings.HasSuffix(scalar, ":")):
		err = fmt.Errorf("found %.80q, expected text, quoted if it has a colon and a space", text)
	}
	return scalar, rest, err
}

// reserved are the characters that begin other kinds of values.
const reserved = "[]{}*&!|>%@`,"

// cutKey returns the key that a line begins with, and the rest after its colon.
func cutKey(text string) (key, rest string, ok bool) {
	if text == "" || strings.IndexByte(reserved, text[0]) >= 0 || strings.HasPrefix(text, "? ") {
		return "", "", false
	}
	key, rest, err := cutScalar(text, ':')
	after, ok := strings.CutPrefix(rest, ":")
	return key, strings.TrimLeft(after, blanks), err == nil && ok && endsMark(after)
}

// cutScalar returns the quoted or plain scalar that text begins with, and the rest. A plain one
// ends before the character end, unless that is 0; a colon only before a space or at the end of the
// line.
func cutScalar(text string, end byte) (scalar, rest string, err error) {
	if text[0] == '"' || text[0] == '\'' {
		n := quoteEnd(text)
		if n < 0 {
			return "", "", fmt.Errorf("found %.80q, expected a text in quotes", text)
		}
		scalar, err = unquote(text[:n])
		return scalar, strings.TrimLeft(text[n:], " "), err
	}
	for i := 0; end != 0; i++ {
		next := strings.IndexByte(text[i:], end)
		if next < 0 {
			break
		}
		if i += next; end != ':' || endsMark(text[i+1:]) {
			return strings.TrimSpace(text[:i]), text[i:], nil
		}
	}
	return strings.TrimSpace(text), "", nil
}

// quoteEnd returns the index after the quoted text that s begins with, or -1.
func quoteEnd(s string) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && s[0] == '"':
			i++
		case s[i] != s[0]:
		case s[0] == '\'' && strings.HasPrefix(s[i+1:], "'"):
			i++
		default:
			return i + 1
		}
	}
	return -1
}

// unquote returns the content of a quoted text.
func unquote(s string) (string, error) {
	inner := s[1 : len(s)-1]
	switch {
	case s[0] == '\'':
		return strings.ReplaceAll(inner, "''", "'"), nil
	case strings.IndexByte(inner, '\\') < 0:
		return inner, nil
	}
	text, err := strconv.Unquote(escapes.Replace(s))
	if err != nil {
		return "", fmt.Errorf("found %.80q, expected a text in quotes", s)
	}
	return text, nil
}

// escapes replaces the escapes of YAML that are not those of Go, where \xNN is a byte and no
// character.
var escapes = strings.NewReplacer(
	`\\`, `\\`, `\x`, `\u00`, `\/`, `/`, `\e`, `\u001b`, `\ `, ` `, `\0`, `\u0000`, `\N`, `\u0085`, `\_`, `\u00a0`, `\L`, `\u2028`, `\P`, `\u2029`,
)
