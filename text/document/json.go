package document

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonValue is an object or array that is open, or the file.
type jsonValue struct {
	object bool
	named  bool // the next token of an object is a value, not a name
	skip   bool // the value of that name is copied
	copied bool // all in it is copied
}

// translateJSON translates all strings of JSON values (RFC 8259), one or more after another, except
// the names of members, and the values of those whose names begin with @ or $, which mean something
// to programs.
func translateJSON(e *editor) {
	isASCII := !strings.ContainsFunc(e.src, func(r rune) bool { return r >= utf8.RuneSelf })
	ascii := isASCII && strings.Contains(e.src, `\u`)
	d := json.NewDecoder(strings.NewReader(e.src))
	d.UseNumber()
	open := []jsonValue{{}}
	for e.err == nil {
		at := int(d.InputOffset())
		at += len(e.src[at:]) - len(strings.TrimLeft(e.src[at:], " \t\r\n,:"))
		token, err := d.Token()
		switch {
		case err == io.EOF && len(open) == 1:
			return
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			e.fail(at, "found the end of the file, expected the rest of a JSON value")
			return
		case err != nil:
			e.fail(at, "%v", err)
			return
		case len(open) > maxDepth:
			e.fail(at, "values nested deeper than %d", maxDepth)
			return
		}
		top := &open[len(open)-1]
		value, isString := token.(string)
		if top.object && !top.named && isString {
			top.named, top.skip = true, strings.HasPrefix(value, "@") || strings.HasPrefix(value, "$")
			continue
		}
		copied := top.copied || top.skip
		top.named = false
		switch token {
		case json.Delim('{'), json.Delim('['):
			open = append(open, jsonValue{object: token == json.Delim('{'), copied: copied})
			continue
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
			continue
		}
		// RuneError is also half of a surrogate pair, which UTF-8 cannot express.
		if !isString || copied || strings.Contains(value, string(utf8.RuneError)) {
			continue
		}
		encode := func(s string) string { return quoteJSON(s, ascii) }
		e.message(at, int(d.InputOffset()), value, encode)
	}
}

// quoteJSON returns a string with its quotation marks, with \u escapes for characters outside ASCII
// if ascii.
func quoteJSON(s string, ascii bool) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.Encode(s) // a string has no error
	quoted := strings.TrimSuffix(b.String(), "\n")
	if ascii {
		return escapeUnicode(quoted)
	}
	return quoted
}

// escapeUnicode returns s with the characters outside ASCII as \uXXXX, in JSON and in properties.
func escapeUnicode(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}
