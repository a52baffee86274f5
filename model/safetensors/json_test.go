package safetensors

import (
	"encoding/json"
	"errors"
	"testing"
	"unicode/utf8"
)

func TestStrings(t *testing.T) {
	for text, want := range map[string]string{
		`""`:                               "",
		`"a"`:                              "a",
		`"\"\\\/\b\f\n\r\t"`:               "\"\\/\b\f\n\r\t",
		`"\u00e9\u00E9é"`:                  "ééé",
		`"\ud83d\ude00\uD83D\uDE00😀"`:      "😀😀😀",
		`"\ufffd\uFFFD` + "\uFFFD" + `"`:   "\uFFFD\uFFFD\uFFFD",
		`"\\ufffd"`:                        `\ufffd`,
		`"\u0000\u007f` + "\u007f\u2028\"": "\x00\x7f\x7f\u2028",
	} {
		p := &parser{text: []byte(text)}
		if got, err := p.str("a test"); err != nil || got != want || p.pos != len(text) {
			t.Errorf("%s: str = %q, %v up to byte %d; want %q up to %d", text, got, err, p.pos, want, len(text))
		}
	}
}

// str returns the string that encoding/json returns, or an error. It returns an error for a string
// that encoding/json accepts only if that has half of a surrogate pair.
func FuzzString(f *testing.F) {
	for _, s := range []string{`"a\n\u00e9\ud83d\ude00"`, `"\ud800"`, `"\\ufffd\udc00"`, "\"\x00\"", `"\u12g4"`, `"`, `1`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) || len(text) == 0 || text[0] != '"' {
			return
		}
		p := &parser{text: []byte(text)}
		got, err := p.str("a test")
		if errors.Is(err, errSurrogate) {
			return
		}
		var want string
		if jsonErr := json.Unmarshal([]byte(text[:p.pos]), &want); err == nil && (jsonErr != nil || got != want) {
			t.Errorf("%q: str = %q, encoding/json has %q, %v", text[:p.pos], got, want, jsonErr)
		}
		if json.Unmarshal([]byte(text), &want) == nil && err != nil {
			t.Errorf("%q: error %v, encoding/json has %q", text, err, want)
		}
	})
}
