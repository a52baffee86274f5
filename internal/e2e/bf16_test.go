package e2e

import (
	"testing"

	"tfm/layer"
)

func TestBF16(t *testing.T) {
	flags := []string{"-bf16", "-set", "d-model=64", "-set", "d-ff=128"}
	straight, m1 := trainArgs(t, append(flags, "-steps", "6", "-threads", "2")...)
	o := mustRun(t, "", straight...)
	want := "products:         bf16 by " + layer.BF16.Kernel()
	if layer.BF16.Kernel() == layer.Float32.Kernel() {
		want = "products:         float32, because bf16 is not faster on this processor"
	}
	mustHave(t, o.stderr, want)
	parts, m2 := trainArgs(t, append(flags, "-threads", "1")...)
	mustRun(t, "", append(parts, "-steps", "3")...)
	mustFail(t, runTFM(t, "", append(parts, "-steps", "6", "-resume", "-bf16=false")...), 2, "-bf16 false conflicts with the run to resume: -bf16 true")
	mustRun(t, "", append(parts, "-steps", "6", "-resume")...)
	sameFiles(t, m1, m2, "a run that was resumed, with other threads, gives another model")
	parts, _ = trainArgs(t, "-steps", "2")
	mustRun(t, "", parts...)
	mustFail(t, runTFM(t, "", append(parts, "-steps", "3", "-resume", "-bf16")...), 2, "-bf16 true", "-bf16 false")
}
