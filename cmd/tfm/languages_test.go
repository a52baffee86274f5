package main

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
	m := toyModel(t)
	out := filepath.Join(t.TempDir(), "mean.safetensors")
	half := inLanguages(t, m, "", "fr")
	mustRun(t, "", "average", "-o", out, m, half, inLanguages(t, m, "en", "fr"))
	if o := mustRun(t, "", "info", "-model", out); !strings.Contains(o.stdout, "languages:       en to fr\n") {
		t.Errorf("info of the mean, expected languages en to fr:\n%s", o.stdout)
	}
	if o := mustRun(t, "", "info", "-model", half); !strings.Contains(o.stdout, "languages:       unknown to fr\n") {
		t.Errorf("info, expected languages unknown to fr:\n%s", o.stdout)
	}
	if o := mustRun(t, "", "info", "-model", m); strings.Contains(o.stdout, "languages") {
		t.Errorf("info of a model that names no languages:\n%s", o.stdout)
	}
	other := inLanguages(t, m, "en", "fr-CA")
	mustFail(t, runTFM(t, "", "average", "-o", out, m, half, other), 1, other, `from "en" to "fr-CA"`, `expected from "en" to "fr"`)
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
		t.Errorf("from %q to %q, expected en and fr", got.SrcLang, got.TgtLang)
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
	ids := mustRun(t, text, "vocab", "-tokenizer", path, "-encode").stdout
	if want := mustRun(t, text, "vocab", "-tokenizer", toyModel(t), "-encode").stdout; ids != want {
		t.Errorf("encoded as %q, expected %q", ids, want)
	}
	if _, err := model.Load(path, false); err == nil {
		t.Error("model.Load has no error for a file without weights")
	}
}
