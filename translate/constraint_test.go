package translate_test

import (
	"context"
	"strings"
	"testing"

	"tfm/model/decode"
	"tfm/translate"
)

// Translations begin with their prefix, which may end within a word, in every search.
func TestPrefix(t *testing.T) {
	tr := open(t, translate.Options{})
	texts := []string{"the red dog", "", "the old tree", "the good cat"}
	for _, o := range []decode.Options{{}, {Beam: 1, MaxExtra: 30}, {Beam: 4, MaxExtra: 30, NBest: 4}, {Sample: true, Temperature: 1, TopP: 1, NBest: 3, MaxExtra: 30}} {
		results, err := tr.Do(context.Background(), translate.Request{Texts: texts, Decode: o, Prefix: "le ch", Prefixes: []string{"", "C", "un Zeu"}})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{"le ch", "", "un Zeu", "le ch"} {
			for _, h := range results[i].Translations {
				if !strings.HasPrefix(h.Text, want) {
					t.Errorf("%+v: translation %q of %q, want the prefix %q", o, h.Text, texts[i], want)
				}
			}
			if n := len(results[i].Translations); (n == 0) != (texts[i] == "") {
				t.Errorf("%d translations of %q", n, texts[i])
			}
		}
	}
	for source, want := range map[string]string{"the red dog": "le chien rouge", "the good cat": "le chat bon"} {
		results, err := tr.Do(context.Background(), translate.Request{Texts: []string{source}, Prefix: "le ch"})
		if err != nil || results[0].Best() != want {
			t.Errorf("translation of %q: %v, %v; want %q", source, results, err, want)
		}
	}
	for _, r := range []translate.Request{{Prefix: "a\xFF"}, {Prefixes: []string{"", "\xE4"}}} {
		if _, err := tr.Do(context.Background(), r); err == nil || !strings.Contains(err.Error(), "expected valid UTF-8") {
			t.Errorf("%+v: error %v, want one that names UTF-8", r, err)
		}
	}
}
