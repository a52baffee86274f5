package filter

import (
	"encoding/binary"
	"fmt"
	"os"
	"time"

	"tfm/cmd/tfm/internal/terminal"
	"tfm/internal/format"
	"tfm/text"
)

// Progress shows the lines, or other units, that are done, their speed and the remaining time.
type Progress struct {
	Screen *terminal.Progress
	Shown  bool // show the progress, in addition to other lines on Screen

	unit  string
	size  int64 // bytes of all text; 0 if unknown
	start time.Time
	units int
	bytes int64
}

// NewProgress returns the Progress through text of a size, 0 if unknown, whose answers go to out.
// given is the value of a flag, or "". By default it is shown if standard error is a terminal, out
// is not one and the size is known.
func NewProgress(unit string, size int64, out *os.File, given string) *Progress {
	p := &Progress{Screen: terminal.NewProgress(os.Stderr), unit: unit, start: time.Now(), size: size}
	byDefault := p.size > 0 && terminal.IsTerminal(os.Stderr) && !terminal.IsTerminal(out)
	p.Shown = given == "true" || given == "" && byDefault
	return p
}

// TextSize returns the bytes of text of the files. It is 0 if unknown: in a pipe, or in a gzipped
// file whose last four bytes are no plausible size.
func TextSize(files []string) (size int64) {
	for _, path := range files {
		if info, err := os.Stat(path); path != text.Stdin && (err != nil || !info.Mode().IsRegular()) {
			return 0 // to open a named pipe, and close it, loses its text
		}
		f, err := text.OpenInput(path)
		if err != nil {
			return 0 // the command reports it
		}
		n := fileTextSize(f)
		if path != text.Stdin {
			f.Close()
		}
		if n == 0 {
			return 0
		}
		size += n
	}
	return size
}

func fileTextSize(f *os.File) int64 {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	var magic, end [4]byte
	if _, err := f.ReadAt(magic[:2], 0); err != nil || magic != [4]byte{0x1f, 0x8b} {
		return info.Size()
	}
	// RFC 1952: a gzip file ends with the size of its text modulo 2^32.
	if _, err := f.ReadAt(end[:], info.Size()-4); err != nil {
		return 0
	}
	if n := int64(binary.LittleEndian.Uint32(end[:])); n >= info.Size() {
		return n
	}
	return 0
}

// Add counts a unit of text that is done.
func (p *Progress) Add(text string) {
	p.units++
	p.bytes += int64(len(text)) + 1
}

// Update shows the progress.
func (p *Progress) Update() {
	if p.Shown {
		now := time.Now()
		p.Screen.Update(now, p.state(now.Sub(p.start)))
	}
}

func (p *Progress) state(elapsed time.Duration) string {
	s := fmt.Sprintf("%s, %s a second", format.Count(p.units, p.unit), p.speed(elapsed))
	if p.size == 0 || p.bytes == 0 {
		return s
	}
	return s + ", " + Remaining(elapsed, float64(p.bytes)/float64(p.size))
}

// Remaining returns the percentage and the remaining time of work. done is the finished part, above
// 0.
func Remaining(elapsed time.Duration, done float64) string {
	done = min(1, done)
	return fmt.Sprintf("%.1f%%, %s left", 100*done, format.Left(time.Duration(float64(elapsed)*(1-done)/done)))
}

// speed formats the units a second.
func (p *Progress) speed(elapsed time.Duration) string {
	return fmt.Sprintf("%.1f", float64(p.units)/max(elapsed.Seconds(), 1e-3))
}

// Share prints a line of a table: n things, and their share of all.
func Share(screen *terminal.Progress, name string, n, all int) {
	screen.Line("%-26s%15s%9.3f %%", name, format.Thousands(n), 100*float64(n)/float64(all))
}

// End shows the total.
func (p *Progress) End() {
	if p.Shown {
		elapsed := time.Since(p.start)
		p.Screen.Line("%s in %.1f s, %s a second", format.Count(p.units, p.unit), elapsed.Seconds(), p.speed(elapsed))
	}
}
