package subword

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// Magic begins an encoded Tokenizer. The format version follows in one byte.
const Magic = "tfm-subword"

// fileVersion is the format version. It also covers the rules for words, because the ids of a text
// depend on them.
const fileVersion = 1

// MarshalBinary encodes the tokenizer: the magic, the format version and that of the codes, 0,
// then the merges and the vocabulary, each as its length and its strings. A string is its length
// and bytes; a piece is followed by its count. Numbers are unsigned varints. The error is always
// nil.
func (t *Tokenizer) MarshalBinary() ([]byte, error) {
	c := t.codes
	data := append([]byte(Magic), fileVersion, byte(c.version))
	appendString := func(s string) {
		data = binary.AppendUvarint(data, uint64(len(s)))
		data = append(data, s...)
	}
	data = append(data, 0) // glossaries of subword-nmt, which are not supported
	data = binary.AppendUvarint(data, uint64(len(c.lines)))
	for _, m := range c.lines {
		appendString(m[0])
		appendString(m[1])
	}
	data = binary.AppendUvarint(data, uint64(len(t.vocabulary.entries)))
	for _, x := range t.vocabulary.entries {
		appendString(x.Piece)
		data = binary.AppendUvarint(data, uint64(x.Count))
	}
	return data, nil
}

// Unmarshal decodes a tokenizer from the output of MarshalBinary. Untrusted data is safe: Unmarshal
// rejects anything that MarshalBinary cannot produce, and allocates at most 200 bytes for each byte
// of data.
func Unmarshal(data []byte) (*Tokenizer, error) {
	body, ok := bytes.CutPrefix(data, []byte(Magic))
	switch {
	case !ok:
		return nil, fmt.Errorf("begins with %q, expected %q", data[:min(len(data), len(Magic))], Magic)
	case len(body) < 2:
		return nil, errTruncated
	case body[0] != fileVersion:
		return nil, fmt.Errorf("version %d, expected %d", body[0], fileVersion)
	}
	d := decoder{data: body[2:]}
	if n := d.number(); n > 0 {
		return nil, fmt.Errorf("found %d glossaries, expected none", n)
	}
	var merges [][2]string
	for range d.count() {
		merges = append(merges, [2]string{d.string(), d.string()})
	}
	var entries []Entry
	for range d.count() {
		entries = append(entries, Entry{d.string(), int64(d.number())})
	}
	switch {
	case d.err != nil:
		return nil, d.err
	case len(d.data) > 0:
		return nil, fmt.Errorf("found %d bytes after the vocabulary, expected the end", len(d.data))
	}
	c, err := NewCodes(Version(body[1]), merges)
	if err != nil {
		return nil, err
	}
	v, err := NewVocabulary(entries, 0)
	if err != nil {
		return nil, err
	}
	return New(c, v), nil
}

var errTruncated = errors.New("truncated")

// decoder decodes numbers and strings from data. After the first error, all are 0 and empty.
type decoder struct {
	data []byte
	err  error
}

func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err, d.data = err, nil
	}
}

// number decodes a number, which must have its shortest form.
func (d *decoder) number() uint64 {
	x, n := binary.Uvarint(d.data)
	switch {
	case d.err != nil:
		return 0
	case n == 0:
		d.fail(errTruncated)
		return 0
	case n < 0 || n != len(binary.AppendUvarint(nil, x)):
		d.fail(errors.New("found a number that is not in its shortest form of 64 bits"))
		return 0
	}
	d.data = d.data[n:]
	return x
}

// count decodes the number of strings that follow.
func (d *decoder) count() int {
	n := d.number()
	if n > uint64(len(d.data)) { // a string has at least a byte for its length
		d.fail(fmt.Errorf("found %d strings, %d bytes follow", n, len(d.data)))
		return 0
	}
	return int(n)
}

func (d *decoder) string() string {
	n := d.number()
	if n > uint64(len(d.data)) {
		d.fail(errTruncated)
		return ""
	}
	s := string(d.data[:n])
	d.data = d.data[n:]
	return s
}
