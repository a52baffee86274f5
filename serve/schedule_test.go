package serve

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// enterAll makes texts wait one after another and returns the order in which they were let through,
// one at a time.
func enterAll(t *testing.T, s *scheduler, texts []ticket) (order []int) {
	t.Helper()
	leaves := make(chan func())
	for i, x := range texts {
		go func() {
			leave, err := s.enter(context.Background(), x.caller, x.class, x.characters)
			if err != nil {
				t.Error(err)
				return
			}
			order = append(order, i)
			leaves <- leave
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

// Callers share equally, and interactive texts go before those of documents.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScheduler(time.Second, 1)
		order := enterAll(t, s, []ticket{
			{caller: "a", class: ofDocument, characters: 10}, // runs at once
			{caller: "a", class: ofDocument, characters: 10},
			{caller: "b", class: interactive, characters: 30},
			{caller: "b", class: interactive, characters: 30},
			{caller: "c", class: interactive, characters: 10},
			{caller: "c", class: interactive, characters: 10},
			{caller: "c", class: interactive, characters: 10},
		})
		if want := []int{0, 2, 4, 5, 6, 3, 1}; !slices.Equal(order, want) {
			t.Errorf("order %v, want %v", order, want)
		}
		if len(s.callers) != 0 || s.running != 0 || s.inside != 0 || s.waiting != [2]int{} {
			t.Errorf("found %+v at the end, want it empty", s)
		}
	})
}

// A text whose context ends leaves the queue, and one that would wait too long does not enter it.
func TestRefuse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScheduler(time.Second, 1)
		leave, err := s.enter(context.Background(), "a", interactive, minSpeed)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.admit(interactive); err != nil {
			t.Errorf("a wait of 1 s: %v", err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error)
		go func() {
			_, err := s.enter(ctx, "b", interactive, minSpeed)
			ended <- err
		}()
		synctest.Wait()
		refusal := new(statusError)
		if err := s.admit(interactive); !errors.As(err, &refusal) || refusal.status != 503 || refusal.retryAfter != 2*time.Second {
			t.Errorf("a wait of 2 s: %+v, want status 503 and another try after 2 s", err)
		}
		if err := s.admit(ofDocument); err != nil {
			t.Errorf("a document: %v", err)
		}
		cancel()
		if err := <-ended; err != context.Canceled {
			t.Errorf("enter = %v, want %v", err, context.Canceled)
		}
		leave()
		if len(s.callers) != 0 || s.running != 0 || s.waiting != [2]int{} {
			t.Errorf("found %+v at the end, want it empty", s)
		}
	})
}
