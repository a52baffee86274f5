package safetensors

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"unicode/utf8"
)

const dataAlignment = 64 // bytes of a cache line and of the widest vector register

// Write writes a safetensors file with the tensors in the given order, metadata
// sorted by key, and a checksum, which replaces a checksum in meta. Equal input
// gives equal bytes. Write does not copy the data, which must not change until it
// returns. It replaces path atomically, as [WriteAtomic] does. Before it writes,
// it returns an error that names the tensor for input that [Open] would refuse.
func Write(path string, meta map[string]string, tensors []Tensor) error {
	var prefix []byte
	err := guard(func() (err error) { // the tensors may alias a mapped file
		prefix, err = encodePrefix(meta, tensors)
		return err
	})
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return WriteAtomic(path, func(w io.Writer) error {
		return guard(func() error { return writeTo(w, prefix, tensors) })
	})
}

func writeTo(w io.Writer, prefix []byte, tensors []Tensor) error {
	if _, err := w.Write(prefix); err != nil {
		return err
	}
	for _, t := range tensors {
		if _, err := w.Write(t.Data); err != nil {
			return fmt.Errorf("tensor %.80q: %w", t.Name, err)
		}
	}
	return nil
}

// encodePrefix returns the header length and the header, checksum included.
func encodePrefix(meta map[string]string, tensors []Tensor) ([]byte, error) {
	meta = maps.Clone(meta)
	if meta == nil {
		meta = map[string]string{}
	}
	meta[checksumKey] = checksumScheme + zeroDigits

	b := make([]byte, lengthBytes)
	var encodeErr error
	quoted := func(s string) {
		if !utf8.ValidString(s) {
			encodeErr = fmt.Errorf("found %.80q in the header, expected valid UTF-8", s)
		}
		text, err := json.Marshal(s)
		if err != nil {
			encodeErr = err
		}
		b = append(b, text...)
	}

	b = append(b, `{"`+metadataKey+`":{`...)
	checksumEnd := 0
	for i, key := range slices.Sorted(maps.Keys(meta)) {
		if i > 0 {
			b = append(b, ',')
		}
		quoted(key)
		b = append(b, ':')
		quoted(meta[key])
		if key == checksumKey {
			checksumEnd = len(b)
		}
	}
	b = append(b, '}')
	var summed [][]byte
	dataLen := 0
	for _, t := range tensors {
		summed = append(summed, t.Data)
		b = append(b, ',')
		quoted(t.Name)
		b = append(b, `:{"dtype":`...)
		quoted(t.DType)
		b = append(b, `,"shape":[`...)
		for j, dim := range t.Shape {
			if j > 0 {
				b = append(b, ',')
			}
			b = fmt.Append(b, dim)
		}
		b = fmt.Appendf(b, `],"data_offsets":[%d,%d]}`, dataLen, dataLen+len(t.Data))
		dataLen += len(t.Data)
	}
	b = append(b, '}')
	if encodeErr != nil {
		return nil, encodeErr
	}
	for len(b)%dataAlignment != 0 {
		b = append(b, ' ')
	}
	n := len(b) - lengthBytes
	if n > maxHeader {
		return nil, fmt.Errorf("found a header of %d bytes, expected at most %d", n, maxHeader)
	}
	binary.LittleEndian.PutUint64(b, uint64(n))
	// The checks of Open: duplicate names, dtypes, shapes and sizes.
	if _, err := parseHeader(b[lengthBytes:], dataLen); err != nil {
		return nil, err
	}
	copy(b[checksumEnd-1-len(checksumScheme+zeroDigits):], checksum(0, append(summed, b)...))
	return b, nil
}
