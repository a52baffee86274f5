package e2e

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"tfm/train"
	"tfm/train/runlog"
)

func logPath(model string) string {
	return filepath.Join(strings.TrimSuffix(model, ".safetensors")+".ckpt", runlog.FileName)
}

func readLog(t *testing.T, model string) *runlog.Run {
	t.Helper()
	r, err := runlog.ReadFile(logPath(model))
	noError(t, err)
	return r
}

// linesOf returns the kinds and steps of the lines of a log, which must be complete.
func linesOf(t *testing.T, model string) string {
	t.Helper()
	var s []string
	for line := range strings.Lines(read(t, logPath(model))) {
		m := regexp.MustCompile(`^\{"event":"(\w+)",(?:.*,)?"step":(\d+)(?:,.*)?\}\n$`).FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("not a line of a log: %q", line)
		}
		s = append(s, m[1]+m[2])
	}
	return strings.Join(s, " ")
}

func TestLog(t *testing.T) {
	toyCorpus(t)
	args, m := trainArgs(t, "-steps", "4", "-valid-every", "2", "-valid-src", toy.testSrc, "-valid-tgt", toy.testTgt, "-save-every", "2", "-set", "average=2", "-threads", "2", "-r-drop", "1", "-dropout", "0.2")
	mustRun(t, "", args...)
	if got, want := linesOf(t, m), "start0 step1 step2 valid2 saved2 step3 step4 valid4 saved4 averaged4 end4"; got != want {
		t.Fatalf("%s, want %s", got, want)
	}
	r := readLog(t, m)
	start, step, valid := r.Starts[0], r.Steps[3], r.Validations[1]
	if start.Step != 0 || start.Settings["steps"] != "4" || start.Settings["d-model"] != "32" || start.TrainPairs != 1487 || start.ValidPairs != 49 ||
		start.Vocabulary != 320 || start.Parameters == 0 || start.Threads != 2 || start.Kernels == "" || start.Version == "" || time.Since(start.Time) > time.Hour {
		t.Errorf("start: %+v", start)
	}
	if step.Step != 4 || !(step.Elapsed > 0) || !(step.Loss > step.NLL/2) || !(step.KL > 0) || !(step.Accuracy >= 0) || math.Abs(float64(step.Rate)-0.005*4/50) > 1e-9 ||
		!(step.GradNorm > 0) || !(step.SrcPerSec > 0) || !(step.TgtPerSec > 0) {
		t.Errorf("step: %+v", step)
	}
	if valid.Step != 4 || !(valid.Loss > 1) || !(valid.NLL > 1) || !(valid.BLEU >= 0) || !(valid.Took > 0) || len(valid.Samples) != 5 || !(valid.Elapsed > step.Elapsed) {
		t.Errorf("valid: %+v", valid)
	}
	if a := r.Averaged; a.Checkpoints != 2 || len(a.Samples) != 5 {
		t.Errorf("averaged: %+v", a)
	}
	if end := r.End; end.Reason != string(train.AllSteps) || end.Step != 4 || end.Model != m || end.BestStep == 0 {
		t.Errorf("end: %+v", end)
	}
}

// A log that cannot be written does not end the training. One warning is printed.
func TestLogThatCannotBeWritten(t *testing.T) {
	one := func(args []string, wants ...string) {
		t.Helper()
		o := mustRun(t, "", args...)
		if strings.Count(o.stderr, "without its log") != 1 {
			t.Errorf("standard error does not have one warning:\n%s", o.stderr)
		}
		mustHave(t, o.stderr, wants...)
	}
	args, m := trainArgs(t, "-steps", "3", "-save-every", "1")
	noError(t, os.MkdirAll(logPath(m), 0o777))
	one(args, logPath(m))
	if runtime.GOOS != "linux" {
		return
	}
	args, m = trainArgs(t, "-steps", "3", "-save-every", "1")
	noError(t, os.Mkdir(filepath.Dir(logPath(m)), 0o777))
	noError(t, os.Symlink("/dev/full", logPath(m)))
	one(args, logPath(m), "no space left")
}
