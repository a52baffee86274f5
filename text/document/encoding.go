package document

import (
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"tfm/text/charset"
)

// bytes returns the bytes of the document.
func (d *document) bytes() ([]byte, error) {
	raw := make([]byte, d.size)
	if _, err := d.in.ReadAt(raw, 0); err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s: %w", d.name, err)
	}
	return raw, nil
}

// open returns an editor of the text of d, in UTF-8 without a byte order mark. It writes in the
// encoding of d, and has written the mark. Text that is invalid UTF-8 is in the page that pageOf,
// if not nil, returns for the document's language. That of Latin-1 stays so, and that of others
// is translated to UTF-8.
func (d *document) open(pageOf func(language string) *charset.Page) (*editor, error) {
	raw, err := d.bytes()
	if err != nil {
		return nil, err
	}
	e := &editor{name: d.name, src: string(raw), Options: d.Options, w: d.w, f: d.f}
	if order := charset.UTF16(e.src); order != nil {
		if e.src, err = decodeUTF16(raw, order); err != nil {
			return nil, fmt.Errorf("%s: %w", d.name, err)
		}
		e.w = encoder{d.w, func(s string) []byte { return charset.EncodeUTF16(s, order) }}
	}
	if i := strings.IndexByte(e.src, 0); i >= 0 {
		return nil, e.errorf(i, "found a zero byte, expected text")
	}
	if i := charset.Invalid(e.src); i >= 0 {
		if pageOf != nil {
			e.page = pageOf(d.From)
		}
		if e.page == nil {
			return nil, e.errorf(i, "invalid UTF-8; convert it to UTF-8, for example with iconv")
		}
		src, ok := e.page.Decode(e.src)
		switch {
		case !ok:
			return nil, e.errorf(i, "invalid UTF-8, and invalid %s; convert it to UTF-8, for example with iconv", e.page.Name)
		case e.page == charset.Latin1:
			e.w = encoder{d.w, encodeLatin1}
		case d.Warn != nil:
			d.Warn(fmt.Sprintf("%s: invalid UTF-8, so it was read as %s, because its language is %s; the translation is in UTF-8", d.name, e.page.Name, d.From))
		}
		e.src = src
	}
	src, found := strings.CutPrefix(e.src, charset.Mark)
	if e.src = src; found {
		_, err = io.WriteString(e.w, charset.Mark)
	}
	return e, err
}

// decodeUTF16 returns raw in UTF-8. The error reports an odd number of bytes and half of a
// surrogate pair, which UTF-8 cannot express.
func decodeUTF16(raw []byte, order binary.ByteOrder) (string, error) {
	s := charset.DecodeUTF16(raw, order)
	again := charset.EncodeUTF16(s, order)
	for i := range raw {
		if i == len(again) || again[i] != raw[i] {
			return "", fmt.Errorf("invalid UTF-16 at byte %d", i)
		}
	}
	return s, nil
}

// line returns the number of the line of byte i.
func line(s string, i int) int { return 1 + strings.Count(s[:i], "\n") }

// decodeHead returns the first bytes of a file in UTF-8 without a byte order mark, as far as they
// are text.
func decodeHead(head []byte) string {
	if order := charset.UTF16(string(head)); order != nil {
		head = []byte(charset.DecodeUTF16(head, order))
	}
	return strings.TrimPrefix(string(head), charset.Mark)
}

// encoder writes UTF-8 in another encoding. Each write must be whole characters.
type encoder struct {
	w      io.Writer
	encode func(string) []byte
}

func (e encoder) Write(p []byte) (int, error) {
	if _, err := e.w.Write(e.encode(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// latin1 returns the encoding of files that are in Latin-1 or in UTF-8.
func latin1(string) *charset.Page { return charset.Latin1 }

// encodeLatin1 returns s, which has characters of Latin-1 only, in it.
func encodeLatin1(s string) []byte {
	b := make([]byte, 0, len(s))
	for _, r := range s {
		b = append(b, byte(r))
	}
	return b
}
