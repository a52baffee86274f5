package translate_test

import (
	"slices"
	"strings"
	"testing"

	"tfm/model/decode"
	"tfm/text/tokenizer/moses"
	"tfm/text/tokenizer/subword"
	"tfm/text/tokenizer/vocab"
	"tfm/translate"
)

// Models with Moses' rules take and give raw text: a prefix is raw, tokens have ranges of raw text,
// and the certain parts of a translation together are its text, whatever a random model says.
func TestMoses(t *testing.T) {
	codes, err := subword.NewCodes([][2]string{
		{"c", "h"}, {"l", "e</w>"}, {"@", "-"}, {"@-", "@</w>"}, {"&", "a"}, {"&a", "p"}, {"&ap", "o"}, {"&apo", "s"}, {"&apos", ";</w>"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var entries []subword.Entry
	for _, piece := range strings.Fields("l@@ le ch@@ t t@@ c@@ h@@ a@@ a &@@ a@@@@ &apos; &amp; &quot; @-@ , . ( ) $ 5 5@@ ? ! „ “ s l&apos; 中 文") {
		entries = append(entries, subword.Entry{Piece: piece})
	}
	v, err := subword.NewVocabulary(entries)
	if err != nil {
		t.Fatal(err)
	}
	for _, language := range []string{"en", "fr", "cs", "de"} {
		raw := func(language string) *subword.Tokenizer {
			return subword.NewRaw(codes, v, moses.NewChain(language))
		}
		tokenizers := vocab.Tokenizers{Source: raw("en"), Target: raw(language)}
		tr := randomTranslator(t, tokenizers, 1)
		texts := []string{"le chat, (le)  5-5!", "a&a's", "t", "le $ 5. c"}
		for _, o := range []decode.Options{{Beam: 1, MaxExtra: 30}, {Beam: 4, NBest: 4, MaxExtra: 30}, {Sample: true, Temperature: 2, TopP: 1, MaxExtra: 30}} {
			parts := make([]string, len(texts))
			r := translate.Request{Texts: texts, Decode: o, Tokens: true, Prefixes: []string{"le (cha", "", "le t, a"}}
			r.Certain = func(i int, part string) { parts[i] += part }
			results := do(t, tr, r)
			for i, result := range results {
				if parts[i] != result.Best() {
					t.Errorf("%s: parts %q of the translation %q", language, parts[i], result.Best())
				}
				for _, h := range result.Translations {
					if i < len(r.Prefixes) && !strings.HasPrefix(h.Text, r.Prefixes[i]) {
						t.Errorf("%s: translation %q, want the prefix %q", language, h.Text, r.Prefixes[i])
					}
					if n := len(h.Tokens); n > 0 && (h.Tokens[0].Start != 0 || h.Tokens[n-1].End != len(h.Text)) {
						t.Errorf("%s: tokens %v of %q, want ranges that cover it", language, h.Tokens, h.Text)
					}
				}
			}
			if n := len(results[0].Tokens); results[0].Tokens[n-1].End != len(texts[0]) || !slices.Equal(results[1].Tokens, results[1].Tokens[:results[1].SourceTokens]) {
				t.Errorf("tokens %v of %q", results[0].Tokens, texts[0])
			}
		}
	}
}
