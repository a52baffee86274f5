package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"tfm/model"
	"tfm/model/safetensors"
)

// inLanguages writes a copy of a model with other languages.
func inLanguages(t *testing.T, path, src, tgt string) string {
	t.Helper()
	f := loadModel(t, path)
	f.SrcLang, f.TgtLang = src, tgt
	out := filepath.Join(t.TempDir(), src+"-"+tgt+".safetensors")
	if err := f.Save(out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestAverageKeepsTheLanguages(t *testing.T) {
	m := inLanguages(t, toyModel(t), "", "")
	out := filepath.Join(t.TempDir(), "mean.safetensors")
	half := inLanguages(t, m, "", "fr")
	mustRun(t, "", "average", "-o", out, m, half, inLanguages(t, m, "en", "fr"))
	if o := mustRun(t, "", "info", "-model", out); !strings.Contains(o.stdout, "languages:       en to fr\n") {
		t.Errorf("info of the mean, want languages en to fr:\n%s", o.stdout)
	}
	if o := mustRun(t, "", "info", "-model", half); !strings.Contains(o.stdout, "languages:       unknown to fr\n") {
		t.Errorf("info, want languages unknown to fr:\n%s", o.stdout)
	}
	if o := mustRun(t, "", "info", "-model", m); strings.Contains(o.stdout, "languages") {
		t.Errorf("info of a model that names no languages:\n%s", o.stdout)
	}
	other := inLanguages(t, m, "en", "fr-CA")
	mustFail(t, runTFM(t, "", "average", "-force", "-o", out, m, half, other), 1, other, `found languages "en" to "fr-CA"`, `expected "en" to "fr"`)
}

// The model that a resumed run ends with has the languages of its checkpoint.
func TestResumedModelKeepsTheLanguages(t *testing.T) {
	args, m := trainArgs(t, "-steps", "2")
	mustRun(t, "", args...)
	checkpoint := filepath.Join(strings.TrimSuffix(m, ".safetensors")+".ckpt", "step-00000002.safetensors")
	f, err := safetensors.Open(checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	meta := f.Metadata()
	meta["src_lang"], meta["tgt_lang"] = "en", "fr"
	if err := safetensors.Write(checkpoint, meta, f.Tensors()); err != nil {
		t.Fatal(err)
	}
	mustRun(t, "", append(args, "-resume", "-steps", "4")...)
	if got := loadModel(t, m); got.SrcLang != "en" || got.TgtLang != "fr" {
		t.Errorf("from %q to %q, want en and fr", got.SrcLang, got.TgtLang)
	}
}

// Tokenizers are read without the weights: here from a file that has none.
func TestTokenizersAreReadWithoutTheWeights(t *testing.T) {
	f := loadModel(t, toyModel(t))
	meta, tensors, err := f.Encode()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "tokenizers.safetensors")
	if err := safetensors.Write(path, meta, tensors[len(f.Model.Params.List):]); err != nil {
		t.Fatal(err)
	}
	const text = "the red dog\n"
	ids := mustRun(t, text, "vocab", "-vocab", path, "-encode").stdout
	if want := mustRun(t, text, "vocab", "-vocab", toyModel(t), "-encode").stdout; ids != want {
		t.Errorf("encoded as %q, want %q", ids, want)
	}
	if _, err := model.Load(path, false); err == nil {
		t.Error("model.Load has no error for a file without weights")
	}
}

// The flags go into the checkpoints and the model, in the form that BCP 47 recommends; a resumed
// run and a model that begins with another keep them, and a flag changes them.
func TestTrainNamesTheLanguages(t *testing.T) {
	args, m := trainArgs(t, "-src-lang", "EN", "-tgt-lang", "zh-hant")
	wantInfo := func(path, want string) {
		t.Helper()
		if o := mustRun(t, "", "info", "-model", path); !strings.Contains(o.stdout, "languages:       "+want+"\n") {
			t.Errorf("info of %s, want languages %s:\n%s", path, want, o.stdout)
		}
	}
	o := mustRun(t, "", append(args, "-steps", "2")...)
	if want := "languages:        en to zh-Hant\n"; !strings.Contains(o.stderr, want) {
		t.Errorf("it does not say %q:\n%s", want, o.stderr)
	}
	wantInfo(m, "en to zh-Hant")
	wantInfo(filepath.Join(strings.TrimSuffix(m, ".safetensors")+".ckpt", "step-00000002.safetensors"), "en to zh-Hant")
	src, tgt := toyCorpus(t)
	corpus := []string{"train", "-src", src, "-tgt", tgt}
	mustRun(t, "", append(corpus, "-o", m, "-resume", "-steps", "3")...)
	wantInfo(m, "en to zh-Hant")
	mustRun(t, "", append(corpus, "-o", m, "-resume", "-steps", "4", "-tgt-lang", "fr")...)
	wantInfo(m, "en to fr")
	tuned := filepath.Join(t.TempDir(), "tuned.safetensors")
	mustRun(t, "", append(corpus, "-o", tuned, "-init", m, "-steps", "1", "-batch-tokens", "300", "-max-len", "40", "-valid-every", "0")...)
	wantInfo(tuned, "en to fr")
	mustRun(t, "", append(corpus, "-o", tuned, "-force", "-init", m, "-steps", "1", "-batch-tokens", "300", "-max-len", "40", "-valid-every", "0", "-src-lang", "de")...)
	wantInfo(tuned, "de to fr")
	mustFail(t, runTFM(t, "", append(args, "-force", "-tgt-lang", "e")...), 2, `-tgt-lang is "e", expected a BCP 47 language tag`)
}
