package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"tfm/mat"
)

func TestWrongUsage(t *testing.T) {
	m := toyModel(t)
	src, tgt := toyCorpus(t)
	out := filepath.Join(t.TempDir(), "out.safetensors")
	train := func(more ...string) []string {
		return append([]string{"train", "-src", src, "-tgt", tgt, "-o", out}, more...)
	}
	for _, c := range []struct {
		args  []string
		wants []string
	}{
		{train("-dropout", "1"), []string{"dropout is 1"}},
		{train("-vocab-size", "100"), []string{"-vocab-size is 100", "at least 259"}},
		{train("-batch-tokens", "10"), []string{"batch-tokens is 10", "257"}},
		{train("-set", "d-ff=0", "-set", "average=-1"), []string{"tfm: d-ff is 0", "; average is -1,"}},
		{train("-resume", "-force"), []string{"-resume", "-force"}},
		{train("more"), []string{`unexpected argument "more": flags name the files, such as -src more`}},
		{[]string{"train", "-o", out}, []string{"-src and -tgt are missing"}},
		{[]string{"train", "-src", src, "-tgt", tgt, "-o", ""}, []string{"-o is empty"}},
		{[]string{"translate", "-model", m, "-nbest", "5"}, []string{"-nbest is 5", "0 to 4, the beam"}},
		{[]string{"translate", "-model", m, "-sample", "-nbest", "65"}, []string{"-nbest is 65", "0 to 64, the limit of samples"}},
		{[]string{"translate", "-model", m, "-sample", "-beam", "2"}, []string{"either -sample or -beam"}},
		{[]string{"translate", "-model", m, "-seed", "1"}, []string{"-seed needs -sample"}},
		{[]string{"translate", "-model", m, "-", "-"}, []string{"standard input can be read once, and is named 2 times"}},
		{[]string{"translate", "-model", m, "-glossary", "-"}, []string{"standard input can be read once, and is named 2 times"}},
		{[]string{"translate", "-model", m, src, "-o", src}, []string{"would replace an input"}},
		{[]string{"translate", "-model", m, src, "-o="}, []string{"-o is empty"}},
		{[]string{"translate", "-model=", src}, []string{"-model is empty"}},
		{[]string{"translate", "-model", m, ""}, []string{"found an empty name, expected that of a file"}},
		{[]string{"score", "-ref", "-"}, []string{"standard input can be read once, and is named 2 times"}},
		{[]string{"clean", "-tsv", "-", "-o", "out"}, []string{"standard input can be read once, and the pairs are read several times"}},
		{[]string{"eval", "-model", m, "-src", src}, []string{"-ref"}},
		{[]string{"info"}, []string{"expected a model file"}},
		{[]string{"vocab"}, []string{"-o, -show"}},
		{[]string{"vocab", "-o", out}, []string{"no files"}},
		{[]string{"vocab", "-decode"}, []string{"-vocab is missing"}},
		{[]string{"bench", "-only", "base,speed"}, []string{`-only is "speed"`, "machine, base, tiny, decode", "beam4-32"}},
		{[]string{"version", "1"}, []string{`unexpected argument "1"`}},
		{[]string{"serve"}, []string{"found no model: name a model file, or a folder of them"}},
		{[]string{"serve", "-addr", "5000", m}, []string{`-addr is "5000"`, "such as 127.0.0.1:5000"}},
		{[]string{"serve", "-addr", ":5000", m}, []string{"-addr :5000 can be reached from other machines", "-keys FILE", "-no-keys"}},
		{[]string{"serve", "-keys", "keys", "-no-keys", m}, []string{"either -keys or -no-keys"}},
		{[]string{"serve", "-tls-cert", "cert.pem", m}, []string{"-tls-cert and -tls-key need each other"}},
		{[]string{"serve", "-url-prefix", "translate", m}, []string{`-url-prefix is "translate"`, "begins with /"}},
		{[]string{"serve", "-trust-proxy", "10.0.0.1", m}, []string{"10.0.0.1", "a network such as 10.0.0.0/8"}},
		{[]string{"serve", "-new-key", "two words"}, []string{`-new-key is "two words"`, "without spaces"}},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			o := runTFM(t, "", c.args...)
			mustFail(t, o, 2, c.wants...)
			if strings.Count(o.stderr, "\n") != 1 || o.stdout != "" {
				t.Errorf("more than one line of error:\n%s%s", o.stdout, o.stderr)
			}
		})
	}
}

func TestBadFiles(t *testing.T) {
	src, tgt := toyCorpus(t)
	m := toyModel(t)
	dir := t.TempDir()
	out := filepath.Join(dir, "out.safetensors")
	three := write(t, "three", "a\nb\nc\n")
	latin1 := write(t, "latin1", "a\nb\nd\xe9j\xe0\n")
	empty := write(t, "empty", "")
	missing := filepath.Join(dir, "missing")
	blank := write(t, "blank", "\n\n\n")
	blocked := filepath.Join(filepath.Dir(write(t, "blocked.ckpt", "no folder")), "blocked.safetensors")
	for _, c := range []struct {
		name  string
		args  []string
		wants []string
	}{
		{"source is a folder", []string{"train", "-src", dir, "-tgt", tgt, "-o", out}, []string{dir, "expected a regular file"}},
		{"unequal", []string{"train", "-src", three, "-tgt", tgt, "-o", out}, []string{"unequal line counts", three + " has 3", tgt + " has 1487"}},
		{"source not UTF-8", []string{"train", "-src", latin1, "-tgt", three, "-o", out}, []string{latin1 + ":3: invalid UTF-8"}},
		{"validation not UTF-8", []string{"train", "-src", src, "-tgt", tgt, "-valid-src", three, "-valid-tgt", latin1, "-o", out}, []string{latin1 + ":3: invalid UTF-8"}},
		{"empty corpus", []string{"train", "-src", empty, "-tgt", empty, "-o", out}, []string{"empty", empty}},
		{"tokenizer is text", []string{"train", "-src", src, "-tgt", tgt, "-vocab", three, "-o", out}, []string{three, "neither a tokenizer nor a model"}},
		{"nothing to resume", []string{"train", "-src", src, "-tgt", tgt, "-o", out, "-resume"}, []string{"no checkpoint", filepath.Join(dir, "out.ckpt")}},
		{"no folder for the model", []string{"train", "-src", src, "-tgt", tgt, "-o", filepath.Join(missing, "out.safetensors")}, []string{"cannot be written", missing}},
		{"checkpoints' folder is a file", []string{"train", "-src", src, "-tgt", tgt, "-o", blocked}, []string{"blocked.ckpt", "cannot be written"}},
		{"no pair to validate on", append([]string{"train", "-src", src, "-tgt", tgt, "-valid-src", three, "-valid-tgt", blank, "-o", out}, append(toySmall, "-valid-every", "1")...), []string{"validation pairs", "3 have an empty side"}},
		{"model is there", []string{"train", "-src", src, "-tgt", tgt, "-o", m}, []string{m, "-resume", "-force"}},
		{"translate, model missing", []string{"translate", "-model", missing}, []string{missing + " does not exist", "'tfm train -o " + missing + "'", "-model"}},
		{"translate, default model missing", []string{"translate"}, []string{"model.safetensors does not exist"}},
		{"translate, model is text", []string{"translate", "-model", toy.src}, []string{toy.src + ": not a safetensors file: it begins with \"the "}},
		{"translate, model is an address", []string{"translate", "-model", "https://x.org/m"}, []string{"https://x.org/m is an address, and tfm downloads nothing: name a file"}},
		{"translate, file is a folder", []string{"translate", "-model", m, dir}, []string{dir + ": found a directory, expected a file"}},
		{"eval, no folder for -o", []string{"eval", "-model", m, "-src", src, "-ref", tgt, "-o", filepath.Join(missing, "o")}, []string{"cannot be written"}},
		{"vocab, not UTF-8", []string{"vocab", "-o", out, latin1}, []string{latin1 + ":3"}},
		{"info of text", []string{"info", three}, []string{three + " is a text file, expected a model"}},
		{"info of a folder", []string{"info", dir}, []string{dir + " is a folder without a model"}},
		{"train on standard input", []string{"train", "-src", "-", "-tgt", tgt, "-o", out}, []string{"standard input: expected a regular file"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			mustFail(t, runTFM(t, "", c.args...), 1, c.wants...)
			if _, err := os.Stat(out); err == nil {
				t.Error("a file was left behind")
			}
		})
	}
}

// Step native of .ci/run runs this test as another user than root.
func TestUnreadableFile(t *testing.T) {
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("root: reads every file")
	}
	src, tgt := toyCorpus(t)
	secret := write(t, "secret", "a\n")
	if err := os.Chmod(secret, 0); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out.safetensors")
	for _, args := range [][]string{
		{"train", "-src", secret, "-tgt", tgt, "-o", out}, {"train", "-src", src, "-tgt", secret, "-o", out},
		{"translate", "-model", secret}, {"translate", "-model", toyModel(t), secret}, {"info", "-model", secret},
	} {
		mustFail(t, runTFM(t, "", args...), 1, secret, "permission denied")
	}
}

func TestFullStandardOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("needs /dev/full")
	}
	defer full.Close()
	m := toyModel(t)
	for _, args := range [][]string{
		{"help"}, {"train", "-h"}, {"version"}, {"info", "-model", m}, {"translate", "-model", m, toy.testSrc},
		{"vocab", "-vocab", m, "-show"}, {"eval", "-model", m, "-src", toy.testSrc, "-ref", toy.testTgt},
	} {
		var stderr bytes.Buffer
		c := tfm(args...)
		c.Stdout, c.Stderr = full, &stderr
		c.Run()
		mustFail(t, output{stderr: stderr.String(), code: c.ProcessState.ExitCode()}, 1, "no space left")
	}

	// The translation is not lost with the scores.
	hyps := filepath.Join(t.TempDir(), "hyps")
	c := tfm("eval", "-model", m, "-src", toy.testSrc, "-ref", toy.testTgt, "-o", hyps)
	c.Stdout = full
	if err := c.Run(); err == nil || strings.Count(read(t, hyps), "\n") != 49 {
		t.Errorf("%v, and the translation is %q", err, read(t, hyps))
	}
}

func TestUnknownKernel(t *testing.T) {
	c := tfm("version")
	c.Env = append(c.Env, "TFM_CPU=z80")
	mustFail(t, finish(t, c), 1, "TFM_CPU=z80", "generic")
}

func TestVersion(t *testing.T) {
	line := mustRun(t, "", "version").stdout
	if !regexp.MustCompile(`^tfm \S+( \([0-9a-f]{12}(-dirty)?, 2\d{3}-\d\d-\d\d\))?\n$`).MatchString(line) {
		t.Errorf("the version is %q", line)
	}
	o := mustRun(t, "", "version", "-v")
	mustHave(t, o.stdout, line, "built:     "+runtime.Version()+" "+runtime.GOOS+"/"+runtime.GOARCH, "kernels:   "+mat.Kernel()+", bf16 ", "in use:    ", "processor: ")
}
