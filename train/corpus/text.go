package corpus

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"

	"tfm/internal/format"
	"tfm/text"
)

// Text is a sequence of sentence pairs that can be read repeatedly.
type Text struct {
	Name   string                      // for messages, such as "train.en and train.de"
	pairs  iter.Seq2[text.Pair, error] // the strings of a pair are valid until the next one is read
	parts  []Dataset                   // the files; nil if the pairs are not in files
	counts []int                       // pairs of each part, by the last reading
	stages []Stage                     // of a Mix, else nil
}

// Files returns the pairs of two files: line n of tgt is the translation of line n of src. The
// files can be gzipped.
func Files(src, tgt string) *Text {
	return newText(src+" and "+tgt, nil, Dataset{Files: text.Files{Source: src, Target: tgt}})
}

// TSV returns the pairs of one file with a source, a tab and a target on each line, or of a
// translation memory (TMX). The file can be gzipped.
func TSV(path string) *Text {
	return newText(path, nil, Dataset{Files: text.Files{Source: path, OneSided: new(int)}})
}

func newText(name string, stages []Stage, parts ...Dataset) *Text {
	t := &Text{Name: name, parts: parts, counts: make([]int, len(parts)), stages: stages}
	t.pairs = t.read
	return t
}

// read implements Text.pairs for files. The pairs of a mix have the numbers of all together.
func (t *Text) read(yield func(text.Pair, error) bool) {
	before := 0
	clear(t.counts)
	for i, s := range t.parts {
		for p, err := range s.Files.Views() {
			if err == nil {
				t.counts[i]++
				p.Line += before
				p.Source = s.tagged(p.Source)
			}
			if !yield(p, err) || err != nil {
				return
			}
		}
		before += t.counts[i]
	}
}

// part returns the index of the part whose pair was read last, during a reading.
func (t *Text) part() int {
	i := len(t.counts) - 1
	for i > 0 && t.counts[i] == 0 {
		i--
	}
	return max(i, 0)
}

// dataset returns part i, the zero Dataset if the pairs are not in files.
func (t *Text) dataset(i int) Dataset {
	if t.parts == nil {
		return Dataset{}
	}
	return t.parts[i]
}

// locate returns the part of pair n, from 1, of the pairs that have been read, and its number in
// it.
func (t *Text) locate(n int) (part, line int) {
	for part < len(t.counts)-1 && n > t.counts[part] {
		n -= t.counts[part]
		part++
	}
	return part, n
}

// Place describes the place of pair n, from 1, of the pairs that have been read: its line, and the
// file of a Mix.
func (t *Text) Place(n int) string {
	part, line := t.locate(n)
	place := "line " + format.Thousands(line)
	if t.stages != nil {
		place += " of " + t.parts[part].Files.Source
	}
	return place
}

// In returns the text with the languages of its sides, BCP 47 tags, which choose among those of
// a translation memory, except those that a source names itself. If likely, they only decide which
// side is the source, for sources that name none. "" is found.
func (t *Text) In(srcLang, tgtLang string, likely bool) *Text {
	if t == nil {
		return nil
	}
	parts := slices.Clone(t.parts)
	for i := range parts {
		f := &parts[i].Files
		f.Likely = likely && f.SrcLang+f.TgtLang == ""
		f.SrcLang, f.TgtLang = cmp.Or(f.SrcLang, srcLang), cmp.Or(f.TgtLang, tgtLang)
	}
	if parts == nil {
		return t
	}
	return newText(t.Name, t.stages, parts...)
}

// OneSided returns the number of the units of translation memories that were left out of the last
// reading, because they have text in one language only.
func (t *Text) OneSided() int {
	n := 0
	for _, s := range t.parts {
		if s.Files.OneSided != nil {
			n += *s.Files.OneSided
		}
	}
	return n
}

// Pairs returns pairs that are not in files. They cannot be streamed: all ids are kept in memory.
func Pairs(name string, pairs iter.Seq2[text.Pair, error]) *Text {
	return &Text{Name: name, pairs: pairs}
}

// Paths returns the files of the source and the target, or the one of a TSV; of a Mix those of all
// sources. It is empty if the pairs are not in files.
func (t *Text) Paths() (paths []string) {
	for _, s := range t.parts {
		paths = append(paths, s.Files.Paths()...)
	}
	return paths
}

// Mix returns the sources and stages of the text of a Mix, and the numbers of pairs that the last
// reading found; nil for other texts.
func (t *Text) Mix() (m *Mix, pairs []int) {
	if t.stages == nil {
		return nil, nil
	}
	return &Mix{t.parts, t.stages}, t.counts
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
