package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A model is trained on pairs and on translated text, whose sources are marked and which gives no
// validation pairs. The same command again does nothing, or what other settings make different.
func TestBackTranslate(t *testing.T) {
	english, french := toyCorpus(t)
	dir := t.TempDir()
	out := filepath.Join(dir, "fr-en.safetensors")
	config := write(t, "small.conf", "d-model = 32\nheads = 2\nd-ff = 64\nencoder-layers = 1\ndecoder-layers = 1\nbatch-tokens = 300\nmax-len = 40\nvalid-every = 20\nvocab-size = 320\n")
	drawn := []string{"back-translate", "-back", toyModel(t), "-mono", english, "-src", french, "-tgt", english, "-config", config, "-steps", "40", "-o", out, "-sample"}
	args := func(more ...string) []string {
		return slices.Concat(drawn[:len(drawn)-1], []string{"-beam", "1"}, more)
	}
	o := mustRun(t, "", args()...)
	for _, want := range []string{"1/4 translate into the source language\n", "\n2/4 leave out", "\n3/4 drop faulty pairs\n", "\n4/4 train on both\n  tfm train -mix ", " -preset tiny -src-lang fr -tgt-lang en -steps 40", "pairs: 1,487 pairs\n", ", each source with <bt>\n", "50% pairs + 50% back\n", " held out", "translate with:"} {
		if !strings.Contains(o.stderr, want) {
			t.Errorf("standard error has no %q\n%s", want, o.stderr)
		}
	}
	folder := filepath.Join(dir, "fr-en.back")
	sources, targets := read(t, filepath.Join(folder, "cleaned", "back.src")), read(t, filepath.Join(folder, "cleaned", "back.tgt"))
	if agreement(targets, read(t, english)) != 1 || agreement(sources, read(t, french)) < 0.5 {
		t.Errorf("translated pairs begin with %.60q and %.60q", sources, targets)
	}
	want := read(t, out)
	if o := mustRun(t, "", args()...); strings.Count(o.stderr, ": done before\n") != 3 || read(t, out) != want {
		t.Errorf("again: %s", o.stderr)
	}
	if o := mustRun(t, "", args("-share", "0.25", "-mark", "")...); strings.Count(o.stderr, ": done before\n") != 2 || !strings.Contains(o.stderr, "75% pairs + 25% back\n") || strings.Contains(o.stderr, "each source with") {
		t.Errorf("with another share: %s", o.stderr)
	}
	if o := mustRun(t, "", drawn...); !strings.Contains(o.stderr, "-sample") || read(t, filepath.Join(folder, "cleaned", "back.src")) == sources {
		t.Errorf("with drawn translations: %s", o.stderr)
	}
	mustRun(t, "", args()...)
	if read(t, out) != want {
		t.Error("with the first settings again the model is another")
	}
	// The preset is that of a flag, of the settings file, or the command's.
	named := write(t, "named.conf", "preset = tiny\n"+read(t, config))
	if o := mustRun(t, "", args("-config", named)...); strings.Contains(o.stderr, " -preset ") {
		t.Errorf("with a preset in the settings file: %s", o.stderr)
	}
	if o := mustRun(t, "", args("-config", named, "-preset", "small")...); !strings.Contains(o.stderr, " -preset small ") {
		t.Errorf("with -preset: %s", o.stderr)
	}
	mustFail(t, runTFM(t, "", "back-translate", "-src", french, "-tgt", english), 2, "-back and -mono are needed")
	mustFail(t, runTFM(t, "", "back-translate", "-back", toy.model, "-mono", english), 2, "expected pairs: -src and -tgt, or -tsv")
	mustFail(t, runTFM(t, "", args("-share", "1")...), 2, "-share is 1")
	mustFail(t, runTFM(t, "", args("-sample")...), 2, "either -beam or -sample")
	mustFail(t, runTFM(t, "", args("-mono", english+".gz")...), 1, "no such file")
	mustFail(t, runTFM(t, "", args("-src", toy.testSrc)...), 1, "unequal line counts")
	mustFail(t, runTFM(t, "", args("-config", write(t, "corpus.conf", "tsv = x\n"))...), 2, "names corpora, which are those of this command")

	// The sides of a translation memory are those of the model that is trained.
	var tmx strings.Builder
	tmx.WriteString("<tmx version='1.4'><header srclang='en'/><body>")
	lines := strings.Split(strings.TrimSpace(read(t, french)), "\n")
	for i, s := range strings.Split(strings.TrimSpace(read(t, english)), "\n") {
		tmx.WriteString("<tu><tuv xml:lang='en'><seg>" + s + "</seg></tuv><tuv xml:lang='fr'><seg>" + lines[i] + "</seg></tuv></tu>")
	}
	memory := write(t, "memory.tmx", tmx.String()+"</body></tmx>")
	other := filepath.Join(dir, "memory.safetensors")
	mustRun(t, "", "back-translate", "-back", toyModel(t), "-mono", english, "-tsv", memory, "-beam", "1", "-config", config, "-steps", "40", "-o", other)
	if read(t, other) != want || read(t, filepath.Join(dir, "memory.back", "pairs.src")) != read(t, french) {
		t.Error("a translation memory gives another model than two files")
	}

	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	mustFail(t, runTFM(t, "", args()...), 1, "already exists", "-force replaces it")
}
