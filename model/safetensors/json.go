package safetensors

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// decoder reads the values that headers consist of: objects, strings and arrays of
// non-negative integers. Other values are errors.
type decoder struct {
	json *json.Decoder
	// Destinations of str and ints, reused so that a header of many short values
	// allocates little.
	text       *string
	textMemory string
	raw        json.RawMessage
}

func newDecoder(text []byte) *decoder {
	d := &decoder{json: json.NewDecoder(bytes.NewReader(text))}
	d.json.UseNumber()
	return d
}

// errorf returns an error that names the position and the value being read.
func (d *decoder) errorf(what, format string, args ...any) error {
	return fmt.Errorf("header byte %d, in %s: "+format, append([]any{d.json.InputOffset(), what}, args...)...)
}

// fail returns the error of a value that encoding/json refuses.
func (d *decoder) fail(what string, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("found the end: truncated")
	}
	return d.errorf(what, "%w", err)
}

// object reads an object and calls value for each key, at its value. Keys may
// repeat.
func (d *decoder) object(what string, value func(key string) error) error {
	open, err := d.json.Token()
	if err != nil {
		return d.fail(what, err)
	}
	if open != json.Delim('{') {
		return d.errorf(what, "found %.80q, expected an object", fmt.Sprint(open))
	}
	for d.json.More() {
		key, err := d.json.Token() // a string, or an error
		if err != nil {
			return d.fail("a key of "+what, err)
		}
		if err := value(key.(string)); err != nil {
			return err
		}
	}
	if _, err := d.json.Token(); err != nil { // the closing bracket
		return d.fail(what, err)
	}
	return nil
}

// str reads a string.
func (d *decoder) str(what string) (string, error) {
	d.text = &d.textMemory // null makes it nil
	err := d.json.Decode(&d.text)
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		return "", d.errorf(what, "found a JSON %s, expected a string", wrong.Value)
	} else if err != nil {
		return "", d.fail(what, err)
	}
	if d.text == nil {
		return "", d.errorf(what, "found null, expected a string")
	}
	return d.textMemory, nil
}

// ints reads an array of non-negative integers.
func (d *decoder) ints(what string) ([]int, error) {
	if err := d.json.Decode(&d.raw); err != nil {
		return nil, d.fail(what, err)
	}
	if d.raw[0] != '[' {
		return nil, d.errorf(what, "found %.80q, expected an array of integers", d.raw)
	}
	list := []int{}
	items := strings.TrimSpace(string(d.raw[1 : len(d.raw)-1]))
	if items == "" {
		return list, nil
	}
	for item := range strings.SplitSeq(items, ",") {
		item = strings.TrimSpace(item)
		n, err := strconv.ParseUint(item, 10, 64)
		if err != nil || n > math.MaxInt {
			return nil, d.errorf(what, "found %.80q, expected an integer from 0 to %d", item, math.MaxInt)
		}
		list = append(list, int(n))
	}
	return list, nil
}

// halfSurrogatePair reports whether a string of JSON has the escape of half of a
// surrogate pair, which encoding/json would replace, so that two names could
// become one.
func halfSurrogatePair(text []byte) bool {
	const high, low = "89ab", "cdef"
	is := func(escape []byte, digits string) bool {
		return len(escape) > 2 && escape[0] == 'u' && escape[1]|0x20 == 'd' && strings.IndexByte(digits, escape[2]|0x20) >= 0
	}
	for {
		_, escape, found := bytes.Cut(text, []byte{'\\'})
		switch {
		case !found:
			return false
		case is(escape, high) && len(escape) > 6 && escape[5] == '\\' && is(escape[6:], low):
			text = escape[6:]
		case is(escape, high+low):
			return true
		default:
			text = escape[min(1, len(escape)):]
		}
	}
}
