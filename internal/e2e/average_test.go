package e2e

import (
	"path/filepath"
	"testing"
)

func TestAverage(t *testing.T) {
	args, m := trainArgs(t, "-steps", "6", "-save-every", "2", "-set", "keep=3", "-set", "average=0")
	mustRun(t, "", args...)
	checkpoints, err := filepath.Glob(filepath.Join(filepath.Dir(m), "m.ckpt", "step-*.safetensors"))
	if err != nil || len(checkpoints) != 3 {
		t.Fatalf("%v %v", checkpoints, err)
	}
	out := filepath.Join(t.TempDir(), "mean.safetensors")
	files := append(checkpoints[:2:2], m) // m is the last checkpoint without the optimizer
	o := mustRun(t, "", append([]string{"average", "-o", out}, files...)...)
	mustHave(t, o.stderr, out+": the mean of 3 files: step-00000002.safetensors, step-00000004.safetensors, m.safetensors; ")
	mustHave(t, mustRun(t, "", "info", "-model", out).stdout, "trained:         the mean of 3 files")
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

	args, other := trainArgs(t, "-steps", "1", "-src", toy.tgt, "-tgt", toy.tgt)
	mustRun(t, "", args...)
	mustFail(t, runTFM(t, "", "average", "-force", "-o", out, m, other), 1, other, "tokenizers differ from those of "+m)
	damaged := write(t, "damaged.safetensors", read(t, m)[:5000])
	mustFail(t, runTFM(t, "", "average", "-force", "-o", out, m, damaged), 1, damaged)
	mustFail(t, runTFM(t, "", "average", "-force", "-o", out), 2, "checkpoints or models to average")
	if read(t, out) != first {
		t.Error("a refused command wrote")
	}
}
