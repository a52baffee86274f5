package runlog

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const startLine = `{"event":"start","time":"2026-11-21T09:10:11Z","version":"v1","step":0,"settings":{"preset":"tiny","d-model":"128","heads":"4","src":"a.en"},"train_pairs":29000,"valid_pairs":1014,"vocabulary":8000,"parameters":2349056,"threads":2,"kernels":"avx512"}`

func stepLine(step int) string {
	return fmt.Sprintf(`{"event":"step","step":%d,"epoch":0,"elapsed":%g,"loss":%g,"nll":%g,"accuracy":0.5,"rate":0.001,"grad_norm":1.5,"src_per_sec":9000,"tgt_per_sec":9500}`,
		step, float64(step)/4, 9-float64(step)/10, 8-float64(step)/10)
}

func validLine(step int, bleu float64, best bool, hyp string) string {
	return fmt.Sprintf(`{"event":"valid","step":%d,"elapsed":%g,"loss":5,"nll":4,"accuracy":0.5,"bleu":%g,"best":%v,"took":1,"samples":[{"src":"A <b>dog</b>.","ref":"Ein <b>Hund</b>.","hyp":%q}]}`,
		step, float64(step)/4, bleu, best, hyp)
}

func resumeLine(step int) string {
	return strings.Replace(startLine, `"step":0`, fmt.Sprintf(`"step":%d`, step), 1)
}

// logOf returns the log with the given lines.
func logOf(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

func mustRead(t *testing.T, log string) *Run {
	t.Helper()
	r, err := Read(strings.NewReader(log), "log")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// summary returns the steps of a run's records, such as "start0 1 2 valid2".
func summary(r *Run) string {
	var s []string
	for _, record := range r.Starts {
		s = append(s, fmt.Sprint("start", record.Step))
	}
	for _, record := range r.Steps {
		s = append(s, fmt.Sprint(record.Step))
	}
	for _, record := range r.Validations {
		s = append(s, fmt.Sprint("valid", record.Step))
	}
	return strings.Join(s, " ")
}

// Unknown kinds and blank lines are ignored, and fields that are missing are NaN.
func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	log := logOf(startLine, stepLine(1), `{"event":"new kind","x":[1]}`, "", `{"event":"averaged","step":2,"loss":4,"checkpoints":6}`)
	must(t, os.WriteFile(path, []byte(log), 0o666))
	r, err := ReadFile(path)
	must(t, err)
	if s := r.Starts[0].Settings; summary(r) != "start0 1" || s["preset"] != "tiny" || s["heads"] != "4" || r.Averaged.Checkpoints != 6 || !r.Averaged.Accuracy.IsZero() {
		t.Errorf("records %s, settings %v, averaged %+v", summary(r), s, r.Averaged)
	}
	if _, err := ReadFile(path + "x"); !os.IsNotExist(err) {
		t.Errorf("missing file: error %v, want os.ErrNotExist", err)
	}
}

// Partial lines of killed runs and records that a resume repeats are dropped.
func TestReadKilledRuns(t *testing.T) {
	partial := stepLine(3)[:20]
	for _, c := range []struct{ name, log, want string }{
		{"partial line at the end", logOf(startLine, stepLine(1)) + partial, "start0 1"},
		{"invalid line at the end", logOf(startLine, stepLine(1), partial), "start0 1"},
		{"no newline at the end", startLine + "\n" + stepLine(1), "start0 1"},
		{"repeated steps", logOf(startLine, stepLine(1), stepLine(2), validLine(2, 1, true, ""), stepLine(3), resumeLine(2), stepLine(3), stepLine(4)), "start0 start2 1 2 3 4 valid2"},
		{"two resumes from one step", logOf(startLine, stepLine(1), resumeLine(1), stepLine(2), resumeLine(1), stepLine(2)), "start0 start1 start1 1 2"},
		{"second resume from an earlier step", logOf(startLine, stepLine(1), stepLine(2), resumeLine(2), stepLine(3), resumeLine(1), stepLine(2)), "start0 start1 1 2"},
		{"second run", logOf(startLine, stepLine(1), `{"event":"end","step":1}`, startLine, stepLine(1)), "start0 1"},
		{"repeated validation", logOf(startLine, stepLine(1), validLine(1, 1, true, ""), resumeLine(1), validLine(1, 2, true, "")), "start0 start1 1 valid1"},
		{"CRLF", strings.ReplaceAll(logOf(startLine, stepLine(1)), "\n", "\r\n"), "start0 1"},
	} {
		r := mustRead(t, c.log)
		if got := summary(r); got != c.want {
			t.Errorf("%s: records %s, want %s", c.name, got, c.want)
		}
		if r.End != nil {
			t.Errorf("%s: End = %+v, want nil", c.name, r.End)
		}
	}
	again := mustRead(t, logOf(startLine, validLine(1, 1, true, ""), resumeLine(1), validLine(1, 2, true, "")))
	if got := again.Best().BLEU; got != 2 {
		t.Errorf("BLEU of a repeated validation = %v, want 2, that of the second", got)
	}
}

func TestMissingNumbers(t *testing.T) {
	r := mustRead(t, logOf(startLine, `{"event":"step","step":1,"loss":null,"nll":3}`))
	s := r.Steps[0]
	if !math.IsNaN(float64(s.Loss)) || s.NLL != 3 || !math.IsNaN(float64(s.Accuracy)) {
		t.Errorf("step %+v", s)
	}
}

func TestReadErrors(t *testing.T) {
	for _, c := range []struct {
		name, log string
		wants     []string
	}{
		{"empty", "", []string{"log: found no records"}},
		{"only a partial line", startLine[:30], []string{"log: found no records"}},
		{"invalid line in the middle", logOf(startLine, stepLine(1)[:30], stepLine(2)), []string{"log:2: ", "JSON"}},
		{"not JSON", "step 1 loss 9\nstep 2 loss 8\n", []string{"log:1: ", "JSON"}},
		{"not an object", logOf(startLine, "17", stepLine(2)), []string{"log:2: "}},
		{"string for a number", logOf(startLine, `{"event":"step","step":1,"loss":"nine"}`, stepLine(2)), []string{"log:2: "}},
		{"fractional step", logOf(startLine, `{"event":"step","step":1.5}`, stepLine(2)), []string{"log:2: ", "step"}},
		{"descending steps", logOf(startLine, stepLine(2), stepLine(1), stepLine(3)), []string{"log:3: ", "step 1 after step 2"}},
		{"negative step", logOf(startLine, stepLine(-1), stepLine(1)), []string{"log:2: ", "step -1"}},
		{"descending validations", logOf(startLine, validLine(2, 1, true, ""), validLine(1, 1, true, ""), stepLine(3)), []string{"log:3: ", "step 1 after one of step 2"}},
	} {
		_, err := Read(strings.NewReader(c.log), "log")
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		for _, want := range c.wants {
			if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: error %q, want %q in one line", c.name, err, want)
			}
		}
	}
}

// Read returns a run with ascending steps or an error that names the file.
func FuzzRead(f *testing.F) {
	f.Add([]byte(logOf(startLine, stepLine(1), validLine(1, 3, true, "Ein Hund."), resumeLine(1), stepLine(2))))
	f.Add([]byte(logOf(startLine, stepLine(1)) + stepLine(2)[:40]))
	f.Add([]byte(`{"step":9000000000000000000,"loss":1e308}` + "\n" + `{"event":"valid","step":9223372036854775807,"loss":-1e308,"nll":800,"bleu":1e-320}`))
	f.Add([]byte(`{"event":"start","step":0,"settings":{"model":["</script>"],"x":null}}` + "\n" + `{"step":0,"rate":0,"grad_norm":5e-324,"src_per_sec":1e300,"tgt_per_sec":-1e300}`))
	f.Fuzz(func(t *testing.T, log []byte) {
		r, err := Read(bytes.NewReader(log), "log")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "log:") {
				t.Errorf("error %q does not begin with the file's name", err)
			}
			return
		}
		for i := 1; i < len(r.Steps); i++ {
			if r.Steps[i].Step <= r.Steps[i-1].Step {
				t.Errorf("step %d after step %d", r.Steps[i].Step, r.Steps[i-1].Step)
			}
		}
	})
}

// Only the settings of the first and the last start are kept.
func TestSettingsOfManyStarts(t *testing.T) {
	r := mustRead(t, logOf(startLine, stepLine(1), resumeLine(1), resumeLine(1), resumeLine(1)))
	for i, s := range r.Starts {
		if has := s.Settings != nil; has != (i == 0 || i == 3) {
			t.Errorf("start %d of %d has settings: %v, want %v", i, len(r.Starts), has, !has)
		}
	}
}

// A line over the limit is an error. It is not read into memory as a whole.
func TestLongLine(t *testing.T) {
	_, err := Read(strings.NewReader(logOf(startLine, strings.Repeat("x", maxLine+1<<16), stepLine(1))), "log")
	if want := "log:2: line of more than 16 MiB"; err == nil || err.Error() != want {
		t.Errorf("long line: error %v, want %s", err, want)
	}
}
