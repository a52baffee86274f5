package corpus

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"tfm/model"
	"tfm/text"
	"tfm/text/tokenizer/vocab"
	"tfm/train"
)

// The sources of a tagged corpus have the tokens of their language first, in memory and in a stream
// alike, and a source without one is an error that names its line.
func TestTagged(t *testing.T) {
	lines := strings.Repeat(">>fra<< a dog\tun chien\n>>deu<< a dog\tein Hund\n", 20)
	o := train.DefaultOptions()
	o.ValidEvery = 0
	options := Options{Train: TSV(write(t, "pairs.tsv", lines, false)), VocabSize: 300, Joint: true, Tagged: true}
	c := mustRead(t, options, o)
	source := c.Vocab.Source
	want := model.FormatLanguages([]model.Language{{Code: "deu", IDs: source.Encode(nil, ">>deu<<")}, {Code: "fra", IDs: source.Encode(nil, ">>fra<<")}})
	if c.TgtLanguages != want {
		t.Errorf("languages %q, want %q", c.TgtLanguages, want)
	}
	for i, code := range []string{">>fra<<", ">>deu<<"} {
		if got, want := c.Train.Src(i), slices.Concat(source.Encode(nil, code), source.Encode(nil, "a dog")); !slices.Equal(got, want) {
			t.Errorf("source %v, want %v", got, want)
		}
	}
	o.ShuffleWindow = 10
	options.Tokenizers = &c.Vocab
	s := mustRead(t, options, o)
	first := window(t, s.Stream, 0, 0)
	if !slices.Equal(first.Src(1), c.Train.Src(1)) {
		t.Errorf("source %v in a stream, want %v", first.Src(1), c.Train.Src(1))
	}
	long := strings.Repeat("zyxwvu", 8)
	for _, c := range []struct {
		more  string // lines
		model model.Config
		wants []string
	}{
		{"", model.Config{Source: model.ToFirst, TgtLanguages: "fra=5"}, []string{"line 2", "deu"}},
		{"a dog\tun chien\n", model.Config{}, []string{"line 41"}},
		{">>a=3<< a dog\tun chien\n", model.Config{}, []string{`line 41: found language "a=3"`}},
		{">>" + long + "<< a dog\tun chien\n", model.Config{}, []string{"expected up to 16", long}},
	} {
		options.Train, options.Model = TSV(write(t, "pairs.tsv", lines+c.more, false)), c.model
		_, err := Read(context.Background(), options, o)
		for _, want := range c.wants {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: error %v, want %q in it", c.more, err, want)
			}
		}
	}
}

// Datasets of a mix have the languages that they name, or those of Options, as do the pairs held
// out of them. With tags the target is that of the tag; blank lines are no error.
func TestMixLanguages(t *testing.T) {
	const from, to = "en=11 de=12", "fr=21 de=22 es=23"
	for name, c := range map[string]struct {
		model  model.Config
		tagged bool
		want   map[string][3]int32 // first and last token of the source, first of the target, or 0
	}{
		"nllb": {model.Config{Source: model.FromFirst, SrcLanguages: from, TgtLanguages: to, TargetBegins: true}, false,
			map[string][3]int32{"a": {11, 0, 21}, "b": {12, 0, 23}}},
		"nllb before 2022": {model.Config{Source: model.FromLast, SrcLanguages: from, TgtLanguages: to, TargetBegins: true}, false,
			map[string][3]int32{"a": {0, 11, 21}, "b": {0, 12, 23}}},
		"tagged": {model.Config{Source: model.FromFirst, SrcLanguages: from, TgtLanguages: to, TargetBegins: true}, true,
			map[string][3]int32{"a": {11, 0, 21}, "b": {12, 0, 22}}},
	} {
		a, b := mixSource(t, "a", 300, ""), mixSource(t, "b", 300, "")
		b.SrcLang, b.TgtLang = "de", "es"
		if c.tagged {
			a.Tag, b.Tag = ">>fra<<", ">>de<<"
			a.Files.Source = write(t, "blank", "\tx\na1 of it.\tx1 von a.\n", false)
		}
		m := Mix{Datasets: []Dataset{a, b}, Stages: []Stage{{Passes: math.Inf(1)}}}
		o := train.DefaultOptions()
		tokens := learned(t)
		read := mustRead(t, Options{Train: m.Text("mix").In("en", "fr", false), Tokenizers: &tokens, Model: c.model, SrcLang: "en", TgtLang: "fr", Tagged: c.tagged}, o)
		first := window(t, read.Stream, 0, 0)
		for _, pairs := range []*train.Pairs{first, read.Valid} {
			seen := map[string]int{}
			for i := range pairs.Len() {
				src, tgt := pairs.Src(i), pairs.Tgt(i)
				if len(src) == 0 {
					continue
				}
				of := "b"
				if strings.Contains(tokens.Target.Decode(tgt), "von a") {
					of = "a"
				}
				seen[of]++
				want := c.want[of]
				if want[0] != 0 && src[0] != want[0] || want[1] != 0 && src[len(src)-1] != want[1] || tgt[0] != want[2] {
					t.Fatalf("%s %s: source %v, target %v, want %v", name, of, src, tgt, want)
				}
			}
			if seen["b"] == 0 || seen["a"] == 0 && !c.tagged {
				t.Errorf("%s: pairs %v, want some of both", name, seen)
			}
		}
	}
	// A dataset's languages are a part of the fingerprint, and choose in its memory, with those of
	// Options on the sides that it does not name.
	nllb := model.Config{Source: model.FromFirst, SrcLanguages: from, TgtLanguages: to, TargetBegins: true}
	prints := map[string]bool{}
	for _, to := range []string{"", "es", "de"} {
		b := mixSource(t, "b", 30, "")
		b.TgtLang = to
		tokens := learned(t)
		m := Mix{Datasets: []Dataset{b}, Stages: []Stage{{Passes: math.Inf(1)}}}
		c, err := Read(context.Background(), Options{Train: m.Text("mix"), Tokenizers: &tokens, Model: nllb, SrcLang: "en", TgtLang: "fr"}, train.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		prints[c.StreamFingerprint] = true
		s := inspect(t, Options{Train: m.Text("mix").In("en", "fr", false), Tokenizers: &tokens, Model: nllb})
		if sources, targets := s.Unnamed(); len(sources) != 30 || (len(targets) == 0) != (to != "") {
			t.Errorf("%d sources and %d targets in languages that no dataset names, of a dataset to %q", len(sources), len(targets), to)
		}
	}
	if len(prints) != 3 {
		t.Errorf("%d fingerprints of three languages", len(prints))
	}
	memory := Dataset{Name: "b", SrcLang: "de", Files: text.Files{SrcLang: "de", Source: write(t, "b.tmx", `<tmx version="1.4"><header srclang="de"/><body><tu><tuv xml:lang="de"><seg>Hund</seg></tuv><tuv xml:lang="en"><seg>dog</seg></tuv></tu></body></tmx>`, false)}}
	if err := text.Each(context.Background(), Mix{Datasets: []Dataset{memory}, Stages: []Stage{{}}}.Text("mix").In("en", "fr", false).All(), func(text.Pair) error { return nil }); err == nil || !strings.Contains(err.Error(), "expected de and fr") {
		t.Errorf("error %v, want one of a memory without French", err)
	}

	b := mixSource(t, "b", 30, "")
	b.SrcLang, b.TgtLang = "de", "tlh"
	m := Mix{Datasets: []Dataset{b}, Stages: []Stage{{Passes: math.Inf(1)}}}
	tokens := learned(t)
	options := Options{Train: m.Text("mix"), Tokenizers: &tokens, Model: model.Config{Source: model.FromFirst, SrcLanguages: from, TgtLanguages: to, TargetBegins: true}}
	if _, err := Read(context.Background(), options, train.DefaultOptions()); err == nil || !strings.Contains(err.Error(), `mix: a dataset: tgt-lang is "tlh"`) {
		t.Errorf("error %v, want one of the dataset's tlh", err)
	}
}

// learned returns tokenizers with more pieces than the languages of tests.
func learned(t *testing.T) vocab.Tokenizers {
	t.Helper()
	var trainer vocab.Trainer
	for i := range 50 {
		trainer.Add(text.Pair{Source: fmt.Sprintf("a%d of it.", i), Target: fmt.Sprintf("x%d von b.", i)})
	}
	tokens, err := trainer.Train(300, true)
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}
