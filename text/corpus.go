package text

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"unicode/utf8"

	"tfm/text/charset"
)

// MaxLine is the maximum length of a line in bytes, without its line ending.
const MaxLine = 1 << 20

// Pair is a sentence and its translation.
type Pair struct {
	Source, Target string
	Line           int // line number in the corpus, from 1
}

// Files are the paths of a corpus: of two files, in which line n of Target is the translation of
// line n of Source, or of one file. Then Target is empty, and the file is TSV, whose lines are
// source, tab, target, or a translation memory (TMX), whose units are read as such lines.
type Files struct {
	Source, Target string

	ExtraColumns bool // of TSV are ignored

	// Languages of a TMX, as BCP 47 tags, which it needs if it has more than two. Likely: guessed
	// from tags, not declared, so that they only tell source from target. Each reading sets, if not
	// nil, the number of units with text in one of the two only, and the languages.
	SrcLang, TgtLang string
	Likely           bool
	OneSided         *int
	Languages        *[2]string
}

// Paths returns the one or two files.
func (f Files) Paths() []string {
	if f.Target == "" {
		return []string{f.Source}
	}
	return []string{f.Source, f.Target}
}

// Pairs reads the pairs, as Lines reads each file. If the line counts differ, the error names both
// files.
func (f Files) Pairs() iter.Seq2[Pair, error] {
	return sequence(f.Open, func(r *PairReader) (Pair, error) {
		p, err := r.Next()
		p.Source, p.Target = strings.Clone(p.Source), strings.Clone(p.Target)
		return p, err
	})
}

// Views is Pairs without copying: the strings of a pair are valid until the next one is read.
func (f Files) Views() iter.Seq2[Pair, error] { return sequence(f.Open, (*PairReader).Next) }

// Lines reads a text file of any size line by line, in bounded memory. Lines end with LF or CRLF,
// which the last line may lack. A byte order mark at the start is dropped. A file whose name ends
// in .gz, or that begins with the magic bytes of gzip, is decompressed. The path Stdin is standard
// input, which can be read once.
//
// The sequence ends after an error, which comes with an empty line. Unreadable and empty files,
// invalid UTF-8, lines longer than MaxLine and damaged gzip are errors. They name the file and,
// where there is one, the line. Each range over the sequence reopens the file.
func Lines(path string) iter.Seq2[string, error] {
	return sequence(func() (*lineReader, error) { return open(path) }, func(l *lineReader) (string, error) {
		line, err := l.next()
		if err == io.EOF && l.line == 0 {
			err = fmt.Errorf("%s: empty file", l.name)
		}
		return string(line), err
	})
}

// ReadLines is like Lines but reads r, which errors call name, and allows it to be empty. The
// sequence can be ranged over once.
func ReadLines(r io.Reader, name string) iter.Seq2[string, error] {
	return sequence(func() (*lineReader, error) { return newLineReader(r, name) }, func(l *lineReader) (string, error) {
		line, err := l.next()
		return string(line), err
	})
}

// sequence returns the sequence of what next returns from a reader, until io.EOF or another error.
// It opens and closes a reader in each iteration.
func sequence[R io.Closer, T any](open func() (R, error), next func(R) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		r, err := open()
		if err != nil {
			var none T
			yield(none, err)
			return
		}
		defer r.Close()
		for err == nil {
			var x T
			if x, err = next(r); err == io.EOF || !yield(x, err) {
				return
			}
		}
	}
}

// Each calls do with each line or pair of list. It returns the first error of list or do, or the
// cause of the end of ctx.
func Each[T any](ctx context.Context, list iter.Seq2[T, error], do func(T) error) error {
	for x, err := range list {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err == nil {
			err = do(x)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lineReader reads the lines of a plain or gzipped text.
type lineReader struct {
	name string        // for errors
	text *bufio.Reader // decompressed
	buf  []byte        // the current line with its ending

	line   int   // lines read
	offset int64 // bytes of text read

	file     *os.File      // nil if the caller opened it
	tmx      *Files        // of a translation memory, else nil
	gz       *gzip.Reader  // nil for plain text
	gzSource *bufio.Reader // input of gz
}

// Stdin is the path of standard input.
const Stdin = "-"

// InputName returns what errors call the input at path.
func InputName(path string) string {
	if path == Stdin {
		return "standard input"
	}
	return path
}

// OpenInput opens the file at path, or returns standard input.
func OpenInput(path string) (*os.File, error) {
	if path == Stdin {
		return os.Stdin, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, fmt.Errorf("%s: found a directory, expected a file", path)
	}
	return f, nil
}

func open(path string) (*lineReader, error) {
	f, err := OpenInput(path)
	if err != nil {
		return nil, err
	}
	r, err := newLineReader(f, InputName(path))
	if err != nil {
		f.Close()
		return nil, err
	}
	r.file = f
	return r, nil
}

// Close closes the file. Errors of files opened for reading lose no data.
func (l *lineReader) Close() error {
	if l.file != nil {
		l.file.Close()
	}
	return nil
}

const (
	gzipMagic = "\x1f\x8b"

	// maxLineBytes is the length of the longest line with a byte order mark and its ending.
	maxLineBytes = len(charset.Mark) + MaxLine + len("\r\n")
)

// stickyEOF reads r up to its first io.EOF. A terminal continues after Ctrl-D, and bufio.Reader
// forgets an io.EOF that it has returned.
type stickyEOF struct {
	r     io.Reader
	ended bool
}

func (s *stickyEOF) Read(p []byte) (int, error) {
	if s.ended {
		return 0, io.EOF
	}
	n, err := s.r.Read(p)
	s.ended = err == io.EOF
	return n, err
}

func newLineReader(r io.Reader, name string) (*lineReader, error) {
	text := bufio.NewReaderSize(&stickyEOF{r: r}, 1<<16)
	gzipped := strings.HasSuffix(name, ".gz")
	// One more byte at a time, because interactive input may have no more.
	for n := 1; !gzipped && n <= len(gzipMagic); n++ {
		start, err := text.Peek(n)
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if string(start) != gzipMagic[:n] {
			break
		}
		gzipped = n == len(gzipMagic)
	}
	l := &lineReader{name: name, text: text, gzSource: text}
	if gzipped {
		var err error
		if l.gz, err = gzip.NewReader(text); err != nil {
			return nil, fmt.Errorf("%s: not a gzip file: %w", name, err)
		}
		l.text = bufio.NewReaderSize(l.gz, 1<<16)
	}
	return l, nil
}

// read returns the next line without its ending, and its length without LF; io.EOF after the last.
// The line is valid until the next call. Of a line of more than maxLineBytes it returns the begin,
// and reads the rest if whole.
func (l *lineReader) read(whole bool) (line []byte, length int, err error) {
	l.buf = l.buf[:0]
	err = bufio.ErrBufferFull
	for err == bufio.ErrBufferFull && (whole || length <= maxLineBytes) {
		var chunk []byte
		chunk, err = l.text.ReadSlice('\n')
		length += len(chunk)
		l.buf = append(l.buf, chunk[:min(len(chunk), maxLineBytes-len(l.buf))]...)
	}
	if err == io.EOF && length == 0 {
		return nil, 0, io.EOF
	}
	l.line++
	l.offset += int64(length)
	line = l.buf
	if l.line == 1 {
		line = bytes.TrimPrefix(line, []byte(charset.Mark))
	}
	if n, ok := bytes.CutSuffix(line, []byte("\n")); ok && length <= maxLineBytes {
		line = bytes.TrimSuffix(n, []byte("\r"))
	}
	switch err {
	case nil:
		length-- // LF
	case io.EOF, bufio.ErrBufferFull:
		err = nil
	}
	return line, length, err
}

// next returns the next line, or io.EOF after the last. The line is valid until the next call.
func (l *lineReader) next() ([]byte, error) {
	line, _, err := l.read(false)
	if err == io.EOF {
		return nil, err
	}
	switch {
	case len(line) > MaxLine:
		return nil, fmt.Errorf("%s:%d: line longer than %d bytes, expected one sentence", l.name, l.line, MaxLine)
	case err == io.ErrUnexpectedEOF:
		return nil, fmt.Errorf("%s:%d: truncated gzip file: %w", l.name, l.line, err)
	case err != nil:
		return nil, l.failed(err)
	case !utf8.Valid(line):
		return nil, fmt.Errorf("%s:%d: invalid UTF-8 at byte %d, expected text in UTF-8%s", l.name, l.line, 1+charset.Invalid(view(line)), l.encodingHint(line))
	}
	return line, nil
}

// failed returns the error of the current line, whose text cannot be read.
func (l *lineReader) failed(err error) error {
	if errors.As(err, new(tmxError)) {
		return err
	}
	return fmt.Errorf("%s:%d: %w", l.name, l.line, err)
}

// encodingHint returns the end of a message on the current line, which is invalid UTF-8: the
// command that converts it from the encoding that it seems to have, or "".
func (l *lineReader) encodingHint(line []byte) string {
	if l.line == 1 && bytes.HasPrefix(line, []byte("PK\x03\x04")) {
		return " (a zip archive: unzip it)"
	}
	name, iconv := charset.Guess(string(line))
	if name == "" {
		return ""
	}
	return fmt.Sprintf(" (%s? convert it: iconv -f %s -t utf-8)", name, iconv)
}
