package translate_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tfm/model/decode"
	"tfm/text"
	"tfm/text/split"
	"tfm/translate"
)

// keepMarked returns s without the marks « and », and the ranges between them.
func keepMarked(s string) (plain string, kept []text.Range) {
	for before, rest, ok := strings.Cut(s, "«"); ok; before, rest, ok = strings.Cut(rest, "«") {
		in, after, _ := strings.Cut(rest, "»")
		start := len(plain) + len(before)
		plain, rest = plain+before+in, after
		kept = append(kept, text.Range{Start: start, End: start + len(in)})
		s = rest
	}
	return plain + s, kept
}

// Every search keeps each range once and unchanged, also such that no vocabulary can spell, and
// tokens stay adjacent.
func TestKeep(t *testing.T) {
	tr := open(t, translate.Options{})
	var texts []string
	var kept [][]text.Range
	for _, s := range []string{
		"the «{x}» dog", "«🙂\n🙂»", "", "«%s» the old tree «%s»", "X1 the «X12» X2 «{a}»«{b}» cat", "the good cat", "the red dog. «Fig. A. B» the old book. the good «c\nd» «e»",
		"«a» «b», «c».", "the old " + strings.Repeat("«ä» ", 40), ">>x<< the «y» tree",
	} {
		plain, ranges := keepMarked(s)
		texts, kept = append(texts, plain), append(kept, ranges)
	}
	for _, o := range []decode.Options{{}, {Beam: 1, MaxExtra: 30}, {Beam: 4, MaxExtra: 30, NBest: 4}, {Sample: true, Temperature: 3, TopP: 1, NBest: 3, MaxExtra: 30}} {
		for _, splits := range []*split.Options{nil, {}} {
			var parts []string
			r := translate.Request{Texts: texts, Decode: o, Split: splits, Tokens: true, Attention: splits == nil, KeepOf: func(i int, s string) []text.Range {
				if s != texts[i] {
					t.Errorf("KeepOf(%d, %q), want %q", i, s, texts[i])
				}
				return kept[i]
			}}
			if splits == nil {
				parts = make([]string, len(texts))
				r.Certain = func(i int, part string) { parts[i] += part }
			}
			results := do(t, tr, r)
			for i, result := range results {
				if (texts[i] == "") != (len(result.Translations) == 0) || parts != nil && parts[i] != result.Best() {
					t.Fatalf("%+v: %q, in parts %q, of %q", o, result.Best(), parts, texts[i])
				}
				for _, h := range result.Translations {
					checkKept(t, texts[i], kept[i], h)
				}
				if splits != nil {
					for _, s := range result.Sentences {
						if strings.Contains(texts[i][s.Source.Start:s.Source.End], "Fig") != strings.Contains(texts[i][s.Source.Start:s.Source.End], "B") {
							t.Errorf("%q: sentence %v cuts a kept range", texts[i], s.Source)
						}
					}
					continue
				}
				checkTokens(t, texts[i], result.Tokens)
				for _, h := range result.Translations {
					checkTokens(t, h.Text, h.Tokens)
				}
			}
		}
	}
}

// checkKept reports kept ranges of s that a translation does not have.
func checkKept(t *testing.T, s string, kept []text.Range, h translate.Translation) {
	t.Helper()
	var want, got []string
	for _, r := range kept {
		want = append(want, s[r.Start:r.End])
	}
	for _, r := range h.Kept {
		got = append(got, h.Text[r.Start:r.End])
	}
	if !slices.Equal(got, want) {
		t.Fatalf("translation %q of %q keeps %q, want %q", h.Text, s, got, want)
	}
	sorted := slices.SortedFunc(slices.Values(h.Kept), func(a, b text.Range) int { return a.Start - b.Start })
	for i := 1; i < len(sorted); i++ {
		if sorted[i].Start < sorted[i-1].End {
			t.Fatalf("translation %q of %q: kept ranges %v overlap", h.Text, s, h.Kept)
		}
	}
	if strings.Contains(h.Text, "X3") {
		t.Errorf("translation %q of %q has a stand-in", h.Text, s)
	}
}

// checkTokens reports ranges that do not cover s one after another.
func checkTokens(t *testing.T, s string, tokens []translate.Token) {
	t.Helper()
	end := 0
	for _, k := range tokens {
		if k.Start != end || k.End < k.Start {
			t.Fatalf("%q: tokens %v are not adjacent", s, tokens)
		}
		end = k.End
	}
	if len(tokens) > 0 && end > len(s) {
		t.Fatalf("%q: tokens %v end after it", s, tokens)
	}
}

// A range is kept whatever surrounds it, and lines of a stream are those of Do.
func TestKeepAnywhere(t *testing.T) {
	tr := open(t, translate.Options{})
	random := rand.New(rand.NewPCG(1, 2))
	words := []string{"the", "red", "dog", "X1", "12", ".", "木", "-", "the old tree.", "\u00a0"}
	var input strings.Builder
	var texts []string
	for range 60 {
		s := ""
		for range 1 + random.IntN(6) {
			if s += words[random.IntN(len(words))]; random.IntN(2) == 0 {
				s += "«" + []string{"%s", "x y", "…", "1", "\t", "ü"}[random.IntN(6)] + "»"
			}
			s += []string{"", " ", "  "}[random.IntN(3)]
		}
		texts = append(texts, s)
		plain, _ := keepMarked(s)
		input.WriteString(plain + "\n")
	}
	// A mark cannot be in the text, so KeepOf finds ranges by the text.
	ranges := map[string][]text.Range{}
	var plains []string
	for _, s := range texts {
		plain, kept := keepMarked(s)
		if _, ok := ranges[plain]; !ok {
			ranges[plain] = kept
		}
		plains = append(plains, plain)
	}
	r := translate.Request{Texts: plains, Split: &split.Options{Lines: true}, KeepOf: func(_ int, s string) []text.Range { return ranges[s] }}
	results := do(t, tr, r)
	for i, result := range results {
		for _, h := range result.Translations {
			checkKept(t, plains[i], ranges[plains[i]], h)
		}
	}
	i := 0
	for lines, err := range tr.Lines(context.Background(), text.RepairLines(strings.NewReader(input.String()), "in"), translate.LineOptions{Request: r}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range lines {
			if l.Best() != results[i].Best() {
				t.Errorf("%q: %q in a stream, want %q", plains[i], l.Best(), results[i].Best())
			}
			i++
		}
	}
}

func TestKeepRefusesRanges(t *testing.T) {
	tr := open(t, translate.Options{})
	for _, offsets := range [][]int{{0, 0}, {2, 1}, {0, 4}, {-1, 2}, {1, 2, 0, 1}, {0, 2, 1, 3}} {
		var ranges []text.Range
		for i := 0; i < len(offsets); i += 2 {
			ranges = append(ranges, text.Range{Start: offsets[i], End: offsets[i+1]})
		}
		_, err := tr.Do(context.Background(), translate.Request{Texts: []string{"abc"}, KeepOf: func(int, string) []text.Range { return ranges }})
		if err == nil || !strings.Contains(err.Error(), "KeepOf: found bytes ") {
			t.Errorf("%v: error %v", ranges, err)
		}
	}
}
