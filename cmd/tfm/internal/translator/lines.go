package translator

import (
	"io"
	"iter"
	"os"

	"tfm/text"
)

// Lines reads the lines of files, or of standard input without files.
func Lines(files []string, read func(r io.Reader, name string) iter.Seq2[text.Line, error]) iter.Seq2[text.Line, error] {
	if len(files) == 0 {
		return read(os.Stdin, "standard input")
	}
	return func(yield func(text.Line, error) bool) {
		for _, name := range files {
			f, err := os.Open(name)
			if err != nil {
				yield(text.Line{}, err)
				return
			}
			for l, err := range read(f, name) {
				if !yield(l, err) || err != nil {
					f.Close()
					return
				}
			}
			f.Close()
		}
	}
}
