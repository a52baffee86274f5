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
		t.Errorf("tfm vocab -o printed\n%swant the numbers of pieces and lines", o.stderr)
	}
	text := "the red dog  sees\tthe 日本\n\n ça\n"
	ids := mustRun(t, text, "vocab", "-vocab", path, "-encode").stdout
	if back := mustRun(t, ids, "vocab", "-vocab", path, "-decode").stdout; back != text {
		t.Errorf("%q decodes to %q", text, back)
	}
	if o := mustRun(t, "the dog", "vocab", "-vocab", path, "-pieces"); !strings.HasPrefix(o.stdout, "▁the ") {
		t.Errorf("-pieces printed %s", o.stdout)
	}
	if o := mustRun(t, "", "vocab", "-vocab", path, "-show"); strings.Count(o.stdout, "\n") != 300 || !strings.HasPrefix(o.stdout, "0\t<pad>\n1\t<s>\n2\t</s>\n") {
		t.Errorf("-show printed %s", o.stdout)
	}
	// -encode and -pieces repair lines, -decode rejects damaged ones.
	damaged, repaired := "the red\xff dog\n"+strings.Repeat("a", 1<<20+1)+"\n\n", "the red\uFFFD dog\n"+strings.Repeat("a", 1<<20)+"\n\n"
	for _, action := range []string{"-encode", "-pieces"} {
		o := mustRun(t, damaged, "vocab", "-vocab", path, action)
		if want := mustRun(t, repaired, "vocab", "-vocab", path, action).stdout; o.stdout != want {
			t.Errorf("%s of a damaged text printed %.200q, want %.200q", action, o.stdout, want)
		}
		if want := "tfm: standard input:1: invalid UTF-8 at byte 8, replaced by U+FFFD\ntfm: standard input:2: line of 1048577 bytes truncated to 1048576\n"; o.stderr != want {
			t.Errorf("%s of a damaged text warned\n%swant\n%s", action, o.stderr, want)
		}
	}
	mustFail(t, runTFM(t, "3 4\n5 \xff\n", "vocab", "-vocab", path, "-decode"), 1, "standard input:2: invalid UTF-8")
	mustFail(t, runTFM(t, damaged, "vocab", "-vocab", path, "-decode"), 1, "standard input:1: invalid UTF-8")
	mustFail(t, runTFM(t, strings.Repeat("4 ", 1<<20), "vocab", "-vocab", path, "-decode"), 1, "standard input:1: line longer than")
	mustFail(t, runTFM(t, "3 4 300\n", "vocab", "-vocab", path, "-decode"), 1, "standard input:1", `"300"`, "0 to 299")

	args, m := trainArgs(t, "-vocab", path, "-steps", "2")
	mustRun(t, "", args...)
	if again := mustRun(t, text, "vocab", "-vocab", m, "-encode").stdout; again != ids {
		t.Error("a model has another tokenizer than -vocab of its training")
	}
	args, _ = trainArgs(t, "-vocab", m, "-steps", "2") // the tokenizers of a model
	mustRun(t, "", args...)
}
