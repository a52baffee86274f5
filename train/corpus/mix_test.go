package corpus

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tfm/text"
	"tfm/text/augment"
	"tfm/train"
)

// mixSource returns a source of n pairs: a3 and b3 are the third of the source a.
func mixSource(t *testing.T, name string, n int, tag string) Dataset {
	t.Helper()
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s%d of it.\tx%d von %s.\tfurther column\n", name, i, i, name)
	}
	return Dataset{Name: name, Files: text.Files{Source: write(t, name, b.String(), false), ExtraColumns: true}, Tag: tag}
}

// readMix returns the corpus of a mix.
func readMix(t *testing.T, m Mix, o train.Options) *Corpus {
	t.Helper()
	c := mustRead(t, Options{Train: m.Text("mix"), VocabSize: 300, Joint: true}, o)
	return c
}

// drawn returns the source sentences of a window.
func drawn(t *testing.T, c *Corpus, epoch, w int) (sentences []string) {
	t.Helper()
	p := window(t, c.Stream, epoch, w)
	for i := range p.Len() {
		sentences = append(sentences, c.Vocab.Source.Decode(p.Src(i)))
	}
	return sentences
}

// Each stage draws its shares, each source is read again and again in order, also from stage to
// stage, and a stage ends with the passes of its source. The windows are the same in any order of
// reading.
func TestMix(t *testing.T) {
	m := Mix{
		Datasets: []Dataset{mixSource(t, "a", 50, ""), mixSource(t, "b", 30, "<bt>"), mixSource(t, "c", 20, "")},
		Stages: []Stage{
			{Shares: []float64{0.8, 0.2, 0}, Until: 1, Passes: 2}, // 300 pairs: 240 a, 60 b
			{Shares: []float64{1, 2, 7}, Until: 2, Passes: 1.5},   // 43 pairs: 4 a, 8 b, 30 c
			{Shares: []float64{0, 1, 0}, Until: 1, Passes: math.Inf(1)},
		},
	}
	o := train.DefaultOptions()
	o.ShuffleWindow, o.ValidEvery = 25, 0
	c := readMix(t, m, o)
	if c.Stream.Windows() != 4 || c.TrainPairs != 100 {
		t.Fatalf("%d windows, %d pairs, want 4 and 100", c.Stream.Windows(), c.TrainPairs)
	}
	want := map[string]int{"a": 240, "<bt> b": 60, "c": 0}
	seen, next := map[string]int{}, map[string]int{}
	sizes := map[string]int{"a": 50, "<bt> b": 30, "c": 20}
	var windows [][]string
	for w := range 18 {
		windows = append(windows, drawn(t, c, w/4, w%4))
		for _, s := range windows[w] {
			name := strings.TrimRight(strings.TrimSuffix(s, " of it."), "0123456789")
			if index := fmt.Sprintf("%s%d of it.", name, next[name]%sizes[name]); s != index {
				t.Fatalf("window %d: %q, want %q", w, s, index)
			}
			next[name]++
			seen[name]++
		}
		if w == 11 { // the end of the first stage
			for name, n := range want {
				if seen[name] != n {
					t.Errorf("%d pairs of %s in the first stage, want %d", seen[name], name, n)
				}
			}
			clear(seen)
		}
	}
	if got := fmt.Sprint(seen); got != "map[<bt> b:115 a:4 c:30]" { // 43 pairs and 107 of b
		t.Errorf("later stages have %s", got)
	}
	again := readMix(t, m, o)
	for _, w := range []int{17, 3, 4, 12, 0, 7, 7, 16} {
		if got := drawn(t, again, w/4, w%4); !slices.Equal(got, windows[w]) {
			t.Errorf("window %d is %q, was %q", w, got, windows[w])
		}
	}
	if c.StreamFingerprint != again.StreamFingerprint || c.StreamFingerprint == "" {
		t.Errorf("fingerprints %q and %q", c.StreamFingerprint, again.StreamFingerprint)
	}
	m.Stages[1].Shares[0] = 2
	if other := readMix(t, m, o); other.StreamFingerprint == c.StreamFingerprint {
		t.Error("another second stage has the same fingerprint")
	}
}

// Without shares the sources have those of their pairs. Pairs that are held out are passed over,
// and change no share.
func TestMixHoldsOut(t *testing.T) {
	m := Mix{Datasets: []Dataset{mixSource(t, "a", 3000, ""), mixSource(t, "b", 1000, "")}, Stages: []Stage{{Passes: math.Inf(1)}}}
	o := train.DefaultOptions()
	c := readMix(t, m, o)
	held := map[string]bool{}
	for _, p := range c.HeldOut.Pairs {
		held[p.Source] = true
	}
	count := map[byte]int{}
	for epoch := range 3 {
		for _, s := range drawn(t, c, epoch, 0) {
			if held[s] {
				t.Fatalf("%q is held out and drawn", s)
			}
			count[s[0]]++
		}
	}
	if share := float64(count['b']) / float64(count['a']+count['b']); len(held) == 0 || math.Abs(share-0.25) > 0.0025 {
		t.Errorf("%d pairs held out, share %v, want 0.25", len(held), share)
	}
}

// Pairs are held out in the shares of the last stage, as many as its main source can spare.
func TestMixHoldsOutByShare(t *testing.T) {
	large, middle, small := mixSource(t, "a", 3000, ""), mixSource(t, "b", 1000, ""), mixSource(t, "b", 15, "")
	trainOnly := large
	trainOnly.TrainOnly = true
	for _, c := range []struct {
		shares  []float64
		sources []Dataset
		want    [2]int // of the sources a and b
	}{
		{nil, []Dataset{large, middle}, [2]int{150, 50}},
		{[]float64{1, 1}, []Dataset{large, middle}, [2]int{50, 50}},
		{[]float64{1, 4}, []Dataset{large, middle}, [2]int{20, 50}},
		{[]float64{0, 1}, []Dataset{large, middle}, [2]int{0, 50}},
		{[]float64{9, 1}, []Dataset{large, middle}, [2]int{150, 17}},
		{[]float64{9, 1}, []Dataset{trainOnly, middle}, [2]int{0, 50}},
		{[]float64{1, 0}, []Dataset{trainOnly, middle}, [2]int{0, 0}},
		{[]float64{1, 1}, []Dataset{large, small}, [2]int{150, 0}}, // too small, wherever it stands
		{[]float64{1, 1}, []Dataset{small, large}, [2]int{150, 0}},
	} {
		m := Mix{Datasets: c.sources, Stages: []Stage{{Shares: []float64{1, 0}, Passes: 1}, {Shares: c.shares, Until: 1, Passes: math.Inf(1)}}}
		read := readMix(t, m, train.DefaultOptions())
		var got [2]int
		for _, p := range read.HeldOut.Pairs {
			got[p.Source[0]-'a']++
		}
		if got != c.want {
			t.Errorf("shares %v: %v pairs are held out, want %v", c.shares, got, c.want)
		}
		parts := []train.ValidPart{{Name: "a", Pairs: got[0]}, {Name: "b", Pairs: got[1]}}
		if got[0] == 0 || got[1] == 0 {
			parts = nil // one source needs no figures of its own
		}
		if !slices.Equal(read.ValidParts, parts) {
			t.Errorf("shares %v: parts %v, want %v", c.shares, read.ValidParts, parts)
		}
	}
}

// Modifiers apply to the sentences, not to tags, by draws that depend on pass and pair alone.
func TestMixModifies(t *testing.T) {
	modifier := func(name string) augment.Modifier {
		m, err := augment.New(name, 0.5, nil)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := Mix{
		Datasets: []Dataset{mixSource(t, "a", 400, ">>fra<<"), mixSource(t, "b", 100, ">>deu<<")},
		Stages:   []Stage{{Shares: []float64{1, 1}, Passes: math.Inf(1), Modifiers: []augment.Modifier{modifier("UpperCase"), modifier("Merge"), modifier("RemoveEndPunct")}}},
	}
	o := train.DefaultOptions()
	o.ValidEvery = 0
	tagged := Options{Train: m.Text("mix"), VocabSize: 300, Joint: true, Tagged: true}
	c := mustRead(t, tagged, o)
	first := drawn(t, c, 0, 0)
	upper, merged, ended := 0, 0, 0
	for _, s := range first {
		rest, french := strings.CutPrefix(s, ">>fra<<")
		if !french {
			if rest, french = strings.CutPrefix(s, ">>deu<<"); !french {
				t.Fatalf("%q has no tag", s)
			}
		}
		if first, _, _ := strings.Cut(rest, "."); strings.Contains(first, "OF") {
			upper++
		}
		if strings.Count(strings.ToLower(rest), "of it") > 1 {
			merged++
		}
		if strings.HasSuffix(rest, ".") {
			ended++
		}
	}
	if n := len(first); n < 200 || n > 300 || upper < n*2/5 || upper > n*3/5 || merged < n*2/5 || merged > n*3/5 || ended < n*2/5 || ended > n*3/5 {
		t.Errorf("of %d texts %d have capitals, %d are several sentences, %d end with a full stop", n, upper, merged, ended)
	}
	second := drawn(t, c, 1, 0)
	if slices.Equal(first, second) || !slices.Equal(first, drawn(t, c, 0, 0)) {
		t.Error("the draws do not depend on the pass alone")
	}
}

// The vocabulary has the words as the modifiers change them in the first stage of their source.
func TestMixModifiesWords(t *testing.T) {
	capitals, err := augment.New("UpperCase", 0.5, nil)
	if err != nil {
		t.Fatal(err)
	}
	upper := func(tag string, stages ...Stage) int {
		m := Mix{Datasets: []Dataset{mixSource(t, "kitten", 400, tag), mixSource(t, "b", 40, "")}, Stages: stages}
		o := train.DefaultOptions()
		o.ValidEvery = 0
		v := readMix(t, m, o).Vocab.Source
		if plain := len(v.Encode(nil, "kitten")); plain > 2 {
			t.Errorf("kitten has %d pieces", plain)
		}
		if n := len(v.Encode(nil, "<mark>")); tag != "" && n > 3 { // a word and two signs
			t.Errorf("the tag has %d pieces, want it unchanged", n)
		}
		return len(v.Encode(nil, "KITTEN"))
	}
	plain, changed := Stage{Passes: math.Inf(1)}, Stage{Passes: math.Inf(1), Modifiers: []augment.Modifier{capitals}}
	other := Stage{Shares: []float64{0, 1}, Until: 1, Passes: 1}
	if n := upper("", plain); n < 5 {
		t.Errorf("KITTEN has %d pieces without modifiers", n)
	}
	for _, n := range []int{upper("", changed), upper("<mark>", changed), upper("", other, changed)} {
		if n > 2 {
			t.Errorf("KITTEN has %d pieces with modifiers, want those of a word of the text", n)
		}
	}
}

func TestReadMix(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"a.tsv": "a\tb\tc\n", "m.en": "a\n", "m.de": "b\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	parse := func(content string) (*Mix, error) {
		path := filepath.Join(dir, "mix.yml")
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		return ReadMix(path)
	}
	m, err := parse(`# several sources
datasets:
  general: a.tsv
  memory:
    src: m.en
    tgt: m.de
    tag: "<tm>"
stages: [first, second]
common: &common
- TitleCase: 0.5
modifiers: &all
- UpperCase: 0.05 # of both sides
- Tags: 0.01
  custom_detok_src: "icu:en"
  augment: 1.0
  tag: 0.0
- Tags: 0
first:
  - general 0.8
  - memory 0.2
  - until memory 2
second:
  mix:
    - general 1
    - memory 0
    - until general inf
  modifiers:
    - *all
    - *common
    - Merge: 0.1
      max_lines: 3
unused:
  - general 1
  - until general 1
seed: 1111
num_fields: 2
trainer: /bin/cat
`)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, s := range m.Datasets {
		fmt.Fprintf(&got, "%s %s %s %q; ", s.Name, filepath.Base(s.Files.Source), filepath.Base(s.Files.Target), s.Tag)
	}
	for _, s := range m.Stages {
		fmt.Fprint(&got, s.Name, s.Shares, s.Until, s.Passes)
		for _, modifier := range s.Modifiers {
			fmt.Fprint(&got, " ", modifier.Name, modifier.Probability)
		}
		got.WriteString("; ")
	}
	want := `general a.tsv . ""; memory m.en m.de "<tm>"; first[0.8 0.2] 1 2 UpperCase0.05 Copy0.01; second[1 0] 0 +Inf UpperCase0.05 Copy0.01 TitleCase0.5 Merge0.1; `
	if got.String() != want {
		t.Errorf("got  %s\nwant %s", got.String(), want)
	}
	if p := readMix(t, *m, train.DefaultOptions()).TrainPairs; p != 2 {
		t.Errorf("%d pairs, want 2", p)
	}

	const head = "datasets:\n  a: a.tsv\nstages: [s]\n"
	for content, want := range map[string]string{
		"stages: [s]\n":                                                       "1: found no datasets",
		"version: 2\n":                                                        "1: found version \"2\", expected 1",
		"datasets:\n  a:\n    src: m.en\n":                                    "3: found only src of the dataset a",
		"datasets:\n  a:\n    path: x\n    sorce: y\n":                        "4: found sorce of the dataset a",
		"datasets:\n  a:\n    path: b\n    hold-out: no\n":                    "3: found hold-out \"no\" of the dataset a",
		"datasets:\n  a:\n":                                                   "2: found the dataset \"a\" without a file",
		"datasets:\n  a: b.tmx\n  a: c\n":                                     "3: found \"a\" twice",
		"datasets:\n  a:\n    path: b\n    src-lang: 12\n":                    "3: ",
		"datasets:\n  a:\n    path: b\n    tag: '>>fr<<'\n    tgt-lang: de\n": "3: found tag >>fr<< and tgt-lang de",
		head:                      "3: found no mix of the stage \"s\"",
		head + "s:\n- a\n":        "5: found \"a\", expected a dataset and its share",
		head + "s:\n- b 1\n":      "5: found the dataset \"b\", expected one of",
		head + "s:\n- a 1e-300\n": "5: found the share \"1e-300\", expected 0 or",
		head + "s:\n- a: 1\n":     "5: found a list or a mapping",
		"datasets:\n  a: a.tsv\nstages: [s, u]\ns:\n- a 1\n- until a inf\nu:\n- a 1\n- until a 1\n":   "5: the stage s never ends, and u comes after it",
		"datasets:\n  a: a.tsv\nmodifers:\n- Typos: 0.1\n":                                            "4: found modifers",
		"datasets:\n  a: a.tsv\nmodifiers:\n- Typos:\n":                                               "4: found Typos without a probability",
		"datasets:\n  a: a.tsv\nstages: s\n":                                                          "3: found no list under stages",
		"datasets:\n  a: a.tsv\nx: &x\n- UpperCase: 0\nmodifiers:\n" + strings.Repeat("- *x\n", 1100): "4: found more than 1000 modifiers",
		head + "s:\n- a -1\n":                                                             "5: found the share \"-1\"",
		head + "s:\n- a 1\n- until a x\n":                                                 "6: found \"x\", expected a number of passes",
		head + "s:\n- a 1\n- a 2\n":                                                       "6: found \"a 2\" a second time",
		head + "s:\n- a 1\n":                                                              "5: the stage s has no end",
		head + "s:\n- a 0\n- until a 1\n":                                                 "5: the stage s has no end",
		head + "s:\n- a 1\n- until a 1\nx: 1\n":                                           "7: found x, expected",
		head + "s:\n- a 1\n- until a 1\nmodifiers:\n- Lower: 0.1\n":                       "8: found the modifier Lower",
		head + "s:\n- a 1\n- until a 1\nmodifiers:\n- UpperCase\n":                        "8: found the modifier \"UpperCase\", expected a colon",
		head + "s:\n- a 1\n- until a 1\nmodifiers:\n- UpperCase: often\n":                 "8: found the probability \"often\"",
		head + "s:\n- a 1\n- until a 1\nmodifiers:\n- Tags: 0.1\n  replace: 0.4\n":        "8: found Tags for terminology",
		head + "s:\n- a 1\n- until a 1\nmodifiers:\n  UpperCase: 0.1\n":                   "8: found modifiers that are no list",
		"datasets: {a: b}\n":                                                              "1: found \"{a: b}\"",
		"datasets:\n  a:\n    path: b\n    tag: '>>formal<<'\n    tgt-lang: de\nx: y\n":   "6: found x",
		"datasets:\n  a:\n    path: b\n    tag: '>>cmn_Hant<<'\n    tgt-lang: zh\nx: y\n": "6: found x",
	} {
		if _, err := parse(content); err == nil || !strings.HasPrefix(err.Error(), filepath.Join(dir, "mix.yml")+":"+want) {
			t.Errorf("%.200q: error %v, want %s", content, err, want)
		}
	}
}

// Blank sentences stay blank, whatever precedes or changes the others, so that training skips them,
// and are joined with none.
func TestMixKeepsBlank(t *testing.T) {
	var modifiers []augment.Modifier
	for _, name := range augment.Names() {
		m, err := augment.New(name, 0.5, nil)
		if err != nil {
			t.Fatal(err)
		}
		modifiers = append(modifiers, m)
	}
	source := Dataset{Name: "a", Files: text.Files{Source: write(t, "a", strings.Repeat("one dog.\tein Hund.\n \teine Katze.\ntwo cats.\t\n", 300), false)}, Tag: "<bt>"}
	m := Mix{Datasets: []Dataset{source}, Stages: []Stage{{Passes: math.Inf(1), Modifiers: modifiers}}}
	o := train.DefaultOptions()
	o.ValidEvery = 0
	c := readMix(t, m, o)
	p, blank := new(train.Pairs), 0
	if err := c.Stream.Read(context.Background(), p, 0, 0); err != nil {
		t.Fatal(err)
	}
	for i := range p.Len() {
		src, tgt := c.Vocab.Source.Decode(p.Src(i)), c.Vocab.Target.Decode(p.Tgt(i))
		if strings.TrimSpace(src) == "" || tgt == "" {
			blank++
		} else if strings.Contains(strings.ToLower(tgt), "katze") || strings.Contains(strings.ToLower(src), "cats") {
			t.Errorf("%q to %q", src, tgt)
		}
	}
	if blank != 600 {
		t.Errorf("%d pairs with a blank side, want 600", blank)
	}
}

// Errors and warnings of a mix name the file and its line.
func TestMixPlaces(t *testing.T) {
	m := Mix{Datasets: []Dataset{mixSource(t, "a", 5, ""), mixSource(t, "b", 5, "")}, Stages: []Stage{{Passes: math.Inf(1)}}}
	whole := m.Text("mix")
	for _, err := range whole.All() {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got, want := whole.Place(7), "line 2 of "+m.Datasets[1].Files.Source; got != want {
		t.Errorf("pair 7 is at %s, want %s", got, want)
	}
	_, err := Inspect(context.Background(), Options{Train: whole, Tagged: true})
	if want := "mix: line 1 of " + m.Datasets[0].Files.Source + ": found a source without a language"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
	// The same pairs in another order are other training data.
	o := train.DefaultOptions()
	o.ValidEvery = 0
	first := readMix(t, m, o).StreamFingerprint
	m.Datasets[0], m.Datasets[1] = m.Datasets[1], m.Datasets[0]
	if readMix(t, m, o).StreamFingerprint == first {
		t.Error("the fingerprint does not depend on the order of the pairs")
	}
}
