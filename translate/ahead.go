package translate

import (
	"context"
	"errors"
	"iter"

	"tfm/text"
)

// ahead is lines that a goroutine reads ahead, so that it is known how many can be had without waiting.
type ahead struct {
	lines chan lineOrError // closed at the end
	done  chan struct{}    // closed when nobody reads any more
}

type lineOrError struct {
	line text.Line
	err  error
}

// errEnd is the error of batch after the last line.
var errEnd = errors.New("end of lines")

// readAhead begins to read, as many lines as n before they are wanted.
func readAhead(lines iter.Seq2[text.Line, error], n int) ahead {
	in := ahead{make(chan lineOrError, n), make(chan struct{})}
	go func() {
		defer close(in.lines)
		for line, err := range lines {
			select {
			case in.lines <- lineOrError{line, err}:
			case <-in.done:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return in
}

// batch waits for a line, and returns it with the next ones that are there already. The error is that in
// place of the line after them, errEnd at the end, or that of ctx.
func (in ahead) batch(ctx context.Context) ([]text.Line, error) {
	var lines []text.Line
	var next lineOrError
	var ok bool
	select {
	case next, ok = <-in.lines:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for {
		switch {
		case !ok:
			return lines, errEnd
		case next.err != nil:
			return lines, next.err
		}
		if lines = append(lines, next.line); len(lines) >= cap(in.lines) {
			return lines, nil
		}
		select {
		case next, ok = <-in.lines:
		default:
			return lines, nil
		}
	}
}
