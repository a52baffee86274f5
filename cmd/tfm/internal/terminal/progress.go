package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// Progress writes the progress of a command and other lines. On a terminal the progress is one line
// that is overwritten; elsewhere it is a line every ten seconds, and in a long run every minute.
type Progress struct {
	w     io.Writer
	width int       // columns of the terminal; 0: not a terminal
	start time.Time // of the command
	last  time.Time // of the last progress line
	shown int       // columns of the progress line on the screen
}

// NewProgress returns a Progress that writes to f.
func NewProgress(f *os.File) *Progress { return New(f, Width(f)) }

// New returns a Progress that writes to a terminal of the given number of columns, or with 0 to
// something else.
func New(w io.Writer, columns int) *Progress {
	now := time.Now()
	return &Progress{w: w, width: columns, start: now, last: now}
}

// Update shows the state at time now, at most ten times a second.
func (p *Progress) Update(now time.Time, state string) {
	if p.width == 0 {
		if now.Sub(p.last) >= interval(now.Sub(p.start)) {
			p.last = now
			fmt.Fprintln(p.w, state)
		}
		return
	}
	if now.Sub(p.last) < 100*time.Millisecond && p.shown > 0 {
		return
	}
	p.last = now
	state = Truncate(state, p.width-1) // a full line would move the cursor to the next one
	fmt.Fprintf(p.w, "\r%s", Pad(state, p.shown))
	p.shown = Columns(state)
}

// interval returns the time between progress lines that are not overwritten: 10 seconds for 5
// minutes, a thirtieth of the elapsed time up to half an hour, then a minute.
func interval(elapsed time.Duration) time.Duration {
	return min(max(elapsed/30, 10*time.Second), time.Minute)
}

// Line writes a line that is not overwritten.
func (p *Progress) Line(format string, args ...any) {
	p.Clear()
	fmt.Fprintf(p.w, format+"\n", args...)
}

// Text writes a line as Line does. On a terminal it is wrapped between words.
func (p *Progress) Text(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if p.width > fieldColumns && Columns(text) > p.width {
		text = strings.Join(Wrap(strings.Fields(text), p.width-2), "\n  ")
	}
	p.Line("%s", text)
}

// fieldColumns is the width of the labels of fields.
const fieldColumns = 18

// Field writes a label and a text. On a terminal the text is wrapped in its column. The label ""
// continues the field before.
func (p *Progress) Field(label, format string, args ...any) {
	if label != "" {
		label += ":"
	}
	p.Line("%s", Row(label, fmt.Sprintf(format, args...), fieldColumns, p.width))
}

// Width returns the number of columns of the terminal, 0 if the output is not a terminal.
func (p *Progress) Width() int { return p.width }

// Clear erases the progress line.
func (p *Progress) Clear() {
	if p.shown > 0 {
		fmt.Fprintf(p.w, "\r%s\r", strings.Repeat(" ", p.shown))
		p.shown = 0
	}
}
