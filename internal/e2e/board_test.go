package e2e

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// eventFiles returns the contents of a folder's event files, in the order of their names.
func eventFiles(t *testing.T, dir string) (files [][]byte) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*tfevents*"))
	noError(t, err)
	for _, path := range paths {
		files = append(files, []byte(read(t, path)))
	}
	return files
}

// scalarsIn finds the numbers with a tag: followed by the key of field 2, of four bytes.
func scalarsIn(file []byte, tag string) (values []float32) {
	for _, rest := range bytes.Split(file, []byte(tag+"\x15"))[1:] {
		values = append(values, math.Float32frombits(binary.LittleEndian.Uint32(rest)))
	}
	return values
}

func TestTensorBoard(t *testing.T) {
	toyCorpus(t)
	dir := filepath.Join(t.TempDir(), "runs", "a")
	args, m := trainArgs(t, "-valid-every", "2", "-valid-src", toy.testSrc, "-valid-tgt", toy.testTgt, "-save-every", "2", "-set", "average=2", "-r-drop", "1", "-dropout", "0.2", "-tensorboard", dir)
	mustRun(t, "", append(args, "-steps", "4")...)
	first := eventFiles(t, dir)
	if len(first) != 1 {
		t.Fatalf("%d event files", len(first))
	}
	var losses, bleus []float32
	for _, s := range readLog(t, m).Steps {
		losses = append(losses, float32(s.Loss))
	}
	for _, v := range readLog(t, m).Validations {
		bleus = append(bleus, float32(v.BLEU))
	}
	near := func(a, b []float32) bool { // the log has nine digits
		for i := range a {
			if len(a) != len(b) || math.Abs(float64(a[i]-b[i])) > 1e-6*math.Abs(float64(b[i])) {
				return false
			}
		}
		return len(a) > 0
	}
	if got := scalarsIn(first[0], "train/loss"); !near(got, losses) {
		t.Errorf("losses %v, want %v", got, losses)
	}
	if got := scalarsIn(first[0], "validation/BLEU"); !near(got, bleus) {
		t.Errorf("BLEU %v, want %v", got, bleus)
	}
	for _, tag := range []string{"train/nll", "train/kl", "train/accuracy", "train/learning_rate", "train/gradient_norm", "speed/source_tokens_per_second", "speed/target_tokens_per_second"} {
		if got := scalarsIn(first[0], tag); len(got) != 4 || !(got[3] >= 0) {
			t.Errorf("%s: %v", tag, got)
		}
	}

	// Two heads in each of one layer's attentions, for both validations.
	if n := bytes.Count(first[0], []byte("entropy.")); n != 2*3*2 {
		t.Errorf("%d entropies", n)
	}

	// A run that was killed after step 4 resumes from step 2 and writes no point twice.
	noError(t, os.Remove(filepath.Join(filepath.Dir(logPath(m)), "step-00000004.safetensors")))
	mustRun(t, "", append(args, "-steps", "6", "-resume")...)
	if n := len(eventFiles(t, dir)); n != 2 {
		t.Errorf("%d event files after a resume", n)
	}
}

func TestTensorBoardThatCannotBeWritten(t *testing.T) {
	file := write(t, "file", "")
	args, _ := trainArgs(t, "-steps", "1", "-tensorboard", file)
	mustFail(t, runTFM(t, "", args...), 1, "-tensorboard "+file)
}
