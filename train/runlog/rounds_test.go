package runlog

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeLogs returns a folder with logs of the given lines.
func writeLogs(t *testing.T, logs map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range logs {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o777))
		must(t, os.WriteFile(path, []byte(text+"\n"), 0o666))
	}
	return dir
}

// A folder without logs is an error, and a worker without one hides no other.
func TestReadRoundsWithMissingLogs(t *testing.T) {
	dir := writeLogs(t, map[string]string{"round-0001/outer.safetensors": ""})
	if _, err := ReadRounds(dir); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("no logs: error %v, want one that names the folder", err)
	}
	dir = writeLogs(t, map[string]string{
		"round-0001/worker-1.jsonl":  `{"event":"step","step":1,"loss":4}`,
		"round-0001/worker-10.jsonl": `{"event":"step","step":1,"loss":6}`,
	})
	all, err := ReadRounds(dir)
	must(t, err)
	if len(all.Steps) != 1 || all.Steps[0].Loss != 5 {
		t.Errorf("found %+v, want a mean loss of 5", all)
	}
}

// The log of all workers has their means, and the time of all rounds.
func TestReadRounds(t *testing.T) {
	dir := writeLogs(t, map[string]string{
		FileName: `{"event":"start","step":0,"train_pairs":7}`,
		"round-0001/worker-0.jsonl": `{"event":"step","step":1,"loss":4,"elapsed":1,"src_per_sec":10}
{"event":"step","step":2,"loss":3,"elapsed":2,"src_per_sec":10}`,
		"round-0001/worker-1.jsonl": `{"event":"step","step":1,"loss":6,"elapsed":3,"src_per_sec":30}
{"event":"step","step":2,"loss":5,"elapsed":4,"src_per_sec":30}`,
		"round-0002/log.jsonl":      `{"event":"valid","step":2,"nll":3.5}`,
		"round-0002/worker-1.jsonl": `{"event":"step","step":3,"loss":2,"elapsed":1,"src_per_sec":30}`,
		"round-0003/log.jsonl":      `{"event":"valid","step":3,"nll":1.5}`,
	})
	all, err := ReadRounds(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Starts) != 1 || len(all.Validations) != 2 || all.LastStep() != 3 {
		t.Errorf("found %+v", all)
	}
	for i, want := range []Step{{Loss: 5, Elapsed: 2, SrcPerSec: 40}, {Loss: 4, Elapsed: 3, SrcPerSec: 40}, {Loss: 2, Elapsed: 4, SrcPerSec: 30}} {
		got := all.Steps[i]
		if got.Step != i+1 || got.Loss != want.Loss || got.Elapsed != want.Elapsed || got.SrcPerSec != want.SrcPerSec || !math.IsNaN(float64(got.NLL)) {
			t.Errorf("step %d is %+v, want %+v", i+1, got, want)
		}
	}
}
