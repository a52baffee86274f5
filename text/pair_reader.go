package text

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unsafe"
)

// PairReader reads a corpus one pair after another, as Pairs and PairsTSV do, and can return to an
// earlier place. It allocates only for a line longer than all before. Close it after use. It is not
// safe for concurrent use.
type PairReader struct {
	source, target *lineReader // one if the corpus is one file
}

// Place is a place of a corpus, before a pair.
type Place struct {
	line           int
	source, target int64
}

// OpenPairs opens a corpus in two files. Errors name the file.
func OpenPairs(source, target string) (*PairReader, error) {
	s, err := open(source)
	if err != nil {
		return nil, err
	}
	t, err := open(target)
	if err != nil {
		s.file.Close()
		return nil, err
	}
	return &PairReader{s, t}, nil
}

// OpenPairsTSV opens a corpus in one file. Errors name it.
func OpenPairsTSV(path string) (*PairReader, error) {
	r, err := open(path)
	if err != nil {
		return nil, err
	}
	return &PairReader{r, r}, nil
}

// Next returns the next pair, or io.EOF after the last. Its texts are valid until the next call.
// After another error, which names file and line, the reader cannot be used.
func (r *PairReader) Next() (Pair, error) {
	src, tgt, err := r.next()
	if err != nil {
		return Pair{}, err
	}
	return Pair{view(src), view(tgt), r.source.line}, nil
}

func (r *PairReader) next() (src, tgt []byte, err error) {
	src, err = r.source.next()
	if err == io.EOF && r.source.line == 0 && r.source == r.target {
		return nil, nil, fmt.Errorf("%s: empty, no lines", r.source.name)
	}
	if r.source == r.target {
		if err != nil {
			return nil, nil, err
		}
		if tabs := bytes.Count(src, []byte{'\t'}); tabs != 1 {
			return nil, nil, fmt.Errorf("%s:%d: %d columns, want 2: source, tab, target", r.source.name, r.source.line, tabs+1)
		}
		src, tgt, _ = bytes.Cut(src, []byte{'\t'})
		return src, tgt, nil
	}
	tgt, tgtErr := r.target.next()
	switch {
	case err != nil && err != io.EOF:
		return nil, nil, err
	case tgtErr != nil && tgtErr != io.EOF:
		return nil, nil, tgtErr
	case (err == nil) != (tgtErr == nil):
		if err := errors.Join(r.source.skipToEnd(), r.target.skipToEnd()); err != nil {
			return nil, nil, err
		}
		return nil, nil, fmt.Errorf("unequal line counts: %s has %d, %s has %d", r.source.name, r.source.line, r.target.name, r.target.line)
	case err == io.EOF && r.source.line == 0:
		return nil, nil, fmt.Errorf("empty corpus: %s and %s have no lines", r.source.name, r.target.name)
	}
	return src, tgt, err
}

// Place returns the place of the next pair.
func (r *PairReader) Place() Place {
	return Place{r.source.line, r.source.offset, r.target.offset}
}

// Seek goes to a place of this corpus: at once in a plain file, and in a gzipped one by reading up
// to it, from the start if it is behind.
func (r *PairReader) Seek(p Place) error {
	err := r.source.seek(p.line, p.source)
	if err == nil && r.target != r.source {
		err = r.target.seek(p.line, p.target)
	}
	return err
}

// Close closes the files.
func (r *PairReader) Close() error {
	r.source.file.Close() // opened for reading only: no error loses data
	r.target.file.Close()
	return nil
}

// skipToEnd reads the remaining lines, to count them.
func (l *lineReader) skipToEnd() error {
	for {
		if _, err := l.next(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// seek goes to where line lines and offset bytes of text have been read.
func (l *lineReader) seek(line int, offset int64) error {
	if l.offset == offset {
		return nil
	}
	var err error
	if l.gz == nil {
		_, err = l.file.Seek(offset, io.SeekStart)
		l.text.Reset(l.file)
		l.line, l.offset = line, offset
	} else if l.offset > offset {
		_, err = l.file.Seek(0, io.SeekStart)
		l.gzSource.Reset(l.file)
		err = errors.Join(err, l.gz.Reset(l.gzSource))
		l.text.Reset(l.gz)
		l.line, l.offset = 0, 0
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

// view returns b as a string without a copy: it changes when b does.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
