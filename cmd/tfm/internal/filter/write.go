package filter

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/model/safetensors"
	"tfm/text"
)

// Outputs returns the files of pairs in a folder that have the names and the form of c. If both
// sides have one name, such as de/train.txt and en/train.txt, they become train.txt.src and
// train.txt.tgt.
func (c *Corpus) Outputs(dir string) (paths []string) {
	for _, name := range c.names() {
		paths = append(paths, filepath.Join(dir, name))
	}
	if len(paths) == 2 && paths[0] == paths[1] {
		path, gz := cutGzip(paths[0])
		paths = []string{path + ".src" + gz, path + ".tgt" + gz}
	}
	return paths
}

// SetOutputs returns the files of a part of the pairs in a folder: its name with the extensions of
// c, or with .src and .tgt if they are equal.
func (c *Corpus) SetOutputs(dir, set string) (paths []string) {
	var extensions, zipped []string
	for _, name := range c.names() {
		name, gz := cutGzip(name)
		extensions, zipped = append(extensions, filepath.Ext(name)), append(zipped, gz)
	}
	if len(extensions) == 2 && extensions[0] == extensions[1] {
		extensions = []string{".src", ".tgt"}
	}
	for i, extension := range extensions {
		paths = append(paths, filepath.Join(dir, set+extension+zipped[i]))
	}
	return paths
}

// names returns the names of the files. A translation memory becomes TSV.
func (c *Corpus) names() (names []string) {
	for _, path := range c.Files().Paths() {
		name, gz := cutGzip(filepath.Base(path))
		if base, ok := strings.CutSuffix(name, ".tmx"); ok && c.tsv != "" {
			name = base + ".tsv"
		}
		names = append(names, name+gz)
	}
	return names
}

// cutGzip returns name without .gz, and .gz if name ends in it.
func cutGzip(name string) (base, gz string) {
	if base, ok := strings.CutSuffix(name, ".gz"); ok {
		return base, ".gz"
	}
	return name, ""
}

// makeFolder makes a folder and its parents. undo removes those that it made, if they are empty.
func makeFolder(dir string) (undo func(), err error) {
	var made []string
	dir = filepath.Clean(dir)
	for d := dir; errors.Is(stat(d), fs.ErrNotExist); d = filepath.Dir(d) {
		made = append(made, d)
	}
	undo = func() {
		for _, d := range made {
			os.Remove(d)
		}
	}
	return undo, os.MkdirAll(dir, 0o777)
}

func stat(path string) error {
	_, err := os.Stat(path)
	return err
}

// CheckOutputs reports outputs in a folder that cannot be written or that would replace an input.
// It leaves no new folder behind.
func CheckOutputs(folder string, outputs, inputs []string) error {
	undo, err := makeFolder(folder)
	defer undo()
	if err != nil {
		return err
	}
	for i, path := range outputs {
		same := func(other string) bool { return filepath.Clean(other) == filepath.Clean(path) }
		if slices.ContainsFunc(outputs[:i], same) {
			return cli.Usagef("two outputs are written to %s, expected different files", path)
		}
		if err := cli.CheckDistinct(path, slices.Concat(inputs, outputs[:i])...); err != nil {
			return err
		}
	}
	return nil
}

// WriteFiles makes the folder and replaces the files by the output of write, or leaves all
// unchanged if it fails. Files whose names end in .gz are gzipped.
func WriteFiles(folder string, paths []string, write func(files []io.Writer) error) error {
	undo, err := makeFolder(folder)
	if err == nil {
		err = writeFiles(paths, nil, write)
	}
	if err != nil {
		undo()
	}
	return err
}

func writeFiles(paths []string, files []io.Writer, write func([]io.Writer) error) error {
	if len(paths) == 0 {
		return write(files)
	}
	safetensors.RemoveStale(paths[0]) // temporary files of killed runs
	var inner error                   // names its own file
	err := safetensors.WriteAtomic(paths[0], func(w io.Writer) error {
		if _, gz := cutGzip(paths[0]); gz == "" {
			inner = writeFiles(paths[1:], append(files, w), write)
			return inner
		}
		z := gzip.NewWriter(w)
		if inner = writeFiles(paths[1:], append(files, z), write); inner != nil {
			return inner
		}
		return z.Close()
	})
	if inner != nil {
		return inner
	}
	return err
}

// WritePair writes a pair to one TSV file or two files.
func WritePair(files []io.Writer, p text.Pair) error {
	if len(files) == 1 {
		_, err := fmt.Fprintf(files[0], "%s\t%s\n", p.Source, p.Target)
		return err
	}
	_, err := io.WriteString(files[0], p.Source+"\n")
	_, err2 := io.WriteString(files[1], p.Target+"\n")
	return errors.Join(err, err2)
}

// WriteDropped writes a pair that a command drops: line number, reason, source and target,
// separated by tabs, with spaces in place of their own tabs.
func WriteDropped(w io.Writer, p text.Pair, reason string) error {
	_, err := fmt.Fprintf(w, "%d\t%s\t%s\t%s\n", p.Line, reason, strings.ReplaceAll(p.Source, "\t", " "), strings.ReplaceAll(p.Target, "\t", " "))
	return err
}
