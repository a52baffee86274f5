package bpe

import (
	"encoding/binary"
	"fmt"

	"tfm/text/tokenizer/internal/varint"
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
// rejects anything that MarshalBinary cannot produce, and allocates at most 2 MB, for the cache,
// plus 100 bytes for each byte of data.
func Unmarshal(data []byte) (*Tokenizer, error) {
	d := varint.New(data, Magic, version)
	count := d.Number()
	if count > uint64(len(d.Data)/2) { // a merge has two ids of at least a byte each
		return nil, fmt.Errorf("header declares %d merges, %d bytes follow", count, len(d.Data))
	}
	merges := make([]pair, count)
	for k := range merges {
		left, right := d.Number(), d.Number()
		if d.Err != nil {
			return nil, fmt.Errorf("merge %d of %d: %w", k, count, d.Err)
		}
		if id := uint64(firstMerge + k); left >= id || right >= id {
			return nil, fmt.Errorf("merge %d joins ids %d and %d, expected less than %d", k, left, right, id)
		}
		merges[k] = pair{int32(left), int32(right)}
	}
	switch {
	case d.Err != nil:
		return nil, d.Err
	case len(d.Data) > 0:
		return nil, fmt.Errorf("found %d bytes after %d merges, expected the end", len(d.Data), count)
	}
	return newTokenizer(merges)
}
