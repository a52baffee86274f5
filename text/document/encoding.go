package document

import (
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// The byte order marks.
const (
	bom   = "\uFEFF"
	bomLE = "\xff\xfe"
	bomBE = "\xfe\xff"
)

// encoding is the encoding of files that are not in Unicode.
type encoding int

const (
	noOther    encoding = iota
	latin1              // ISO 8859-1
	ofLanguage          // see codePageOf
)

// decode returns the text of d in UTF-8 without a byte order mark, and a writer that converts UTF-8
// to the encoding of d. The mark is already written to it. With latin1, text that is invalid
// UTF-8 is ISO 8859-1. With ofLanguage it is in the code page of the document's language, and the
// writer writes UTF-8.
func decode(d *document, other encoding) (string, io.Writer, error) {
	raw := make([]byte, d.size)
	if _, err := d.in.ReadAt(raw, 0); err != nil && err != io.EOF {
		return "", nil, fmt.Errorf("%s: %w", d.name, err)
	}
	src, w := string(raw), d.w
	if order := byteOrder(src); order != nil {
		u16 := utf16Writer{d.w, order}
		w = u16
		var err error
		if src, err = u16.decode(raw); err != nil {
			return "", nil, fmt.Errorf("%s: %w", d.name, err)
		}
	}
	page := codePageOf(d.From)
	if i := invalidText(src); i >= 0 && src[i] != 0 && other == latin1 {
		runes := make([]rune, len(src))
		for i := range len(src) {
			runes[i] = rune(src[i])
		}
		src, w = string(runes), latin1Writer{w}
	} else if i >= 0 && src[i] != 0 && other == ofLanguage && page != nil {
		s, ok := page.decode(src)
		if !ok {
			return "", nil, fmt.Errorf("%s:%d: invalid UTF-8, and invalid %s; convert it to UTF-8, for example with iconv", d.name, line(src, i), page.name)
		}
		src = s
		if d.Warn != nil {
			d.Warn(fmt.Sprintf("%s: invalid UTF-8, so it was read as %s, because its language is %s; the translation is in UTF-8", d.name, page.name, d.From))
		}
	} else if i >= 0 {
		what := "invalid UTF-8; convert it to UTF-8, for example with iconv"
		if src[i] == 0 {
			what = "found a zero byte, expected text"
		}
		return "", nil, fmt.Errorf("%s:%d: %s", d.name, line(src, i), what)
	}
	if s, found := strings.CutPrefix(src, bom); found {
		_, err := io.WriteString(w, bom)
		return s, w, err
	}
	return src, w, nil
}

// line returns the number of the line of byte i.
func line(s string, i int) int { return 1 + strings.Count(s[:i], "\n") }

// invalidText returns the index of the first byte that text in UTF-8 does not have, or -1.
func invalidText(s string) int {
	zero := strings.IndexByte(s, 0)
	if zero < 0 && utf8.ValidString(s) {
		return -1
	}
	for i, r := range s {
		if r == 0 {
			return i
		}
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)) {
			return i
		}
	}
	return -1
}

// decodeHead returns the first bytes of a file in UTF-8 without a byte order mark, as far as they
// are text.
func decodeHead(head []byte) string {
	if order := byteOrder(string(head)); order != nil {
		s, _ := utf16Writer{order: order}.decode(head[:len(head)&^1])
		return strings.TrimPrefix(s, bom)
	}
	return strings.TrimPrefix(string(head), bom)
}

// byteOrder returns that of UTF-16, or nil unless s begins with its mark.
func byteOrder(s string) binary.ByteOrder {
	switch {
	case strings.HasPrefix(s, bomLE):
		return binary.LittleEndian
	case strings.HasPrefix(s, bomBE):
		return binary.BigEndian
	}
	return nil
}

// latin1Writer writes UTF-8 as ISO 8859-1, which must have its characters.
type latin1Writer struct{ w io.Writer }

func (l latin1Writer) Write(p []byte) (int, error) {
	b := make([]byte, 0, len(p))
	for _, r := range string(p) {
		b = append(b, byte(r))
	}
	if _, err := l.w.Write(b); err != nil {
		return 0, err
	}
	return len(p), nil
}

// utf16Writer writes UTF-8 as UTF-16. Each write must be whole characters.
type utf16Writer struct {
	w     io.Writer
	order binary.ByteOrder
}

func (u utf16Writer) Write(p []byte) (int, error) {
	b := make([]byte, 0, 2*len(p))
	for _, c := range utf16.Encode([]rune(string(p))) {
		b = append(b, 0, 0)
		u.order.PutUint16(b[len(b)-2:], c)
	}
	if _, err := u.w.Write(b); err != nil {
		return 0, err
	}
	return len(p), nil
}

// decode returns raw in UTF-8. The error reports half a character, which UTF-8 cannot express.
func (u utf16Writer) decode(raw []byte) (string, error) {
	units := make([]uint16, len(raw)/2)
	for i := range units {
		units[i] = u.order.Uint16(raw[2*i:])
	}
	runes := utf16.Decode(units)
	if len(raw)%2 != 0 {
		return string(runes), fmt.Errorf("odd number of bytes, %d, in UTF-16", len(raw))
	}
	n := 0
	for _, r := range runes {
		if r == utf8.RuneError && units[n] != utf8.RuneError {
			return string(runes), fmt.Errorf("half a surrogate pair at byte %d", 2*n)
		}
		n += utf16.RuneLen(r)
	}
	return string(runes), nil
}
