package training

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tfm/cmd/tfm/internal/terminal"
	"tfm/internal/texttest"
	"tfm/model"
	"tfm/text"
	"tfm/train"
	"tfm/train/corpus"
)

// job returns a training of a moment on a corpus of its own, and the file that it prints to.
func job(t *testing.T) (*Job, string) {
	t.Helper()
	dir := t.TempDir()
	put := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	text := corpus.Files(put("src", strings.Repeat("a dog\nthe cat\n", 60)), put("tgt", strings.Repeat("ein Hund\ndie Katze\n", 60)))
	printed, err := os.Create(filepath.Join(dir, "printed"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { printed.Close() })
	config, err := model.Preset("demo")
	if err != nil {
		t.Fatal(err)
	}
	config.DModel, config.DFF, config.EncoderLayers, config.DecoderLayers = 16, 32, 1, 1
	o := train.DefaultOptions()
	o.Steps, o.BatchTokens, o.MaxLen, o.ValidEvery = 4, 60, 20, 2
	return &Job{
		Corpus: corpus.Options{Train: text, VocabSize: 280, Joint: true}, Config: config, Options: o, SrcLang: "en", TgtLang: "de", Threads: 1,
		Progress: terminal.NewProgress(printed),
	}, printed.Name()
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A job prints its data, its settings and every validation, and records every event. Its model file
// describes the training.
func TestJob(t *testing.T) {
	j, printed := job(t)
	events := map[train.Kind]int{}
	j.Record = func(e train.Event) { events[e.Kind]++ }
	r, err := j.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`training pairs:   114 from .*src and .*tgt`, `validation pairs: 6 held out`, `languages:        en to de`, `vocabulary:       \d+ pieces, joint`,
		`machine:          1 thread, \w+ kernels, \d+ MB of memory\n`, `\nstep 2: validation perplexity .*, the best so far\n`,
		`\nwarning: the run ends at step 4, but the learning rate rises until step 4,000\. Try -set warmup=1\.\n`,
	} {
		if found := read(t, printed); !regexp.MustCompile(want).MatchString(found) {
			t.Errorf("output has no %s\n%s", want, found)
		}
	}
	if events[train.Started] != 1 || events[train.Stepped] != 4 || events[train.Validated] != 2 {
		t.Errorf("events %v, want 1 start, 4 steps, 2 validations", events)
	}
	path := filepath.Join(t.TempDir(), "m.safetensors")
	if err := r.Save(path); err != nil {
		t.Fatal(err)
	}
	h, err := model.LoadHeader(path)
	if err != nil || h.SrcLang != "en" || h.TgtLang != "de" || h.Info[InfoKey] != r.Info || !strings.HasPrefix(r.Info, "4 steps on 114 pairs; the weights of step ") {
		t.Errorf("header %+v, %v; want en to de and %q", h, err, r.Info)
	}

	// Another one begins with its weights.
	again, printed := job(t)
	again.Corpus.Tokenizers, again.Init = &r.Tokenizers, &Init{Path: "first.safetensors", Model: r.Model, Tokenizers: r.Tokenizers}
	again.Options.Init = "first.safetensors"
	again.NoWarnings = true
	if r, err = again.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"initial weights:  first.safetensors\n", "pieces:           all "} {
		if found := read(t, printed); !strings.Contains(found, want) {
			t.Errorf("output has no %q\n%s", want, found)
		}
	}
	if found := read(t, printed); strings.Contains(found, "warning") {
		t.Errorf("output has a warning, want none\n%s", found)
	}
	again, printed = job(t)
	again.Corpus.Tokenizers, again.Init = &r.Tokenizers, &Init{Path: "first.safetensors", Model: r.Model, Tokenizers: r.Tokenizers, SrcLang: "en-GB", TgtLang: "fr"}
	again.Options.Init = "first.safetensors"
	if _, err = again.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if found, want := read(t, printed), "warning: first.safetensors translates to fr, and the pairs to de: check -tgt-lang\n"; !strings.Contains(found, want) {
		t.Errorf("output has no %q\n%s", want, found)
	}
	if want := "fine-tuned from first.safetensors"; !strings.Contains(r.Info, want) {
		t.Errorf("info %q, want %q in it", r.Info, want)
	}
}

func TestInterruptedWhileReading(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("ctrl-c"))
	j, _ := job(t)
	if _, err := j.Run(ctx); err == nil || err.Error() != "ctrl-c" {
		t.Errorf("error %v, want the cause of the context", err)
	}
}

// The plan names the near-duplicates that were not held out.
func TestMovedPairsArePrinted(t *testing.T) {
	j, printed := job(t)
	source, target := texttest.Pairs(200)
	for i := range 100 {
		source, target = append(source, strings.ToUpper(source[i])+"!"), append(target, target[i])
	}
	dir := t.TempDir()
	src, tgt := filepath.Join(dir, "src"), filepath.Join(dir, "tgt")
	for path, lines := range map[string][]string{src: source, tgt: target} {
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	j.Corpus.Train, j.Options.MaxLen, j.Options.BatchTokens = corpus.Files(src, tgt), 200, 400
	if _, err := j.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(`training pairs:   285 from .*\nvalidation pairs: 15 held out \(-valid-src\)\n +\d+ near-duplicates moved to training\n`)
	if found := read(t, printed); !want.MatchString(found) {
		t.Errorf("output has no %s\n%s", want, found)
	}
}

// Languages that no flag names are those of the sentences, if both sides have one. A model of
// several languages takes each of its own, also of tagged sources.
func TestDetectedLanguages(t *testing.T) {
	source, target := "The man who lives in that house has %d dogs and two cats.", "Der Mann, der in diesem Haus wohnt, hat %d Hunde und zwei Katzen."
	const de, zh, none = model.Languages("en=5 de=6"), model.Languages("en=5 zh=6"), model.Languages("")
	for _, c := range []struct {
		source, target, src, tgt string
		model                    model.Languages
		tagged                   bool
		want                     string
	}{
		{source, target, "", "", none, false, "en de"},
		{target, source, "", "", none, false, "de en"},
		{source, target, "", "nds", none, false, "en nds"},
		{source, source, "", "", none, false, " "},
		{"%d", target, "", "", none, false, " "},
		{"%d", target, "en", "", none, false, "en de"},
		// No sentence is surely in a language.
		{"Its formatting rules are simple and easy to use.", "Die Regeln sind einfach.", "", "", none, false, "en de"},
		{source, target, "", "", de, false, "en de"},
		{source, "%d", "", "", de, false, "en "},
		{source, "%d 他是一個學生,他們說這國會議", "", "", zh, false, "en zh"},
		{source, target, "", "", zh, false, "en "},
		{">>de<< " + source, target, "", "", de, true, "en "},
		{">>de<< " + source, target, "", "", none, true, " "},
	} {
		j, _ := job(t)
		j.SrcLang, j.TgtLang = c.src, c.tgt
		j.Corpus.Model, j.Corpus.Tagged = model.Config{SrcLanguages: c.model, TgtLanguages: c.model}, c.tagged
		j.Survey = &corpus.Survey{Options: j.Corpus}
		for i := range 100 {
			j.Survey.Sample = append(j.Survey.Sample, text.Pair{Source: strings.ReplaceAll(c.source, "%d", strconv.Itoa(i)), Target: strings.ReplaceAll(c.target, "%d", strconv.Itoa(i))})
		}
		j.detectLanguages()
		if got := j.SrcLang + " " + j.TgtLang; got != c.want {
			t.Errorf("%+v: languages %q", c, got)
		}
	}
}
