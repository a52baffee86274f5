package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestVocab(t *testing.T) {
	src, tgt := toyCorpus(t)
	path := filepath.Join(t.TempDir(), "toy.bpe")
	if o := mustRun(t, "", "vocab", "-o", path, "-vocab-size", "300", src, tgt); !strings.Contains(o.stderr, "300 pieces from 2,974 lines") {
		t.Errorf("not told:\n%s", o.stderr)
	}
	text := "the red dog  sees\tthe 日本\n\n ça\n"
	ids := mustRun(t, text, "vocab", "-vocab", path, "-encode").stdout
	if back := mustRun(t, ids, "vocab", "-vocab", path, "-decode").stdout; back != text {
		t.Errorf("%q came back as %q", text, back)
	}
	if o := mustRun(t, "the dog", "vocab", "-vocab", path, "-pieces"); !strings.HasPrefix(o.stdout, "▁the ") {
		t.Errorf("pieces: %s", o.stdout)
	}
	if o := mustRun(t, "", "vocab", "-vocab", path, "-show"); strings.Count(o.stdout, "\n") != 300 || !strings.HasPrefix(o.stdout, "0\t<pad>\n1\t<s>\n2\t</s>\n") {
		t.Errorf("show: %s", o.stdout)
	}
	mustFail(t, runTFM(t, "3 4 300\n", "vocab", "-vocab", path, "-decode"), 1, "standard input:1", `"300"`, "0 to 299")

	args, m := trainArgs(t, "-vocab", path, "-steps", "2")
	mustRun(t, "", args...)
	if again := mustRun(t, text, "vocab", "-vocab", m, "-encode").stdout; again != ids {
		t.Error("a model trained with a tokenizer has another")
	}
	args, _ = trainArgs(t, "-vocab", m, "-steps", "2") // out of a model
	mustRun(t, "", args...)
}
