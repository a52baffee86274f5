package corpus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"

	"tfm/text"
)

// Text is a sequence of sentence pairs that can be read repeatedly.
type Text struct {
	Name  string // for messages, such as "train.en and train.de"
	pairs iter.Seq2[text.Pair, error]
	files *files // nil if the pairs are not in files
}

// files are the files of a Text. src and tgt are equal for a TSV.
type files struct {
	src, tgt string
	tsv      bool
	open     func() (*text.PairReader, error)
}

// Files returns the pairs of two files: line n of tgt is the translation of line n of src. The
// files can be gzipped.
func Files(src, tgt string) *Text {
	return newText(fmt.Sprintf("%s and %s", src, tgt), files{src, tgt, false, func() (*text.PairReader, error) { return text.OpenPairs(src, tgt) }})
}

// TSV returns the pairs of one file with a source, a tab and a target on each line. The file can
// be gzipped.
func TSV(path string) *Text {
	return newText(path, files{path, path, true, func() (*text.PairReader, error) { return text.OpenPairsTSV(path) }})
}

// Pairs returns pairs that are not in files. They cannot be streamed: all ids are kept in memory,
// and BPE-dropout is refused.
func Pairs(name string, pairs iter.Seq2[text.Pair, error]) *Text {
	return &Text{Name: name, pairs: pairs}
}

func newText(name string, f files) *Text {
	return &Text{name, func(yield func(text.Pair, error) bool) {
		r, err := f.open()
		if err != nil {
			yield(text.Pair{}, err)
			return
		}
		defer r.Close()
		for {
			p, err := r.Next()
			if err == io.EOF || !yield(p, err) || err != nil {
				return
			}
		}
	}, &f}
}

// Paths returns the files of the source and the target, or the one of a TSV. It is empty if the
// pairs are not in files.
func (t *Text) Paths() []string {
	switch {
	case t.files == nil:
		return nil
	case t.files.tsv:
		return []string{t.files.src}
	}
	return []string{t.files.src, t.files.tgt}
}

// Check returns an error if a file does not exist or is not a regular file, such as a pipe, which
// can be read only once.
func (t *Text) Check() error {
	if t.files == nil {
		return nil
	}
	for _, path := range []string{t.files.src, t.files.tgt} {
		info, err := os.Stat(path)
		var pathError *fs.PathError
		if errors.As(err, &pathError) {
			return fmt.Errorf("%s: %w", path, pathError.Err) // without the name of the system call
		}
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			found := "a special file"
			if info.IsDir() {
				found = "a directory"
			}
			return fmt.Errorf("%s: found %s, expected a regular file, because training reads it more than once", path, found)
		}
	}
	return nil
}

// forEach calls do with each pair, whose strings are valid until do returns. When ctx ends, it
// returns the cause.
func (t *Text) forEach(ctx context.Context, do func(text.Pair)) error {
	for p, err := range t.pairs {
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		do(p)
	}
	return nil
}
