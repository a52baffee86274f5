package corpus

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"

	"tfm/text"
)

// Text is pairs of sentences that can be read any number of times.
type Text struct {
	Name  string // for people: "train.en and train.de"
	pairs iter.Seq2[text.Pair, error]
	files *files // nil if it is not in files
}

// files are the two files of a Text, twice the same one if it is in one.
type files struct {
	src, tgt string
	open     func() (*text.PairReader, error)
}

// Files returns the pairs of two files: line n of tgt translates line n of src. Files may be
// gzipped.
func Files(src, tgt string) *Text {
	return newText(fmt.Sprintf("%s and %s", src, tgt), files{src, tgt, func() (*text.PairReader, error) { return text.OpenPairs(src, tgt) }})
}

// TSV returns the pairs of one file, on each line a source, a tab and its target. The file may be
// gzipped.
func TSV(path string) *Text {
	return newText(path, files{path, path, func() (*text.PairReader, error) { return text.OpenPairsTSV(path) }})
}

// Pairs returns pairs that are not in files. They cannot be streamed: all that they encode to is
// kept in memory, and BPE-dropout is an error.
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

// Check reports a file that cannot be opened, or that can be read only once, such as a pipe.
func (t *Text) Check() error {
	if t.files == nil {
		return nil
	}
	for _, path := range []string{t.files.src, t.files.tgt} {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is no regular file: training reads its text more than once", path)
		}
	}
	return nil
}

// each calls do with each pair, whose strings are valid until do returns. It ends early with ctx's
// cause.
func (t *Text) each(ctx context.Context, do func(text.Pair)) error {
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
