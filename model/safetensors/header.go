package safetensors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"
)

const (
	lengthBytes  = 8           // of the header length
	maxHeader    = 100_000_000 // limit of the safetensors library
	metadataKey  = "__metadata__"
	tensorFields = "dtype, shape and data_offsets"

	// maxAllocRatio limits the bytes that Open allocates for each byte of the
	// header, garbage included. Headers of many short keys need the most.
	maxAllocRatio = 34
)

// header is the content of the JSON, checked against the size of the data.
type header struct {
	metadata map[string]string // nil without metadata
	entries  []entry           // by offset
	index    map[string]int    // from a tensor's name into entries
	// checksumEnd is the offset in the JSON after the closing quote of the
	// checksum, 0 without a checksum.
	checksumEnd int
}

type entry struct {
	tensor     Tensor
	begin, end int // in the data
}

// Metadata returns a copy of the file's __metadata__, including the checksum. It
// is empty if the file has no metadata.
func (h *header) Metadata() map[string]string {
	if h.metadata == nil {
		return map[string]string{}
	}
	return maps.Clone(h.metadata)
}

// Tensors returns the tensors in the order of their offsets in the file.
func (h *header) Tensors() []Tensor {
	tensors := make([]Tensor, len(h.entries))
	for i := range h.entries {
		tensors[i] = h.entries[i].tensor
	}
	return tensors
}

// Tensor returns the named tensor and whether it exists.
func (h *header) Tensor(name string) (Tensor, bool) {
	i, ok := h.index[name]
	if !ok {
		return Tensor{}, false
	}
	return h.entries[i].tensor, true
}

// headerLength returns the length of the JSON header of a file of size bytes that
// begins with start.
func headerLength(start []byte, size int) (int, error) {
	if size == 0 {
		return 0, errors.New("found an empty file, expected a safetensors file")
	}
	if size < lengthBytes {
		return 0, fmt.Errorf("found a file of %d bytes, expected at least the %d of the header length", size, lengthBytes)
	}
	n := binary.LittleEndian.Uint64(start)
	if bytes.IndexByte(start[:lengthBytes], 0) < 0 { // no length, which is at most maxHeader
		return 0, fmt.Errorf("not a safetensors file: it begins with %.40q", start[:lengthBytes])
	}
	if n > maxHeader {
		return 0, fmt.Errorf("not a safetensors file: found header length %d, expected at most %d", n, maxHeader)
	}
	if rest := size - lengthBytes; n > uint64(rest) {
		return 0, fmt.Errorf("found header length %d with only %d bytes after it: truncated, or not a safetensors file", n, rest)
	}
	return int(n), nil
}

// parseHeader reads the header of a file with dataLen bytes of data. Its time is
// linear in len(jsonText), except for sorting the tensors. It allocates at most
// maxAllocRatio bytes for each byte of jsonText.
func parseHeader(jsonText []byte, dataLen int) (*header, error) {
	if !utf8.Valid(jsonText) {
		return nil, errors.New("header is not valid UTF-8")
	}
	if len(jsonText) == 0 || jsonText[0] != '{' {
		return nil, fmt.Errorf("header starts with %.1q, expected \"{\": not a safetensors file", jsonText)
	}
	if halfSurrogatePair(jsonText) {
		return nil, errors.New("found half of a surrogate pair in the header, expected valid Unicode")
	}
	h := &header{index: map[string]int{}}
	d := newDecoder(jsonText)
	err := d.object("the object", func(name string) error {
		if name == metadataKey {
			return h.parseMetadata(d)
		}
		return h.parseEntry(d, name)
	})
	if err != nil {
		return nil, err
	}
	if rest := bytes.TrimLeft(jsonText[d.json.InputOffset():], " "); len(rest) > 0 {
		return nil, fmt.Errorf("found %.20q after the header's JSON object, expected only spaces", rest)
	}
	return h, h.checkLayout(dataLen)
}

func (h *header) parseMetadata(d *decoder) error {
	if h.metadata != nil {
		return fmt.Errorf("found key %q twice", metadataKey)
	}
	h.metadata = map[string]string{}
	return d.object(metadataKey, func(key string) error {
		if _, ok := h.metadata[key]; ok {
			return fmt.Errorf("found key %.80q twice in %s", key, metadataKey)
		}
		value, err := d.str("its value")
		if err != nil {
			return fmt.Errorf("%s key %.80q: %w", metadataKey, key, err)
		}
		h.metadata[key] = value
		if key == checksumKey {
			h.checksumEnd = int(d.json.InputOffset())
		}
		return nil
	})
}

func (h *header) parseEntry(d *decoder, name string) error {
	if _, ok := h.index[name]; ok {
		return fmt.Errorf("found key %.80q twice", name)
	}
	e, err := parseDescription(d)
	if err != nil {
		return fmt.Errorf("tensor %.80q: %w", name, err)
	}
	e.tensor.Name = name
	h.index[name] = len(h.entries)
	h.entries = append(h.entries, e)
	return nil
}

// parseDescription reads the JSON object of a tensor.
func parseDescription(d *decoder) (e entry, err error) {
	var seen []string
	var span []int
	err = d.object("its description", func(key string) (err error) {
		if slices.Contains(seen, key) {
			return fmt.Errorf("found key %q twice", key)
		}
		seen = append(seen, key)
		switch key {
		case "dtype":
			e.tensor.DType, err = d.str(key)
		case "shape":
			e.tensor.Shape, err = d.ints(key)
		case "data_offsets":
			span, err = d.ints(key)
		default:
			return fmt.Errorf("found key %.80q, expected only %s", key, tensorFields)
		}
		return err
	})
	if err != nil {
		return e, err
	}
	if len(seen) < 3 {
		return e, fmt.Errorf("found only some keys, expected all of %s", tensorFields)
	}
	if len(span) != 2 || span[0] > span[1] {
		return e, fmt.Errorf("found data_offsets %s, expected [begin, end]", shapeText(span))
	}
	e.begin, e.end = span[0], span[1]
	size, err := byteSize(e.tensor.DType, e.tensor.Shape)
	if err != nil {
		return e, err
	}
	if e.end-e.begin != size {
		return e, fmt.Errorf("data_offsets [%d %d] span %d bytes, expected %d for %s of shape %s",
			e.begin, e.end, e.end-e.begin, size, e.tensor.DType, shapeText(e.tensor.Shape))
	}
	return e, nil
}

// checkLayout sorts the entries by offset and returns an error unless they fill
// the data exactly.
func (h *header) checkLayout(dataLen int) error {
	slices.SortStableFunc(h.entries, func(a, b entry) int {
		if a.begin != b.begin {
			return a.begin - b.begin // both ≥ 0: no overflow
		}
		return a.end - b.end
	})
	pos, last := 0, ""
	for i, e := range h.entries {
		name := e.tensor.Name
		switch {
		case e.end > dataLen:
			return fmt.Errorf("tensor %.80q: data_offsets end at %d, but the file has %d bytes of data: truncated", name, e.end, dataLen)
		case e.begin > pos:
			return fmt.Errorf("tensor %.80q: data_offsets begin at %d, expected %d: a hole", name, e.begin, pos)
		case e.begin < pos:
			return fmt.Errorf("tensor %.80q: data_offsets begin at %d, expected %d: overlaps tensor %.80q", name, e.begin, pos, last)
		}
		pos, last = e.end, name
		h.index[name] = i
	}
	if pos != dataLen {
		return fmt.Errorf("found %d bytes of data, expected %d: bytes that belong to no tensor", dataLen, pos)
	}
	return nil
}
