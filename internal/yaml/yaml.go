// Package yaml reads the part of YAML that files of settings use: mappings and lists by
// indentation, plain and quoted scalars on one line, lists in brackets, comments, anchors and
// aliases. All scalars are strings. Other YAML is an error with its line, not read as something
// else.
package yaml

import (
	"fmt"
	"strconv"
	"strings"
)

// Node is a scalar, a list or a mapping.
type Node struct {
	Line    int    // from 1
	Scalar  string // "" of a list, a mapping, and of null
	List    []*Node
	Entries []Entry // of a mapping, in order

	Anchored bool // has a name for aliases

	keys map[string]bool // of Entries
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

// parser has the lines of a file that are not read yet.
type parser struct {
	name    string
	lines   []line
	anchors map[string]*Node
	depth   int
}

// Parse reads a document. name is that of the file, for errors. An empty one is a mapping without
// entries.
func Parse(name, text string) (*Node, error) {
	p := &parser{name: name, anchors: map[string]*Node{}}
	for i, l := range strings.Split(strings.TrimPrefix(text, "\uFEFF"), "\n") {
		l = strings.TrimRight(cutComment(l), " \t\r")
		content := strings.TrimLeft(l, " ")
		if content == "" || len(p.lines) == 0 && content == "---" {
			continue
		}
		if content[0] == '\t' {
			return nil, fmt.Errorf("%s:%d: found a tab, expected spaces before the text", name, i+1)
		}
		p.lines = append(p.lines, line{i + 1, len(l) - len(content), content})
	}
	if len(p.lines) == 0 {
		return &Node{Line: 1}, nil
	}
	n, err := p.block(p.lines[0].indent)
	if err == nil && len(p.lines) > 0 {
		err = p.errorf("found %q, expected it to fit the indentation and kind of the lines before", p.lines[0].text)
	}
	if err != nil {
		return nil, err
	}
	return n, nil
}

func (p *parser) errorf(format string, args ...any) error {
	return (&Node{Line: p.lines[0].number}).Errorf(p.name, format, args...)
}

// cutComment returns a line without its comment, which begins after a space and outside of quotes.
func cutComment(l string) string {
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
	n = &Node{Line: p.lines[0].number}
	_, _, entries := cutKey(p.lines[0].text)
	list := isItem(p.lines[0].text)
	if !entries && !list {
		return p.value(p.next().text, n)
	}
	for len(p.lines) > 0 && p.lines[0].indent == indent && isItem(p.lines[0].text) == list {
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

// next removes the first line and returns it.
func (p *parser) next() line {
	l := p.lines[0]
	p.lines = p.lines[1:]
	return l
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
	l := &p.lines[0]
	indent := l.indent
	rest := strings.TrimLeft(l.text[1:], blanks)
	if _, _, entry := cutKey(rest); entry || isItem(rest) {
		l.indent, l.text = indent+len(l.text)-len(rest), rest
		item, err := p.block(l.indent)
		n.List = append(n.List, item)
		return err
	}
	p.next()
	item, err := p.content(rest, l.number, indent, false)
	n.List = append(n.List, item)
	return err
}

// entry adds the entry of a mapping that is in the first line.
func (p *parser) entry(n *Node) error {
	key, rest, ok := cutKey(p.lines[0].text)
	if !ok {
		return p.errorf("found %q, expected a key and a colon", p.lines[0].text)
	}
	if n.keys[key] {
		return p.errorf("found %s twice", key)
	}
	if n.keys == nil {
		n.keys = map[string]bool{}
	}
	n.keys[key] = true
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
	case len(p.lines) > 0 && (p.lines[0].indent > indent || inEntry && p.lines[0].indent == indent && isItem(p.lines[0].text)):
		n, err = p.block(p.lines[0].indent)
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
		return nil, n.Errorf(p.name, "found the alias %s of no anchor before it", text)
	case '[':
		inner, ok := strings.CutSuffix(text[1:], "]")
		if !ok {
			return nil, n.Errorf(p.name, "found a list without ] in the same line")
		}
		n.List = []*Node{}
		for rest := strings.TrimSpace(inner); rest != ""; {
			item, after, err := cutItem(rest, ",")
			if err != nil {
				return nil, n.Errorf(p.name, "%w", err)
			}
			n.List = append(n.List, &Node{Line: n.Line, Scalar: item})
			rest = strings.TrimSpace(strings.TrimPrefix(after, ","))
		}
		return n, nil
	}
	var err error
	if n.Scalar, _, err = cutItem(text, ""); err != nil {
		return nil, n.Errorf(p.name, "%w", err)
	}
	return n, nil
}

// cutItem returns the scalar that text begins with, and the rest, which begins with a character of
// ends.
func cutItem(text, ends string) (scalar, rest string, err error) {
	if strings.IndexByte(reserved, text[0]) >= 0 || strings.HasPrefix(text, "? ") {
		return "", "", fmt.Errorf("found %q, expected text on one line, quoted if it begins with %c", text, text[0])
	}
	quoted := text[0] == '"' || text[0] == '\''
	scalar, rest, err = cutScalar(text, ends)
	switch {
	case err != nil:
	case rest != "" && strings.IndexByte(ends, rest[0]) < 0:
		err = fmt.Errorf("found %q after a quoted text", rest)
	case !quoted && (scalar == "" && ends != "" || strings.Contains(scalar+" ", ": ")):
		err = fmt.Errorf("found %q, expected text, quoted if it has a colon and a space", text)
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
	key, rest, err := cutScalar(text, ":")
	after, ok := strings.CutPrefix(rest, ":")
	return key, strings.TrimLeft(after, blanks), err == nil && ok && endsMark(after)
}

// cutScalar returns the quoted or plain scalar that text begins with, and the rest. A plain one
// ends before a character of ends; a colon only before a space or at the end of the line.
func cutScalar(text, ends string) (scalar, rest string, err error) {
	switch text[0] {
	case '"':
		quoted, err := strconv.QuotedPrefix(text)
		if err != nil {
			return "", "", fmt.Errorf("found %s, expected a text in quotes", text)
		}
		scalar, _ = strconv.Unquote(quoted)
		return scalar, strings.TrimLeft(text[len(quoted):], " "), nil
	case '\'':
		end := 1
		for ; end < len(text); end++ {
			if text[end] == '\'' {
				if !strings.HasPrefix(text[end+1:], "'") {
					return strings.ReplaceAll(text[1:end], "''", "'"), strings.TrimLeft(text[end+1:], " "), nil
				}
				end++
			}
		}
		return "", "", fmt.Errorf("found %s, expected a text in quotes", text)
	}
	end := len(text)
	for i := range len(text) {
		if strings.IndexByte(ends, text[i]) >= 0 && (text[i] != ':' || endsMark(text[i+1:])) {
			end = i
			break
		}
	}
	if scalar = strings.TrimSpace(text[:end]); scalar == "null" || scalar == "~" {
		scalar = ""
	}
	return scalar, text[end:], nil
}
