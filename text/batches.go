package text

import (
	"context"
	"iter"
)

// Batches reads lines ahead and yields those that are there together, 1 to n of them, in order.
// So a filter answers at once when lines come one at a time, and many together when they come
// fast.
//
// An error of the sequence, or of ctx, is yielded alone after everything that came before it, and
// ends it. The goroutine that reads ends with the sequence, or when the read that it waits for
// does. It panics if n is less than 1.
func Batches(ctx context.Context, lines iter.Seq2[Line, error], n int) iter.Seq2[[]Line, error] {
	if n < 1 {
		panic("text: batches of less than a line")
	}
	return func(yield func([]Line, error) bool) {
		done := make(chan struct{})
		defer close(done)
		ahead := readAhead(lines, n, done)
		for {
			batch, err := nextBatch(ctx, ahead)
			if len(batch) > 0 && !yield(batch, nil) {
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if len(batch) == 0 {
				return
			}
		}
	}
}

type lineOrError struct {
	line Line
	err  error // nothing comes after it
}

// readAhead reads up to n lines before they are wanted, until done is closed.
func readAhead(lines iter.Seq2[Line, error], n int, done chan struct{}) chan lineOrError {
	ahead := make(chan lineOrError, n)
	go func() {
		defer close(ahead)
		for line, err := range lines {
			select {
			case ahead <- lineOrError{line, err}:
			case <-done:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return ahead
}

// nextBatch waits for a line, and returns it with the next ones that are there already. The error
// is that in place of the line after them. It returns nothing at the end.
func nextBatch(ctx context.Context, ahead chan lineOrError) ([]Line, error) {
	var lines []Line
	var next lineOrError
	var ok bool
	select {
	case next, ok = <-ahead:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for ok && next.err == nil {
		if lines = append(lines, next.line); len(lines) == cap(ahead) {
			return lines, nil
		}
		select {
		case next, ok = <-ahead:
		default:
			return lines, nil
		}
	}
	return lines, next.err
}
