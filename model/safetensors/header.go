package safetensors

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	lengthBytes     = 8           // of the header length
	maxHeader       = 100_000_000 // limit of the safetensors library
	metadataKey     = "__metadata__"
	fieldsOfATensor = "dtype, shape and data_offsets"
)

// header is what the JSON says, checked against the size of the data.
type header struct {
	metadata map[string]string // nil if there is none
	entries  []entry           // by offset
	// checksumEnd is the offset in the JSON just after the closing quote of the
	// checksum, 0 if there is none.
	checksumEnd int
}

type entry struct {
	tensor     Tensor // without Data
	begin, end int    // in the data
}

// splitFile cuts file into the JSON header and the data.
func splitFile(file []byte) (jsonText, data []byte, err error) {
	if len(file) < lengthBytes {
		return nil, nil, fmt.Errorf("found a file of %d bytes, expected at least the %d of the header length", len(file), lengthBytes)
	}
	var n uint64
	for i, b := range file[:lengthBytes] {
		n |= uint64(b) << (8 * i)
	}
	rest := file[lengthBytes:]
	if n > maxHeader {
		return nil, nil, fmt.Errorf("found header length %d, expected at most %d: not a safetensors file", n, maxHeader)
	}
	if n > uint64(len(rest)) {
		return nil, nil, fmt.Errorf("found header length %d with only %d bytes after it: truncated, or not a safetensors file", n, len(rest))
	}
	return rest[:n], rest[n:], nil
}

func parseHeader(jsonText []byte, dataLen int) (*header, error) {
	if !utf8.Valid(jsonText) {
		return nil, errors.New("header is not valid UTF-8")
	}
	if len(jsonText) == 0 || jsonText[0] != '{' {
		return nil, fmt.Errorf("header starts with %.1q, expected \"{\": not a safetensors file", jsonText)
	}
	p := &parser{text: jsonText, dec: json.NewDecoder(bytes.NewReader(jsonText))}
	p.dec.UseNumber()
	var h header
	err := p.object("header", func(name string) (err error) {
		if name == metadataKey {
			h.metadata, h.checksumEnd, err = p.metadata()
			return err
		}
		e, err := p.entry(name)
		if err != nil {
			return fmt.Errorf("tensor %.80q: %w", name, err)
		}
		h.entries = append(h.entries, e)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if rest := bytes.TrimLeft(jsonText[p.dec.InputOffset():], " "); len(rest) > 0 {
		return nil, fmt.Errorf("found %.20q after the header's JSON object, expected nothing but spaces", rest)
	}
	return &h, h.checkLayout(dataLen)
}

// checkLayout sorts the entries by offset and requires them to fill the data
// exactly.
func (h *header) checkLayout(dataLen int) error {
	slices.SortStableFunc(h.entries, func(a, b entry) int {
		if a.begin != b.begin {
			return a.begin - b.begin // both ≥ 0: no overflow
		}
		return a.end - b.end
	})
	pos, last := 0, ""
	for _, e := range h.entries {
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
	}
	if pos != dataLen {
		return fmt.Errorf("found %d bytes of data, expected %d: bytes that belong to no tensor", dataLen, pos)
	}
	return nil
}

// parser reads the few shapes of JSON that a header has and refuses the rest
// without descending into it.
type parser struct {
	text []byte
	dec  *json.Decoder
}

func (p *parser) token() (json.Token, error) {
	t, err := p.dec.Token()
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, fmt.Errorf("header is not JSON near byte %d: %w", p.dec.InputOffset(), err)
	}
	return t, nil
}

func (p *parser) delim(what string, want json.Delim) error {
	t, err := p.token()
	if err == nil && t != want {
		err = fmt.Errorf("found %s for %s, expected %q", tokenText(t), what, want.String())
	}
	return err
}

// object calls value for each key, with the decoder in front of its value.
func (p *parser) object(what string, value func(key string) error) error {
	if err := p.delim(what, '{'); err != nil {
		return err
	}
	seen := map[string]bool{}
	for p.dec.More() {
		key, err := p.str("a key of " + what)
		if err != nil {
			return err
		}
		if seen[key] {
			return fmt.Errorf("found key %.80q twice in %s", key, what)
		}
		seen[key] = true
		if err := value(key); err != nil {
			return err
		}
	}
	return p.delim("the end of "+what, '}')
}

func (p *parser) str(what string) (string, error) {
	start := p.dec.InputOffset()
	t, err := p.token()
	if err != nil {
		return "", err
	}
	s, ok := t.(string)
	if !ok {
		return "", fmt.Errorf("found %s for %s, expected a string", tokenText(t), what)
	}
	if loneSurrogate(p.text[start:p.dec.InputOffset()], s) {
		return "", fmt.Errorf("found half of a surrogate pair in %s %.80q, expected valid Unicode", what, s)
	}
	return s, nil
}

// loneSurrogate reports that the decoder put U+FFFD into s where raw has none:
// that is how it replaces \ud800 without its other half.
func loneSurrogate(raw []byte, s string) bool {
	const replacement = "\uFFFD"
	n := strings.Count(s, replacement)
	return n > 0 && n > bytes.Count(raw, []byte(replacement))+bytes.Count(bytes.ToLower(raw), []byte(`\ufffd`))
}

// ints reads an array of non-negative integers.
func (p *parser) ints(what string) ([]int, error) {
	if err := p.delim(what, '['); err != nil {
		return nil, err
	}
	list := []int{}
	for p.dec.More() {
		t, err := p.token()
		if err != nil {
			return nil, err
		}
		number, _ := t.(json.Number)
		n, err := strconv.ParseUint(string(number), 10, 64)
		if err != nil || n > math.MaxInt {
			return nil, fmt.Errorf("found %s in %s, expected an integer from 0 to %d", tokenText(t), what, math.MaxInt)
		}
		list = append(list, int(n))
	}
	return list, p.delim("the end of "+what, ']')
}

func (p *parser) metadata() (m map[string]string, checksumEnd int, err error) {
	m = map[string]string{}
	err = p.object(metadataKey, func(key string) (err error) {
		m[key], err = p.str(fmt.Sprintf("%s key %.80q", metadataKey, key))
		if key == checksumKey {
			checksumEnd = int(p.dec.InputOffset())
		}
		return err
	})
	return m, checksumEnd, err
}

func (p *parser) entry(name string) (entry, error) {
	e := entry{tensor: Tensor{Name: name}}
	var offsets []int
	fields := 0
	err := p.object("its description", func(key string) (err error) {
		fields++
		switch key {
		case "dtype":
			e.tensor.DType, err = p.str(key)
		case "shape":
			e.tensor.Shape, err = p.ints(key)
		case "data_offsets":
			offsets, err = p.ints(key)
		default:
			err = fmt.Errorf("found key %.80q, expected only %s", key, fieldsOfATensor)
		}
		return err
	})
	if err != nil {
		return e, err
	}
	if fields != 3 { // three different ones: object refuses duplicates
		return e, fmt.Errorf("found %d of the keys %s, expected all", fields, fieldsOfATensor)
	}
	if len(offsets) != 2 || offsets[0] > offsets[1] {
		return e, fmt.Errorf("found data_offsets %s, expected [begin, end]", shapeText(offsets))
	}
	e.begin, e.end = offsets[0], offsets[1]
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

func tokenText(t json.Token) string {
	switch t := t.(type) {
	case nil:
		return "null"
	case string:
		return fmt.Sprintf("%.80q", t)
	default:
		return fmt.Sprintf("%.80s", fmt.Sprint(t))
	}
}
