package e2e

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tfm/model"
)

func TestAverage(t *testing.T) {
	args, m := trainArgs(t, "-steps", "6", "-save-every", "2", "-set", "keep=3", "-set", "average=0")
	mustRun(t, "", args...)
	checkpoints, err := filepath.Glob(filepath.Join(filepath.Dir(m), "m.ckpt", "step-*.safetensors"))
	if err != nil || len(checkpoints) != 3 {
		t.Fatalf("%v %v", checkpoints, err)
	}
	weights := func(path string) []float32 {
		f, err := model.Load(path, false)
		if err != nil {
			t.Fatal(err)
		}
		return f.Model.Params.W
	}
	out := filepath.Join(t.TempDir(), "mean.safetensors")
	files := append(checkpoints[:2:2], m) // m is the last checkpoint without the optimizer
	o := mustRun(t, "", append([]string{"average", "-o", out}, files...)...)
	if !strings.Contains(o.stderr, out+": the mean of 3 files: step-00000002.safetensors, step-00000004.safetensors, m.safetensors; ") {
		t.Errorf("told:\n%s", o.stderr)
	}
	mean := make([]float64, len(weights(m)))
	for _, path := range checkpoints {
		for i, w := range weights(path) {
			mean[i] += float64(w) / 3
		}
	}
	for i, w := range weights(out) { // three roundings of numbers up to about 2
		if math.Abs(float64(w)-mean[i]) > 6e-7 {
			t.Fatalf("weight %d is %v, want %v", i, w, mean[i])
		}
	}
	if o := mustRun(t, "", "info", "-model", out); !strings.Contains(o.stdout, "trained:         the mean of 3 files") {
		t.Errorf("info:\n%s", o.stdout)
	}
	mustRun(t, "the red dog\n", "translate", "-model", out)
	first := read(t, out)
	mustFail(t, runTFM(t, "", append([]string{"average", "-o", out}, files...)...), 1, out+" already exists: -force replaces it")
	mustRun(t, "", append([]string{"average", "-force", "-o", out}, files...)...)
	if read(t, out) != first {
		t.Error("the same command gives another file")
	}

	// What does not belong together.
	args, wide := trainArgs(t, "-steps", "1", "-set", "d-ff=32")
	mustRun(t, "", args...)
	mustFail(t, runTFM(t, "", "average", "-force", "-o", out, m, wide), 1, wide, "configuration differs", "d_ff is 32, expected 64")

	// A model of another system and its fine-tuning, which has dropout and smoothing.
	imported := filepath.Join(t.TempDir(), "imported.safetensors")
	mustRun(t, "", "import", "-o", imported, "../../model/convert/testdata/marian-shared")
	args, tuned := finetuneArgs(t, imported, "-steps", "1", "-src-lang", "eng", "-tgt-lang", "tgt")
	mustRun(t, "", args...)
	if o := mustRun(t, "", "average", "-o", filepath.Join(t.TempDir(), "mean.safetensors"), imported, tuned, tuned); !strings.Contains(o.stderr, "the mean of 3 files") {
		t.Errorf("standard error: %s", o.stderr)
	}
	args, other := trainArgs(t, "-steps", "1", "-src", toy.tgt, "-tgt", toy.tgt)
	mustRun(t, "", args...)
	mustFail(t, runTFM(t, "", "average", "-force", "-o", out, m, other), 1, other, "tokenizers differ from those of "+m)
	damaged := write(t, "damaged.safetensors", read(t, m)[:5000])
	mustFail(t, runTFM(t, "", "average", "-force", "-o", out, m, damaged), 1, damaged)
	bit := []byte(read(t, m))
	bit[len(bit)/2] ^= 1
	mustFail(t, runTFM(t, "", "average", "-force", "-o", out, m, write(t, "bit.safetensors", string(bit))), 1, "bit.safetensors", "checksum")
	mustFail(t, runTFM(t, "", "average", "-force", "-o", out), 2, "checkpoints or models to average")
	mustFail(t, runTFM(t, "", "average", m), 2, "-o is missing")
	mustFail(t, runTFM(t, "", "average", "-force", "-o", m, m), 2, "-o "+m+" would replace an input")
	mustFail(t, runTFM(t, "", "average", "-o", filepath.Join(t.TempDir(), "no", "folder"), m), 1, "cannot be written")
	mustFail(t, runTFM(t, "", "average", "-force", "-o", out, toy.src), 1, toy.src)
	if read(t, out) != first {
		t.Error("a refused command wrote")
	}
	if _, err := os.Stat(m); err != nil {
		t.Error(err)
	}
}
