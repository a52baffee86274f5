package translate_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"tfm/model/decode"
	"tfm/text"
	"tfm/text/split"
	"tfm/translate"
)

// splitLines splits texts at line breaks, because the toy has no full stops.
var splitLines = &split.Options{Lines: true}

// A text is translated sentence by sentence, and the white space between sentences remains.
func TestSplit(t *testing.T) {
	tr := open(t, translate.Options{Threads: 1})
	texts := []string{" the red dog\n  the old tree\n\nthe good book ", "", "\n", "the black cat"}
	want := []string{" le chien rouge\n  le arbre vieux\n\nle livre bon ", "", "", "le chat noir"}
	r := translate.Request{Texts: texts, Split: splitLines, Attention: true, Decode: decode.DefaultOptions()}
	r.Decode.NBest = 2
	results := do(t, tr, r)
	streamed, parts := r, make([]string, len(texts))
	streamed.Certain = func(i int, part string) { parts[i] += part }
	if got := do(t, tr, streamed); !reflect.DeepEqual(got, results) || !slices.Equal(parts, want) {
		t.Errorf("streamed %q, results %+v, want %+v", parts, got, results)
	}
	for i, result := range results {
		if got := result.Best(); got != want[i] {
			t.Errorf("translation of %q is %q, want %q", texts[i], got, want[i])
		}
		tokens, score := 0, 0.0
		for _, s := range result.Sentences {
			source := texts[i][s.Source.Start:s.Source.End]
			alone := r
			alone.Texts, alone.Split = []string{source}, nil
			one := do(t, tr, alone)
			if !reflect.DeepEqual(s.Result, one[0]) {
				t.Errorf("sentence %q of text %d: %+v, want the result of the sentence alone, %+v", source, i, s.Result, one[0])
			}
			if got := result.Best()[s.Target.Start:s.Target.End]; got != s.Best() {
				t.Errorf("range of sentence %q has %q, want %q", source, got, s.Best())
			}
			tokens += s.SourceTokens
			score += s.Translations[0].Score
		}
		if result.SourceTokens != tokens || len(result.Translations) > 0 && result.Translations[0].Score != score {
			t.Errorf("text %d: %d tokens, score %v, want sums %d and %v", i, result.SourceTokens, result.Translations[0].Score, tokens, score)
		}
	}
	if n := len(results[0].Sentences); n != 3 {
		t.Errorf("%d sentences, want 3", n)
	}
}

// Sentences that exceed the source limit are cut, and nothing is truncated.
func TestSplitCutsLongSentences(t *testing.T) {
	tr := open(t, translate.Options{Threads: 1})
	for _, s := range []string{
		strings.Repeat("the red dog ", 100), strings.Repeat("x", 500), strings.Repeat("中", 100),
		"the\u00a0red \xff\xfe dog" + strings.Repeat(" \xff", 50),
	} {
		for _, limit := range []int{0, 1, 5} {
			results := do(t, tr, translate.Request{Texts: []string{s}, Split: splitLines, MaxSource: limit, Decode: greedy()})
			end := 0
			for _, x := range results[0].Sentences {
				if gap := s[end:x.Source.Start]; strings.TrimSpace(gap) != "" {
					t.Errorf("%.20q: gap %q before %v, want white space", s, gap, x.Source)
				}
				end = x.Source.End
				if x.Truncated() && (limit != 1 || x.SourceTokens > 4) {
					t.Errorf("%.20q, limit %d: sentence of %d tokens truncated to %d", s, limit, x.SourceTokens, x.TruncatedTo)
				}
			}
			if tail := s[end:]; strings.TrimSpace(tail) != "" || results[0].Truncated() {
				t.Errorf("%.20q: %q after the last sentence, truncated %v", s, tail, results[0].Truncated())
			}
		}
	}
}

func greedy() decode.Options {
	o := decode.DefaultOptions()
	o.Beam, o.MaxExtra = 1, 5
	return o
}

// A prefix is that of the first sentence.
func TestSplitPrefix(t *testing.T) {
	tr := open(t, translate.Options{Threads: 1})
	r := translate.Request{Texts: []string{"the red dog\nthe red dog", "the red dog"}, Split: splitLines, Prefix: "le chat", Prefixes: []string{"le li"}}
	results := do(t, tr, r)
	if got, want := results[0].Best(), "le livre rouge\nle chien rouge"; got != want {
		t.Errorf("translation %q, want %q", got, want)
	}
	if got, want := results[1].Best(), "le chat rouge"; got != want {
		t.Errorf("translation %q, want %q", got, want)
	}
}

// The draws of the sentences of a line do not depend on other lines.
func TestSplitInLines(t *testing.T) {
	tr := open(t, translate.Options{Threads: 1})
	o := translate.LineOptions{Request: translate.Request{Split: splitLines}}
	lines := func(s ...string) func(func(text.Line, error) bool) {
		return func(yield func(text.Line, error) bool) {
			for i, s := range s {
				if !yield(text.Line{File: "in", Number: i + 1, Text: s}, nil) {
					return
				}
			}
		}
	}
	o.Decode = greedy()
	o.Decode.Sample, o.Decode.Temperature = true, 5
	const line = "the red dog\nthe red dog\nthe red dog"
	first, err := collect(tr, lines(line, line, line), o)
	if err != nil {
		t.Fatal(err)
	}
	o.Decode.First = 2
	third, err := collect(tr, lines(line), o)
	if err != nil || third[0] != first[2] || first[0] == first[1] || first[1] == first[2] {
		t.Errorf("draws %q, and %q of the third line alone (error %v), want three different lines", first, third, err)
	}
}

// SplitSeveral splits texts of several sentences and no others.
func TestSplitSeveral(t *testing.T) {
	tr := open(t, translate.Options{})
	texts := []string{"the red dog", "", " the old tree. ", "the good cat. the old dog", "{x}. The cat", strings.Repeat("the red dog ", 30)}
	keepOf := func(_ int, s string) []text.Range {
		if i := strings.Index(s, "{x}"); i >= 0 {
			return []text.Range{{Start: i, End: i + 3}}
		}
		return nil
	}
	for _, o := range []decode.Options{{}, {Beam: 1, MaxExtra: 30}, {Sample: true, Temperature: 1, TopP: 1, MaxExtra: 30, Seed: 3}} {
		do := func(s *split.Options, several, streamed bool) []translate.Result {
			r := translate.Request{Texts: texts, Decode: o, Split: s, SplitSeveral: several, KeepOf: keepOf}
			parts := make([]string, len(texts))
			if streamed {
				r.Certain = func(i int, part string) { parts[i] += part }
			}
			results := do(t, tr, r)
			for i := range results {
				if streamed && parts[i] != results[i].Best() {
					t.Errorf("%+v: parts %q of %q", o, parts[i], results[i].Best())
				}
			}
			return results
		}
		whole, splits := do(nil, false, false), do(&split.Options{Lines: true}, false, false)
		for _, streamed := range []bool{false, true} {
			for i, got := range do(&split.Options{Lines: true}, true, streamed) {
				want := whole[i]
				if len(splits[i].Sentences) > 1 && strings.Contains(texts[i], ".") {
					want = splits[i]
				}
				if got.Best() != want.Best() || len(got.Sentences) != len(want.Sentences) {
					t.Errorf("%+v: %q of %q, want %q", o, got.Best(), texts[i], want.Best())
				}
			}
		}
	}
}
