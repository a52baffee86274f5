package runlog

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
)

// Run is the content of a log, without the records that a resume repeats. A Number that a record
// does not have is NaN.
type Run struct {
	Starts      []Start // the start and every resume; Settings only in the first and the last
	Steps       []Step  // ascending
	Validations []Validation
	Averaged    *Validation // nil if no mean of checkpoints was validated
	Cooldown    *Cooldown   // nil if none has begun
	End         *End        // nil if the run was killed or has not ended
}

const (
	maxLine = 1 << 24 // bytes
	maxStep = 1e12
)

// ReadFile reads the log in a file; see Read.
func ReadFile(path string) (*Run, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f, path)
}

// Read reads a log. Errors begin with name, the file's name, and the line number.
//
// An invalid line is an error, except at the end of the log, because killed runs leave partial
// lines. Records of unknown kinds are ignored. A log without records and a line of more than 16 MiB
// are errors.
func Read(r io.Reader, name string) (*Run, error) {
	run := new(Run)
	if err := run.read(r, name); err != nil {
		return nil, err
	}
	if len(run.Starts)+len(run.Steps)+len(run.Validations) == 0 {
		return nil, fmt.Errorf("%s: found no records of a training run", name)
	}
	return run, nil
}

// read adds the records of a log.
func (r *Run) read(in io.Reader, name string) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	n := 0
	for invalid := error(nil); lines.Scan(); {
		n++
		if invalid != nil {
			return invalid
		}
		if line := bytes.TrimSpace(lines.Bytes()); len(line) > 0 {
			if err := r.add(line); err != nil {
				invalid = fmt.Errorf("%s:%d: %w", name, n, err)
			}
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("%s:%d: line of more than %d MiB", name, n+1, maxLine>>20)
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// add adds the record of a line.
func (r *Run) add(line []byte) error {
	var record struct {
		Kind string `json:"event"`
		Step int    `json:"step"`
	}
	if err := json.Unmarshal(line, &record); err != nil {
		return fmt.Errorf("invalid JSON, expected a record: %w", err)
	}
	if record.Step < 0 || record.Step > maxStep {
		return fmt.Errorf("found step %d, expected 0 to 10^12", record.Step)
	}
	switch record.Kind {
	case "start":
		return addRecord(line, Start{}, r.addStart)
	case "step":
		return addRecord(line, noStep(), r.addStep)
	case "valid":
		return addRecord(line, noValidation(), r.addValidation)
	case "averaged":
		return addRecord(line, noValidation(), setter(&r.Averaged))
	case "cooldown":
		return addRecord(line, Cooldown{}, setter(&r.Cooldown))
	case "end":
		return addRecord(line, End{}, setter(&r.End))
	}
	return nil
}

// addRecord decodes a line into record, which holds the values of missing fields, and adds it.
func addRecord[R any](line []byte, record R, add func(R) error) error {
	if err := json.Unmarshal(line, &record); err != nil {
		return err
	}
	return add(record)
}

// setter returns a function that sets field to a record.
func setter[R any](field **R) func(R) error {
	return func(record R) error {
		*field = &record
		return nil
	}
}

func noStep() Step {
	nan := Number(math.NaN())
	return Step{Elapsed: nan, Loss: nan, NLL: nan, KL: nan, Accuracy: nan, Rate: nan, GradNorm: nan, SrcPerSec: nan, TgtPerSec: nan}
}

func noValidation() Validation {
	nan := Number(math.NaN())
	return Validation{Elapsed: nan, Loss: nan, NLL: nan, Accuracy: nan, BLEU: nan, Took: nan}
}

// addStart starts a run, or resumes it at step s.Step: it removes the records of later steps.
func (r *Run) addStart(s Start) error {
	if s.Step == 0 {
		*r = Run{Starts: []Start{s}}
		return nil
	}
	r.Starts = upTo(r.Starts, s.Step, Start.step)
	r.Steps = upTo(r.Steps, s.Step, Step.step)
	r.Validations = upTo(r.Validations, s.Step, Validation.step)
	r.Averaged, r.End = nil, nil
	if r.Cooldown != nil && r.Cooldown.Step > s.Step {
		r.Cooldown = nil
	}
	if n := len(r.Starts); n > 1 {
		r.Starts[n-1].Settings = nil
	}
	r.Starts = append(r.Starts, s)
	return nil
}

func (r *Run) addStep(s Step) error {
	if n := len(r.Steps); n > 0 && s.Step <= r.Steps[n-1].Step {
		return fmt.Errorf("found step %d after step %d, expected a later step", s.Step, r.Steps[n-1].Step)
	}
	r.Steps = append(r.Steps, s)
	return nil
}

func (r *Run) addValidation(v Validation) error {
	n := len(r.Validations)
	switch {
	case n > 0 && v.Step < r.Validations[n-1].Step:
		return fmt.Errorf("found a validation of step %d after one of step %d, expected a later step", v.Step, r.Validations[n-1].Step)
	case n > 0 && v.Step == r.Validations[n-1].Step:
		r.Validations[n-1] = v // repeated after a resume
	default:
		r.Validations = append(r.Validations, v)
	}
	return nil
}

func (s Start) step() int      { return s.Step }
func (s Step) step() int       { return s.Step }
func (v Validation) step() int { return v.Step }

// upTo returns the records of steps up to last.
func upTo[R any](records []R, last int, step func(R) int) []R {
	n := len(records)
	for n > 0 && step(records[n-1]) > last {
		n--
	}
	return records[:n]
}

// Best returns the validation of the best weights, nil without validations: the last that is marked
// as best, else the one with the highest BLEU, else the one with the lowest loss.
func (r *Run) Best() *Validation {
	var best *Validation
	for i := range r.Validations {
		v := &r.Validations[i]
		switch {
		case best == nil, v.Best:
			best = v
		case best.Best:
		case v.BLEU > best.BLEU, best.BLEU.IsZero() && v.Loss < best.Loss:
			best = v
		}
	}
	return best
}

// LastStep returns the last step in the log, 0 if it has no steps.
func (r *Run) LastStep() int {
	last := 0
	if n := len(r.Steps); n > 0 {
		last = r.Steps[n-1].Step
	}
	if n := len(r.Validations); n > 0 {
		last = max(last, r.Validations[n-1].Step)
	}
	return last
}

// Elapsed returns the training time in seconds, NaN if it is unknown.
func (r *Run) Elapsed() Number {
	elapsed := Number(math.NaN())
	if n := len(r.Steps); n > 0 {
		elapsed = r.Steps[n-1].Elapsed
	}
	if n := len(r.Validations); n > 0 && !(r.Validations[n-1].Elapsed <= elapsed) {
		elapsed = r.Validations[n-1].Elapsed
	}
	return elapsed
}
