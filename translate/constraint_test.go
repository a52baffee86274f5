package translate_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"tfm/model/decode"
	"tfm/text"
	"tfm/text/tokenizer/bpe"
	"tfm/text/tokenizer/vocab"
	"tfm/translate"
)

// Translations begin with their prefix, which may end within a word, in every search.
func TestPrefix(t *testing.T) {
	tr := open(t, translate.Options{})
	texts := []string{"the red dog", "", "the old tree", "the good cat"}
	for _, o := range []decode.Options{{}, {Beam: 1, MaxExtra: 30}, {Beam: 4, MaxExtra: 30, NBest: 4}, {Sample: true, Temperature: 1, TopP: 1, NBest: 3, MaxExtra: 30}} {
		results := do(t, tr, translate.Request{Texts: texts, Decode: o, Prefix: "le ch", Prefixes: []string{"", "C", "un Zeu"}})
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
		results := do(t, tr, translate.Request{Texts: texts, Decode: o, Certain: func(i int, part string) { parts[i] = append(parts[i], part) }})
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
	results := do(t, tr, translate.Request{Texts: []string{"the red dog"}, Decode: o, Tokens: true})
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

// Models with random weights and byte-level vocabularies say any bytes. No search gives a part of a
// character, at no length limit, and a translation is one line, covered by its tokens.
func TestTranslationsAreOneValidLine(t *testing.T) {
	corpora := map[string][]string{
		"zh":    {"没有人知道灯为何灭了。", "每个人都在监视。", "我生病了，你知道吗？", "他们在公园里踢足球。", "这本书是谁的？"},
		"mixed": {"naïve façade 10 €", "привет, как дела?", "日本語と한국어", "𝄞 in F♯ 🎼🎻", "The old dog sees the cat.", "灯为何灭了 why?"},
		"en":    {"the red dog", "a black cat", "the good old book"},
	}
	searches := []decode.Options{
		{Beam: 1}, {Beam: 1, NoScore: true, NoRepeat: 2}, {Beam: 4, Alpha: 1}, {Beam: 8, NBest: 8, RepetitionPenalty: 2}, {Beam: 3, MinTokens: 5},
		{Sample: true, Temperature: 1, TopP: 1, NBest: 8}, {Sample: true, Temperature: 8, TopP: 0.9, NBest: 8}, {Sample: true, Temperature: 2, TopP: 1, TopK: 20, NBest: 8},
	}
	lineBreaks := strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ")
	parts, truncated, breaks := 0, 0, 0 // translations with characters of several pieces, truncated ones, with line breaks
	for name, lines := range corpora {
		for _, merges := range []int{0, 60} {
			var v vocab.Trainer
			for _, l := range lines {
				v.Add(text.Pair{Source: l, Target: l})
			}
			tokenizers, err := v.Train(bpe.MinSize+merges, true)
			if err != nil {
				t.Fatal(err)
			}
			tr := randomTranslator(t, tokenizers, uint64(merges))
			for _, o := range searches {
				for _, o.MaxTokens = range []int{1, 2, 3, 15} {
					o.MaxExtra = 50
					results := do(t, tr, translate.Request{Texts: lines, Decode: o, Tokens: true})
					for _, r := range results {
						for _, h := range r.Translations {
							var ids []int32
							isPart := false
							for _, token := range h.Tokens {
								ids = append(ids, token.ID)
								isPart = isPart || !utf8.ValidString(tokenizers.Target.Bytes(token.ID))
							}
							raw := tokenizers.Target.Decode(ids)
							if !utf8.ValidString(raw) || h.Text != lineBreaks.Replace(raw) {
								t.Errorf("%s, %d merges, %+v: %q from %q", name, merges, o, h.Text, raw)
							}
							contiguous(t, h.Text, h.Tokens, true)
							if h.Text != raw {
								breaks++
							}
							if isPart {
								parts++
							}
							if h.Truncated {
								truncated++
							}
						}
					}
				}
			}
		}
	}
	if parts < 500 || truncated < 500 || breaks < 20 {
		t.Errorf("%d translations with parts of characters, %d truncated, %d with line breaks", parts, truncated, breaks)
	}
}
