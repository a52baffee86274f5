package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// exportOf exports the toy model, or another one, to a new folder.
func exportOf(t *testing.T, format, path string, flags ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "exported")
	o := mustRun(t, "", append(append([]string{"export", "-format", format, "-o", out}, flags...), path)...)
	if !strings.HasPrefix(o.stderr, out+": ") || o.stdout != "" {
		t.Errorf("export prints %q, %q", o.stdout, o.stderr)
	}
	return out
}

// piecesModel returns the path of a model like the toy with languages, whose tokenizer is a unigram
// model of SentencePiece.
var piecesModel = func() func(t *testing.T) string {
	var once sync.Once
	var path string
	return func(t *testing.T) string {
		t.Helper()
		src, tgt := toyCorpus(t)
		once.Do(func() {
			pieces := filepath.Join(toy.dir, "pieces.model")
			mustRun(t, "", "vocab", "-model-type", "unigram", "-vocab-size", "60", "-o", pieces, src, tgt)
			path = filepath.Join(toy.dir, "pieces.safetensors")
			mustRun(t, "", append(append([]string{"train", "-src", src, "-tgt", tgt, "-o", path, "-steps", "150", "-src-lang", "en", "-tgt-lang", "fr"}, toySmall...), "-vocab", pieces)...)
		})
		return path
	}
}()

// A model that was exported and imported again has the same translations.
func TestExportImport(t *testing.T) {
	for _, c := range []struct{ format, system string }{{"ctranslate2", "CTranslate2"}, {"marian-hf", "Hugging Face Marian"}} {
		t.Run(c.format, func(t *testing.T) {
			m := piecesModel(t)
			imported, o := importOf(t, exportOf(t, c.format, m), "-src-lang", "en", "-tgt-lang", "fr")
			for _, want := range []string{", " + c.system + "\n", "languages:        en to fr\n", imported} {
				if !strings.Contains(o.stderr, want) || o.stdout != "" {
					t.Errorf("import does not print %q:\n%s%s", want, o.stderr, o.stdout)
				}
			}
			text := read(t, toy.testSrc)
			for _, flags := range [][]string{{"-beam", "1"}, {"-nbest", "3", "-set", "length-penalty=wu", "-set", "alpha=0.6"}} {
				want := mustRun(t, text, append([]string{"translate", "-model", m}, flags...)...).stdout
				got := mustRun(t, text, append([]string{"translate", "-model", imported}, flags...)...).stdout
				if c.format == "marian-hf" { // another order of d_model rounds in another way
					scores := regexp.MustCompile(`\t-[0-9.]+\t`)
					got, want = scores.ReplaceAllString(got, "\t"), scores.ReplaceAllString(want, "\t")
				}
				if got != want {
					t.Errorf("%v: the imported model has other translations:\n%swant\n%s", flags, got, want)
				}
			}
			if o := mustRun(t, "", "info", "-model", imported); !strings.Contains(o.stdout, "imported from") || !strings.Contains(o.stdout, "en to fr") {
				t.Errorf("info of the imported model:\n%s", o.stdout)
			}
		})
	}
}

func TestExportRefuses(t *testing.T) {
	m, dir := toyModel(t), t.TempDir()
	out, used := filepath.Join(dir, "out"), filepath.Dir(write(t, "used", "a"))
	int8 := filepath.Join(dir, "int8.safetensors")
	mustRun(t, "", "quantize", "-o", int8, m)
	export := func(more ...string) []string { return append([]string{"export", "-format", "pytorch"}, more...) }
	for _, c := range []struct {
		name  string
		args  []string
		code  int
		wants []string
	}{
		{"no model", export("-o", out), 2, []string{"found 0 arguments, expected one model"}},
		{"unknown format", []string{"export", "-format", "onnx", "-o", out, m}, 2, []string{`-format is "onnx"`, "marian-hf, ctranslate2, marian or pytorch"}},
		{"used folder", export("-o", used, m), 1, []string{used + " already exists and is not empty: -force writes into it"}},
		{"a file", export("-force", "-o", toy.src, m), 1, []string{toy.src + " is not a folder"}},
		{"the model's folder", export("-force", "-o", filepath.Dir(m), m), 2, []string{"is the folder of the input, " + m}},
		{"tokenizer", []string{"export", "-format", "marian", "-o", out, m}, 1, []string{m + ": ", "SentencePiece"}},
		{"quantized", export("-o", out, int8), 1, []string{int8 + ": found weights", "use the model that it was made from"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := runTFM(t, "", c.args...)
			mustFail(t, o, c.code, c.wants...)
			if strings.Count(o.stderr, "\n") != 1 || o.stdout != "" {
				t.Errorf("more than one line of error:\n%s%s", o.stdout, o.stderr)
			}
			if _, err := os.Stat(out); err == nil {
				t.Error("a folder was left behind")
			}
		})
	}
	mustRun(t, "", export("-force", "-o", used, m)...)
}
