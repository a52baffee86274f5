package text

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
)

// Lines that are there come together, up to the limit, and one that comes alone comes at once.
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
			t.Fatalf("line %d came as %+v", i+1, batch)
		}
	}
	fmt.Fprint(w, "a\nb\nc\nd\ne\nf\ng")
	w.Close()
	next := 4
	for batch := range batches {
		if len(batch) < 1 || len(batch) > 3 {
			t.Errorf("%d lines together, expected 1 to 3", len(batch))
		}
		for _, l := range batch {
			if l.Number != next {
				t.Errorf("line %d came where line %d should", l.Number, next)
			}
			next++
		}
	}
	if next != 11 {
		t.Errorf("%d lines came, expected 10", next-1)
	}
}

// Who waits for a line that does not come is freed by the context.
func TestBatchesEndWithTheContext(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	n := 0
	for batch, err := range Batches(ctx, RepairLines(r, "pipe"), 3) {
		if n++; !errors.Is(err, context.Canceled) || batch != nil {
			t.Errorf("%+v, %v", batch, err)
		}
	}
	if n != 1 {
		t.Errorf("%d times, expected 1", n)
	}
}
