package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A learning rate that no weight survives: the run ends with exit code 1 and one line, and the
// checkpoints from before are good. Without clipping, so that the gradient overflows too.
func TestDivergence(t *testing.T) {
	args, m := trainArgs(t, "-steps", "40", "-save-every", "1", "-lr", "1e12", "-warmup", "30", "-schedule", "constant", "-optimizer", "sgd", "-clip-norm", "0")
	o := runTFM(t, "", args...)
	mustFail(t, o, 1, "diverged: ", "the last good checkpoint is "+strings.TrimSuffix(m, ".safetensors")+".ckpt")
	if _, err := os.Stat(m); !os.IsNotExist(err) {
		t.Errorf("a model of a run that diverged: %v", err)
	}
	checkpoints, err := filepath.Glob(strings.TrimSuffix(m, ".safetensors") + ".ckpt/step-*")
	if err != nil || len(checkpoints) == 0 {
		t.Fatalf("checkpoints %v, %v", checkpoints, err)
	}
	for _, path := range checkpoints {
		mustRun(t, "", "info", "-model", path)
	}
	// It is the same a second time. Dropping updates is tried, and given up.
	again := runTFM(t, "", append(args, "-resume")...)
	mustFail(t, again, 1, "diverged: ")
	skip := runTFM(t, "", append(args, "-resume", "-on-nan", "skip", "-steps", "200", "-save-every", "0")...)
	mustFail(t, skip, 1, "diverged after 99 skipped steps in a row: ", "the last good checkpoint is ")
	for _, want := range []string{"on NaN:           the update is skipped\n", "update skipped, 10 so far: the ", "further skipped updates are only counted"} {
		if !strings.Contains(skip.stderr, want) {
			t.Errorf("standard error has no %q\n%s", want, skip.stderr)
		}
	}
	if n := strings.Count(skip.stderr, ": update skipped, "); n != 10 {
		t.Errorf("%d lines of skipped updates, want 10:\n%s", n, skip.stderr)
	}
	skip = runTFM(t, "", append(args, "-force", "-on-nan", "skip")...)
	if skip.code != 0 || !strings.Contains(skip.stderr, "updates skipped:  39 of 40") {
		t.Errorf("exit code %d of a run that ends before it is given up:\n%s", skip.code, skip.stderr)
	}
	mustFail(t, runTFM(t, "", append(args, "-force", "-on-nan", "ignore")...), 2, `-on-nan is "ignore"`, "stop or skip")
}
