package corpus

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"

	"tfm/text"
)

// Text is a sequence of sentence pairs that can be read repeatedly.
type Text struct {
	Name  string                      // for messages, such as "train.en and train.de"
	pairs iter.Seq2[text.Pair, error] // the strings of a pair are valid until the next one is read
	files *text.Files                 // nil if the pairs are not in files
}

// Files returns the pairs of two files: line n of tgt is the translation of line n of src. The
// files can be gzipped.
func Files(src, tgt string) *Text {
	return newText(src+" and "+tgt, text.Files{Source: src, Target: tgt})
}

// TSV returns the pairs of one file with a source, a tab and a target on each line, or of a
// translation memory (TMX). The file can be gzipped.
func TSV(path string) *Text { return newText(path, text.Files{Source: path, OneSided: new(int)}) }

func newText(name string, files text.Files) *Text { return &Text{name, files.Views(), &files} }

// In returns the text with the languages of its sides, BCP 47 tags, which choose among those of
// a translation memory, or tell its sides apart if they are only likely. "" is found.
func (t *Text) In(srcLang, tgtLang string, likely bool) *Text {
	if t == nil || t.files == nil {
		return t
	}
	files := *t.files
	files.SrcLang, files.TgtLang, files.Likely = srcLang, tgtLang, likely
	return newText(t.Name, files)
}

// OneSided returns the number of the units of a translation memory that were left out of the last
// reading, because they have text in one language only.
func (t *Text) OneSided() int {
	if t.files == nil || t.files.OneSided == nil {
		return 0
	}
	return *t.files.OneSided
}

// Pairs returns pairs that are not in files. They cannot be streamed: all ids are kept in memory,
// and BPE-dropout is refused.
func Pairs(name string, pairs iter.Seq2[text.Pair, error]) *Text {
	return &Text{Name: name, pairs: pairs}
}

// Paths returns the files of the source and the target, or the one of a TSV. It is empty if the
// pairs are not in files.
func (t *Text) Paths() []string {
	if t.files == nil {
		return nil
	}
	return t.files.Paths()
}

// All returns the pairs. The strings of a pair are valid until the next one is read.
func (t *Text) All() iter.Seq2[text.Pair, error] { return t.pairs }

// Check returns an error if a file does not exist or is not a regular file, such as a pipe, which
// can be read only once.
func (t *Text) Check() error {
	for _, path := range t.Paths() {
		if path == text.Stdin {
			return errors.New("standard input: expected a regular file, because training reads it more than once")
		}
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
