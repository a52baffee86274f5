package markup

import (
	"fmt"
	"strings"

	"tfm/text"
)

// tokenKind is the kind of a token.
type tokenKind uint8

const (
	textToken tokenKind = iota // characters, with character references except in raw text
	startTag
	endTag
	otherToken // a comment, a doctype, an instruction, or bytes that parsers ignore
	cdataSection
)

// token is a part of a document of HTML or XML. Tokens are adjacent.
type token struct {
	text.Range
	kind        tokenKind
	name        string // of a tag, in HTML in lower case
	attrs       []attribute
	selfClosing bool
}

// attribute is an attribute of a start tag.
type attribute struct {
	name  string
	value text.Range // without quotation marks
	quote byte       // 0 if the value has none
}

// attr returns the decoded value of an attribute, the first of the name.
func (t *token) attr(s, name string) (value string, ok bool) {
	for _, a := range t.attrs {
		if a.name == name {
			return decodeAttribute(s[a.value.Start:a.value.End]), true
		}
	}
	return "", false
}

// scanner divides a document into tokens, in HTML by the tokenization rules of its standard
// (https://html.spec.whatwg.org, section 13.2.5). No byte is in two tokens or in none.
type scanner struct {
	s       string
	pos     int
	xml     bool
	rawName string // element whose text is raw up to its end tag, "" for none
	foreign bool   // the next token is in SVG or MathML, which have CDATA sections
}

// The marks of a CDATA section, whose text has no markup.
const cdataBegin, cdataEnd = "<![CDATA[", "]]>"

const whiteSpace = " \t\n\f\r"

func isSpace(c byte) bool { return strings.IndexByte(whiteSpace, c) >= 0 }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// more reports whether there is a next token.
func (z *scanner) more() bool { return z.pos < len(z.s) }

// next returns the next token. In XML the error describes a violation of well-formedness.
func (z *scanner) next() (t token, err error) {
	t.Start = z.pos
	rest := z.s[z.pos:]
	switch {
	case z.rawName != "":
		z.pos += rawEnd(rest, z.rawName)
		z.rawName = ""
		if z.pos == t.Start {
			return z.next()
		}
	case !z.isMarkup(rest):
		n := 1
		for n < len(rest) && !z.isMarkup(rest[n:]) {
			n++
		}
		z.pos += n
	case (z.xml || z.foreign) && strings.HasPrefix(rest, cdataBegin):
		t.kind = cdataSection
		err = z.skip(rest, len(cdataBegin), cdataEnd)
	case strings.HasPrefix(rest, "<!--"):
		t.kind = otherToken
		if z.xml {
			err = z.skip(rest, len("<!--"), "-->")
		} else {
			z.pos += commentEnd(rest)
		}
	case z.xml && rest[1] == '?':
		t.kind = otherToken
		err = z.skip(rest, 2, "?>")
	case z.xml && rest[1] == '!':
		t.kind = otherToken
		err = z.doctype()
	case rest[1] == '!' || rest[1] == '?' || rest[1] == '/' && !z.isName(rest[2:]):
		t.kind = otherToken // bogus comment
		z.skip(rest, 2, ">")
	default:
		err = z.tag(&t)
	}
	t.End = z.pos
	return t, err
}

// isMarkup reports whether s begins with other tokens than text.
func (z *scanner) isMarkup(s string) bool {
	if s[0] != '<' || len(s) == 1 {
		return false
	}
	return z.xml || s[1] == '!' || s[1] == '?' || s[1] == '/' && len(s) > 2 || z.isName(s[1:])
}

func (z *scanner) isName(s string) bool {
	return s != "" && (isLetter(s[0]) || z.xml && (s[0] == '_' || s[0] == ':' || s[0] >= 0x80))
}

// skip moves behind the first end in rest[from:], or to the end of the document, which is an error.
func (z *scanner) skip(rest string, from int, end string) error {
	if from = min(from, len(rest)); strings.Contains(rest[from:], end) {
		z.pos += from + strings.Index(rest[from:], end) + len(end)
		return nil
	}
	z.pos = len(z.s)
	return fmt.Errorf("found the end after %.20q, expected %q", rest, end)
}

// doctype skips a document type declaration with its internal subset.
func (z *scanner) doctype() error {
	depth := 0 // of brackets
	for i := z.pos; i < len(z.s); i++ {
		switch c := z.s[i]; c {
		case '"', '\'':
			n := strings.IndexByte(z.s[i+1:], c)
			if n < 0 {
				n = len(z.s)
			}
			i += n + 1
		case '[':
			depth++
		case ']':
			depth--
		case '<':
			if strings.HasPrefix(z.s[i:], "<!--") {
				n := strings.Index(z.s[i+4:], "-->")
				if n < 0 {
					n = len(z.s)
				}
				i += n + 6
			}
		case '>':
			if depth <= 0 {
				z.pos = i + 1
				return nil
			}
		}
	}
	z.pos = len(z.s)
	return fmt.Errorf("found the end of the document in a declaration, expected \">\"")
}

// commentEnd returns the length of the comment that s begins with (13.2.5.43 to 13.2.5.52).
func commentEnd(s string) int {
	if strings.HasPrefix(s, "<!-->") {
		return len("<!-->")
	}
	if strings.HasPrefix(s, "<!--->") {
		return len("<!--->")
	}
	for i := len("<!--"); i < len(s); i++ {
		if strings.HasPrefix(s[i:], "-->") {
			return i + len("-->")
		}
		if strings.HasPrefix(s[i:], "--!>") {
			return i + len("--!>")
		}
	}
	return len(s)
}

// tag scans a start or end tag (13.2.5.6 to 13.2.5.8 and 13.2.5.32 to 13.2.5.40). HTML ignores one
// that the document ends in.
func (z *scanner) tag(t *token) error {
	s, i := z.s, z.pos+1
	t.kind = startTag
	if s[i] == '/' {
		t.kind, i = endTag, i+1
	}
	from := i
	for i < len(s) && !isSpace(s[i]) && s[i] != '/' && s[i] != '>' && !(z.xml && s[i] == '<') {
		i++
	}
	if t.name = s[from:i]; !z.xml {
		t.name = lower(t.name)
	} else if !z.isName(t.name) {
		return fmt.Errorf("found %.20q, expected a tag, or &lt; in the place of <", s[z.pos:])
	}
	for i < len(s) {
		switch {
		case s[i] == '>':
			z.pos = i + 1
			return nil
		case s[i] == '/':
			t.selfClosing = i+1 < len(s) && s[i+1] == '>'
			i++
			continue
		case isSpace(s[i]):
			i++
			continue
		}
		var a attribute
		from := i
		for i++; i < len(s) && !isSpace(s[i]) && s[i] != '/' && s[i] != '>' && s[i] != '='; i++ {
		}
		a.name = s[from:i]
		if !z.xml {
			a.name = lower(a.name)
		}
		after := i
		for i < len(s) && isSpace(s[i]) {
			i++
		}
		if i == len(s) || s[i] != '=' {
			if i = after; z.xml {
				return fmt.Errorf("found the attribute %.20q without a value in <%.20s>", a.name, t.name)
			}
			a.value = text.Range{Start: i, End: i}
			t.attrs = append(t.attrs, a)
			continue
		}
		for i++; i < len(s) && isSpace(s[i]); i++ {
		}
		if i < len(s) && (s[i] == '"' || s[i] == '\'') {
			a.quote = s[i]
			i++
			n := strings.IndexByte(s[i:], a.quote)
			if n < 0 {
				i = len(s)
				break
			}
			a.value = text.Range{Start: i, End: i + n}
			i += n + 1
		} else if z.xml {
			return fmt.Errorf("found a value of the attribute %.20q without quotation marks in <%.20s>", a.name, t.name)
		} else {
			a.value.Start = i
			for i < len(s) && !isSpace(s[i]) && s[i] != '>' {
				i++
			}
			a.value.End = i
		}
		t.attrs = append(t.attrs, a)
	}
	t.kind, z.pos = otherToken, len(s)
	return fmt.Errorf("found the end of the document in the tag <%.20s>", t.name)
}

// lower returns s with ASCII letters in lower case.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// rawEnd returns the index in s, the text of an element, of its end tag, or len(s) (13.2.5.9 to
// 13.2.5.14). A script may have comments with scripts (13.2.5.15 to 13.2.5.31).
func rawEnd(s, name string) int {
	if name == "plaintext" {
		return len(s)
	}
	comment, nested := false, false
	for i := 0; i < len(s); i++ {
		rest := s[i:]
		switch {
		case isEndTag(rest, name) && !nested:
			return i
		case name != "script":
		case !comment && strings.HasPrefix(rest, "<!--"):
			// The dashes of <!--> and <!---> also end the comment.
			comment, i = !strings.HasPrefix(rest, "<!-->") && !strings.HasPrefix(rest, "<!--->"), i+3
		case comment && strings.HasPrefix(rest, "-->"):
			comment, nested = false, false
		case comment && isTag(rest, "<script"):
			nested = true
		case nested && isEndTag(rest, name):
			nested = false
		}
	}
	return len(s)
}

func isEndTag(s, name string) bool {
	return strings.HasPrefix(s, "</") && isTag(s[1:], "/"+name)
}

// isTag reports whether s begins with the name of a tag.
func isTag(s, begin string) bool {
	n := len(begin)
	return len(s) > n && strings.EqualFold(s[:n], begin) && (isSpace(s[n]) || s[n] == '/' || s[n] == '>')
}
