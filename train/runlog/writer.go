package runlog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"
)

// Writer writes a log. It flushes records to the operating system immediately, except steps: up to
// one second of them is buffered, because a run can make hundreds of steps per second. Call Sync
// before a checkpoint becomes visible, so that a run killed at any time leaves no checkpoint
// without the records of its steps.
//
// After the first write error nothing is written, and every call returns that error. A Writer is
// not safe for concurrent use.
type Writer struct {
	out     io.Writer
	file    *os.File // out, or nil if that is no file
	buf     []byte   // records that are not yet written
	flushed time.Time
	err     error
}

// flushEvery is the longest time for which step records stay in memory.
const flushEvery = time.Second

// Create creates the log of a new run. It replaces an existing file.
func Create(path string) (*Writer, error) { return open(path, os.O_TRUNC) }

// Append opens the log of a resumed run for appending, or creates it. It truncates a partial line
// at the end, which a killed run can leave. Records of steps that the resumed run repeats stay in
// the log; the Start that follows makes readers drop them.
func Append(path string) (*Writer, error) { return open(path, 0) }

func open(path string, flag int) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|flag, 0o666)
	if err != nil {
		return nil, err
	}
	if err := truncatePartialLine(f); err != nil {
		f.Close()
		return nil, err
	}
	w := NewWriter(f)
	w.file = f
	return w, nil
}

// NewWriter returns a Writer to out, which Sync and Close do not touch.
func NewWriter(out io.Writer) *Writer { return &Writer{out: out, flushed: time.Now()} }

// truncatePartialLine truncates f after its last newline and seeks there.
func truncatePartialLine(f *os.File) error {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	end := size
	for block := make([]byte, 1<<16); end > 0; {
		tail := block[:min(end, int64(len(block)))]
		if _, err := f.ReadAt(tail, end-int64(len(tail))); err != nil {
			return err
		}
		newline := bytes.LastIndexByte(tail, '\n')
		if end -= int64(len(tail) - 1 - newline); newline >= 0 {
			break
		}
	}
	if end == size {
		return nil
	}
	if err := f.Truncate(end); err != nil {
		return err
	}
	_, err = f.Seek(end, io.SeekStart)
	return err
}

// Start writes the start or resume of a run. The time is written in UTC and whole seconds.
func (w *Writer) Start(s Start) error {
	s.Time = s.Time.UTC().Truncate(time.Second)
	return w.write("start", s)
}

// Step writes a step. After the first steps it allocates nothing.
func (w *Writer) Step(s Step) error {
	b := append(w.buf, `{"event":"step"`...)
	b = appendInt(b, `,"step":`, s.Step)
	b = appendInt(b, `,"epoch":`, s.Epoch)
	b = appendNumber(append(b, `,"elapsed":`...), s.Elapsed)
	b = appendNumber(append(b, `,"loss":`...), s.Loss)
	b = appendNumber(append(b, `,"nll":`...), s.NLL)
	if !s.KL.IsZero() {
		b = appendNumber(append(b, `,"kl":`...), s.KL)
	}
	b = appendNumber(append(b, `,"accuracy":`...), s.Accuracy)
	b = appendNumber(append(b, `,"rate":`...), s.Rate)
	b = appendNumber(append(b, `,"grad_norm":`...), s.GradNorm)
	b = appendNumber(append(b, `,"src_per_sec":`...), s.SrcPerSec)
	b = appendNumber(append(b, `,"tgt_per_sec":`...), s.TgtPerSec)
	w.buf = append(b, "}\n"...)
	if time.Since(w.flushed) < flushEvery {
		return w.err
	}
	return w.flush()
}

func appendInt(b []byte, name string, n int) []byte {
	return strconv.AppendInt(append(b, name...), int64(n), 10)
}

// Valid writes a validation of a step's weights.
func (w *Writer) Valid(v Validation) error { return w.write("valid", v) }

// Averaged writes the validation of the mean of checkpoints.
func (w *Writer) Averaged(v Validation) error { return w.write("averaged", v) }

// Cooldown writes that the cooldown of the learning rate begins.
func (w *Writer) Cooldown(c Cooldown) error { return w.write("cooldown", c) }

// Saved writes that a checkpoint is on disk.
func (w *Writer) Saved(s Saved) error { return w.write("saved", s) }

// End writes the end of a run. The time is written in UTC and whole seconds.
func (w *Writer) End(e End) error {
	e.Time = e.Time.UTC().Truncate(time.Second)
	return w.write("end", e)
}

// write writes the line {"event":kind, …fields of record} and flushes it.
func (w *Writer) write(kind string, record any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(record); err != nil {
		// cannot happen: strings and numbers
		panic(fmt.Sprintf("runlog: encoding a %T: %v", record, err))
	}
	w.buf = append(append(append(w.buf, `{"event":"`...), kind...), `",`...)
	w.buf = append(w.buf, b.Bytes()[len("{"):]...)
	return w.flush()
}

// flush writes the buffered records to the file.
func (w *Writer) flush() error {
	if w.err == nil {
		_, w.err = w.out.Write(w.buf)
	}
	w.buf, w.flushed = w.buf[:0], time.Now()
	return w.err
}

// Sync flushes all records and syncs the file to disk.
func (w *Writer) Sync() error {
	if w.flush() == nil && w.file != nil {
		w.err = w.file.Sync()
	}
	return w.err
}

// Close flushes all records and closes the file.
func (w *Writer) Close() error {
	w.flush()
	if w.file == nil {
		return w.err
	}
	if err := w.file.Close(); w.err == nil {
		w.err = err
	}
	return w.err
}
