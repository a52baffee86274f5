package text

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"unicode/utf8"
)

// MaxLine is the length limit of a line in bytes, without its end.
const MaxLine = 1 << 20

// Pair is a sentence and its translation.
type Pair struct {
	Source, Target string
	Line           int // number of its lines, from 1
}

// Pairs reads a corpus in two files: line n of one is the translation of line n of the other. Each
// is read as Lines does; unequal line counts are an error that names both.
func Pairs(source, target string) iter.Seq2[Pair, error] {
	return eachPair(func() (*PairReader, error) { return OpenPairs(source, target) })
}

// PairsTSV reads a corpus in one file, with source, tab, target on each line, as Lines does.
func PairsTSV(path string) iter.Seq2[Pair, error] {
	return eachPair(func() (*PairReader, error) { return OpenPairsTSV(path) })
}

func eachPair(open func() (*PairReader, error)) iter.Seq2[Pair, error] {
	return func(yield func(Pair, error) bool) {
		r, err := open()
		if err != nil {
			yield(Pair{}, err)
			return
		}
		defer r.Close()
		for {
			p, err := r.Next()
			if err == io.EOF {
				return
			}
			p.Source, p.Target = strings.Clone(p.Source), strings.Clone(p.Target)
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
}

// Lines reads a text file line by line, in bounded memory, so it may be of any size. Lines end with
// LF or CRLF; the last one need not. A byte order mark at the start is dropped. A file that is
// named .gz or begins like one is decompressed.
//
// After an error, which comes with an empty line, the sequence ends. Errors name the file, and the
// line if there is one: a file that cannot be read, has no line at all, is not UTF-8, has a line
// longer than MaxLine, or is a damaged gzip. Each range over the sequence opens the file anew.
func Lines(path string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		r, err := open(path)
		if err != nil {
			yield("", err)
			return
		}
		defer r.file.Close()
		if r.each(yield) && r.line == 0 {
			yield("", fmt.Errorf("%s: empty, no lines", path))
		}
	}
}

// ReadLines is Lines for an open file, such as standard input, which errors call name. No lines at
// all are no error. The sequence can be ranged over once.
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
	name string
	line int // lines read
	text *bufio.Reader
	buf  []byte // the line being read

	file     *os.File      // nil if the caller opened it
	gz       *gzip.Reader  // nil if it is plain
	gzSource *bufio.Reader // the input of packed
	offset   int64         // bytes of text read
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
	r.file = f
	return r, nil
}

const (
	gzipMagic     = "\x1f\x8b"
	byteOrderMark = "\uFEFF"
)

func newLineReader(r io.Reader, name string) (*lineReader, error) {
	text := bufio.NewReaderSize(r, 1<<16)
	packed := strings.HasSuffix(name, ".gz")
	for n := 1; !packed && n <= len(gzipMagic); n++ { // byte by byte, so as not to wait for interactive input
		start, err := text.Peek(n)
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if string(start) != gzipMagic[:n] {
			break
		}
		packed = n == len(gzipMagic)
	}
	l := &lineReader{name: name, text: text, gzSource: text}
	if packed {
		var err error
		if l.gz, err = gzip.NewReader(text); err != nil {
			return nil, fmt.Errorf("%s: not a gzip file: %w", name, err)
		}
		l.text = bufio.NewReaderSize(l.gz, 1<<16)
	}
	return l, nil
}

// next returns the next line, or io.EOF after the last. The line is valid until the next call.
func (l *lineReader) next() ([]byte, error) {
	l.buf = l.buf[:0]
	err := bufio.ErrBufferFull
	for err == bufio.ErrBufferFull && len(l.buf) <= len(byteOrderMark)+MaxLine+len("\r\n") {
		var part []byte
		part, err = l.text.ReadSlice('\n')
		l.buf = append(l.buf, part...)
	}
	if err == io.EOF && len(l.buf) == 0 {
		return nil, io.EOF
	}
	l.line++
	l.offset += int64(len(l.buf))
	line := l.buf
	if l.line == 1 {
		line = bytes.TrimPrefix(line, []byte(byteOrderMark))
	}
	if n, ok := bytes.CutSuffix(line, []byte("\n")); ok {
		line = bytes.TrimSuffix(n, []byte("\r"))
	}
	switch {
	case len(line) > MaxLine:
		return nil, fmt.Errorf("%s:%d: line longer than %d bytes", l.name, l.line, MaxLine)
	case err != nil && err != io.EOF:
		return nil, fmt.Errorf("%s:%d: %w", l.name, l.line, err)
	case !utf8.Valid(line):
		return nil, fmt.Errorf("%s:%d: invalid UTF-8 at byte %d", l.name, l.line, 1+validPrefix(line))
	}
	return line, nil
}

// each yields all lines and the first error, and reports whether it reached the end.
func (l *lineReader) each(yield func(string, error) bool) bool {
	for {
		switch line, err := l.next(); {
		case err == io.EOF:
			return true
		case !yield(string(line), err) || err != nil:
			return false
		}
	}
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
