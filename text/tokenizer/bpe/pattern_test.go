package bpe

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// Go's regular expressions have no lookahead, so white space is checked by its class alone.
func TestWordPattern(t *testing.T) {
	alternatives := strings.Split(WordPattern(), "| ?")
	if len(alternatives) != 3 {
		t.Fatalf("found %d alternatives, want 3:\n%q", len(alternatives), alternatives)
	}
	third, lookahead, ok := strings.Cut(alternatives[2], "|")
	if !ok || !strings.Contains(lookahead, "(?! [^") {
		t.Fatalf("found no lookahead in %q", lookahead)
	}
	words := regexp.MustCompile("^(" + alternatives[0] + "| ?" + alternatives[1] + "| ?" + third + ")")
	whites := regexp.MustCompile("^" + lookahead[:strings.Index(lookahead, "(")])
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		for _, s := range []string{string(r), " " + string(r), "a" + string(r), "!" + string(r), "1" + string(r)} {
			if r >= 0x3400 && r%64 > 2 && s != string(r) {
				continue
			}
			if class := classOf(r); class == white && len(s) == utf8.RuneLen(r) {
				if !whites.MatchString(s) || words.MatchString(s) {
					t.Fatalf("%q is no white space", s)
				}
				continue
			} else if class == white && s[0] == ' ' {
				continue // for the lookahead
			}
			if got, want := len(words.FindString(s)), wordLen([]byte(s)); got != want {
				t.Fatalf("first word of %q: found %d bytes, want %d", s, got, want)
			}
		}
	}
	long := strings.Repeat("é", 2*maxWord)
	for _, s := range []string{long, " " + long, strings.Repeat("!", 2*maxWord), " " + strings.Repeat("?", 2*maxWord)} {
		if got, want := len(words.FindString(s)), wordLen([]byte(s)); got != want {
			t.Errorf("first word of %q: found %d bytes, want %d", s, got, want)
		}
	}
}
