package serve

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// textOf is a text with a request of its own.
type textOf struct {
	caller string
	class  class
	work   int
}

// enterAll makes texts wait one after another and returns the order in which they were let through,
// one of a class at a time.
func enterAll(t *testing.T, s *scheduler, texts []textOf) (order []int) {
	t.Helper()
	leaves := make(chan func(), len(texts))
	for i, x := range texts {
		q, err := s.admit(x.caller, x.class, x.work)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			leave, err := q.enter(context.Background(), x.work)
			if err != nil {
				t.Error(err)
				return
			}
			order = append(order, i)
			leaves <- func() { leave(); q.end() }
		}()
		synctest.Wait()
	}
	for range texts {
		leave := <-leaves
		leave()
		synctest.Wait()
	}
	return order
}

func checkEmpty(t *testing.T, s *scheduler) {
	t.Helper()
	if len(s.callers) != 0 || s.running != [2]int{} || s.requests != 0 || s.docs != 0 {
		t.Errorf("found %d callers, %v texts, %d requests and %d documents at the end, want none", len(s.callers), s.running, s.requests, s.docs)
	}
}

// Callers share equally, and documents have room of their own.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScheduler(time.Second, 1, 10, 10)
		order := enterAll(t, s, []textOf{
			{"a", interactive, 10}, // runs at once
			{"b", interactive, 30},
			{"b", interactive, 30},
			{"c", interactive, 10},
			{"c", interactive, 10},
			{"c", interactive, 10},
			{"b", ofDocument, 10}, // runs at once
			{"b", ofDocument, 10},
			{"a", ofDocument, 10},
		})
		isText := func(i int) bool { return i < 6 }
		isDocument := func(i int) bool { return i >= 6 }
		texts, documents := slices.DeleteFunc(slices.Clone(order), isDocument), slices.DeleteFunc(slices.Clone(order), isText)
		if !slices.Equal(texts, []int{0, 1, 3, 4, 5, 2}) || !slices.Equal(documents, []int{6, 8, 7}) {
			t.Errorf("order %v", order)
		}
		checkEmpty(t, s)
	})
}

// A text whose context ends leaves the queue. A request that would wait too long is refused, but
// not one of a caller that has few texts, and documents only by their number. If too many requests
// are in progress, all are refused.
func TestRefuse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScheduler(time.Second, 1, 3, 1)
		s.meter.speed = 100
		first, err := s.admit("a", interactive, 100)
		if err != nil {
			t.Fatal(err)
		}
		leave, err := first.enter(context.Background(), 100)
		if err != nil {
			t.Fatal(err)
		}
		second, err := s.admit("a", interactive, 100)
		if err != nil {
			t.Errorf("a wait of 1 s: %v", err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error)
		go func() {
			_, err := second.enter(ctx, 100)
			ended <- err
		}()
		synctest.Wait()
		refusal := new(statusError)
		if _, err := s.admit("a", interactive, 1); !errors.As(err, &refusal) || refusal.status != 503 || refusal.retryAfter != 2*time.Second {
			t.Errorf("a wait of 2 s: %+v, want status 503 and another try after 2 s", err)
		}
		if other, err := s.admit("b", interactive, 90); err != nil {
			t.Errorf("another caller: %v", err)
		} else {
			other.end()
		}
		document, err := s.admit("a", ofDocument, 1000)
		if err != nil {
			t.Errorf("a document: %v", err)
		}
		if _, err := s.admit("a", ofDocument, 1000); !errors.As(err, &refusal) || refusal.status != 503 {
			t.Errorf("a second document: %v, want status 503", err)
		}
		if _, err := s.admit("b", interactive, 1); !errors.As(err, &refusal) || refusal.status != 503 || refusal.retryAfter != time.Second {
			t.Errorf("a fourth request: %+v, want status 503 and another try after 1 s", err)
		}
		document.end()
		cancel()
		if err := <-ended; err != context.Canceled {
			t.Errorf("enter = %v, want %v", err, context.Canceled)
		}
		second.end()
		leave()
		first.end()
		checkEmpty(t, s)
	})
}

// The speed is that of a full decoder: a period with room only raises it.
func TestMeter(t *testing.T) {
	var m meter
	now := time.Unix(0, 0)
	m.begin(now)
	if m.expected(1000) != 0 {
		t.Error("a wait at an unknown speed")
	}
	step := func(work int, d time.Duration, isFull, isLast bool, want float64) {
		t.Helper()
		now = now.Add(d)
		if m.add(work, now, isFull, isLast); m.speed != want {
			t.Errorf("speed %v, want %v", m.speed, want)
		}
	}
	step(100, time.Second/2, false, false, 0)
	step(100, time.Second/2, false, false, 200)
	step(100, time.Second, false, false, 200)    // within a period
	step(100, time.Second, false, true, 200)     // slower, with room
	step(1000, time.Second, false, true, 1000)   // faster
	step(500*4, 4*time.Second, true, false, 800) // slower, and full
}
