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
	"slices"
)

// Run is what a log tells of a run, without the steps that were made again after a resume. A Number
// that a line does not have is NaN.
//
// Its memory is bounded, however many steps the run has made: of more than 2^20 steps (about 100
// MB) Steps has every second one, of more than 2^21 every fourth one, and so on, and always the
// last; Skipped does the same beyond 2^10. Starts and Validations are whole.
type Run struct {
	Starts       []Start // the beginning, then every resume; Settings only of the first and the last
	Steps        []Step  // ascending
	Validations  []Validation
	Averaged     *Validation // nil if no mean of checkpoints was validated
	Skipped      []Skipped   // ascending
	SkippedCount int         // updates that were dropped, also those that are not in Skipped
	End          *End        // nil if the run was killed or is still going on

	steps, skipped thinning
}

const (
	maxSteps   = 1 << 20
	maxSkipped = 1 << 10
	maxLine    = 1 << 24 // bytes
	maxStep    = 1e12
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

// Read reads the log of a run. Errors begin with name, that of the file, and the number of the
// line.
//
// A broken line is an error unless it is the last one, or stands before a run was resumed: killed
// runs leave such lines, and they are dropped. Events of an unknown kind are passed over, and a
// line without an event is a step, so that other programs' logs of steps and losses can be read
// too. A log without any event is an error, and so is a line of more than 16 MiB.
func Read(r io.Reader, name string) (*Run, error) {
	return read(r, name, thinning{max: maxSteps}, thinning{max: maxSkipped})
}

func read(r io.Reader, name string, steps, skipped thinning) (*Run, error) {
	run := &Run{steps: steps, skipped: skipped}
	lines := lineReader{r: bufio.NewReaderSize(r, 1<<16)}
	var broken error // of the line before, which the end of the file or a start excuses
	for n := 1; ; n++ {
		line, err := lines.next()
		if err == io.EOF {
			break
		}
		if err != nil && !errors.Is(err, errLongLine) {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if err == nil && len(line) == 0 {
			continue
		}
		start := bytes.LastIndex(line, []byte(`{"event":"start"`)) // perhaps behind half a line of a killed run
		if broken != nil && start < 0 {
			return nil, broken
		}
		broken = nil
		if err == nil {
			err = run.add(line)
		}
		if err != nil && (start <= 0 || run.add(line[start:]) != nil) {
			broken = fmt.Errorf("%s:%d: %w", name, n, err)
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

// lineReader reads lines of bounded length.
type lineReader struct {
	r    *bufio.Reader
	line []byte
}

var errLongLine = fmt.Errorf("a line of more than %d MiB", maxLine>>20)

// next returns the next line without space around it, valid until the next call. The error of a
// line that is too long is errLongLine, with its last bytes: a start may stand behind what a killed
// run left.
func (l *lineReader) next() ([]byte, error) {
	var long error
	for l.line = l.line[:0]; ; {
		piece, err := l.r.ReadSlice('\n')
		if len(l.line)+len(piece) > maxLine {
			long = errLongLine
			l.line = append(l.line[:0], l.line[len(l.line)/2:]...)
		}
		l.line = append(l.line, piece...)
		switch {
		case err == bufio.ErrBufferFull:
		case err == nil || err == io.EOF && len(l.line) > 0:
			return bytes.TrimSpace(l.line), long
		default:
			return nil, err
		}
	}
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
	if event.Step < 0 || event.Step > maxStep {
		return orderError{fmt.Sprintf("step %d, expected 0 to 10^12", event.Step)}
	}
	switch event.Event {
	case "start":
		return addLine(line, Start{}, r.addStart)
	case "step", "":
		nan := Number(math.NaN())
		return addLine(line, Step{Elapsed: nan, Loss: nan, NLL: nan, KL: nan, Accuracy: nan, Rate: nan, GradNorm: nan, SrcPerSec: nan, TgtPerSec: nan}, r.addStep)
	case "valid":
		return addLine(line, noValidation(), r.addValidation)
	case "averaged":
		return addLine(line, noValidation(), func(v Validation) error {
			r.Averaged = &v
			return nil
		})
	case "skipped":
		return addLine(line, Skipped{}, r.addSkipped)
	case "end":
		return addLine(line, End{}, func(e End) error {
			r.End = &e
			return nil
		})
	}
	return nil
}

// addLine decodes a line over the values of fields that it does not have, and adds it.
func addLine[L any](line []byte, missing L, add func(L) error) error {
	if err := json.Unmarshal(line, &missing); err != nil {
		return err
	}
	return add(missing)
}

func noValidation() Validation {
	nan := Number(math.NaN())
	return Validation{Elapsed: nan, Loss: nan, NLL: nan, Accuracy: nan, BLEU: nan, Took: nan}
}

// addStart begins a run, or resumes it at step s.Step: what was done after that is done again.
func (r *Run) addStart(s Start) error {
	if s.Step == 0 {
		*r = Run{Starts: []Start{s}, steps: thinning{max: r.steps.max}, skipped: thinning{max: r.skipped.max}}
		return nil
	}
	r.Starts = upTo(r.Starts, s.Step, Start.step)
	r.Steps = upTo(r.Steps, s.Step, Step.step)
	r.Validations = upTo(r.Validations, s.Step, Validation.step)
	r.Skipped = upTo(r.Skipped, s.Step, Skipped.step)
	r.SkippedCount = max(s.Skipped, len(r.Skipped)) // older logs do not have the first
	r.Averaged, r.End = nil, nil
	if n := len(r.Starts); n > 1 {
		r.Starts[n-1].Settings = nil
	}
	r.Starts = append(r.Starts, s)
	return nil
}

func (r *Run) addStep(s Step) error {
	if n := len(r.Steps); n > 0 && s.Step <= r.Steps[n-1].Step {
		return orderError{fmt.Sprintf("step %d after step %d, expected a later one", s.Step, r.Steps[n-1].Step)}
	}
	r.Steps = appendThinned(&r.steps, r.Steps, s, Step.step)
	return nil
}

func (r *Run) addValidation(v Validation) error {
	n := len(r.Validations)
	switch {
	case n > 0 && v.Step < r.Validations[n-1].Step:
		return orderError{fmt.Sprintf("a validation of step %d after one of step %d, expected a later one", v.Step, r.Validations[n-1].Step)}
	case n > 0 && v.Step == r.Validations[n-1].Step:
		r.Validations[n-1] = v // once more after a resume
	default:
		r.Validations = append(r.Validations, v)
	}
	return nil
}

func (r *Run) addSkipped(s Skipped) error {
	if n := len(r.Skipped); n > 0 && s.Step <= r.Skipped[n-1].Step {
		return orderError{fmt.Sprintf("step %d skipped after step %d, expected a later one", s.Step, r.Skipped[n-1].Step)}
	}
	r.SkippedCount = max(s.Count, r.SkippedCount+1) // older logs do not have the first
	r.Skipped = appendThinned(&r.skipped, r.Skipped, s, Skipped.step)
	return nil
}

func (s Start) step() int      { return s.Step }
func (s Step) step() int       { return s.Step }
func (v Validation) step() int { return v.Step }
func (s Skipped) step() int    { return s.Step }

// thinning bounds a list of events of ascending steps: it keeps those at multiples of stride, and
// the last one.
type thinning struct{ max, stride int }

// appendThinned appends an event to a list that t bounds. The stride follows from the steps alone,
// so that two logs keep the same ones.
func appendThinned[E any](t *thinning, events []E, e E, step func(E) int) []E {
	if last := len(events) - 1; t.stride > 1 && last >= 0 && step(events[last])%t.stride != 0 {
		events = events[:last]
	}
	events = append(events, e)
	for len(events) > t.max {
		t.stride = max(2, 2*t.stride)
		kept := slices.DeleteFunc(events[:len(events)-1], func(e E) bool { return step(e)%t.stride != 0 })
		events = append(kept, e)
	}
	return events
}

// upTo is the events of steps up to last.
func upTo[E any](events []E, last int, step func(E) int) []E {
	n := len(events)
	for n > 0 && step(events[n-1]) > last {
		n--
	}
	return events[:n]
}

// Best is the validation whose weights were the best, nil if there was none: the last one that the
// log calls the best, else that of the highest BLEU, else that of the lowest loss.
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

// LastStep is the last step that the log knows of, 0 if there is none.
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

// Elapsed is the seconds that training took, NaN if the log does not tell.
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
