package charset

import (
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"unicode/utf16"
)

// Mark is the byte order mark in UTF-8.
const Mark = "\uFEFF"

// UTF16 returns the byte order of text in UTF-16, or nil unless s begins with its byte order mark.
func UTF16(s string) binary.ByteOrder {
	switch {
	case strings.HasPrefix(s, "\xff\xfe"):
		return binary.LittleEndian
	case strings.HasPrefix(s, "\xfe\xff"):
		return binary.BigEndian
	}
	return nil
}

// DecodeUTF16 returns raw in UTF-8, with U+FFFD in the place of halves of surrogate pairs. It
// ignores the last of an odd number of bytes.
func DecodeUTF16(raw []byte, order binary.ByteOrder) string {
	units := make([]uint16, len(raw)/2)
	for i := range units {
		units[i] = order.Uint16(raw[2*i:])
	}
	return string(utf16.Decode(units))
}

// EncodeUTF16 returns s, which is UTF-8, in UTF-16.
func EncodeUTF16(s string, order binary.ByteOrder) []byte {
	units := utf16.Encode([]rune(s))
	b := make([]byte, 2*len(units))
	for i, unit := range units {
		order.PutUint16(b[2*i:], unit)
	}
	return b
}

// utf16Reader reads UTF-16 as UTF-8.
type utf16Reader struct {
	r     io.Reader
	order binary.ByteOrder
	half  []byte // of a surrogate pair that was read
	out   string // that is not read yet
	begun bool
}

// NewUTF16Reader returns a reader of r, in UTF-16 with a byte order mark or without one, as UTF-8
// without it.
func NewUTF16Reader(r io.Reader, order binary.ByteOrder) io.Reader {
	return &utf16Reader{r: r, order: order}
}

func (u *utf16Reader) Read(p []byte) (int, error) {
	for u.out == "" {
		var chunk [1 << 12]byte
		n, err := io.ReadFull(u.r, chunk[:])
		if n == 0 {
			return 0, err
		}
		if n%2 != 0 {
			return 0, errors.New("found an odd number of bytes in UTF-16")
		}
		raw := append(u.half, chunk[:n]...)
		whole := len(raw)
		if last := u.order.Uint16(raw[whole-2:]); 0xD800 <= last && last < 0xDC00 && n == len(chunk) {
			whole -= 2
		}
		if u.out = DecodeUTF16(raw[:whole], u.order); !u.begun {
			u.begun, u.out = true, strings.TrimPrefix(u.out, Mark)
		}
		u.half = append(u.half[:0], raw[whole:]...)
	}
	n := copy(p, u.out)
	u.out = u.out[n:]
	return n, nil
}
