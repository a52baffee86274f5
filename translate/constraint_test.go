package translate_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

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

// The certain parts of a translation together are its text, and greedy search passes on the first
// before the last step.
func TestCertainParts(t *testing.T) {
	tr := open(t, translate.Options{})
	sources, _ := phrases()
	texts := append([]string{""}, sources...)
	for _, o := range []decode.Options{{}, {Beam: 1, MaxExtra: 20}, {Beam: 4, NBest: 4, MaxExtra: 20}, {Sample: true, Temperature: 3, TopP: 1, MaxExtra: 20}} {
		parts := make([][]string, len(texts))
		results, err := tr.Do(context.Background(), translate.Request{Texts: texts, Decode: o, Certain: func(i int, part string) { parts[i] = append(parts[i], part) }})
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range results {
			if got := strings.Join(parts[i], ""); got != r.Best() {
				t.Errorf("%+v: parts %q of the translation %q", o, parts[i], r.Best())
			}
			for _, part := range parts[i] {
				if part == "" || !utf8.ValidString(part) {
					t.Errorf("%+v: part %q of the translation %q", o, part, r.Best())
				}
			}
			if o.Beam == 1 && i > 0 && len(parts[i]) < 3 {
				t.Errorf("parts %q of the translation of %q by greedy search, want one for each word", parts[i], texts[i])
			}
		}
	}
}

func TestTokenScoresAndAlternatives(t *testing.T) {
	tr := open(t, translate.Options{})
	o := tr.DefaultOptions()
	o.TokenScores, o.Alternatives = true, 3
	results, err := tr.Do(context.Background(), translate.Request{Texts: []string{"the red dog"}, Decode: o, Tokens: true})
	if err != nil {
		t.Fatal(err)
	}
	h := results[0].Translations[0]
	if n := len(h.Tokens) + 1; len(h.TokenScores) != n || len(h.Alternatives) != n {
		t.Fatalf("%d token scores and alternatives of %d positions for %d tokens and EOS", len(h.TokenScores), len(h.Alternatives), n-1)
	}
	for i, token := range h.Tokens { // the model is sure of its translation
		if a := h.Alternatives[i]; len(a) != 3 || a[0].Token != token.ID || math.Abs(a[0].LogP-h.TokenScores[i]) > 1e-12 {
			t.Errorf("position %d: alternatives %v, want first %d with %v", i, a, token.ID, h.TokenScores[i])
		}
	}
}
