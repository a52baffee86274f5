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
// gives equal bytes. The tensors must have Data, which those of [Open] do not. Write
// does not copy it, so it must not change until Write returns. It replaces path
// atomically, as [WriteAtomic] does. Before it writes, it returns an error that names
// the tensor for input that [Open] would refuse.
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

// description is the JSON object of a tensor.
type description struct {
	DType   string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets [2]int `json:"data_offsets"`
}

// encodePrefix returns the header length and the header, checksum included.
func encodePrefix(meta map[string]string, tensors []Tensor) ([]byte, error) {
	meta = maps.Clone(meta)
	if meta == nil {
		meta = map[string]string{}
	}
	meta[checksumKey] = checksumScheme + zeroDigits

	texts := slices.AppendSeq(slices.Collect(maps.Keys(meta)), maps.Values(meta))
	objects := []map[string]any{{metadataKey: meta}} // with one key each
	var summed [][]byte
	dataLen := 0
	for _, t := range tensors {
		texts = append(texts, t.Name, t.DType)
		end := dataLen + len(t.Data)
		objects = append(objects, map[string]any{t.Name: description{t.DType, append([]int{}, t.Shape...), [2]int{dataLen, end}}})
		summed = append(summed, t.Data)
		dataLen = end
	}
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return nil, fmt.Errorf("found %.80q in the header, expected valid UTF-8", text)
		}
	}
	b := make([]byte, lengthBytes)
	for _, object := range objects {
		text, err := json.Marshal(object)
		if err != nil {
			return nil, err
		}
		text[0] = ',' // joins the objects to one
		b = append(b, text[:len(text)-1]...)
	}
	b[lengthBytes] = '{'
	b = append(b, '}')
	for len(b)%dataAlignment != 0 {
		b = append(b, ' ')
	}
	n := len(b) - lengthBytes
	if n > maxHeader {
		return nil, fmt.Errorf("found a header of %d bytes, expected at most %d", n, maxHeader)
	}
	binary.LittleEndian.PutUint64(b, uint64(n))
	// The checks of Open: duplicate names, dtypes, shapes and sizes.
	h, err := parseHeader(b[lengthBytes:], dataLen)
	if err != nil {
		return nil, err
	}
	copy(b[lengthBytes+h.checksumEnd-1-len(checksumScheme+zeroDigits):], checksum(0, append(summed, b)...))
	return b, nil
}
