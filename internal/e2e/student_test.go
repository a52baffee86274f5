package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// studentModel returns the path of a student with a shortlist, like the toy with languages, whose
// tokenizer is a unigram model of SentencePiece.
var studentModel = func() func(t *testing.T) string {
	var once sync.Once
	var path string
	return func(t *testing.T) string {
		t.Helper()
		src, tgt := toyCorpus(t)
		once.Do(func() {
			pieces, plain := filepath.Join(toy.dir, "student.model"), filepath.Join(toy.dir, "student.safetensors")
			path = filepath.Join(toy.dir, "student-list.safetensors")
			mustRun(t, "", "vocab", "-model-type", "unigram", "-vocab-size", "60", "-o", pieces, src, tgt)
			mustRun(t, "", "train", "-preset", "student-tiny", "-set", "d-model=64", "-set", "d-ff=64", "-set", "heads=2", "-set", "encoder-layers=1", "-set", "decoder-layers=1",
				"-src", src, "-tgt", tgt, "-vocab", pieces, "-o", plain, "-steps", "200", "-batch-tokens", "200", "-max-len", "40", "-lr", "0.005", "-set", "warmup=50",
				"-valid-every", "0", "-save-every", "0", "-src-lang", "en", "-tgt-lang", "fr")
			mustRun(t, "", "shortlist", "-model", plain, "-src", src, "-tgt", tgt, "-o", path)
		})
		return path
	}
}()

// A student that tfm trained is exported with its shortlist to Marian, and imported again: by its
// folder, and as a model of Firefox by the names of its files, compressed.
func TestStudent(t *testing.T) {
	m, dir := studentModel(t), t.TempDir()
	lines := read(t, toy.testSrc)
	translate := func(model string, flags ...string) string {
		return mustRun(t, lines, append([]string{"translate", "-model", model, "-beam", "1"}, flags...)...).stdout
	}
	want := translate(m, "-shortlist")
	if n := strings.Count(want, "\n"); n < 10 || want == translate(m, "-set", "max-extra=0") {
		t.Fatalf("%d lines", n)
	}
	int8 := exportOf(t, "marian", m)
	imported, _ := importOf(t, int8)
	for name, to := range map[string]string{"model.intgemm8.bin": "model.enfr.intgemm8.bin", "vocab.spm": "vocab.enfr.spm", "lex.s2t.bin": "lex.50.50.enfr.s2t.bin"} {
		noError(t, os.WriteFile(filepath.Join(dir, to+".gz"), []byte(packed(read(t, filepath.Join(int8, name)))), 0o666))
	}
	firefox, o := importOf(t, dir)
	mustHave(t, o.stderr, "en to fr", "in int8, the integers of the source")
	same, rounded := 0, strings.Split(translate(firefox), "\n")
	if got := strings.Split(translate(imported), "\n"); !slices.Equal(got, rounded) {
		t.Errorf("imported: %q, want %q", got, rounded)
	}
	for i, line := range strings.Split(want, "\n") {
		if line == rounded[i] {
			same++
		}
	}
	if len(rounded) != strings.Count(want, "\n")+1 || same < len(rounded)/2 {
		t.Errorf("%d of %d lines as in float32", same, len(rounded))
	}
	mustFail(t, runTFM(t, "", "translate", "-model", dir), 1, dir+" is a model of another system: 'tfm import -o MODEL ")
	if info := mustRun(t, "", "info", firefox).stdout; !strings.Contains(info, "weights in int8") {
		t.Errorf("info %s", info)
	}
	trained, _ := importOf(t, dir, "-float32")
	mustRun(t, "", "train", "-init", trained, "-src", toy.src, "-tgt", toy.tgt, "-o", filepath.Join(dir, "m"), "-steps", "2", "-valid-every", "0", "-save-every", "0")
}
