package e2e

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tfm/model"
)

func loadModel(t *testing.T, path string) model.File {
	t.Helper()
	f, err := model.Load(path, false)
	noError(t, err)
	return f
}

// finetuneArgs is a training that begins with a model, at so low a rate that after a step the
// weights are in effect what they were.
func finetuneArgs(t *testing.T, init string, more ...string) (args []string, m string) {
	t.Helper()
	src, tgt := toyCorpus(t)
	m = filepath.Join(t.TempDir(), "m.safetensors")
	args = []string{"train", "-src", src, "-tgt", tgt, "-o", m, "-init", init, "-lr", "1e-12", "-set", "warmup=1", "-batch-tokens", "200", "-max-len", "40", "-valid-every", "0", "-save-every", "0"}
	return append(args, more...), m
}

// Imported models whose sources have other marks train further and keep them.
func TestInitTakesTheLayout(t *testing.T) {
	for folder, source := range map[string]string{
		"ctranslate2-spm-unigram": "text", "ctranslate2-v3-int8": "BOS, text, EOS",
	} {
		imported := filepath.Join(t.TempDir(), "imported.safetensors")
		mustRun(t, "", "import", "-o", imported, filepath.Join("../../model/convert/testdata", folder))
		args, m := finetuneArgs(t, imported, "-steps", "2", "-dropout", "0")
		mustRun(t, "", append(args, "-batch-tokens", "600", "-max-len", "256")...)
		mustHave(t, mustRun(t, "", "info", m).stdout, "source:          "+source+"\n")
		const text = "the red dog sees the cat\n"
		got, want := mustRun(t, text, "translate", "-model", m, "-beam", "1").stdout, mustRun(t, text, "translate", "-model", imported, "-beam", "1").stdout
		// The limits of lengths are those of the training.
		if !strings.HasPrefix(got, strings.TrimSpace(want)) {
			t.Errorf("%s: translates as %q, was %q", folder, got, want)
		}
	}
}

func TestInitTakesTheModel(t *testing.T) {
	base := toyModel(t)
	args, m := finetuneArgs(t, base, "-steps", "1", "-dropout", "0.2", "-set", "label-smoothing=0")
	o := mustRun(t, "", args...)
	mustHave(t, o.stderr, "initial weights:  "+base, "pieces:           all 320 carried over", "1 step on 1,487 pairs, fine-tuned from toy.safetensors")
	was, is := loadModel(t, base).Model, loadModel(t, m).Model
	for i, w := range is.Params.W {
		if d := w - was.Params.W[i]; d > 1e-6 || d < -1e-6 {
			t.Fatalf("weight %d is %v, was %v", i, w, was.Params.W[i])
		}
	}
	if is.Config.Dropout != 0.2 || is.Config.LabelSmoothing != 0 || is.Config.DModel != 32 {
		t.Errorf("configuration %+v", is.Config)
	}
	if got, want := mustRun(t, "the red dog sees the cat\n", "translate", "-model", m).stdout, mustRun(t, "the red dog sees the cat\n", "translate", "-model", base).stdout; got != want {
		t.Errorf("translates as %q, was %q", got, want)
	}

	// Settings of the model cannot change; package settings tests each.
	args, m = finetuneArgs(t, base, "-set", "d-model=64", "-steps", "1")
	mustFail(t, runTFM(t, "", args...), 2, "d-model 64 conflicts with the model of -init: d-model 32 in "+base)
	if _, err := os.Stat(m); err == nil {
		t.Error("a model was written")
	}
	mustFail(t, runTFM(t, "", append(args, "-init", toy.src)...), 1, "-init: ", toy.src)
}

// A fine-tuning run resumes from its checkpoint alone and ends in the same weights.
func TestInitResume(t *testing.T) {
	base := filepath.Join(t.TempDir(), "base.safetensors")
	noError(t, os.WriteFile(base, []byte(read(t, toyModel(t))), 0o666))
	tokenizerFile := filepath.Join(t.TempDir(), "new.bpe")
	mustRun(t, "", "vocab", "-o", tokenizerFile, "-vocab-size", "340", toy.src)
	flags := []string{"-lr", "1e-3", "-set", "cooldown=0", "-vocab", tokenizerFile}
	straight, m1 := finetuneArgs(t, base, append(flags, "-steps", "7")...)
	mustRun(t, "", straight...)
	parts, m2 := finetuneArgs(t, base, flags...)
	mustRun(t, "", append(parts, "-steps", "3")...)
	mustFail(t, runTFM(t, "", append(parts, "-steps", "7", "-resume", "-init", toy.model)...), 2, "-init "+toy.model+" conflicts", "-init "+base)
	mustFail(t, runTFM(t, "", append(parts, "-steps", "7", "-resume", "-vocab", toy.model)...), 2, "-vocab "+toy.model+" conflicts")
	noError(t, os.Remove(base))
	mustRun(t, "", append(parts, "-steps", "5", "-resume")...)
	noError(t, os.Remove(tokenizerFile))
	mustRun(t, "", "train", "-src", toy.src, "-tgt", toy.tgt, "-o", m2, "-resume", "-steps", "7")
	sameFiles(t, m1, m2, "a run that was resumed gives another model")
}

// A model continues with tokenizers of each side. Package model tests where its rows of
// embeddings go.
func TestInitVocab(t *testing.T) {
	args, separate := trainArgs(t, "-joint=false", "-vocab-size", "300", "-set", "tie=none", "-steps", "1")
	mustRun(t, "", args...)
	args, m := finetuneArgs(t, toyModel(t), "-vocab", separate, "-steps", "1")
	mustHave(t, mustRun(t, "", args...).stderr, " carried over; a new one starts as the mean of the pieces it was split into")
	if tie := loadModel(t, m).Model.Config.Tie; tie != "decoder" {
		t.Errorf("tie %s, want decoder", tie)
	}
}

// The languages of a model, which may have other tags than a translation memory, leave out none of
// its units, in fine-tuning, its continuation, and in rounds. They tell source from target.
func TestInitWithTranslationMemory(t *testing.T) {
	src, tgt := toyCorpus(t)
	sources, targets := strings.Split(read(t, src), "\n")[:50], strings.Split(read(t, tgt), "\n")[:50]
	tsv := make([]string, len(sources))
	for i := range tsv {
		tsv[i] = sources[i] + "\t" + targets[i]
	}
	memory := func(srcLang, tgtLang string) string {
		var b strings.Builder
		fmt.Fprintf(&b, "<tmx version='1.4'><header srclang='%s'/><body>", tgtLang)
		for i := range sources {
			fmt.Fprintf(&b, "<tu><tuv xml:lang='%s'><seg>%s</seg></tuv><tuv xml:lang='%s'><seg>%s</seg></tuv></tu>\n", tgtLang, targets[i], srcLang, sources[i])
		}
		return write(t, "memory.tmx", b.String()+"</body></tmx>")
	}
	init, dir := filepath.Join(t.TempDir(), "m.safetensors"), t.TempDir()
	mustRun(t, "", append([]string{"train", "-src", src, "-tgt", tgt, "-o", init, "-steps", "1", "-src-lang", "en", "-tgt-lang", "zh-Hant"}, toySmall...)...)
	pairs := write(t, "pairs.tsv", lines(tsv))
	args := func(command, tsv string, more ...string) []string {
		return append([]string{command, "-tsv", tsv, "-init", init, "-lr", "1e-3", "-set", "warmup=1", "-set", "cooldown=0", "-batch-tokens", "200", "-max-len", "40", "-valid-every", "0"}, more...)
	}
	want := filepath.Join(dir, "want.safetensors")
	mustRun(t, "", args("train", pairs, "-o", want, "-steps", "2")...)
	tags := memory("en-GB", "zh-TW")
	got := filepath.Join(dir, "got.safetensors")
	mustRun(t, "", args("train", tags, "-o", got, "-steps", "1")...)
	mustRun(t, "", args("train", tags, "-o", got, "-steps", "2", "-resume")...)
	if !slices.Equal(loadModel(t, got).Model.Params.W, loadModel(t, want).Model.Params.W) {
		t.Error("a translation memory makes another model than its pairs")
	}
	plan := filepath.Join(dir, "plan")
	mustRun(t, "", args("plan", tags, "-workers", "1", "-local-steps", "1", "-rounds", "1", plan)...)
	mustRun(t, "", "train", "-plan", plan)
}

// With -vocab-size the tokenizers are learned from the new text, as tfm vocab learns them, also in
// a run that resumes and in one with the settings that -dump-config prints.
func TestInitLearnsVocabulary(t *testing.T) {
	base := toyModel(t)
	src, tgt := toyCorpus(t)
	tokenizerFile := filepath.Join(t.TempDir(), "new.bpe")
	mustRun(t, "", "vocab", "-o", tokenizerFile, "-vocab-size", "330", src, tgt)
	given, m := finetuneArgs(t, base, "-vocab", tokenizerFile, "-steps", "4")
	mustRun(t, "", given...)
	learned, m2 := finetuneArgs(t, base, "-vocab-size", "330")
	mustRun(t, "", append(learned, "-steps", "2", "-set", "cooldown=0")...)
	mustRun(t, "", append(learned, "-steps", "4", "-set", "cooldown=0", "-resume")...)
	if got, want := loadModel(t, m2), loadModel(t, m); got.Model.Config.TgtVocab != 330 || string(got.Tokenizers["joint"]) != string(want.Tokenizers["joint"]) {
		t.Errorf("%d pieces, others than of tfm vocab", got.Model.Config.TgtVocab)
	}
	settings := write(t, "dump.conf", mustRun(t, "", append(learned, "-steps", "4", "-set", "cooldown=0", "-dump-config")...).stdout)
	m3 := filepath.Join(t.TempDir(), "m.safetensors")
	mustRun(t, "", "train", "-config", settings, "-o", m3)
	sameFiles(t, m3, m2, "the settings of -dump-config give another model")
	imported := filepath.Join(t.TempDir(), "imported.safetensors")
	mustRun(t, "", "import", "-o", imported, "../../model/convert/testdata/marian-shared")
	args, _ := finetuneArgs(t, imported, "-vocab-size", "330", "-steps", "1")
	mustFail(t, runTFM(t, "", args...), 2, "-vocab-size 330 needs -init with a model of one pair of languages and tokenizers of tfm")
}

// Without the pieces that the corpus does not use a model translates its sentences as before, in
// the same pieces.
func TestInitTrim(t *testing.T) {
	dir := t.TempDir()
	imported := filepath.Join(dir, "imported.safetensors")
	mustRun(t, "", "import", "-o", imported, "../../model/convert/testdata/marian-shared")
	for source, base := range map[string]string{"the red dog sees the cat": toyModel(t), "risusi rema koro pake gimaka sisuba mudesu lu ?": imported} {
		name := filepath.Base(base)
		m := filepath.Join(dir, "trimmed-"+name)
		target := strings.TrimSpace(mustRun(t, source+"\n", "translate", "-model", base, "-beam", "1").stdout)
		pairs := write(t, "pairs.tsv", source+"\t"+cmp.Or(target, source)+"\n")
		args := []string{"train", "-tsv", pairs, "-src-lang", "en", "-tgt-lang", "fr", "-o", m, "-init", base, "-trim", "-lr", "1e-12", "-set", "warmup=1", "-dropout", "0", "-steps", "1", "-batch-tokens", "300", "-valid-every", "0"}
		o := mustRun(t, "", args...)
		mustHave(t, o.stderr, " dropped\n")
		settings := write(t, "dump.conf", mustRun(t, "", append(args, "-dump-config")...).stdout)
		again := filepath.Join(dir, "again-"+name)
		if mustRun(t, "", "train", "-config", settings, "-o", again); read(t, again) != read(t, m) {
			t.Errorf("%s: the settings of -dump-config give another model", name)
		}
		was, is := loadModel(t, base), loadModel(t, m)
		if is.Model.Config.TgtVocab >= was.Model.Config.TgtVocab || is.Model.Config.SrcVocab >= was.Model.Config.SrcVocab {
			t.Errorf("%s: %d and %d pieces, want fewer than %d and %d", name, is.Model.Config.SrcVocab, is.Model.Config.TgtVocab, was.Model.Config.SrcVocab, was.Model.Config.TgtVocab)
		}
		if got := strings.TrimSpace(mustRun(t, source+"\n", "translate", "-model", m, "-beam", "1").stdout); got != target {
			t.Errorf("%s: translates as %q, was %q", name, got, target)
		}
	}
	mustFail(t, runTFM(t, "", "train", "-src", toy.src, "-tgt", toy.tgt, "-trim"), 2, "-trim", "-init is missing")
}
