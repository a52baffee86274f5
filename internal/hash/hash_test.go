package hash

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// Texts that differ in a byte, or in the order of two, have other hashes.
func TestText(t *testing.T) {
	seen := map[uint64]string{}
	add := func(s string) {
		h, n := Text(s)
		if other, ok := seen[h]; ok {
			t.Errorf("%q and %q have the same hash", s, other)
		}
		seen[h] = s
		if want := utf8.RuneCountInString(s); n != want {
			t.Errorf("%q has %d characters, want %d", s, n, want)
		}
	}
	for n := range 40 {
		add(strings.Repeat("a", n))
		add(strings.Repeat("é中", n) + "b")
		add(strings.Repeat("a", n) + "bc")
		add(strings.Repeat("a", n) + "cb")
	}
	if Pair("ab", "c") == Pair("a", "bc") || Pair("a", "b") == Pair("b", "a") {
		t.Error("pairs of other sides have the same hash")
	}
	if h, _ := Text("the same in every run"); h != 0x2aae0a0767dd1b1c {
		t.Errorf("hash %#x", h)
	}
}
