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
	args, m := trainArgs(t, "-steps", "40", "-save-every", "1", "-lr", "1e12", "-set", "warmup=30", "-set", "schedule=constant", "-optimizer", "sgd", "-set", "clip-norm=0")
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
	// It is the same a second time.
	mustFail(t, runTFM(t, "", append(args, "-resume")...), 1, "diverged: ")
}
