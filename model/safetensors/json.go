package safetensors

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// parser reads the subset of JSON that headers need: objects, strings and arrays
// of non-negative integers. Other values are errors, at their first byte. Unlike
// encoding/json, parser returns an error for half of a surrogate pair, which that
// package replaces, and allocates only its results.
type parser struct {
	text []byte // valid UTF-8
	pos  int
}

// peek skips white space and returns the byte after it, 0 at the end.
func (p *parser) peek() byte {
	for ; p.pos < len(p.text); p.pos++ {
		switch c := p.text[p.pos]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// errorf returns an error that names the position and the value being read.
func (p *parser) errorf(what, format string, args ...any) error {
	return fmt.Errorf("header byte %d, in %s: "+format, append([]any{p.pos, what}, args...)...)
}

// unexpected returns the error of a wrong token at pos.
func (p *parser) unexpected(what, expected string) error {
	if p.pos == len(p.text) {
		return p.errorf(what, "found the end, expected %s: truncated", expected)
	}
	return p.errorf(what, "found %q, expected %s", p.token(80), expected)
}

// token returns the text at pos up to the next delimiter, or the delimiter if it
// is at pos. It returns at most limit bytes, none at the end.
func (p *parser) token(limit int) []byte {
	const delimiters = " \t\n\r,:[]{}\""
	rest := p.text[p.pos:min(len(p.text), p.pos+limit)]
	if n := bytes.IndexAny(rest, delimiters); n >= 0 {
		return rest[:max(n, 1)]
	}
	return rest
}

func (p *parser) expect(c byte, what string) error {
	if p.peek() != c {
		return p.unexpected(what, strconv.Quote(string(c)))
	}
	p.pos++
	return nil
}

// list reads a list between open and end, and calls item at each of its items.
func (p *parser) list(what string, open, end byte, item func() error) error {
	if err := p.expect(open, what); err != nil {
		return err
	}
	if p.peek() == end {
		p.pos++
		return nil
	}
	for {
		if err := item(); err != nil {
			return err
		}
		if p.peek() == end {
			p.pos++
			return nil
		}
		if p.peek() != ',' {
			return p.unexpected(what, fmt.Sprintf("%q or %q", ",", string(end)))
		}
		p.pos++
	}
}

// object reads an object and calls value for each key, at its value. Keys may
// repeat.
func (p *parser) object(what string, value func(key string) error) error {
	return p.list(what, '{', '}', func() error {
		key, err := p.str("a key of " + what)
		if err != nil {
			return err
		}
		if err := p.expect(':', what); err != nil {
			return err
		}
		return value(key)
	})
}

// ints reads an array of non-negative integers.
func (p *parser) ints(what string) ([]int, error) {
	list := []int{}
	err := p.list(what, '[', ']', func() error {
		p.peek()
		token := p.token(20) // the digits of a uint64
		n, err := strconv.ParseUint(string(token), 10, 64)
		if err != nil || n > math.MaxInt || token[0] == '0' && len(token) > 1 {
			return p.unexpected(what, fmt.Sprintf("an integer from 0 to %d", math.MaxInt))
		}
		list = append(list, int(n))
		p.pos += len(token)
		return nil
	})
	return list, err
}

// str reads a string.
func (p *parser) str(what string) (string, error) {
	if p.peek() != '"' {
		return "", p.unexpected(what, "a string")
	}
	start := p.pos
	var unescaped []byte // the string so far, nil before the first escape
	for p.pos++; p.pos < len(p.text); {
		switch c := p.text[p.pos]; {
		case c == '"':
			p.pos++
			if unescaped != nil {
				return string(unescaped), nil
			}
			return string(p.text[start+1 : p.pos-1]), nil
		case c == '\\':
			if unescaped == nil {
				unescaped = append([]byte{}, p.text[start+1:p.pos]...)
			}
			r, n, err := unescape(p.text[p.pos:])
			if err != nil {
				return "", p.errorf(what, "%w", err)
			}
			unescaped = utf8.AppendRune(unescaped, r)
			p.pos += n
		case c < ' ':
			return "", p.errorf(what, "found %q, expected it to be escaped", c)
		default:
			if unescaped != nil {
				unescaped = append(unescaped, c)
			}
			p.pos++
		}
	}
	return "", p.unexpected(what, "its end quote")
}

var shortEscapes = map[byte]rune{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

var errSurrogate = errors.New("found half of a surrogate pair")

// unescape decodes the escape that text begins with and returns its length.
func unescape(text []byte) (r rune, n int, err error) {
	if len(text) > 1 {
		if r, ok := shortEscapes[text[1]]; ok {
			return r, 2, nil
		}
	}
	r, ok := hexEscape(text)
	switch {
	case !ok:
		return 0, 0, fmt.Errorf("found %.6q, expected an escape of JSON", text)
	case !utf16.IsSurrogate(r):
		return r, 6, nil
	}
	low, ok := hexEscape(text[6:])
	if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
		return 0, 0, errSurrogate
	}
	return r, 12, nil
}

// hexEscape decodes \uXXXX at the start of text.
func hexEscape(text []byte) (r rune, ok bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(n), err == nil
}
