package text

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"unsafe"
)

// PairReader reads the pairs of a corpus, as Files.Pairs does, and can seek. It allocates only for
// lines longer than all before. Close it after use. It is not safe for concurrent use.
type PairReader struct {
	source, target *lineReader // the same for a TSV file
	extraColumns   bool        // of a TSV file are ignored
}

// Place is the start of a pair in a corpus.
type Place struct {
	line           int   // lines before it
	source, target int64 // bytes of text before it
}

// Open opens the files. Errors name the file.
func (f Files) Open() (*PairReader, error) {
	s, err := open(f.Source)
	if err != nil {
		return nil, err
	}
	if f.Target == "" {
		s.readTMX(f)
		return &PairReader{s, s, f.ExtraColumns}, nil
	}
	t, err := open(f.Target)
	if err != nil {
		s.Close()
		return nil, err
	}
	return &PairReader{source: s, target: t}, nil
}

// readTMX reads the lines of a translation memory, if the file is one.
func (l *lineReader) readTMX(f Files) {
	if lines := openTMX(l.text, f); lines != nil {
		l.text, l.tmx = bufio.NewReaderSize(lines, 1<<16), &f
	}
}

// Next returns the next pair, or io.EOF after the last. Its strings are valid until the next call.
// Other errors name the file and line, and leave the reader unusable.
func (r *PairReader) Next() (Pair, error) {
	src, tgt, err := nextLines(r, (*lineReader).next)
	if err != nil {
		return Pair{}, err
	}
	if r.source == r.target {
		switch tabs := bytes.Count(src, []byte{'\t'}); {
		case tabs == 0:
			return Pair{}, fmt.Errorf("%s:%d: found no tab, expected source, tab, target", r.source.name, r.source.line)
		case tabs > 1 && !r.extraColumns:
			return Pair{}, fmt.Errorf("%s:%d: found %d tabs, expected 1: source, tab, target (cut -f1,2 keeps the first two columns)", r.source.name, r.source.line, tabs)
		}
		src, tgt, _ = bytes.Cut(src, []byte{'\t'})
		tgt, _, _ = bytes.Cut(tgt, []byte{'\t'})
	}
	return Pair{view(src), view(tgt), r.source.line}, nil
}

// nextLines reads the next line of each file by next. Those of a TSV file are the same.
func nextLines[T any](r *PairReader, next func(*lineReader) (T, error)) (src, tgt T, err error) {
	src, err = next(r.source)
	if r.source == r.target {
		if err == io.EOF && r.source.line == 0 {
			err = fmt.Errorf("%s: empty file", r.source.name)
		}
		return src, src, err
	}
	tgt, tgtErr := next(r.target)
	switch {
	case err != nil && err != io.EOF:
		return src, tgt, err
	case tgtErr != nil && tgtErr != io.EOF:
		return src, tgt, tgtErr
	case (err == nil) != (tgtErr == nil):
		if err := errors.Join(skipToEnd(r.source, next), skipToEnd(r.target, next)); err != nil {
			return src, tgt, err
		}
		return src, tgt, fmt.Errorf("unequal line counts: %s has %d, %s has %d", r.source.name, r.source.line, r.target.name, r.target.line)
	case err == io.EOF && r.source.line == 0:
		return src, tgt, fmt.Errorf("empty corpus: %s and %s have no lines", r.source.name, r.target.name)
	}
	return src, tgt, err
}

// skipToEnd reads the remaining lines by next, to count them.
func skipToEnd[T any](l *lineReader, next func(*lineReader) (T, error)) error {
	for {
		if _, err := next(l); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// Place returns the place of the next pair.
func (r *PairReader) Place() Place {
	return Place{r.source.line, r.source.offset, r.target.offset}
}

// Seek moves to a place of this corpus. In a gzipped file or a translation memory it reads the text
// before the place, from the start of the file if the place is behind.
func (r *PairReader) Seek(p Place) error {
	err := r.source.seek(p.line, p.source)
	if err == nil && r.target != r.source {
		err = r.target.seek(p.line, p.target)
	}
	return err
}

// Close closes the files.
func (r *PairReader) Close() error {
	return errors.Join(r.source.Close(), r.target.Close())
}

// seek moves to the place after line lines, which are offset bytes of text.
func (l *lineReader) seek(line int, offset int64) error {
	if l.offset == offset {
		return nil
	}
	var err error
	if l.gz == nil && l.tmx == nil {
		_, err = l.file.Seek(offset, io.SeekStart)
		l.text.Reset(l.file)
		l.line, l.offset = line, offset
	} else if l.offset > offset {
		_, err = l.file.Seek(0, io.SeekStart)
		var from io.Reader = l.file
		if l.gz != nil {
			l.gzSource.Reset(l.file)
			err = errors.Join(err, l.gz.Reset(l.gzSource))
			from = l.gz
		}
		l.text.Reset(from)
		l.line, l.offset = 0, 0
		if l.tmx != nil {
			l.readTMX(*l.tmx)
		}
	}
	if err != nil {
		return fmt.Errorf("%s:%d: %w", l.name, line+1, err)
	}
	for l.line < line {
		if _, err := l.next(); err == io.EOF {
			return fmt.Errorf("%s: ends after line %d, expected more than %d", l.name, l.line, line)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// view returns b as a string without copying. The string changes with b.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
