package subword

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"tfm/text/tokenizer/internal/merges"
)

const (
	joint     = "@@"
	endOfWord = "</w>"
)

// versionLine begins a file of codes. The end of a word is part of its last character, unlike in
// version 0.1.
const versionLine = "#version: 0.2"

// Codes are the merges of a file of codes. They are immutable and safe for concurrent use.
type Codes struct {
	lines [][2]string // as in the file

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
func NewCodes(list [][2]string) (*Codes, error) {
	c := newCodes()
	for i, m := range list {
		if err := c.add(m); err != nil {
			return nil, fmt.Errorf("merge %d: %w", i+1, err)
		}
	}
	return c.end(), nil
}

// newCodes returns codes without merges. Add adds them, and end must follow.
func newCodes() *Codes {
	return &Codes{symbols: map[string]int32{}, table: merges.NewTable(0), parts: map[string][2]string{}}
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

// ReadCodes reads a file of codes, which errors name.
func ReadCodes(r io.Reader, name string) (*Codes, error) {
	c := newCodes()
	err := eachLine(r, name, func(n int, line string) error {
		line = strings.Trim(line, "\r ")
		if n == 1 {
			if line != versionLine {
				return fmt.Errorf("found %.40q, expected %s, of characters, as of subword-nmt since 0.2", line, versionLine)
			}
			return nil
		}
		left, right, _ := strings.Cut(line, " ")
		return c.add([2]string{left, right})
	})
	if err != nil {
		return nil, err
	}
	return c.end(), nil
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
	fmt.Fprintln(b, versionLine)
	for _, m := range c.lines {
		fmt.Fprintln(b, m[0], m[1])
	}
	return b.Flush()
}
