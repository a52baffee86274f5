package subword

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"tfm/text/tokenizer/internal/merges"
)

const (
	joint     = "@@"
	endOfWord = "</w>"
)

// Version is the format version of a file of codes. It decides where the end of a word is.
type Version uint8

const (
	Version01 Version = iota + 1 // the end of a word is a symbol; files without a version
	Version02                    // the end of a word is part of its last character
)

var versionLines = map[Version]string{Version01: "#version: 0.1", Version02: "#version: 0.2"}

// Codes are the merges of a file of codes. They are immutable and safe for concurrent use.
type Codes struct {
	version Version
	lines   [][2]string // as in the file

	symbols map[string]int32
	table   *merges.Table
	parts   map[string][2]string // inverse of lines: what makes a symbol
}

// Limits of a file of codes. A file of subword-nmt has up to some 100,000 short lines.
const (
	maxCodes  = 1 << 24
	maxSymbol = 1 << 12 // bytes
)

// NewCodes returns the codes with these merges, in the order of their application. A merge that
// occurs twice has its first rank. The error names the first invalid merge, from 1.
func NewCodes(version Version, list [][2]string) (*Codes, error) {
	if versionLines[version] == "" {
		return nil, fmt.Errorf("version %d, expected %d or %d", version, Version01, Version02)
	}
	c := newCodes(version)
	for i, m := range list {
		if err := c.add(m); err != nil {
			return nil, fmt.Errorf("merge %d: %w", i+1, err)
		}
	}
	return c.end(), nil
}

// newCodes returns codes without merges. Add adds them, and end must follow.
func newCodes(version Version) *Codes {
	return &Codes{version: version, symbols: map[string]int32{}, table: merges.NewTable(0), parts: map[string][2]string{}}
}

func (c *Codes) add(m [2]string) error {
	if len(c.lines) == maxCodes {
		return fmt.Errorf("found more than %d merges", maxCodes)
	}
	for _, s := range m {
		if err := checkText(s, "symbol"); err != nil {
			return err
		}
	}
	c.table.Add(c.intern(m[0]), c.intern(m[1]), merges.Merge{Rank: int32(len(c.lines)), ID: c.intern(m[0] + m[1])})
	c.lines = append(c.lines, m)
	return nil
}

// end sets the parts. Of several merges that make a symbol, subword-nmt reverses the one whose last
// line is the first.
func (c *Codes) end() *Codes {
	seen := make(map[[2]string]bool, len(c.lines))
	for _, m := range slices.Backward(c.lines) {
		if !seen[m] {
			seen[m] = true
			c.parts[m[0]+m[1]] = m
		}
	}
	return c
}

// checkText reports an invalid symbol or piece.
func checkText(s, kind string) error {
	switch {
	case s == "" || strings.ContainsAny(s, " \n"):
		return fmt.Errorf("found %s %q, expected characters without spaces", kind, s)
	case len(s) > maxSymbol:
		return fmt.Errorf("found a %s of %d bytes, expected up to %d", kind, len(s), maxSymbol)
	case !utf8.ValidString(s):
		return fmt.Errorf("found %s %q, expected valid UTF-8", kind, s)
	}
	return nil
}

func (c *Codes) intern(s string) int32 {
	id, ok := c.symbols[s]
	if !ok {
		id = int32(len(c.symbols))
		c.symbols[s] = id
	}
	return id
}

// ReadCodes reads a file of codes, which errors name: of subword-nmt, or of fastBPE, which has the
// count of each merge in a third column and the rules of Version02.
func ReadCodes(r io.Reader, name string) (*Codes, error) {
	c := newCodes(Version01)
	columns := 2
	err := eachLine(r, name, func(n int, line string) error {
		if n == 1 && strings.HasPrefix(line, "#version:") {
			var err error
			c.version, err = parseVersion(line)
			return err
		}
		fields := strings.Split(strings.Trim(line, "\r "), " ")
		if n == 1 && len(fields) == 3 && isCount(fields[2]) {
			c.version, columns = Version02, 3
		}
		if len(fields) != columns || fields[0] == "" || columns == 3 && !isCount(fields[2]) {
			expected := "two symbols with a space between them"
			if columns == 3 {
				expected += " and their count, as in fastBPE"
			}
			return fmt.Errorf("found %s, expected %s", describe(line, len(fields)), expected)
		}
		return c.add([2]string{fields[0], fields[1]})
	})
	if err != nil {
		return nil, err
	}
	return c.end(), nil
}

// isCount reports whether s is a number without a sign.
func isCount(s string) bool {
	_, err := strconv.ParseUint(s, 10, 64)
	return err == nil
}

// describe describes an invalid line with a number of fields.
func describe(line string, fields int) string {
	if strings.Trim(line, "\r ") == "" {
		return "a blank line"
	}
	if fields == 1 {
		return fmt.Sprintf("%.40q", line)
	}
	return fmt.Sprintf("%.40q with %d fields", line, fields)
}

// parseVersion parses the first line of a file of codes.
func parseVersion(line string) (Version, error) {
	fields := strings.Fields(line)
	switch last := fields[len(fields)-1]; {
	case last == "byte":
		return 0, errors.New("found codes of bytes, expected codes of characters, as of learn_bpe.py without --byte")
	case trimZeros(last) == "0.1":
		return Version01, nil
	case trimZeros(last) == "0.2":
		return Version02, nil
	}
	return 0, fmt.Errorf("found %.40q, expected version 0.1 or 0.2", line)
}

// trimZeros removes zeros at the end of a version, as of 0.2.0.
func trimZeros(version string) string {
	for strings.HasSuffix(version, ".0") {
		version = strings.TrimSuffix(version, ".0")
	}
	return version
}

// maxLineBytes is the length limit of a line of a file.
const maxLineBytes = 1 << 16

// eachLine calls f with the number, from 1, and the text of each line of r. Errors begin with name
// and the number.
func eachLine(r io.Reader, name string, f func(n int, line string) error) error {
	b := bufio.NewReaderSize(r, maxLineBytes)
	for n := 1; ; n++ {
		line, err := b.ReadSlice('\n')
		switch {
		case err == io.EOF && len(line) == 0:
			return nil
		case err == bufio.ErrBufferFull:
			return fmt.Errorf("%s:%d: found a line of more than %d bytes", name, n, maxLineBytes)
		case err != nil && err != io.EOF:
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
		if err := f(n, string(bytes.TrimSuffix(line, []byte("\n")))); err != nil {
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
	}
}

// Write writes the codes as a file that ReadCodes and subword-nmt read.
func (c *Codes) Write(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, versionLines[c.version])
	for _, m := range c.lines {
		fmt.Fprintln(b, m[0], m[1])
	}
	return b.Flush()
}

// Segment returns line with a space between the segments of each word, as apply_bpe.py does. Spaces
// and line endings at the begin and the end of line remain, and others become one. With a
// vocabulary, segments that it lacks are split again, into the symbols that were merged.
func (c *Codes) Segment(line string, v *Vocabulary) string {
	const white = "\r\n "
	words := strings.Trim(line, white)
	if words == "" {
		return line
	}
	var out strings.Builder
	start := strings.Index(line, words)
	out.WriteString(line[:start])
	e := newEncoder(c, v)
	separator := ""
	for word := range strings.FieldsFuncSeq(words, func(r rune) bool { return r == ' ' }) {
		out.WriteString(separator)
		separator = " "
		begin := 0
		for _, end := range e.segments(word) {
			if begin > 0 {
				out.WriteString(joint + " ")
			}
			out.WriteString(word[begin:end])
			begin = end
		}
	}
	out.WriteString(line[start+len(words):])
	return out.String()
}
