package translator

import (
	"cmp"
	"io"
	"iter"
	"slices"

	"tfm/cmd/tfm/internal/cli"
	"tfm/text"
)

// Inputs returns the files that arguments name, or standard input without any. It reports standard
// input that is named twice, in args and others, which are values of flags.
func Inputs(args []string, others ...string) ([]string, error) {
	if len(args) == 0 {
		args = []string{text.Stdin}
	}
	stdin := 0
	for _, path := range slices.Concat(args, others) {
		if path == text.Stdin {
			stdin++
		}
	}
	return args, cmp.Or(
		cli.UsageIf(slices.Contains(args, ""), "found an empty name, expected that of a file"),
		cli.UsageIf(stdin > 1, "standard input can be read once, and is named %d times", stdin),
	)
}

// Lines reads the lines of files.
func Lines(files []string, read func(r io.Reader, name string) iter.Seq2[text.Line, error]) iter.Seq2[text.Line, error] {
	return LinesOf(files, func(name string) (io.ReadCloser, error) { return text.OpenInput(name) }, read)
}

// LinesOf is Lines with another function that opens a file.
func LinesOf(files []string, open func(name string) (io.ReadCloser, error), read func(r io.Reader, name string) iter.Seq2[text.Line, error]) iter.Seq2[text.Line, error] {
	return func(yield func(text.Line, error) bool) {
		for _, name := range files {
			f, err := open(name)
			if err != nil {
				yield(text.Line{}, err)
				return
			}
			for l, err := range read(f, text.InputName(name)) {
				if !yield(l, err) || err != nil {
					f.Close()
					return
				}
			}
			f.Close()
		}
	}
}
