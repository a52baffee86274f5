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

// Writer writes a log. A line is flushed to the operating system at once, lines of steps at most
// once a second, because there can be hundreds. Before a checkpoint becomes visible, call Sync:
// then no checkpoint is on disk without the lines of its steps, whenever the run is killed.
//
// After an error of the file nothing more is written, and every call returns that error: a caller
// may look at one of them, and a training can do without its log. Not for concurrent use.
type Writer struct {
	file    *os.File
	buf     []byte // lines that are not yet in the file
	flushed time.Time
	err     error
}

// flushEvery is the time for which lines of steps stay in memory.
const flushEvery = time.Second

// Create makes the log of a new run. It replaces a file that is there.
func Create(path string) (*Writer, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	return &Writer{file: f, flushed: time.Now()}, nil
}

// Append opens the log of a run that is resumed, or makes it if there is none. Half a line at its
// end, which a killed run can leave, is cut off. Whole lines of steps that are made again stay, and
// the next line, a Start, tells readers to drop them.
func Append(path string) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if err := cutHalfLine(f); err != nil {
		f.Close()
		return nil, err
	}
	return &Writer{file: f, flushed: time.Now()}, nil
}

// cutHalfLine truncates f behind its last whole line and seeks there.
func cutHalfLine(f *os.File) error {
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

// Start writes the beginning of a run. The time is written in UTC and whole seconds.
func (w *Writer) Start(s Start) error {
	s.Time = s.Time.UTC().Truncate(time.Second)
	return w.write("start", s)
}

// Step writes a step. It allocates nothing after the first ones.
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

// Averaged writes a validation of the mean of checkpoints.
func (w *Writer) Averaged(v Validation) error { return w.write("averaged", v) }

// Skipped writes a step whose update was dropped.
func (w *Writer) Skipped(s Skipped) error { return w.write("skipped", s) }

// Saved writes that a checkpoint is on disk.
func (w *Writer) Saved(s Saved) error { return w.write("saved", s) }

// End writes the end of a run. The time is written in UTC and whole seconds.
func (w *Writer) End(e End) error {
	e.Time = e.Time.UTC().Truncate(time.Second)
	return w.write("end", e)
}

// write writes a line {"event":event, …fields of line} and flushes it.
func (w *Writer) write(event string, line any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(line); err != nil {
		panic(fmt.Sprint("runlog: ", err)) // a struct of strings and numbers
	}
	w.buf = append(append(append(w.buf, `{"event":"`...), event...), `",`...)
	w.buf = append(w.buf, b.Bytes()[len("{"):]...)
	return w.flush()
}

// flush hands the lines that are in memory to the operating system.
func (w *Writer) flush() error {
	if w.err == nil {
		_, w.err = w.file.Write(w.buf)
	}
	w.buf, w.flushed = w.buf[:0], time.Now()
	return w.err
}

// Sync writes all lines to disk.
func (w *Writer) Sync() error {
	if w.flush() == nil {
		w.err = w.file.Sync()
	}
	return w.err
}

// Close writes what is still in memory and closes the file.
func (w *Writer) Close() error {
	w.flush()
	if err := w.file.Close(); w.err == nil {
		w.err = err
	}
	return w.err
}
