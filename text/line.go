package text

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode/utf8"

	"tfm/text/charset"
)

// Line is a line of a file.
type Line struct {
	File     string
	Number   int // from 1
	Text     string
	Warnings []Warning // repairs of Text
}

// Warning returns a warning of a kind whose message begins with the line's file and number.
func (l Line) Warning(kind, format string, a ...any) Warning {
	return Warning{kind, fmt.Sprintf("%s:%d: %s", l.File, l.Number, fmt.Sprintf(format, a...))}
}

// IsBlank reports whether s is empty or only white space. The translation of a blank text is the
// empty text, in a filter, a test set and a validation alike.
func IsBlank(s string) bool { return strings.TrimSpace(s) == "" }

// The kinds of warnings of RepairLines.
const (
	InvalidUTF8 = "lines of invalid UTF-8"
	LongLine    = "overlong lines"
)

// RepairLines is like ReadLines but repairs lines that ReadLines rejects, so that a filter
// continues after a bad line: it replaces invalid UTF-8 by U+FFFD and truncates lines longer than
// MaxLine between two characters, with a warning in Line.Warnings. Memory is bounded for lines of
// any length. A read or gzip error names the line and ends the sequence.
func RepairLines(r io.Reader, name string) iter.Seq2[Line, error] {
	return sequence(func() (*lineReader, error) { return newLineReader(r, name) }, (*lineReader).nextRepaired)
}

// nextRepaired is like next but repairs the line.
func (l *lineReader) nextRepaired() (Line, error) {
	raw, length, err := l.read(true)
	if err == io.EOF {
		return Line{}, err
	}
	if err != nil {
		return Line{}, l.failed(err)
	}
	line := Line{File: l.name, Number: l.line}
	if len(raw) > MaxLine {
		end := MaxLine
		for end > MaxLine-utf8.UTFMax && !utf8.RuneStart(raw[end]) {
			end--
		}
		raw = raw[:end]
		line.Warnings = append(line.Warnings, line.Warning(LongLine, "line of %d bytes truncated to %d", length, end))
	}
	if !utf8.Valid(raw) {
		line.Warnings = append(line.Warnings, line.Warning(InvalidUTF8, "invalid UTF-8 at byte %d, replaced by U+FFFD%s", 1+charset.Invalid(view(raw)), l.encodingHint(raw)))
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	line.Text = string(raw)
	return line, nil
}
