package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"tfm/train"
)

// logLine has every field of the log's lines.
type logLine struct {
	Event      string
	Time       time.Time
	Version    string
	Step       int
	Settings   map[string]string
	TrainPairs int `json:"train_pairs"`
	ValidPairs int `json:"valid_pairs"`
	Vocabulary int
	Parameters int
	Threads    int
	Kernels    string

	Epoch                                        int
	Elapsed, Loss, NLL, KL, Accuracy, BLEU, Rate *float64
	GradNorm                                     *float64 `json:"grad_norm"`
	SrcPerSec                                    *float64 `json:"src_per_sec"`
	TgtPerSec                                    *float64 `json:"tgt_per_sec"`
	Best                                         bool
	Took                                         *float64
	Checkpoints                                  int
	Samples                                      []struct{ Src, Ref, Hyp string }
	Path, Reason, Model                          string
	BestStep                                     int `json:"best_step"`
}

func logPath(model string) string {
	return filepath.Join(strings.TrimSuffix(model, ".safetensors")+".ckpt", "log.jsonl")
}

// readLog reads the log of a run as its readers do: without lines of steps that were made again.
func readLog(t *testing.T, model string) (lines []logLine) {
	t.Helper()
	for _, text := range strings.SplitAfter(read(t, logPath(model)), "\n") {
		if text == "" {
			continue
		}
		d := json.NewDecoder(strings.NewReader(text))
		d.DisallowUnknownFields()
		var line logLine
		if err := d.Decode(&line); err != nil || !strings.HasSuffix(text, "}\n") {
			t.Fatalf("%v in the line %q", err, text)
		}
		for line.Event == "start" && len(lines) > 0 && lines[len(lines)-1].Step > line.Step {
			lines = lines[:len(lines)-1]
		}
		lines = append(lines, line)
	}
	return lines
}

func eventsOf(lines []logLine) string {
	var s []string
	for _, l := range lines {
		s = append(s, l.Event)
	}
	return strings.Join(s, " ")
}

func TestLog(t *testing.T) {
	toyCorpus(t)
	args, m := trainArgs(t, "-steps", "4", "-valid-every", "2", "-valid-src", toy.testSrc, "-valid-tgt", toy.testTgt, "-save-every", "2", "-average", "2", "-threads", "2", "-r-drop", "1", "-dropout", "0.2")
	mustRun(t, "", args...)
	lines := readLog(t, m)
	if got, want := eventsOf(lines), "start step step valid saved step step valid saved averaged end"; got != want {
		t.Fatalf("%s, expected %s", got, want)
	}
	start, step, valid, saved, end := lines[0], lines[6], lines[7], lines[8], lines[10]
	if start.Step != 0 || start.Settings["steps"] != "4" || start.Settings["d-model"] != "32" || start.TrainPairs != 1487 || start.ValidPairs != 49 ||
		start.Vocabulary != 320 || start.Parameters == 0 || start.Threads != 2 || start.Kernels == "" || start.Version == "" || time.Since(start.Time) > time.Hour {
		t.Errorf("start: %+v", start)
	}
	if step.Step != 4 || !(*step.Elapsed > 0) || !(*step.Loss > *step.NLL/2) || !(*step.KL > 0) || !(*step.Accuracy >= 0) || math.Abs(*step.Rate-0.005*4/50) > 1e-9 ||
		!(*step.GradNorm > 0) || !(*step.SrcPerSec > 0) || !(*step.TgtPerSec > 0) {
		t.Errorf("step: %+v", step)
	}
	if valid.Step != 4 || !(*valid.Loss > 1) || !(*valid.NLL > 1) || valid.BLEU == nil || !(*valid.Took > 0) || len(valid.Samples) != 5 || !(*valid.Elapsed > *step.Elapsed) {
		t.Errorf("valid: %+v", valid)
	}
	srcs, refs := strings.Split(read(t, toy.testSrc), "\n"), strings.Split(read(t, toy.testTgt), "\n")
	for i, s := range valid.Samples {
		at := -1
		for j := range srcs {
			if srcs[j] == s.Src && refs[j] == s.Ref {
				at = j
			}
		}
		if at < 0 || lines[3].Samples[i].Src != s.Src {
			t.Errorf("sample %d: %+v, in the validation before it %+v", i, s, lines[3].Samples[i])
		}
	}
	if saved.Path != filepath.Join(filepath.Dir(logPath(m)), "step-00000004.safetensors") || lines[9].Checkpoints != 2 || len(lines[9].Samples) != 5 {
		t.Errorf("saved: %+v\naveraged: %+v", saved, lines[9])
	}
	if end.Reason != string(train.AllSteps) || end.Step != 4 || end.Model != m || end.BestStep == 0 {
		t.Errorf("end: %+v", end)
	}
}

// A run that was killed leaves half a line, and lines of steps that are made again.
func TestLogOfAResumedRun(t *testing.T) {
	args, m := trainArgs(t)
	mustRun(t, "", append(args, "-steps", "3")...)
	straight := readLog(t, m)
	f, err := os.OpenFile(logPath(m), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString(`{"event":"step","step":4}` + "\n" + `{"event":"step","step":5,"lo` + strings.Repeat("o", 1<<17))
	f.Close()
	mustRun(t, "", append(args, "-steps", "6", "-resume")...)
	lines := readLog(t, m)
	if got, want := eventsOf(lines), "start step step step saved end start step step step saved end"; got != want || lines[6].Step != 3 || lines[7].Step != 4 || *lines[1].Loss != *straight[1].Loss {
		t.Errorf("%s, expected %s:\n%s", got, want, read(t, logPath(m)))
	}
	mustRun(t, "", append(args, "-steps", "1", "-force")...)
	if got, want := eventsOf(readLog(t, m)), "start step saved end"; got != want {
		t.Errorf("a new run in the same place: %s, expected %s", got, want)
	}
}

// What the log cannot take does not end the training, and is told once.
func TestLogThatCannotBeWritten(t *testing.T) {
	one := func(args []string, wants ...string) {
		t.Helper()
		o := mustRun(t, "", args...)
		if strings.Count(o.stderr, "without its log") != 1 {
			t.Errorf("not told once:\n%s", o.stderr)
		}
		for _, want := range wants {
			if !strings.Contains(o.stderr, want) {
				t.Errorf("not told %q:\n%s", want, o.stderr)
			}
		}
	}
	args, m := trainArgs(t, "-steps", "3", "-save-every", "1")
	if err := os.MkdirAll(logPath(m), 0o777); err != nil {
		t.Fatal(err)
	}
	one(args, logPath(m))
	if runtime.GOOS != "linux" {
		return
	}
	args, m = trainArgs(t, "-steps", "3", "-save-every", "1")
	if err := os.Mkdir(filepath.Dir(logPath(m)), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/full", logPath(m)); err != nil {
		t.Fatal(err)
	}
	one(args, logPath(m), "no space left")
}

func TestLogOfStepsAllocatesNothing(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	l := &runLog{settings: &trainSettings{flags: flag.NewFlagSet("", flag.PanicOnError)}}
	l.settings.options.Dir = t.TempDir()
	l.record(train.Event{Kind: train.Started})
	e := train.Event{Kind: train.Stepped, Step: 123456, Epoch: 7, Elapsed: 98765 * time.Millisecond, Loss: 2.5, NLL: math.NaN(), Accuracy: 0.5, Rate: 1.25e-7, GradNorm: math.Inf(1), SrcPerSec: 9876.5, TgtPerSec: 1e4}
	step := func() {
		l.record(e)
		l.file.flush()
	}
	step()
	if n := testing.AllocsPerRun(50, step); n != 0 {
		t.Errorf("%v allocations a step", n)
	}
	l.file.close()
	text := []byte(read(t, filepath.Join(l.settings.options.Dir, runLogName)))
	want := `{"event":"step","step":123456,"epoch":7,"elapsed":98.765,"loss":2.5,"nll":null,"accuracy":0.5,"rate":1.25e-07,"grad_norm":null,"src_per_sec":9876.5,"tgt_per_sec":10000}` + "\n"
	if n := bytes.Count(text, []byte(want)); n != 52 {
		t.Errorf("%d of 52 lines:\n%s", n, text[:min(len(text), 1000)])
	}
}
