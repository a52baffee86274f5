package text

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode/utf8"
)

// Line is a line of a text and where it stands.
type Line struct {
	File     string
	Number   int // from 1
	Text     string
	Warnings []Warning // what was mended in it
}

// Warning returns a warning about the line: it names the file and the number.
func (l Line) Warning(kind, format string, a ...any) Warning {
	return Warning{kind, fmt.Sprintf("%s:%d: %s", l.File, l.Number, fmt.Sprintf(format, a...))}
}

// IsBlank reports whether s has no word: nothing but white space. Such a text is not translated;
// its translation is the empty text, in a filter, in a test set and in validation alike.
func IsBlank(s string) bool { return strings.TrimSpace(s) == "" }

// The kinds of warnings that RepairLines gives.
const (
	InvalidUTF8 = "lines of invalid UTF-8"
	LongLine    = "lines that are too long"
)

// RepairLines is ReadLines for a filter, which must not end at one bad line: it replaces invalid
// UTF-8 by U+FFFD, cuts lines longer than MaxLine between two characters, and says so in the
// line's Warnings. It reads in bounded memory, whatever the length of a line. What cannot be read
// or unpacked is an error that names the line, and ends the sequence.
func RepairLines(r io.Reader, name string) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		l, err := newLineReader(r, name)
		if err != nil {
			yield(Line{}, err)
			return
		}
		for {
			switch line, err := l.nextRepaired(); {
			case err == io.EOF:
				return
			case !yield(line, err) || err != nil:
				return
			}
		}
	}
}

// nextRepaired is next that mends what next refuses.
func (l *lineReader) nextRepaired() (Line, error) {
	const most = len(byteOrderMark) + MaxLine + len("\r\n")
	l.buf = l.buf[:0]
	length, err := 0, bufio.ErrBufferFull
	for err == bufio.ErrBufferFull {
		var part []byte
		part, err = l.text.ReadSlice('\n')
		length += len(part)
		l.buf = append(l.buf, part[:min(len(part), most-len(l.buf))]...)
	}
	if err == io.EOF && length == 0 {
		return Line{}, io.EOF
	}
	l.line++
	line := Line{File: l.name, Number: l.line}
	if err == nil {
		length-- // the line's end
	} else if err != io.EOF {
		return Line{}, fmt.Errorf("%s:%d: %w", l.name, l.line, err)
	}
	raw := l.buf
	if l.line == 1 {
		raw = bytes.TrimPrefix(raw, []byte(byteOrderMark))
	}
	if length < most {
		if n, ok := bytes.CutSuffix(raw, []byte("\n")); ok {
			raw = bytes.TrimSuffix(n, []byte("\r"))
		}
	}
	if len(raw) > MaxLine {
		cut := MaxLine
		for cut > MaxLine-utf8.UTFMax && !utf8.RuneStart(raw[cut]) {
			cut--
		}
		raw = raw[:cut]
		line.Warnings = append(line.Warnings, line.Warning(LongLine, "line of %d bytes, cut to %d", length, cut))
	}
	if !utf8.Valid(raw) {
		line.Warnings = append(line.Warnings, line.Warning(InvalidUTF8, "invalid UTF-8 at byte %d, replaced by U+FFFD", 1+validPrefix(raw)))
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	line.Text = string(raw)
	return line, nil
}
