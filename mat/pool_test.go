package mat

import (
	"runtime"
	"sync"
	"testing"
	"time"
)

// fill marks each index it is given, so that a test sees which were visited how often.
type fill struct{ visits []int32 }

func (f *fill) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		f.visits[i]++
	}
}

func TestEachVisitsEveryIndexOnce(t *testing.T) {
	for _, threads := range []int{1, 2, 3, 8} {
		p := NewPool(threads)
		for loop := range 2000 {
			n := loop % 37
			f := fill{make([]int32, n)}
			Each(p, n, 1+loop%5, f)
			for i, v := range f.visits {
				if v != 1 {
					t.Fatalf("%d threads: index %d of %d visited %d times", threads, i, n, v)
				}
			}
		}
		p.Close()
		f := fill{make([]int32, 9)}
		Each(p, 9, 1, f)
		if f.visits[8] != 1 {
			t.Fatal("a closed pool must still run loops")
		}
	}
}

func TestEachRefusesAGrainOfNothing(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("must panic rather than never return")
		}
	}()
	Each(nil, 9, 0, fill{make([]int32, 9)})
}

func TestCloseOfNoPool(t *testing.T) { (*Pool)(nil).Close() }

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
				if f.visits[63] != int32(loop+1) {
					t.Error("a loop returned before it was done")
					return
				}
			}
		}()
	}
	wg.Wait()
}

// allocations is how often each call of f allocates. A thread that first gets a share of a loop
// makes its own workspace, and the garbage collector may empty a sync.Pool, so what allocates now
// and then is measured again; what allocates in every call never gets to 0.
func allocations(f func()) float64 {
	var n float64
	for range 10 {
		if n = testing.AllocsPerRun(20, f); n == 0 {
			break
		}
	}
	return n
}

func TestEachAllocatesNothing(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	f := fill{make([]int32, 100)}
	if n := allocations(func() { Each(p, 100, 1, f) }); n != 0 {
		t.Fatalf("%v allocations a loop", n)
	}
}

// Helpers that have parked must be woken, and must end with the pool.
func TestEachAfterARest(t *testing.T) {
	before := runtime.NumGoroutine()
	p := NewPool(3)
	for range 5 {
		time.Sleep(3 * spinTime)
		f := fill{make([]int32, 64)}
		Each(p, 64, 1, f)
		for i, v := range f.visits {
			if v != 1 {
				t.Fatalf("index %d visited %d times", i, v)
			}
		}
	}
	time.Sleep(3 * spinTime)
	p.Close()
	for i := 0; runtime.NumGoroutine() > before; i++ {
		if i == 1000 {
			t.Fatal("a closed pool keeps its helpers")
		}
		time.Sleep(time.Millisecond)
	}
}
