package mat

import (
	"runtime"
	"sync"
	"testing"
	"time"
)

// fill counts the calls of each index.
type fill struct{ calls []int32 }

func (f *fill) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		f.calls[i]++
	}
}

func TestEachCallsEveryIndexOnce(t *testing.T) {
	for _, threads := range []int{1, 2, 3, 8} {
		p := NewPool(threads)
		for loop := range 2000 {
			n := loop % 37
			f := fill{make([]int32, n)}
			Each(p, n, 1+loop%5, f)
			for i, v := range f.calls {
				if v != 1 {
					t.Fatalf("%d threads: %d calls of index %d of %d, want 1", threads, v, i, n)
				}
			}
		}
		p.Close()
		f := fill{make([]int32, 9)}
		Each(p, 9, 1, f)
		if f.calls[8] != 1 {
			t.Fatal("a closed pool does not run a loop")
		}
	}
}

func TestEachPanicsOnZeroGrain(t *testing.T) {
	if panicOf(func() { Each(nil, 9, 0, fill{make([]int32, 9)}) }) == nil {
		t.Error("a grain of 0 does not panic")
	}
}

func TestEachFromManyGoroutines(t *testing.T) {
	p := NewPool(3)
	defer p.Close()
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			f := fill{make([]int32, 64)}
			for loop := range 500 {
				Each(p, 64, 3, f)
				if f.calls[63] != int32(loop+1) {
					t.Error("Each returned before the loop was done")
					return
				}
			}
		}()
	}
	wg.Wait()
}

// wantNoAllocations requires that a call of f allocates nothing. It repeats a measurement that is
// not 0, because a thread that runs its first range allocates a workspace, and the garbage
// collector may empty a sync.Pool; a call that always allocates is still found. With the race
// detector a sync.Pool drops items at random, so that any number is right.
func wantNoAllocations(t *testing.T, f func()) {
	t.Helper()
	n := 0.0
	for range 10 {
		if n = testing.AllocsPerRun(20, f); n == 0 || race {
			return
		}
	}
	t.Errorf("%v allocations, want 0", n)
}

func TestEachAllocatesNothing(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	f := fill{make([]int32, 100)}
	wantNoAllocations(t, func() { Each(p, 100, 1, f) })
}

// Workers that have parked must wake up for a loop, and must end with the pool.
func TestEachAfterIdling(t *testing.T) {
	before := runtime.NumGoroutine()
	p := NewPool(3)
	for range 5 {
		time.Sleep(3 * spinTime)
		f := fill{make([]int32, 64)}
		Each(p, 64, 1, f)
		for i, v := range f.calls {
			if v != 1 {
				t.Fatalf("%d calls of index %d, want 1", v, i)
			}
		}
	}
	time.Sleep(3 * spinTime)
	p.Close()
	for i := 0; runtime.NumGoroutine() > before; i++ {
		if i == 1000 {
			t.Fatal("workers of a closed pool do not end")
		}
		time.Sleep(time.Millisecond)
	}
}
