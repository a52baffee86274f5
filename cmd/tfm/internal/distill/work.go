package distill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/release"
	"tfm/cmd/tfm/internal/terminal"
	"tfm/model/safetensors"
	"tfm/train"
)

// Work is long work whose parts are done once: each keeps its files in a folder, with a record of
// what they were made of, so that the same command again continues.
type Work struct {
	Out      string // the file to write; its folder has the same name with .distill
	Threads  int
	Force    bool // replace a file that the work did not write
	Program  func(ctx context.Context, command string, args ...string) error
	Progress *terminal.Progress // set by Do
}

// Dir returns the folder of the stages.
func (w *Work) Dir() string { return strings.TrimSuffix(w.Out, ".safetensors") + ".distill" }

// File returns the path of a file in the folder.
func (w *Work) File(name string) string { return filepath.Join(w.Dir(), name) }

// Do does the stages in turn. No other process does so at the same time.
func (w *Work) Do(all ...func() error) error {
	unlock, err := train.Lock(w.Dir())
	if err != nil {
		return err
	}
	defer unlock()
	w.Progress = terminal.NewProgress(os.Stderr)
	for _, do := range all {
		err := do()
		if errors.As(err, new(cli.InterruptError)) {
			w.Progress.Line("the same command again continues")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Begin makes the folder, unless the file to write exists and is not that of the last stage.
func (w *Work) Begin(last string) error {
	// A record of the begin is of a kill between the last stage and its record.
	found, err := exists(w.Out)
	begun, begunErr := exists(w.File(last + ".begun"))
	if err := cmp.Or(err, begunErr); err != nil {
		return err
	}
	if found && !w.Force && !begun && !w.recorded(last+".done", stamp(w.Out)) {
		return fmt.Errorf("%s already exists: -force replaces it", w.Out)
	}
	return os.MkdirAll(w.Dir(), 0o777)
}

// PairsArgs returns the flags of two files of pairs.
func PairsArgs(files []string) []string { return []string{"-src", files[0], "-tgt", files[1]} }

// Stage is a part of the work that is done once.
type Stage struct {
	Title, Name     string
	Args            []string // with inputs and program, what the outputs depend on
	Inputs, Outputs []string // files
	partial         string   // folder of unfinished work, which only the same stage continues
}

// Command does a stage that is a command of the program.
func (w *Work) Command(ctx context.Context, s Stage) error {
	return w.Once(s, func(bool) error {
		w.Progress.Line("  tfm %s %s", s.Name, shellWords(s.Args))
		return w.Program(ctx, s.Name, append(w.threadsArgs(), s.Args...)...)
	})
}

func shellWords(args []string) string {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = cli.ShellWord(a)
	}
	return strings.Join(words, " ")
}

// threadsArgs returns the flag of the threads, if they were given.
func (w *Work) threadsArgs() []string {
	if w.Threads == 0 {
		return nil
	}
	return []string{"-threads", strconv.Itoa(w.Threads)}
}

// Once runs do, unless the record of the stage says that its outputs were made by this program, of
// these inputs and arguments, and nothing has changed. resumed says that do was begun for them, but
// has not ended. A training of others that has not ended is an error without Force.
func (w *Work) Once(s Stage, do func(resumed bool) error) error {
	key := release.Current().String() + "\n" + strings.Join(s.Args, "\n") + "\n" + stamp(s.Inputs...)
	begun, done := s.Name+".begun", s.Name+".done"
	if w.recorded(done, key+stamp(s.Outputs...)) {
		w.Progress.Line("%s: done before", s.Title)
		return nil
	}
	w.Progress.Line("%s", s.Title)
	resumed := w.recorded(begun, key)
	other, err := exists(w.File(begun))
	if err != nil {
		return err
	}
	if !resumed && !w.Force && other && s.hasCheckpoints() {
		return fmt.Errorf("%s has the checkpoints of a training that has not ended: the files, flags and program of before continue it, -force begins anew", s.partial)
	}
	err = os.RemoveAll(w.File(done))
	if err == nil && !resumed {
		// In this order, so that a kill in between leaves no unfinished work of another stage.
		if err = cmp.Or(os.RemoveAll(w.File(begun)), os.RemoveAll(s.partial)); err == nil {
			err = w.record(begun, key)
		}
	}
	if err == nil {
		err = do(resumed)
	}
	if err == nil {
		err = w.record(done, key+stamp(s.Outputs...))
	}
	if err != nil {
		return err
	}
	return os.RemoveAll(w.File(begun))
}

// hasCheckpoints reports whether the unfinished work is that of a training.
func (s Stage) hasCheckpoints() bool {
	if s.partial == "" {
		return false
	}
	checkpoints, err := train.Checkpoints(s.partial)
	return err == nil && len(checkpoints) > 0
}

// stamp describes files by size and time. One that is missing differs from every other.
func stamp(paths ...string) string {
	var b strings.Builder
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintf(&b, "%s %d %s\n", path, info.Size(), info.ModTime().UTC().Format(time.RFC3339Nano))
		} else {
			fmt.Fprintf(&b, "%s %v\n", path, err)
		}
	}
	return b.String()
}

// recorded reports whether a record ends in text.
func (w *Work) recorded(name, text string) bool {
	found, err := os.ReadFile(w.File(name))
	return err == nil && strings.HasSuffix(string(found), text)
}

// record writes a record.
func (w *Work) record(name, text string) error {
	return safetensors.WriteAtomic(w.File(name), func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// exists reports whether there is a file. One that cannot be examined is an error.
func exists(path string) (bool, error) {
	_, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// ReadAll returns the first error of a sequence, which it reads to its end.
func ReadAll[T any](sequence iter.Seq2[T, error]) error {
	for _, err := range sequence {
		if err != nil {
			return err
		}
	}
	return nil
}

// Readable makes the names of files absolute, because they may begin with a dash, and checks that
// all but the file to write can be read more than once. An empty name is none.
func (w *Work) Readable(paths ...*string) (err error) {
	for _, path := range append(paths, &w.Out) {
		if *path == "" {
			continue
		}
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
		if info, err := os.Stat(*path); path != &w.Out && err != nil {
			return err
		} else if path != &w.Out && !info.Mode().IsRegular() {
			return fmt.Errorf("%s: expected a regular file, because it is read more than once", *path)
		}
	}
	return nil
}
