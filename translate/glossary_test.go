package translate_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tfm/model/decode"
	"tfm/text/split"
	"tfm/translate"
)

func readGlossary(t *testing.T, s, from, to string) *translate.Glossary {
	t.Helper()
	g, err := translate.ReadGlossary(strings.NewReader(s), "g", from, to)
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
	g := readGlossary(t, "\uFEFFNew York City\tdie Stadt New York\nNew  York\tNeu-York\tnote\n\nYork\tJork\nparty|parties\tPartei|Parteien\n监视\tsurveillance\nart\tKunst|Künste\r\nvisual studio\nUS\tUSA\ncafé\tKaffeehaus\n", "", "")
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

const tbxHead, tbxTail = `<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE martif SYSTEM "TBXcoreStructV02.dtd"><martif type="TBX"><text><body>`, `</body></text></martif>`

// Concepts of a TBX file have terms of two languages. Preferred ones come first, and no
// translation is deprecated.
func TestReadTBX(t *testing.T) {
	concept := `<termEntry id="1"><langSet xml:lang="en-US"><tig><term>hard <hi>disk</hi></term></tig><ntig><termGrp><term>HDD</term></termGrp></ntig></langSet>` +
		`<langSet xml:lang="fr"><tig><term>disque</term></tig></langSet><langSet xml:lang="de-DE"><tig><term>Platte</term><termNote type="administrativeStatus">deprecatedTerm-admn-sts</termNote></tig>` +
		`<tig><term>Laufwerk</term><termNote type="partOfSpeech">noun</termNote></tig><tig><term>Festplatte &amp; Co</term><termNote type="administrativeStatus">preferredTerm-admn-sts</termNote></tig></langSet></termEntry>`
	for _, c := range []struct{ from, to, want string }{
		{"en", "de", "[hard disk=Festplatte & Co HDD=Festplatte & Co]"}, {"", "", "[hard disk=disque HDD=disque]"}, {"eng_Latn", "de-DE", "[hard disk=Festplatte & Co HDD=Festplatte & Co]"}, {"de", "fr", "[]"},
	} {
		if got := fmt.Sprint(matches(readGlossary(t, tbxHead+concept+tbxTail, c.from, c.to), "a hard disk, HDD")); got != c.want {
			t.Errorf("%q to %q: %s, want %s", c.from, c.to, got, c.want)
		}
	}
	for s, want := range map[string]string{
		tbxHead + concept: "g:1: unexpected EOF", tbxHead + tbxTail: "found no concept", tbxHead + "\n&x;" + tbxTail: "g:2: invalid character entity",
		"<!DOCTYPE a [<!ENTITY b 'c'>]><a/>": "the definition of an entity", strings.Repeat("<a>", 300): "more than 256 elements",
		tbxHead + "<termEntry>" + strings.Repeat("<term>a</term>", 300):  "more than 200 terms",
		tbxHead + "<termEntry><term>" + strings.Repeat("a<!---->", 2000): "more than 1000 bytes", "a\tb\n|\tc": `g:2: term ""`, "a\t\xff": "valid UTF-8",
		strings.Repeat("a", 2000) + "\tb": "expected up to 1000", strings.Repeat("a|", 200) + "a\tb": "expected up to 100",
	} {
		if _, err := translate.ReadGlossary(strings.NewReader(s), "g", "en", "de"); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.60q: error %v, want %q", s, err, want)
		}
	}
}

// Every search has the translation of each term, and one that is accepted stays.
func TestGlossary(t *testing.T) {
	tr := open(t, translate.Options{})
	g := readGlossary(t, "dog\tLöwe|chien\nred\trot\ncat\n", "", "")
	texts := []string{"the red dog", "", "the good cat", "dog", "the old dog. the red cat"}
	wants := []string{"rot", "", "cat", "Löwe", "rot"}
	for _, o := range []decode.Options{{}, {Beam: 1, MaxExtra: 30}, {Beam: 4, MaxExtra: 30, NBest: 4}, {Sample: true, Temperature: 1, TopP: 1, NBest: 3, MaxExtra: 30}} {
		for _, splits := range []*split.Options{nil, {}} {
			r := translate.Request{Texts: texts, Decode: o, Glossary: g, Split: splits, Prefix: "le "}
			results, err := tr.Do(context.Background(), r)
			if err != nil {
				t.Fatal(err)
			}
			for i, result := range results {
				for _, h := range result.Translations {
					if !strings.Contains(h.Text, wants[i]) || len(h.Kept) > 0 || strings.Contains(texts[i], "dog") && !strings.Contains(h.Text, "Löwe") && !strings.Contains(h.Text, "chien") {
						t.Errorf("%+v: %q of %q", o, h.Text, texts[i])
					}
				}
			}
			for i := range texts {
				r.Texts = texts[i : i+1]
				alone, err := tr.Do(context.Background(), r)
				if err != nil {
					t.Fatal(err)
				}
				if !o.Sample && alone[0].Best() != results[i].Best() {
					t.Errorf("%+v: %q alone, %q among others", o, alone[0].Best(), results[i].Best())
				}
			}
		}
	}
	for _, s := range []string{"the hotdog dog", "the dogs dog 12 cat2 2", "木\ndog"} {
		out, err := tr.Do(context.Background(), translate.Request{Texts: []string{s}, Glossary: readGlossary(t, "dog\tLöwe\n2\tzwo", "", ""), Split: splitLines})
		if err != nil || !strings.Contains(out[0].Best(), "Löwe") || strings.Contains(s, "2") && !strings.Contains(out[0].Best(), "zwo") {
			t.Errorf("%v, %v of %q", out, err, s)
		}
	}
	if out, err := tr.Do(context.Background(), translate.Request{Texts: []string{"the old dog"}, Glossary: readGlossary(t, "dog\tLöwe|chien", "", "")}); err != nil || out[0].Best() != "le chien vieux" {
		t.Errorf("%v, %v, want the translation without the glossary, which accepts it", out, err)
	}
	// A capital is a part of the term: a noun is not the verb of the same letters.
	if out, err := tr.Do(context.Background(), translate.Request{Texts: []string{"the old dog"}, Glossary: readGlossary(t, "dog\tChien", "", "")}); err != nil || !strings.Contains(out[0].Best(), "Chien") {
		t.Errorf("%v, %v, want Chien", out, err)
	}
}

// A glossary has terms that do not overlap, or an error of one line.
func FuzzReadGlossary(f *testing.F) {
	f.Add("a|b\tc|d\nx y\n", "a x  y b")
	f.Add(tbxHead+`<conceptEntry><langSec xml:lang="en"><term>a</term></langSec><langSec xml:lang="de"><term>b</term></langSec></conceptEntry>`+tbxTail, "a A")
	f.Add("ß\tSS\nİ\tx\n木\ty\n", "ẞß İi木木")
	f.Fuzz(func(t *testing.T, glossary, s string) {
		g, err := translate.ReadGlossary(strings.NewReader(glossary), "g", "en", "de")
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
