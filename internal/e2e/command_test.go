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
		{[]string{"trian"}, []string{`unknown command "trian"; did you mean "train"?`}},
		{[]string{"help", "trian"}, []string{`unknown command "trian"`}},
		{train("-nonsense"), []string{"-nonsense", "run 'tfm help train'"}},
		{train("-steps", "many"), []string{"-steps", `"many"`}},
		{train("-time", "15"), []string{"-time is 15, expected a duration such as 90s, 15m"}},
		{train("-dropout", "1"), []string{"dropout is 1"}},
		{train("-preset", "huge"), []string{`-preset is "huge"`, "base, big, tiny, small, student-tiny, student-base, demo", "multi30k, multi30k-90m"}},
		{train("-set", "d-model=100", "-set", "heads=3"), []string{"d-model is 100", "a multiple of the 3 heads"}},
		{train("-vocab-size", "100"), []string{"-vocab-size is 100", "at least 259"}},
		{train("-set", "tie=some"), []string{`tie is "some"`, "all"}},
		{train("-threads", "0"), []string{`-threads is 0, expected 1 to 4096`}},
		{train("-threads", "1000000000"), []string{`-threads is 1000000000, expected 1 to 4096`}},
		{train("-set", "clip-norm=inf"), []string{"clip-norm is +Inf", "finite"}},
		{train("-max-len", "9223372036854775807"), []string{"tfm: -max-len is", "65535"}},
		{train("-set", "accumulate=1000000000"), []string{"accumulate is 1000000000", "65536"}},
		{train("-batch-tokens", "10"), []string{"batch-tokens is 10", "257"}},
		{train("-optimizer", "lion"), []string{`-optimizer is "lion"`, "adam, adamw, sgd or muon"}},
		{train("-optimizer", "adam", "-set", "momentum=0.9"), []string{"momentum is 0.9", "only sgd"}},
		{train("-optimizer", "sgd", "-set", "beta1=0.5"), []string{"tfm: beta1 needs", "sgd"}},
		{train("-set", "weight-decay=0.1"), []string{"tfm: weight-decay is 0.1", "only adamw"}},
		{train("-set", "schedule=step"), []string{`schedule is "step"`, "inverse-sqrt"}},
		{train("-set", "schedule=paper", "-lr", "1"), []string{"lr is 1", "factor"}},
		{train("-set", "d-ff=0", "-set", "average=-1"), []string{"tfm: d-ff is 0", "; average is -1,"}},
		{train("-set", "average=-1"), []string{"tfm: average is -1", "0 or more"}},
		{train("-r-drop", "5", "-dropout", "0"), []string{"-r-drop 5 needs dropout"}},
		{train("-resume", "-force"), []string{"-resume", "-force"}},
		{train("more"), []string{`unexpected argument "more": flags name the files, such as -src more`}},
		{train("-set", "eps = -1"), []string{"tfm: eps is -1, expected"}},
		{train("-epochs", "3"), []string{"unknown flag -epochs; did you mean \"-steps\"?"}},
		{[]string{"train", "-src", src, "-o", out}, []string{"-src and -tgt"}},
		{[]string{"train", "-o", out}, []string{"-src and -tgt are missing"}},
		{[]string{"train", "-src", src, "-tgt", tgt, "-o", ""}, []string{"-o is empty"}},
		{[]string{"translate", "-set", "batch=0"}, []string{`batch is 0, expected 1 to 1048576`, "run 'tfm help translate'"}},
		{[]string{"translate", "-model", m, "-beam", "0"}, []string{"-beam is 0", "1 to 64"}},
		{[]string{"translate", "-model", m, "-beam", "65"}, []string{"-beam is 65", "1 to 64"}},
		{[]string{"translate", "-model", m, "-set", "alpha=-1"}, []string{"alpha is -1"}},
		{[]string{"translate", "-model", m, "-set", "max-extra=-1"}, []string{`max-extra is -1`, "0 to 65535"}},
		{[]string{"translate", "-model", m, "-set", "max-extra=9223372036854775807"}, []string{`max-extra is 9223372036854775807`, "0 to 65535"}},
		{[]string{"translate", "-model", m, "-set", "length-penalty=gnmt"}, []string{`length-penalty is "gnmt"`, "wu or power"}},
		{[]string{"translate", "-model", m, "-nbest", "5"}, []string{"-nbest is 5", "0 to 4, the beam"}},
		{[]string{"translate", "-model", m, "-sample", "-nbest", "65"}, []string{"-nbest is 65", "0 to 64, the limit of samples"}},
		{[]string{"translate", "-model", m, "-sample", "-beam", "2"}, []string{"either -sample or -beam"}},
		{[]string{"translate", "-model", m, "-set", "top-p=0.9"}, []string{"top-p needs -sample"}},
		{[]string{"translate", "-model", m, "-seed", "1"}, []string{"-seed needs -sample"}},
		{[]string{"translate", "-model", m, "-sample", "-set", "temperature=0"}, []string{"temperature is 0", "0.001 to 1000"}},
		{[]string{"translate", "-model", m, "-sample", "-set", "top-k=-1"}, []string{"top-k is -1", "1 or more"}},
		{[]string{"translate", "-model", m, "-sample", "-set", "top-p=2"}, []string{"top-p is 2", "at most 1"}},
		{[]string{"translate", "-model", m, src, "-beam", "0"}, []string{"-beam is 0"}},
		{[]string{"translate", "-model", m, "-", "-"}, []string{"standard input can be read once, and is named 2 times"}},
		{[]string{"translate", "-model", m, "-prefix-file", "-"}, []string{"standard input can be read once, and is named 2 times"}},
		{[]string{"translate", "-model", m, src, "-o", src}, []string{"would replace an input"}},
		{[]string{"translate", "-model", m, src, "-o="}, []string{"-o is empty"}},
		{[]string{"translate", "-model=", src}, []string{"-model is empty"}},
		{[]string{"translate", "-model", m, ""}, []string{"found an empty name, expected that of a file"}},
		{[]string{"translate", "\u2212model", m, src}, []string{"\u2212model begins with another dash than a flag, U+2212; did you mean \"-model\"?"}},
		{[]string{"score", "-ref", "-"}, []string{"standard input can be read once, and is named 2 times"}},
		{[]string{"clean", "-tsv", "-", "-o", "out"}, []string{"standard input can be read once, and the pairs are read several times"}},
		{[]string{"eval", "-model", m, "-src", src}, []string{"-ref"}},
		{[]string{"info"}, []string{"a model file, or -vocab-size"}},
		{[]string{"info", "-preset", "big"}, []string{"-preset big needs -vocab-size, such as 32000"}},
		{[]string{"info", "-preset", "huge", "-vocab-size", "8000"}, []string{"huge", "base, big"}},
		{[]string{"info", "-preset", "base", "-vocab-size", "8000", "-set", "heads=7"}, []string{"d-model is 512", "7 heads"}},
		{[]string{"info", "-model", m, "-preset", "base"}, []string{"a model excludes the flags of a preset"}},
		{[]string{"vocab"}, []string{"-o, -show"}},
		{[]string{"vocab", "-o", out}, []string{"no files"}},
		{[]string{"vocab", "-o", out, "-vocab-size", "7", src}, []string{"-vocab-size is 7", "259"}},
		{[]string{"vocab", "-decode"}, []string{"-vocab is missing"}},
		{[]string{"version", "1"}, []string{`unexpected argument "1"`}},
		{[]string{"demo", "-steps", "-5"}, []string{"steps is -5"}},
		{[]string{"lesson", "-steps", "0"}, []string{"-steps is 0", "1 or more", "run 'tfm help lesson'"}},
		{[]string{"lesson", "-threads", "0"}, []string{`-threads is 0`, "1 to 4096"}},
		{[]string{"lesson", "3"}, []string{`unexpected argument "3"`}},
		{[]string{"serve"}, []string{"found no model: name a model file, or a folder of them"}},
		{[]string{"serve", "-addr", "5000", m}, []string{`-addr is "5000"`, "such as 127.0.0.1:5000"}},
		{[]string{"serve", "-addr", ":5000", m}, []string{"-addr :5000 can be reached from other machines", "-keys FILE", "-no-keys"}},
		{[]string{"serve", "-addr", "example.org:5000", m}, []string{"can be reached from other machines"}},
		{[]string{"serve", "-keys", "keys", "-no-keys", m}, []string{"either -keys or -no-keys"}},
		{[]string{"serve", "-tls-cert", "cert.pem", m}, []string{"-tls-cert and -tls-key need each other"}},
		{[]string{"serve", "-url-prefix", "translate", m}, []string{`-url-prefix is "translate"`, "begins with /"}},
		{[]string{"serve", "-trust-proxy", "10.0.0.1", m}, []string{"10.0.0.1", "a network such as 10.0.0.0/8"}},
		{[]string{"serve", "-new-key", "two words"}, []string{`-new-key is "two words"`, "without spaces"}},
		{[]string{"serve", "-set", "max-texts=0", m}, []string{"max-texts is 0", "1 to 65536"}},
		{[]string{"demo", "-held-out", "1001"}, []string{"-held-out is 1001", "1 to 1000"}},
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
	tsv := write(t, "bad.tsv", "a\tb\na b\n")
	missing := filepath.Join(dir, "missing")
	short := write(t, "short", "a\nb\n")
	blank := write(t, "blank", "\n\n\n")
	blocked := filepath.Join(filepath.Dir(write(t, "blocked.ckpt", "no folder")), "blocked.safetensors")
	for _, c := range []struct {
		name  string
		args  []string
		wants []string
	}{
		{"source missing", []string{"train", "-src", missing, "-tgt", tgt, "-o", out}, []string{missing}},
		{"source is a folder", []string{"train", "-src", dir, "-tgt", tgt, "-o", out}, []string{dir, "expected a regular file"}},
		{"unequal", []string{"train", "-src", three, "-tgt", tgt, "-o", out}, []string{"unequal line counts", three + " has 3", tgt + " has 1487"}},
		{"source not UTF-8", []string{"train", "-src", latin1, "-tgt", three, "-o", out}, []string{latin1 + ":3: invalid UTF-8"}},
		{"target not UTF-8", []string{"train", "-src", three, "-tgt", latin1, "-o", out}, []string{latin1 + ":3: invalid UTF-8"}},
		{"validation not UTF-8", []string{"train", "-src", src, "-tgt", tgt, "-valid-src", three, "-valid-tgt", latin1, "-o", out}, []string{latin1 + ":3: invalid UTF-8"}},
		{"empty corpus", []string{"train", "-src", empty, "-tgt", empty, "-o", out}, []string{"empty", empty}},
		{"TSV without a tab", []string{"train", "-tsv", tsv, "-o", out}, []string{tsv + ":2", "found no tab"}},
		{"tokenizer missing", []string{"train", "-src", src, "-tgt", tgt, "-vocab", missing, "-o", out}, []string{missing}},
		{"tokenizer is text", []string{"train", "-src", src, "-tgt", tgt, "-vocab", three, "-o", out}, []string{three, "neither a tokenizer nor a model"}},
		{"nothing to resume", []string{"train", "-src", src, "-tgt", tgt, "-o", out, "-resume"}, []string{"no checkpoint", filepath.Join(dir, "out.ckpt")}},
		{"no folder for the model", []string{"train", "-src", src, "-tgt", tgt, "-o", filepath.Join(missing, "out.safetensors")}, []string{"cannot be written", missing}},
		{"model is a folder", []string{"train", "-src", src, "-tgt", tgt, "-o", dir}, []string{dir, "not a regular file"}},
		{"checkpoints' folder is a file", []string{"train", "-src", src, "-tgt", tgt, "-o", blocked}, []string{"blocked.ckpt", "cannot be written"}},
		{"validation unequal", []string{"train", "-src", src, "-tgt", tgt, "-valid-src", three, "-valid-tgt", short, "-o", out}, []string{"unequal line counts", three + " has 3", short + " has 2"}},
		{"no pair to validate on", append([]string{"train", "-src", src, "-tgt", tgt, "-valid-src", three, "-valid-tgt", blank, "-o", out}, append(toySmall, "-valid-every", "1")...), []string{"validation pairs", "3 have an empty side"}},
		{"model is there", []string{"train", "-src", src, "-tgt", tgt, "-o", m}, []string{m, "-resume", "-force"}},
		{"translate, model missing", []string{"translate", "-model", missing}, []string{missing + " does not exist", "'tfm train -o " + missing + "'", "-model"}},
		{"translate, default model missing", []string{"translate"}, []string{"model.safetensors does not exist"}},
		{"eval, default model missing", []string{"eval", "-src", src, "-ref", tgt}, []string{"model.safetensors does not exist"}},
		{"translate, model is text", []string{"translate", "-model", toy.src}, []string{toy.src + ": not a safetensors file: it begins with \"the "}},
		{"translate, model is empty", []string{"translate", "-model", empty}, []string{empty + ": found an empty file"}},
		{"translate, model is an address", []string{"translate", "-model", "https://x.org/m"}, []string{"https://x.org/m is an address, and tfm downloads nothing: name a file"}},
		{"translate, file is a folder", []string{"translate", "-model", m, dir}, []string{dir + ": found a directory, expected a file"}},
		{"translate, file missing", []string{"translate", "-model", m, missing}, []string{missing}},
		{"eval, unequal", []string{"eval", "-model", m, "-src", three, "-ref", tgt}, []string{"unequal line counts"}},
		{"eval, no folder for -o", []string{"eval", "-model", m, "-src", src, "-ref", tgt, "-o", filepath.Join(missing, "o")}, []string{"cannot be written"}},
		{"vocab, not UTF-8", []string{"vocab", "-o", out, latin1}, []string{latin1 + ":3"}},
		{"vocab, no number", []string{"vocab", "-vocab", m, "-decode", three}, []string{three + ":1", `"a"`}},
		{"info of text", []string{"info", three}, []string{three + " is a text file, expected a model"}},
		{"info of CTranslate2", []string{"info", "../../model/convert/testdata/ctranslate2-v6-int8"}, []string{"is a model of CTranslate2: 'tfm import -o MODEL "}},
		{"info of checkpoints", []string{"info", strings.TrimSuffix(m, ".safetensors") + ".ckpt"}, []string{"is a folder of checkpoints: use one, such as -model "}},
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
	for _, want := range []string{line, "built:     " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH, "kernels:   " + mat.Kernel() + ", bf16 ", "in use:    ", "processor: "} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("not told: %q\n%s", want, o.stdout)
		}
	}
}
