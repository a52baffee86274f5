package translate_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"tfm/model/decode"
	"tfm/text/split"
	"tfm/translate"
)

func readGlossary(t *testing.T, s string) *translate.Glossary {
	t.Helper()
	g, err := translate.ReadGlossary(strings.NewReader(s), "g")
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// matches returns the terms of s as "source=target".
func matches(g *translate.Glossary, s string) (list []string) {
	for _, m := range g.Match(s) {
		list = append(list, s[m.Start:m.End]+"="+m.Target)
	}
	return list
}

// Terms are words of a text, from left to right the longest.
func TestGlossaryMatch(t *testing.T) {
	g := readGlossary(t, "\uFEFFNew York City\tdie Stadt New York\nNew  York\tNeu-York\tnote\n\nYork\tJork\nparty|parties\tPartei|Parteien\n监视\tsurveillance\nart\tKunst|Künste\r\nvisual studio\nUS\tUSA\ncafé\tKaffeehaus\n")
	for s, want := range map[string][]string{
		"":                              nil,
		"The party of New York.":        {"party=Partei", "New York=Neu-York"},
		"New York City, not York":       {"New York City=die Stadt New York", "York=Jork"},
		"Parties, smart, arts, 3art":    {"Parties=Parteien"},
		"(art)-ART, Visual\u00a0Studio": {"art=Kunst", "ART=KUNST", "Visual\u00a0Studio=Visual\u00a0Studio"},
		"每个人都在监视人":                      {"监视=surveillance"},
		"tell us about the US, CAFÉ":    {"US=USA", "CAFÉ=KAFFEEHAUS"},
		"the New Yorker in New York 1":  {"New York=Neu-York"},
	} {
		if got := matches(g, s); !slices.Equal(got, want) {
			t.Errorf("%q has %q, want %q", s, got, want)
		}
	}
}

func TestReadGlossaryErrors(t *testing.T) {
	for s, want := range map[string]string{
		"\n<?xml version='1.0'?><martif type='TBX'>": "g:1: found XML", "a\tb\n|\tc": `g:2: term ""`, "a\t\xff": "valid UTF-8",
		strings.Repeat("a", 2000) + "\tb": "expected up to 1000", strings.Repeat("a|", 200) + "a\tb": "expected up to 100",
	} {
		if _, err := translate.ReadGlossary(strings.NewReader(s), "g"); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.60q: error %v, want %q", s, err, want)
		}
	}
}

// Every search has the translation of each term, and one that is accepted stays.
func TestGlossary(t *testing.T) {
	tr := open(t, translate.Options{})
	g := readGlossary(t, "dog\tLöwe|chien\nred\trot\ncat\n")
	texts := []string{"the red dog", "", "the good cat", "dog", "the old dog. the red cat"}
	wants := []string{"rot", "", "cat", "Löwe", "rot"}
	for _, o := range []decode.Options{{}, {Beam: 1, MaxExtra: 30}, {Beam: 4, MaxExtra: 30, NBest: 4}, {Sample: true, Temperature: 1, TopP: 1, NBest: 3, MaxExtra: 30}} {
		for _, splits := range []*split.Options{nil, {}} {
			r := translate.Request{Texts: texts, Decode: o, Glossary: g, Split: splits, Prefix: "le "}
			results := do(t, tr, r)
			for i, result := range results {
				for _, h := range result.Translations {
					if !strings.Contains(h.Text, wants[i]) || len(h.Kept) > 0 || strings.Contains(texts[i], "dog") && !strings.Contains(h.Text, "Löwe") && !strings.Contains(h.Text, "chien") {
						t.Errorf("%+v: %q of %q", o, h.Text, texts[i])
					}
				}
			}
			for i := range texts {
				r.Texts = texts[i : i+1]
				alone := do(t, tr, r)
				if !o.Sample && alone[0].Best() != results[i].Best() {
					t.Errorf("%+v: %q alone, %q among others", o, alone[0].Best(), results[i].Best())
				}
			}
		}
	}
	for _, s := range []string{"the hotdog dog", "the dogs dog 12 cat2 2", "木\ndog"} {
		out, err := tr.Do(context.Background(), translate.Request{Texts: []string{s}, Glossary: readGlossary(t, "dog\tLöwe\n2\tzwo"), Split: splitLines})
		if err != nil || !strings.Contains(out[0].Best(), "Löwe") || strings.Contains(s, "2") && !strings.Contains(out[0].Best(), "zwo") {
			t.Errorf("%v, %v of %q", out, err, s)
		}
	}
	if out, err := tr.Do(context.Background(), translate.Request{Texts: []string{"the old dog"}, Glossary: readGlossary(t, "dog\tLöwe|chien")}); err != nil || out[0].Best() != "le chien vieux" {
		t.Errorf("%v, %v, want the translation without the glossary, which accepts it", out, err)
	}
	// A capital is a part of the term: a noun is not the verb of the same letters.
	if out, err := tr.Do(context.Background(), translate.Request{Texts: []string{"the old dog"}, Glossary: readGlossary(t, "dog\tChien")}); err != nil || !strings.Contains(out[0].Best(), "Chien") {
		t.Errorf("%v, %v, want Chien", out, err)
	}
}

// A glossary has terms that do not overlap, or an error of one line.
func FuzzReadGlossary(f *testing.F) {
	f.Add("a|b\tc|d\nx y\n", "a x  y b")
	f.Add("ß\tSS\nİ\tx\n木\ty\n", "ẞß İi木木")
	f.Fuzz(func(t *testing.T, glossary, s string) {
		g, err := translate.ReadGlossary(strings.NewReader(glossary), "g")
		if err != nil {
			if strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "g:") {
				t.Fatalf("error %q", err)
			}
			return
		}
		end := 0
		for _, m := range g.Match(s) {
			if m.Start < end || m.End <= m.Start || m.End > len(s) || m.Target == "" {
				t.Fatalf("%q: term %+v after byte %d", s, m, end)
			}
			end = m.End
		}
	})
}
