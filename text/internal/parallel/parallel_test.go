package parallel

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// Each index is in one range, on any number of threads.
func TestFor(t *testing.T) {
	for _, threads := range []int{0, 1, 2, 7} {
		for _, n := range []int{0, 1, 5, 64, 1000} {
			for _, grain := range []int{1, 3, 2000} {
				seen := make([]atomic.Int32, n)
				For(threads, n, grain, func(worker, lo, hi int) {
					if worker < 0 || worker >= Workers(threads) || hi-lo > grain || lo >= hi {
						t.Errorf("worker %d, indices %d to %d, want a worker below %d and up to %d indices", worker, lo, hi, Workers(threads), grain)
					}
					for i := lo; i < hi; i++ {
						seen[i].Add(1)
					}
				})
				for i := range seen {
					if seen[i].Load() != 1 {
						t.Fatalf("%d threads, %d indices, grain %d: index %d occurs %d times", threads, n, grain, i, seen[i].Load())
					}
				}
			}
		}
	}
	if got := Workers(0); got != runtime.GOMAXPROCS(0) {
		t.Errorf("Workers(0) = %d, want %d", got, runtime.GOMAXPROCS(0))
	}
}

func TestForPanics(t *testing.T) {
	defer func() {
		if r := recover(); r != "broken" {
			t.Errorf("panic %v, want that of the body", r)
		}
	}()
	For(3, 100, 1, func(_, lo, _ int) {
		if lo%10 == 7 {
			panic("broken")
		}
	})
	t.Error("no panic")
}
