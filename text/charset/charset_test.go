package charset

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"
)

func TestPages(t *testing.T) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for _, p := range append(pages, *Latin1) {
		if p.high != nil && len(p.high) != 128 {
			t.Fatalf("%s has %d characters above ASCII, want 128", p.Name, len(p.high))
		}
		s, _ := p.Decode(string(all))
		i := 0
		for _, r := range s {
			if b, ok := p.Encode(r); !ok || int(b) != i {
				t.Errorf("%s: byte %#x is %q, which is %#x, %v", p.Name, i, r, b, ok)
			}
			i++
		}
		if _, ok := p.Encode('\u6f22'); ok {
			t.Errorf("%s has a Chinese character", p.Name)
		}
	}
	for tag, want := range map[string]string{"de-AT": "windows-1252", "sr": "windows-1251", "sr-Latn-RS": "windows-1250", "SR_latn": "windows-1250",
		"az-Cyrl": "windows-1251", "zh-Hans": "", "": ""} {
		p := OfLanguage(tag)
		if p == nil && want != "" || p != nil && p.Name != want {
			t.Errorf("%q: %v, want %s", tag, p, want)
		}
	}
	if Named("CP1251").Name != "windows-1251" || Named("Latin1") != Windows1252 || Named("koi8-r") != nil {
		t.Error("wrong page of a name")
	}
	for s, want := range map[string]string{`<meta charset="UTF-8">`: "utf-8", "<?xml version='1.0' encoding='x'?>": "x", `"Content-Type: text/plain; charset=CP1250\n"`: "cp1250", "text": ""} {
		if got := Declared(s); got != want {
			t.Errorf("%s declares %q, want %q", s, got, want)
		}
	}
}

// A reader returns the same as decoding the whole, wherever a read ends.
func TestUTF16(t *testing.T) {
	s := strings.Repeat("a\U0001F600", 3000) + "\u6f22"
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		raw := EncodeUTF16(Mark+s, order)
		if UTF16(string(raw)) != order || DecodeUTF16(raw, order) != Mark+s {
			t.Errorf("%v: wrong order or text", order)
		}
		got, err := io.ReadAll(NewUTF16Reader(bytes.NewReader(raw), order))
		if string(got) != s || err != nil {
			t.Errorf("%v: read %d bytes, %v, want %d", order, len(got), err, len(s))
		}
		if _, err := io.ReadAll(NewUTF16Reader(bytes.NewReader(raw[1:]), order)); err == nil {
			t.Errorf("%v: no error for half a unit", order)
		}
	}
}
