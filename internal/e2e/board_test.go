package e2e

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// eventFiles returns the contents of a folder's event files, in the order of their names.
func eventFiles(t *testing.T, dir string) (files [][]byte) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*tfevents*"))
	if err != nil {
		t.Fatal(err)
	}
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

const boardReader = `
import sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
a = EventAccumulator(sys.argv[1], size_guidance={"histograms": 0, "scalars": 0})
a.Reload()
for tag in sorted(a.Tags()["scalars"]):
    print(tag, *[e.step for e in a.Scalars(tag)])
for tag in sorted(a.Tags()["histograms"]):
    print(tag, *["%d:%d" % (e.step, e.histogram_value.num) for e in a.Histograms(tag)])
`

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

	// A run that was killed after step 4 resumes from step 2 and writes no point twice.
	if err := os.Remove(filepath.Join(filepath.Dir(logPath(m)), "step-00000004.safetensors")); err != nil {
		t.Fatal(err)
	}
	mustRun(t, "", append(args, "-steps", "6", "-resume")...)
	if n := len(eventFiles(t, dir)); n != 2 {
		t.Errorf("%d event files after a resume", n)
	}
	python, err := exec.LookPath("python3")
	if err == nil {
		err = exec.Command(python, "-c", "import tensorboard").Run()
	}
	if err != nil {
		t.Log("not read with TensorBoard: python3 -m pip install tensorboard")
		return
	}
	out, err := exec.Command(python, "-c", boardReader, dir).Output()
	if err != nil {
		t.Fatal(err)
	}
	shown := string(out)
	for _, want := range []string{"average/BLEU 6", "average/loss 6", "train/loss 1 2 3 4 5 6", "speed/source_tokens_per_second 1 2 3 4 5 6", "validation/loss 2 4 6", "validation/nll 2 4 6",
		"validation/accuracy 2 4 6", "validation/BLEU 2 4 6"} {
		if !strings.Contains("\n"+shown, "\n"+want+"\n") {
			t.Errorf("TensorBoard does not show %q:\n%s", want, shown)
		}
	}
	// One layer in each stack with two heads; the queries are the tokens of the 49 pairs.
	if n := strings.Count(shown, "entropy."); n != 6 {
		t.Errorf("TensorBoard shows histograms of %d heads, want 6:\n%s", n, shown)
	}
	var steps, queries [3]int
	for _, line := range strings.Split(shown, "\n") {
		if strings.HasPrefix(line, "entropy.decoder.") {
			if n, _ := fmt.Sscanf(line[strings.Index(line, " "):], " %d:%d %d:%d %d:%d", &steps[0], &queries[0], &steps[1], &queries[1], &steps[2], &queries[2]); n != 6 ||
				steps != [3]int{2, 4, 6} || queries[0] < 49*6 || queries[0] != queries[2] {
				t.Errorf("TensorBoard shows %q", line)
			}
		}
	}
}

func TestTensorBoardThatCannotBeWritten(t *testing.T) {
	file := write(t, "file", "")
	args, _ := trainArgs(t, "-steps", "1", "-tensorboard", file)
	mustFail(t, runTFM(t, "", args...), 1, "-tensorboard "+file)
}
