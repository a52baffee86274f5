package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"
)

// Run is what the log of a training run tells. A number that a line does not have is NaN.
type Run struct {
	Starts      []Start // the beginning, then every resume
	Steps       []Step  // in the order of their numbers, as the validations
	Validations []Validation
	Averaged    *Validation // nil if no mean of checkpoints was tried
	Skipped     []Skipped
	End         *End // nil if the run was killed or still goes on
}

// Start is the beginning of a run, or where it was taken up again.
type Start struct {
	Time       time.Time                  `json:"time"`
	Version    string                     `json:"version"`
	Step       int                        `json:"step"` // made before
	Settings   map[string]json.RawMessage `json:"settings"`
	TrainPairs int                        `json:"train_pairs"`
	ValidPairs int                        `json:"valid_pairs"`
	Vocabulary int                        `json:"vocabulary"`
	Parameters int                        `json:"parameters"`
	Threads    int                        `json:"threads"`
	Kernels    string                     `json:"kernels"`
}

// Setting is a setting as text, "" if there is none of that name.
func (s Start) Setting(name string) string {
	raw := s.Settings[name]
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// Step is one step of training. Times are in seconds, losses in nats a target token.
type Step struct {
	Step      int    `json:"step"`
	Epoch     int    `json:"epoch"`
	Elapsed   number `json:"elapsed"`
	Loss      number `json:"loss"`
	NLL       number `json:"nll"`
	KL        number `json:"kl"`       // of R-Drop's copies; none without it
	Accuracy  number `json:"accuracy"` // 0 to 1
	Rate      number `json:"rate"`
	GradNorm  number `json:"grad_norm"`
	SrcPerSec number `json:"src_per_sec"`
	TgtPerSec number `json:"tgt_per_sec"`
}

// Validation is one validation; the units are those of Step.
type Validation struct {
	Step        int      `json:"step"`
	Elapsed     number   `json:"elapsed"`
	Loss        number   `json:"loss"`
	NLL         number   `json:"nll"`
	Accuracy    number   `json:"accuracy"`
	BLEU        number   `json:"bleu"` // 0 to 100
	Best        bool     `json:"best"` // so far
	Took        number   `json:"took"`
	Samples     []Sample `json:"samples"`
	Checkpoints int      `json:"checkpoints"` // whose mean was validated, in Run.Averaged
}

// Sample is the translation of one validation sentence.
type Sample struct {
	Source     string `json:"src"`
	Reference  string `json:"ref"`
	Hypothesis string `json:"hyp"`
}

// Skipped is an update that was dropped.
type Skipped struct {
	Step int    `json:"step"`
	Why  string `json:"why"`
}

// End is how a run ended.
type End struct {
	Time     time.Time `json:"time"`
	Reason   string    `json:"reason"`
	Step     int       `json:"step"`
	BestStep int       `json:"best_step"`
	Model    string    `json:"model"`
}

// number is a float64 that may be missing (null, as JSON has no NaN) or, as a string, what JSON cannot say.
type number float64

func (n *number) UnmarshalJSON(data []byte) error {
	switch strings.ToLower(strings.Trim(string(data), `"`)) {
	case "null", "nan":
		*n = number(math.NaN())
	case "inf", "+inf", "infinity":
		*n = number(math.Inf(1))
	case "-inf", "-infinity":
		*n = number(math.Inf(-1))
	default:
		return json.Unmarshal(data, (*float64)(n))
	}
	return nil
}

// ReadLog reads the log of a run, a JSON object a line. Errors name file and line. A last line that is broken is what a
// killed run leaves and is dropped, as is one before a run was taken up again; so are the lines of steps that were done
// once more. Events of a kind that is not known are left out, and a line without one is a step: other programs' logs of
// steps and losses can be read too. A log without any event is an error.
func ReadLog(path string) (*Run, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readLog(f, path)
}

func readLog(r io.Reader, name string) (*Run, error) {
	run := &Run{}
	lines := bufio.NewReaderSize(r, 1<<16)
	var broken error // of the line before, which the end of the file or a start can excuse
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			start := bytes.LastIndex(line, []byte(`{"event":"start"`)) // perhaps behind half a line of a killed run
			if broken != nil && start < 0 {
				return nil, broken
			}
			broken = nil
			if e := run.add(line); e != nil {
				if start <= 0 || run.add(line[start:]) != nil {
					broken = fmt.Errorf("%s:%d: %w", name, n, e)
				}
			}
		}
		if err == io.EOF {
			break
		}
	}
	if broken != nil && errors.As(broken, new(orderError)) {
		return nil, broken
	}
	if len(run.Starts)+len(run.Steps)+len(run.Validations) == 0 {
		return nil, fmt.Errorf("%s: no event of a training run in it", name)
	}
	return run, nil
}

// orderError is the error of a whole line that does not belong where it stands.
type orderError struct{ what string }

func (e orderError) Error() string { return e.what }

// add adds the event of a line.
func (r *Run) add(line []byte) error {
	var event struct {
		Event string `json:"event"`
		Step  int    `json:"step"`
	}
	if err := json.Unmarshal(line, &event); err != nil {
		return fmt.Errorf("not the JSON of an event: %w", err)
	}
	if event.Step < 0 || event.Step > 1e12 {
		return orderError{fmt.Sprintf("step %d, expected 0 to 10^12", event.Step)}
	}
	nan := number(math.NaN())
	switch event.Event {
	case "start":
		var s Start
		if err := json.Unmarshal(line, &s); err != nil {
			return err
		}
		r.start(s)
	case "step", "":
		s := Step{Elapsed: nan, Loss: nan, NLL: nan, KL: nan, Accuracy: nan, Rate: nan, GradNorm: nan, SrcPerSec: nan, TgtPerSec: nan}
		if err := json.Unmarshal(line, &s); err != nil {
			return err
		}
		if n := len(r.Steps); n > 0 && s.Step <= r.Steps[n-1].Step {
			return orderError{fmt.Sprintf("step %d after step %d, expected a later one", s.Step, r.Steps[n-1].Step)}
		}
		r.Steps = append(r.Steps, s)
	case "valid", "averaged":
		v := Validation{Elapsed: nan, Loss: nan, NLL: nan, Accuracy: nan, BLEU: nan, Took: nan}
		if err := json.Unmarshal(line, &v); err != nil {
			return err
		}
		if event.Event == "averaged" {
			r.Averaged = &v
			return nil
		}
		n := len(r.Validations)
		switch {
		case n > 0 && v.Step < r.Validations[n-1].Step:
			return orderError{fmt.Sprintf("a validation of step %d after one of step %d, expected a later one", v.Step, r.Validations[n-1].Step)}
		case n > 0 && v.Step == r.Validations[n-1].Step:
			r.Validations[n-1] = v // once more after a resume
		default:
			r.Validations = append(r.Validations, v)
		}
	case "skipped":
		var s Skipped
		if err := json.Unmarshal(line, &s); err != nil {
			return err
		}
		r.Skipped = append(r.Skipped, s)
	case "end":
		var e End
		if err := json.Unmarshal(line, &e); err != nil {
			return err
		}
		r.End = &e
	}
	return nil
}

// start begins a run, or goes on with it from step s.Step: what was done after that is done again.
func (r *Run) start(s Start) {
	if s.Step == 0 {
		*r = Run{Starts: []Start{s}}
		return
	}
	r.Starts = upTo(r.Starts, s.Step, func(s Start) int { return s.Step })
	r.Steps = upTo(r.Steps, s.Step, func(s Step) int { return s.Step })
	r.Validations = upTo(r.Validations, s.Step, func(v Validation) int { return v.Step })
	r.Skipped = upTo(r.Skipped, s.Step, func(s Skipped) int { return s.Step })
	r.Starts, r.Averaged, r.End = append(r.Starts, s), nil, nil
}

// upTo is the events of steps up to last, the rest cut off.
func upTo[E any](events []E, last int, step func(E) int) []E {
	n := len(events)
	for n > 0 && step(events[n-1]) > last {
		n--
	}
	return events[:n]
}

// best is the validation of the best step, nil if there was none: that which the log calls so, else the highest BLEU, else
// the lowest loss.
func (r *Run) best() *Validation {
	var best *Validation
	for i := range r.Validations {
		v := &r.Validations[i]
		switch {
		case best == nil, v.Best:
			best = v
		case best.Best:
		case v.BLEU > best.BLEU, math.IsNaN(float64(best.BLEU)) && v.Loss < best.Loss:
			best = v
		}
	}
	return best
}

// last is the last step that the log knows of.
func (r *Run) last() int {
	last := 0
	if n := len(r.Steps); n > 0 {
		last = r.Steps[n-1].Step
	}
	if n := len(r.Validations); n > 0 {
		last = max(last, r.Validations[n-1].Step)
	}
	return last
}

// elapsed is the seconds that training took, NaN if the log does not say.
func (r *Run) elapsed() float64 {
	elapsed := math.NaN()
	if n := len(r.Steps); n > 0 {
		elapsed = float64(r.Steps[n-1].Elapsed)
	}
	if n := len(r.Validations); n > 0 && !(float64(r.Validations[n-1].Elapsed) <= elapsed) {
		elapsed = float64(r.Validations[n-1].Elapsed)
	}
	return elapsed
}
