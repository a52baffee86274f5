package charsmap

import (
	"strings"
	"testing"
)

// visit calls f with each rule of a map.
func (c *Map) visit(f func(from, to string)) {
	var at func(i uint32, key []byte)
	at = func(i uint32, key []byte) {
		base := i ^ nodeOffset(c.nodes[i])
		if hasValue(c.nodes[i]) {
			text := c.texts[c.nodes[base]&^valueBit:]
			f(string(key), text[:strings.IndexByte(text, 0)])
		}
		for b := uint32(0); b < 256; b++ {
			if base^b < uint32(len(c.nodes)) && c.nodes[base^b]&(valueBit|0xFF) == b {
				at(base^b, append(key, byte(b)))
			}
		}
	}
	at(0, nil)
}

// A named map replaces each text of its rules, alone and before another one.
func TestNamed(t *testing.T) {
	m, err := Unmarshal(Named("nmt_nfkc"))
	if err != nil {
		t.Fatal(err)
	}
	replaced := 0
	m.visit(func(from, to string) {
		if got, n := m.Longest(from + "\x02"); got != to || n != len(from) {
			t.Fatalf("%q is replaced by %q, %d bytes, want %q", from, got, n, to)
		}
		if from != to {
			replaced++
		}
	})
	if replaced < 180_000 {
		t.Errorf("%d rules, want those of Unicode", replaced)
	}
	for from, want := range map[string]string{"ﬁ": "fi", "A\u0300": "À", "～": "～", "\x01": "", "\u200b": " "} {
		if got, n := m.Longest(from); n == 0 && from != want || n > 0 && got != want {
			t.Errorf("%q is replaced by %q, want %q", from, got, want)
		}
	}
	if m, err := Unmarshal(Named("identity")); err != nil || m.Texts() != "" {
		t.Errorf("identity has replacements %.20q, error %v", m.Texts(), err)
	}
}
