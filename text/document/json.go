package document

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonScanner finds the strings of JSON values (RFC 8259), one or more after another.
type jsonScanner struct {
	*editor
	at    int
	ascii bool // characters outside ASCII are written as \u escapes
}

// translateJSON translates all strings except the names of members, and the values of those whose
// names begin with @ or $, which mean something to programs.
func translateJSON(e *editor) error {
	isASCII := !strings.ContainsFunc(e.src, func(r rune) bool { return r >= utf8.RuneSelf })
	s := jsonScanner{editor: e, ascii: isASCII && strings.Contains(e.src, `\u`)}
	for s.space() {
		if err := s.value(0, false); err != nil {
			return err
		}
	}
	return nil
}

// space skips white space and reports whether there is more.
func (s *jsonScanner) space() bool {
	s.at = len(s.src) - len(strings.TrimLeft(s.src[s.at:], " \t\r\n"))
	return s.at < len(s.src)
}

// next returns the next byte after white space, or 0 at the end.
func (s *jsonScanner) next() byte {
	if !s.space() {
		return 0
	}
	return s.src[s.at]
}

func (s *jsonScanner) expected(what string) error {
	found := "the end of the file"
	if s.next() != 0 {
		r, _ := utf8.DecodeRuneInString(s.src[s.at:])
		found = fmt.Sprintf("%q", r)
	}
	return s.errorf(s.at, "found %s, expected %s", found, what)
}

// value scans a value and makes edits of its strings unless it is copied.
func (s *jsonScanner) value(depth int, copied bool) error {
	if depth > maxDepth {
		return s.errorf(s.at, "values nested deeper than %d", maxDepth)
	}
	switch s.next() {
	case '{':
		return s.list('}', func() error {
			if s.next() != '"' {
				return s.expected("a name in quotation marks")
			}
			_, name, err := s.string()
			if err != nil {
				return err
			}
			if s.next() != ':' {
				return s.expected("a colon")
			}
			s.at++
			return s.value(depth+1, copied || strings.HasPrefix(name, "@") || strings.HasPrefix(name, "$"))
		})
	case '[':
		return s.list(']', func() error { return s.value(depth+1, copied) })
	case '"':
		start, value, err := s.string()
		// RuneError is also half of a surrogate pair, which UTF-8 cannot express.
		if err != nil || copied || strings.Contains(value, string(utf8.RuneError)) {
			return err
		}
		return s.message(start, s.at, value, s.encode)
	}
	n := strings.IndexFunc(s.src[s.at:], func(r rune) bool { return strings.ContainsRune(" \t\r\n,:{}[]\"", r) })
	if n < 0 {
		n = len(s.src) - s.at
	}
	if !json.Valid([]byte(s.src[s.at : s.at+n])) {
		return s.expected("a JSON value")
	}
	s.at += n
	return nil
}

// list scans the items between brackets.
func (s *jsonScanner) list(closing byte, item func() error) error {
	s.at++
	if s.next() == closing {
		s.at++
		return nil
	}
	for {
		if err := item(); err != nil {
			return err
		}
		c := s.next()
		if c != closing && c != ',' {
			return s.expected(fmt.Sprintf("a comma or %q", closing))
		}
		s.at++
		if c == closing {
			return nil
		}
	}
}

// string scans a string, and returns its start and its value.
func (s *jsonScanner) string() (start int, value string, err error) {
	start = s.at
	for s.at++; ; s.at++ {
		n := strings.IndexAny(s.src[s.at:], "\"\\\n")
		if n < 0 || s.src[s.at+n] == '\n' {
			return 0, "", s.errorf(start, "found no end of the string, expected a quotation mark")
		}
		s.at += n
		if s.src[s.at] == '"' {
			break
		}
		if s.at++; s.at == len(s.src) {
			return 0, "", s.errorf(start, "found no end of the string, expected a quotation mark")
		}
	}
	s.at++
	if err := json.Unmarshal([]byte(s.src[start:s.at]), &value); err != nil {
		return 0, "", s.errorf(start, "%v", err)
	}
	return start, value, nil
}

// encode returns a string with its quotation marks.
func (s *jsonScanner) encode(value string) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.Encode(value) // a string has no error
	encoded := strings.TrimSuffix(b.String(), "\n")
	if s.ascii {
		return escapeUnicode(encoded)
	}
	return encoded
}

// escapeUnicode returns s with the characters outside ASCII as \uXXXX, in JSON and in properties.
func escapeUnicode(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			b.WriteRune(r)
		case r > 0xFFFF:
			r1, r2 := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, r1, r2)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
