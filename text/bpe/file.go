package bpe

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// Magic begins a marshalled Tokenizer. A byte with the version of the format follows.
const Magic = "tfm-bpe"

// version also stands for how words are cut (words.go) and for the space before the text.
const version = 1

// MarshalBinary returns the tokenizer as bytes that Unmarshal reads: the magic and
// version, the number of merges, then the two ids of each merge, all numbers as
// unsigned varints. The error is always nil.
func (t *Tokenizer) MarshalBinary() ([]byte, error) {
	data := append([]byte(Magic), version)
	data = binary.AppendUvarint(data, uint64(len(t.merges)))
	for _, m := range t.merges {
		data = binary.AppendUvarint(data, uint64(m.left))
		data = binary.AppendUvarint(data, uint64(m.right))
	}
	return data, nil
}

// Unmarshal returns the tokenizer that MarshalBinary wrote. Data from anywhere is
// safe: it accepts only what MarshalBinary can produce, and it allocates at most
// 8 MB, for the cache, and 100 bytes for each byte of data.
func Unmarshal(data []byte) (*Tokenizer, error) {
	rest, ok := bytes.CutPrefix(data, []byte(Magic))
	switch {
	case !ok:
		return nil, fmt.Errorf("begins with %q, want %q", data[:min(len(data), len(Magic))], Magic)
	case len(rest) == 0:
		return nil, errTruncated
	case rest[0] != version:
		return nil, fmt.Errorf("version %d, want %d", rest[0], version)
	}
	r := bytes.NewReader(rest[1:])
	count, err := readUvarint(r)
	if err != nil {
		return nil, err
	}
	if count > uint64(r.Len()/2) { // a merge has two ids of at least a byte each
		return nil, fmt.Errorf("%d merges announced in %d bytes", count, r.Len())
	}
	merges := make([]pair, count)
	for k := range merges {
		left, err := readUvarint(r)
		if err != nil {
			return nil, fmt.Errorf("merge %d of %d: %w", k, count, err)
		}
		right, err := readUvarint(r)
		if err != nil {
			return nil, fmt.Errorf("merge %d of %d: %w", k, count, err)
		}
		if id := uint64(firstMerge + k); left >= id || right >= id {
			return nil, fmt.Errorf("merge %d joins ids %d and %d, want less than %d", k, left, right, id)
		}
		merges[k] = pair{int32(left), int32(right)}
	}
	if r.Len() > 0 {
		return nil, fmt.Errorf("%d bytes after the last of %d merges", r.Len(), count)
	}
	return newTokenizer(merges)
}

var errTruncated = errors.New("truncated")

// readUvarint reads a number in its one shortest form.
func readUvarint(r *bytes.Reader) (uint64, error) {
	before := r.Len()
	x, err := binary.ReadUvarint(r)
	switch {
	case err != nil && r.Len() == 0:
		return 0, errTruncated
	case err != nil:
		return 0, err
	case before-r.Len() != len(binary.AppendUvarint(nil, x)):
		return 0, fmt.Errorf("number %d is not in its shortest form", x)
	}
	return x, nil
}
