package training

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tfm/internal/texttest"
	"tfm/model"
	"tfm/text/holdout"
	"tfm/train"
	"tfm/train/corpus"
)

// warningsOf returns the warnings about pairs in files, with validation files unless vs is nil.
func warningsOf(t *testing.T, source, target, vs, vt []string, srcLang, tgtLang string) []string {
	t.Helper()
	dir := t.TempDir()
	put := func(name string, lines []string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	o := corpus.Options{Train: corpus.Files(put("train.src", source), put("train.tgt", target))}
	if vs != nil {
		o.Valid = corpus.Files(put("val.src", vs), put("val.tgt", vt))
	}
	s, err := corpus.Inspect(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	s.VocabSize, s.Joint = 300, true
	c, err := s.Read(context.Background(), train.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	var warnings []string
	for _, w := range (data{Survey: s, read: c, srcLang: srcLang, tgtLang: tgtLang}).warnings() {
		warnings = append(warnings, strings.ReplaceAll(w, dir+string(filepath.Separator), ""))
	}
	return warnings
}

// Each fault of the data has its warning, with figures and a remedy, and data without faults has
// none.
func TestDataWarnings(t *testing.T) {
	const n = 2000
	source, target := texttest.Pairs(n + 200)
	vs, vt := source[n:], target[n:]
	source, target = source[:n], target[:n]
	shuffled := slices.Clone(target)
	rand.New(rand.NewPCG(1, 1)).Shuffle(n, func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	long, longer := slices.Clone(target), slices.Clone(target)
	for i := range target {
		longer[i] = strings.Repeat(target[i], 4)
		if i%10 == 0 {
			long[i] = strings.Repeat(target[i], 6)
		}
	}
	chinese := make([]string, n)
	for i, s := range target {
		var b strings.Builder
		for j := range len(s) / 3 {
			b.WriteRune(0x4E00 + rune(s[3*j])*7 + rune(s[3*j+1]))
		}
		chinese[i] = b.String()
	}
	english, german, czech := realSentences(n)
	for _, c := range []struct {
		name                   string
		source, target, vs, vt []string
		languages              string
		want                   []string // each in one warning
	}{
		{"no fault", source, target, vs, vt, "en de", nil},
		{"no fault, held out", source, target, nil, nil, " ", nil},
		{"same", source, source, nil, nil, " ", []string{"source and target are the same in 2,000 of 2,000 training pairs, so that the model learns to copy: check -src and -tgt"}},
		{"swapped languages", source, chinese, nil, nil, "zh en", []string{
			"source and target are swapped: -tgt-lang is en, but the targets look like zh-Hant (251 of 500 sampled): exchange -src and -tgt"}},
		{"wrong language", source, target, nil, nil, "en ru", []string{"-tgt-lang is ru, but the targets look like de (497 of 500 sampled): check the file and the language"}},
		{"no fault, real sentences", english, german, nil, nil, "en-GB de-AT", nil},
		{"languages of one script swapped", german, english, nil, nil, "en de", []string{
			"source and target are swapped: -src-lang is en, but the sources look like de ("}},
		{"another language of one script", english, german, nil, nil, "en fr", []string{"-tgt-lang is fr, but the targets look like de ("}},
		{"one language, other sentences", czech, reversed(czech), nil, nil, " ", []string{"source and target look like one language"}},
		{"swapped validation", english, german, german[:200], english[:200], " ", []string{"the validation sources look like de, and the validation targets like en: exchange -valid-src and -valid-tgt"}},
		{"shuffled", source, shuffled, nil, nil, " ", []string{"from line 1 or a little later, lines do not belong together: the lengths of 2,000 of 2,000 training pairs are unrelated; line n"}},
		{"shifted", source[1:], target[:n-1], nil, nil, " ", []string{"the lengths of 1,999 of 1,999 training pairs are unrelated, but fit if the targets move up by a line"}},
		{"shifted validation", source, target, vs[1:], vt[:len(vt)-1], " ", []string{"the lengths of 199 of 199 validation pairs are unrelated, but fit if the targets"}},
		{"long targets", source, long, nil, nil, " ", []string{"training pairs (10%) one side is more than 3 times as long as usual: leave out pairs whose target does not have "}},
		{"all targets long", source, longer, nil, nil, " ", []string{"times the characters of the sources"}},
		{"repeated", slices.Concat(source, source[1:]), slices.Concat(target, target[1:]), nil, nil, " ", []string{
			"50% of the training pairs repeat another pair: 'tfm clean' keeps one of each",
			"198 of 199 held-out pairs are also training pairs, so that the validation scores are too good: 'tfm clean' keeps one of each"}},
		{"validation in training", slices.Concat(source, vs), slices.Concat(target, vt), vs, vt, " ", []string{
			"200 of 200 validation pairs are also training pairs, so that the validation scores are too good: leave them out of the training"}},
		{"validation sources in training", slices.Concat(source, vs), slices.Concat(target, paraphrase(vt)), vs, vt, " ", []string{
			"the sources of 200 of 200 validation pairs are also training sources, with other translations, so that the validation scores are too good"}},
		{"tiny", source[:500], target[:500], vs, vt, " ", []string{"a model learns 500 training pairs by heart instead of learning to translate; a useful translator needs 10,000 or more"}},
	} {
		src, tgt, _ := strings.Cut(c.languages, " ")
		got := warningsOf(t, c.source, c.target, c.vs, c.vt, src, tgt)
		ok := len(got) == len(c.want)
		for i := range got {
			ok = ok && strings.Contains(got[i], c.want[i])
		}
		if !ok {
			t.Errorf("%s: warnings\n%s\nwant\n%s", c.name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// realSentences returns n sentences in English, German and Czech.
func realSentences(n int) (english, german, czech []string) {
	words := func(list string) []string { return strings.Split(list, ",") }
	nouns := [3][]string{
		words("teacher,farmer,neighbour,doctor,painter,driver,brother,uncle,boy,gardener,baker,soldier,writer"),
		words("Lehrer,Bauer,Nachbar,Arzt,Maler,Fahrer,Bruder,Onkel,Junge,Gärtner,Bäcker,Soldat,Schriftsteller"),
		words("učitel,sedlák,soused,lékař,malíř,řidič,bratr,strýc,chlapec,zahradník,pekař,voják,spisovatel"),
	}
	places := [3][]string{
		words("behind the old church,in the garden,at the station,on the bridge,in front of the house,by the river,in the kitchen"),
		words("hinter der alten Kirche,im Garten,am Bahnhof,auf der Brücke,vor dem Haus,am Fluss,in der Küche"),
		words("za starým kostelem,na zahradě,na nádraží,na mostě,před domem,u řeky,v kuchyni"),
	}
	times := [3][]string{
		words("yesterday evening,early in the morning,last week,on Sunday,this summer,before the war,at night,in winter,three years ago,a month later,again,once more"),
		words("gestern Abend,früh am Morgen,letzte Woche,am Sonntag,diesen Sommer,vor dem Krieg,in der Nacht,im Winter,vor drei Jahren,einen Monat später,wieder,noch einmal"),
		words("včera večer,brzy ráno,minulý týden,v neděli,letos v létě,před válkou,v noci,v zimě,před třemi lety,o měsíc později,zase,ještě jednou"),
	}
	for i := range n {
		var s [3]string
		for l, form := range []string{"The %s was waiting %s %s with his two dogs.", "Der %s wartete %s %s mit seinen zwei Hunden.", "Ten %s čekal %s %s se svými dvěma psy."} {
			s[l] = fmt.Sprintf(form, nouns[l][i%13], places[l][i/13%7], times[l][i/91%12]) + strings.Repeat("!", i/1092)
		}
		english, german, czech = append(english, s[0]), append(german, s[1]), append(czech, s[2])
	}
	return english, german, czech
}

// reversed returns the lines in the opposite order.
func reversed(lines []string) []string {
	lines = slices.Clone(lines)
	slices.Reverse(lines)
	return lines
}

func paraphrase(lines []string) []string {
	var out []string
	for _, l := range lines {
		out = append(out, l+" und")
	}
	return out
}

func repeatEach(lines []string, n int) []string {
	var out []string
	for _, l := range lines {
		out = append(out, strings.Repeat(l, n))
	}
	return out
}

// The warnings name the flags of the files.
func TestFlagsOfPairs(t *testing.T) {
	for _, c := range []struct {
		text *corpus.Text
		want string
	}{{corpus.TSV("v.tsv"), "the columns of -valid-tsv"}, {corpus.Files("v.en", "v.en"), "-valid-src and -valid-tgt"}} {
		if got := flags(c.text, "valid-"); got != c.want {
			t.Errorf("flags(%s) = %q, want %q", c.text.Name, got, c.want)
		}
	}
}

// Held-out pairs that resemble training pairs are named.
func TestNearHeldOutPairs(t *testing.T) {
	d := data{Survey: new(corpus.Survey), read: &corpus.Corpus{ValidPairs: 7, HeldOut: &holdout.ValidationSet{Near: 5}}}
	d.overlap()
	if want := "5 of 7 held-out pairs have the source or the target of a training pair"; len(d.found) != 1 || !strings.HasPrefix(d.found[0], want) {
		t.Errorf("warnings %q, want %q", d.found, want)
	}
	d.read.HeldOut = &holdout.ValidationSet{Moved: 9}
	if d.overlap(); len(d.found) != 1 {
		t.Errorf("warnings %q, want no second one", d.found)
	}
}

// A dataset of a mix that names another language than the model of one pair has a warning.
func TestMixLanguages(t *testing.T) {
	for _, c := range []struct {
		src, tgt string // of the dataset
		model    model.Config
		tagged   bool
		want     string
	}{
		{src: "en-GB", tgt: "de"},
		{src: "en"},
		{src: "en", tgt: "fr", want: "the dataset mine has targets in fr, and the model in de: check tgt-lang"},
		{src: "cs", tgt: "fr", want: "the dataset mine has sources in cs, and the model in en: check src-lang"},
		{tgt: "fr", tagged: true},
		{src: "cs", tgt: "fr", model: model.Config{TgtLanguages: "fra=3 deu=4"}},
	} {
		mix := corpus.Mix{Stages: []corpus.Stage{{}}, Datasets: []corpus.Dataset{{Name: "general"}, {Name: "mine", SrcLang: c.src, TgtLang: c.tgt}}}
		d := data{Survey: &corpus.Survey{Options: corpus.Options{Train: mix.Text("mix.yml"), Model: c.model, Tagged: c.tagged}}, srcLang: "en", tgtLang: "de", fineTuning: true}
		d.mixLanguages()
		if got := strings.Join(d.found, "\n"); got != c.want {
			t.Errorf("%s to %s: %q, want %q", c.src, c.tgt, got, c.want)
		}
	}
}
