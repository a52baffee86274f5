package text

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"unicode/utf8"
)

// MaxLine is the length in bytes that a line may have, without its end.
const MaxLine = 1 << 20

// Pair is a sentence and its translation.
type Pair struct {
	Source, Target string
	Line           int // where it is in its files, from 1
}

// Pairs reads a corpus in two files: line n of the one is the translation of
// line n of the other. What holds for Lines holds for each; unequal line counts
// are an error that names both.
func Pairs(source, target string) iter.Seq2[Pair, error] {
	return func(yield func(Pair, error) bool) {
		if err := eachPair(source, target, func(p Pair) bool { return yield(p, nil) }); err != nil {
			yield(Pair{}, err)
		}
	}
}

func eachPair(source, target string, do func(Pair) bool) error {
	s, err := open(source)
	if err != nil {
		return err
	}
	defer s.close()
	t, err := open(target)
	if err != nil {
		return err
	}
	defer t.close()
	for {
		src, srcErr := s.next()
		tgt, tgtErr := t.next()
		switch {
		case srcErr == nil && tgtErr == nil:
			if !do(Pair{src, tgt, s.line}) {
				return nil
			}
			continue
		case srcErr != nil && srcErr != io.EOF:
			return srcErr
		case tgtErr != nil && tgtErr != io.EOF:
			return tgtErr
		case srcErr == nil || tgtErr == nil:
			if err := errors.Join(s.skip(), t.skip()); err != nil {
				return err
			}
			return fmt.Errorf("unequal line counts: %s has %d, %s has %d", source, s.line, target, t.line)
		case s.line == 0:
			return fmt.Errorf("empty corpus: %s and %s have no lines", source, target)
		}
		return nil
	}
}

// PairsTSV reads a corpus in one file: source, tab, target on each line. What
// holds for Lines holds here.
func PairsTSV(path string) iter.Seq2[Pair, error] {
	return func(yield func(Pair, error) bool) {
		n := 0
		for line, err := range Lines(path) {
			n++
			p := Pair{Line: n}
			if err == nil {
				if tabs := strings.Count(line, "\t"); tabs != 1 {
					err = fmt.Errorf("%s:%d: %d columns, want 2: source, tab, target", path, n, tabs+1)
				}
			}
			if err != nil {
				yield(Pair{}, err)
				return
			}
			p.Source, p.Target, _ = strings.Cut(line, "\t")
			if !yield(p, nil) {
				return
			}
		}
	}
}

// Lines reads a text file line by line, in bounded memory, so it may be of any
// size. Lines end with LF or CRLF; the last one need not. A byte order mark at
// the start is dropped. A file that is named .gz or begins like one is
// unpacked.
//
// After an error, which comes with an empty line, the sequence ends. Errors name
// the file, and where it makes sense the line: a file that cannot be read, holds
// no line at all, is not UTF-8, has a line longer than MaxLine, or is no intact
// gzip. Each range over the sequence opens the file anew.
func Lines(path string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		r, err := open(path)
		if err != nil {
			yield("", err)
			return
		}
		defer r.close()
		if r.each(yield) && r.line == 0 {
			yield("", fmt.Errorf("%s: empty, no lines", path))
		}
	}
}

// ReadLines is Lines for what is open already, such as standard input; name
// stands for it in errors. No lines at all are no error here. The sequence can
// be ranged over once.
func ReadLines(r io.Reader, name string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		l, err := newLineReader(r, name)
		if err != nil {
			yield("", err)
			return
		}
		l.each(yield)
	}
}

type lineReader struct {
	name  string
	line  int // lines read
	text  *bufio.Reader
	long  []byte // a line that is being put together
	close func() error
}

func open(path string) (*lineReader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r, err := newLineReader(f, path)
	if err != nil {
		f.Close()
		return nil, err
	}
	r.close = f.Close // it was only read, there is nothing to lose
	return r, nil
}

const (
	gzipMagic     = "\x1f\x8b"
	byteOrderMark = "\uFEFF"
)

func newLineReader(r io.Reader, name string) (*lineReader, error) {
	text := bufio.NewReaderSize(r, 1<<16)
	packed := strings.HasSuffix(name, ".gz")
	for n := 1; !packed && n <= len(gzipMagic); n++ { // byte by byte, not to wait for the second one of an interactive input
		start, err := text.Peek(n)
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if string(start) != gzipMagic[:n] {
			break
		}
		packed = n == len(gzipMagic)
	}
	if packed {
		z, err := gzip.NewReader(text)
		if err != nil {
			return nil, fmt.Errorf("%s: not a gzip file: %w", name, err)
		}
		text = bufio.NewReaderSize(z, 1<<16)
	}
	return &lineReader{name: name, text: text}, nil
}

// next returns the next line, or io.EOF after the last.
func (l *lineReader) next() (string, error) {
	l.long = l.long[:0]
	err := bufio.ErrBufferFull
	for err == bufio.ErrBufferFull && len(l.long) <= len(byteOrderMark)+MaxLine+len("\r\n") {
		var part []byte
		part, err = l.text.ReadSlice('\n')
		l.long = append(l.long, part...)
	}
	if err == io.EOF && len(l.long) == 0 {
		return "", io.EOF
	}
	l.line++
	line := l.long
	if l.line == 1 {
		line = bytes.TrimPrefix(line, []byte(byteOrderMark))
	}
	if n, ok := bytes.CutSuffix(line, []byte("\n")); ok {
		line = bytes.TrimSuffix(n, []byte("\r"))
	}
	switch {
	case len(line) > MaxLine:
		return "", fmt.Errorf("%s:%d: line longer than %d bytes", l.name, l.line, MaxLine)
	case err != nil && err != io.EOF:
		return "", fmt.Errorf("%s:%d: %w", l.name, l.line, err)
	case !utf8.Valid(line):
		return "", fmt.Errorf("%s:%d: invalid UTF-8 at byte %d", l.name, l.line, 1+validPrefix(line))
	}
	return string(line), nil
}

// each hands all lines to yield, and the error if there is one. It reports
// whether it got to the end.
func (l *lineReader) each(yield func(string, error) bool) bool {
	for {
		switch line, err := l.next(); {
		case err == io.EOF:
			return true
		case !yield(line, err) || err != nil:
			return false
		}
	}
}

// skip reads to the end, to know the number of lines.
func (l *lineReader) skip() error {
	var err error
	l.each(func(_ string, e error) bool { err = e; return e == nil })
	return err
}

func validPrefix(b []byte) int {
	n := 0
	for n < len(b) {
		r, size := utf8.DecodeRune(b[n:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		n += size
	}
	return n
}
