package main

import (
	"bufio"
	"io"
	"os"
	"strings"

	"tfm/text"
)

// line is a line of input and where it stands.
type line struct {
	file   string
	number int // from 1
	text   string
}

// input is the lines of files, or of standard input, read ahead: it knows how many can be had without
// waiting. So a filter answers at once when lines come one at a time, and many together when they come fast.
type input struct{ c chan lineOrError }

type lineOrError struct {
	line
	err error // nothing comes after it
}

// newInput begins to read the named files, or standard input if there are none, as many lines ahead.
func newInput(files []string, ahead int) input {
	in := input{make(chan lineOrError, ahead)}
	go func() {
		defer close(in.c)
		if len(files) == 0 {
			in.read(os.Stdin, "standard input")
		}
		for _, name := range files {
			f, err := os.Open(name)
			if err != nil {
				in.c <- lineOrError{err: err}
				return
			}
			ok := in.read(f, name)
			f.Close()
			if !ok {
				return
			}
		}
	}()
	return in
}

func (in input) read(r io.Reader, name string) (ok bool) {
	n := 0
	for text, err := range text.ReadLines(r, name) {
		n++
		in.c <- lineOrError{line{name, n, text}, err}
		if err != nil {
			return false
		}
	}
	return true
}

// batch waits for a line, and returns it with the next ones that are there already. The error is that in
// place of the line after them, io.EOF at the end.
func (in input) batch() ([]line, error) {
	var lines []line
	next, ok := <-in.c
	for {
		switch {
		case !ok:
			return lines, io.EOF
		case next.err != nil:
			return lines, next.err
		}
		if lines = append(lines, next.line); len(lines) >= cap(in.c) {
			return lines, nil
		}
		select {
		case next, ok = <-in.c:
		default:
			return lines, nil
		}
	}
}

// filter writes a line to standard output for each line of in, a batch at a time. Before it waits for one it
// calls ready. What comes before an error is answered.
func (in input) filter(ready func(), answer func([]line) ([]string, error)) error {
	w := bufio.NewWriter(os.Stdout)
	for {
		ready()
		lines, inErr := in.batch()
		answers, err := answer(lines)
		for _, a := range answers {
			w.WriteString(oneLine(a))
			w.WriteByte('\n')
		}
		if e := w.Flush(); e != nil {
			return e
		}
		if err != nil {
			return err
		}
		if inErr == io.EOF {
			return nil
		}
		if inErr != nil {
			return inErr
		}
	}
}

// oneLine makes s what a line of output may be: one line, and valid UTF-8.
func oneLine(s string) string {
	return strings.ToValidUTF8(strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ").Replace(s), "\uFFFD")
}
