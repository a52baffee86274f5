package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// Progress writes how far something is. On a terminal it is one line that is written over in place;
// elsewhere it is a plain line now and then. Other lines go between.
type Progress struct {
	w     io.Writer
	width int           // columns of the terminal; 0 if there is none
	every time.Duration // between plain lines
	last  time.Time     // when the last plain line was written
	shown int           // columns of the line that stands there, to be written over
}

func NewProgress(f *os.File) *Progress {
	return &Progress{w: f, width: Width(f), every: 10 * time.Second, last: time.Now()}
}

// Update shows the state at time now.
func (p *Progress) Update(now time.Time, state string) {
	if p.width == 0 {
		if now.Sub(p.last) >= p.every {
			p.last = now
			fmt.Fprintln(p.w, state)
		}
		return
	}
	if now.Sub(p.last) < 100*time.Millisecond && p.shown > 0 {
		return
	}
	p.last = now
	if len(state) > p.width-1 { // a full line would move the cursor to the next one
		state = state[:p.width-1]
	}
	fmt.Fprintf(p.w, "\r%s%s", state, strings.Repeat(" ", max(0, p.shown-len(state))))
	p.shown = len(state)
}

// Line writes a line that stays.
func (p *Progress) Line(format string, args ...any) {
	p.Clear()
	fmt.Fprintf(p.w, format+"\n", args...)
}

// Clear takes the line that is written in place away.
func (p *Progress) Clear() {
	if p.shown > 0 {
		fmt.Fprintf(p.w, "\r%s\r", strings.Repeat(" ", p.shown))
		p.shown = 0
	}
}
