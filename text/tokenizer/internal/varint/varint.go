// Package varint decodes tokenizers in model files: numbers as unsigned varints, and strings. It
// imports only the standard library.
package varint

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// Decoder decodes numbers and strings from Data. After the first error, all are 0 and empty.
type Decoder struct {
	Data    []byte // not decoded yet
	Version byte   // of the format
	Err     error
}

var errTruncated = errors.New("truncated")

// New returns a Decoder of what follows magic and the byte of the format version in data, which is
// from 1 to newest.
func New(data []byte, magic string, newest byte) *Decoder {
	d := new(Decoder)
	body, ok := bytes.CutPrefix(data, []byte(magic))
	switch {
	case !ok:
		d.fail(fmt.Errorf("begins with %q, expected %q", data[:min(len(data), len(magic))], magic))
	case len(body) == 0:
		d.fail(errTruncated)
	case body[0] == 0 || body[0] > newest:
		expected := "1"
		if newest > 1 {
			expected = fmt.Sprintf("1 to %d", newest)
		}
		d.fail(fmt.Errorf("version %d, expected %s", body[0], expected))
	default:
		d.Version, d.Data = body[0], body[1:]
	}
	return d
}

func (d *Decoder) fail(err error) {
	if d.Err == nil {
		d.Err, d.Data = err, nil
	}
}

// Number decodes a number, which must have its shortest form.
func (d *Decoder) Number() uint64 {
	x, n := binary.Uvarint(d.Data)
	switch {
	case n == 0:
		d.fail(errTruncated)
	case n < 0:
		d.fail(errors.New("number overflows 64 bits"))
	case n != len(binary.AppendUvarint(nil, x)):
		d.fail(fmt.Errorf("number %d is not in its shortest form", x))
	default:
		d.Data = d.Data[n:]
		return x
	}
	return 0
}

// String decodes a string: its length and its bytes.
func (d *Decoder) String() string {
	n := d.Number()
	if n > uint64(len(d.Data)) {
		d.fail(errTruncated)
		return ""
	}
	s := string(d.Data[:n])
	d.Data = d.Data[n:]
	return s
}
