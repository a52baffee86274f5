package bpe

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// Magic begins an encoded Tokenizer. The format version follows in one byte.
const Magic = "tfm-bpe"

// version is the format version. It also covers the split into words (words.go) and the space
// before the text, because the ids of a text depend on both.
const version = 1

// MarshalBinary encodes the tokenizer: the magic, the version, the number of merges, then the two
// ids of each merge, all numbers as unsigned varints. The error is always nil.
func (t *Tokenizer) MarshalBinary() ([]byte, error) {
	data := append([]byte(Magic), version)
	data = binary.AppendUvarint(data, uint64(len(t.merges)))
	for _, m := range t.merges {
		data = binary.AppendUvarint(data, uint64(m.left))
		data = binary.AppendUvarint(data, uint64(m.right))
	}
	return data, nil
}

// Unmarshal decodes a tokenizer from the output of MarshalBinary. Untrusted data is safe: Unmarshal
// rejects anything that MarshalBinary cannot produce, and allocates at most 8 MB, for the cache,
// plus 100 bytes for each byte of data.
func Unmarshal(data []byte) (*Tokenizer, error) {
	body, ok := bytes.CutPrefix(data, []byte(Magic))
	switch {
	case !ok:
		return nil, fmt.Errorf("begins with %q, expected %q", data[:min(len(data), len(Magic))], Magic)
	case len(body) == 0:
		return nil, errTruncated
	case body[0] != version:
		return nil, fmt.Errorf("version %d, expected %d", body[0], version)
	}
	r := bytes.NewReader(body[1:])
	count, err := readUvarint(r)
	if err != nil {
		return nil, err
	}
	if count > uint64(r.Len()/2) { // a merge has two ids of at least a byte each
		return nil, fmt.Errorf("header declares %d merges, %d bytes follow", count, r.Len())
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
			return nil, fmt.Errorf("merge %d joins ids %d and %d, expected less than %d", k, left, right, id)
		}
		merges[k] = pair{int32(left), int32(right)}
	}
	if r.Len() > 0 {
		return nil, fmt.Errorf("found %d bytes after %d merges, expected the end", r.Len(), count)
	}
	return newTokenizer(merges)
}

var errTruncated = errors.New("truncated")

// readUvarint reads a number, which must have its shortest form.
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
