package text

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
)

// Available lines form a batch, up to the limit, and a single line is yielded at once.
func TestBatches(t *testing.T) {
	r, w := io.Pipe()
	batches := make(chan []Line)
	go func() {
		defer close(batches)
		for batch, err := range Batches(context.Background(), RepairLines(r, "pipe"), 3) {
			if err != nil {
				t.Error(err)
			}
			batches <- batch
		}
	}()
	for i := range 3 {
		fmt.Fprintln(w, i)
		if batch := <-batches; len(batch) != 1 || batch[0].Number != i+1 {
			t.Fatalf("batch %+v, want line %d alone", batch, i+1)
		}
	}
	fmt.Fprint(w, "a\nb\nc\nd\ne\nf\ng")
	w.Close()
	next := 4
	for batch := range batches {
		if len(batch) < 1 || len(batch) > 3 {
			t.Errorf("batch of %d lines, want 1 to 3", len(batch))
		}
		for _, l := range batch {
			if l.Number != next {
				t.Errorf("line %d, want line %d", l.Number, next)
			}
			next++
		}
	}
	if next != 11 {
		t.Errorf("%d lines, want 10", next-1)
	}
}

// Cancelling the context ends the wait for a line.
func TestBatchesEndWithTheContext(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	n := 0
	for batch, err := range Batches(ctx, RepairLines(r, "pipe"), 3) {
		if n++; !errors.Is(err, context.Canceled) || batch != nil {
			t.Errorf("batch %+v, error %v; want no lines and %v", batch, err, context.Canceled)
		}
	}
	if n != 1 {
		t.Errorf("%d batches, want 1", n)
	}
}
