package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"tfm/internal/bench"
	"tfm/mat"
)

// Nothing is asserted of how fast it is.
func TestBench(t *testing.T) {
	var r bench.Report
	o := mustRun(t, "", "bench", "-quick", "-json", "-only", "machine", "-threads", "2")
	d := json.NewDecoder(strings.NewReader(o.stdout))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		t.Fatalf("%v:\n%s", err, o.stdout)
	}
	if !r.Quick || r.Machine.Float32 != mat.Kernel() || len(r.Limits) != 1 || r.Limits[0].Threads != 2 || len(r.Training)+len(r.Decoding) > 0 {
		t.Errorf("%+v", r)
	}
	if d.More() {
		t.Errorf("more than one document:\n%s", o.stdout)
	}
	version := strings.Join(strings.Fields(mustRun(t, "", "version").stdout)[:2], " ")
	o = mustRun(t, "", "bench", "-here", "-quick", "-only", "machine", "-threads", "1")
	mustHave(t, o.stdout, version, "kernels:    "+mat.Kernel()+", bf16 ", "limits: multiply-adds", "float32 GFLOP/s")
}

// Training is measured as a user does where that takes seconds and not a minute.
func TestBenchTiny(t *testing.T) {
	switch {
	case testing.Short():
		t.Skip("-short: trains for seconds")
	case raceDetector:
		t.Skip("race detector: too slow")
	case mat.Kernel() == "generic":
		t.Skip("portable kernels: too slow")
	}
	var r bench.Report
	o := mustRun(t, "", "bench", "-quick", "-json", "-only", "machine,tiny-float32", "-threads", "1")
	noError(t, json.Unmarshal([]byte(o.stdout), &r))
	if len(r.Training) != 1 || !(r.Training[0].TgtTokens > 3000) || r.Training[0].PeakMemory.Bytes < 16*int64(r.Training[0].Parameters) {
		t.Errorf("%+v", r.Training)
	}
}
