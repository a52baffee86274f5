package text

import (
	"context"
	"fmt"
	"iter"
)

// Batches reads lines or pairs ahead and yields the available ones, 1 to n at a time, in order. A
// filter over them answers each line at once when lines arrive slowly, and works on batches when
// they arrive fast.
//
// An error of lines or ctx is yielded without lines, after all lines before it, and ends the
// sequence. The reading goroutine ends with the sequence, after the read that it waits for. Batches
// panics if n is less than 1.
func Batches[T any](ctx context.Context, lines iter.Seq2[T, error], n int) iter.Seq2[[]T, error] {
	if n < 1 {
		panic(fmt.Sprintf("text: batches of %d lines, expected at least 1", n))
	}
	return func(yield func([]T, error) bool) {
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

type lineOrError[T any] struct {
	line T
	err  error // ends the sequence
}

// readAhead reads up to n lines ahead of their receiver, until done is closed.
func readAhead[T any](lines iter.Seq2[T, error], n int, done chan struct{}) chan lineOrError[T] {
	ahead := make(chan lineOrError[T], n)
	go func() {
		defer close(ahead)
		for line, err := range lines {
			select {
			case ahead <- lineOrError[T]{line, err}:
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

// nextBatch waits for a line and returns it with the lines after it that are already read. The
// error is the one that follows these lines. At the end it returns no lines and no error.
func nextBatch[T any](ctx context.Context, ahead chan lineOrError[T]) ([]T, error) {
	var lines []T
	var next lineOrError[T]
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
