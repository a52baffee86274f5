package mat

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// failing is a loop body in which every range from index at on panics with its first index. If hold
// is not nil, the ranges before that wait until one of them has begun on another thread.
type failing struct {
	at    int
	hold  *atomic.Bool // nil, or set when a range panics
	calls *atomic.Int32
}

// failed is the panic value of failing.
type failed struct{ index int }

func (f failed) Error() string { return fmt.Sprint("failed at ", f.index) }

func (f *failing) Range(lo, hi int) {
	f.calls.Add(1)
	if lo >= f.at {
		if f.hold != nil {
			f.hold.Store(true)
		}
		panic(failed{lo})
	}
	for f.hold != nil && !f.hold.Load() {
		runtime.Gosched()
	}
}

// panicOf returns the panic value of f, or nil.
func panicOf(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}

// checkLoops runs two loops that do not fail: the second must not meet workers of the first.
func checkLoops(t *testing.T, p *Pool) {
	t.Helper()
	for range 2 {
		f := fill{make([]int32, 100)}
		Each(p, 100, 1, f)
		for i, v := range f.calls {
			if v != 1 {
				t.Fatalf("after a panic: %d calls of index %d, want 1", v, i)
			}
		}
	}
	if p.Threads() > 1 && !p.claim() {
		t.Fatal("after a panic: the pool's lock is held")
	} else if p.Threads() > 1 {
		p.lock.Unlock()
	}
}

// A panic in a loop body is that of the first range which panics, raised on the caller, on any
// number of threads.
func TestPanicOfALoop(t *testing.T) {
	for _, threads := range []int{1, 2, 3, 8} {
		p := NewPool(threads)
		for round := range 300 {
			var calls atomic.Int32
			at := round % 40
			if got := panicOf(func() { Each(p, 40, 1, failing{at, nil, &calls}) }); got != (failed{at}) {
				t.Fatalf("%d threads: panic value %v, want %v", threads, got, failed{at})
			}
			if n := int(calls.Load()); n < at+1 || n > at+threads {
				t.Fatalf("%d threads: %d ranges began, want %d to %d", threads, n, at+1, at+threads)
			}
		}
		checkLoops(t, p)
		p.Close()
	}
}

// The caller's range waits until another thread has begun the range that panics.
func TestPanicOnWorker(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	for range 50 {
		var calls atomic.Int32
		if got := panicOf(func() { Each(p, 40, 1, failing{1, new(atomic.Bool), &calls}) }); got != (failed{1}) {
			t.Fatalf("panic value %v, want %v", got, failed{1})
		}
	}
	checkLoops(t, p)
}

// nested is a loop body that runs a loop for each index.
type nested struct {
	p    *Pool
	loop failing
}

func (n *nested) Range(lo, hi int) {
	for range hi - lo {
		Each(n.p, 20, 1, n.loop)
	}
}

func TestPanicOfNestedAndConcurrentLoops(t *testing.T) {
	p := NewPool(4)
	defer p.Close()
	var callers sync.WaitGroup
	for caller := range 4 {
		callers.Add(1)
		go func() {
			defer callers.Done()
			for range 100 {
				var calls atomic.Int32
				loop := failing{7, nil, &calls}
				if got := panicOf(func() { Each(p, 10, 1, nested{p, loop}) }); got != (failed{7}) {
					t.Errorf("nested loop: panic value %v, want %v", got, failed{7})
				}
				f := fill{make([]int32, 50)}
				if got := panicOf(func() { Each(p, 50, 1+caller, f) }); got != nil || f.calls[49] != 1 {
					t.Errorf("concurrent loop: panic value %v and %d calls of the last index, want nil and 1", got, f.calls[49])
				}
			}
		}()
	}
	callers.Wait()
	checkLoops(t, p)
}

// onCaller reports whether the goroutine that calls it is the one of the named test, and so the
// caller of its loop: any range may be the caller's, since a worker may begin first.
func onCaller(test string) bool { return strings.Contains(string(debug.Stack()), test+"(") }

// A worker that ends its goroutine, as testing.T.FailNow does, is replaced.
func TestGoexitOnWorker(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	for range 3 {
		var begun atomic.Bool
		got := panicOf(func() {
			p.Do(2, 1, func(lo, hi int) {
				if !onCaller("TestGoexitOnWorker") {
					begun.Store(true)
					runtime.Goexit()
				}
				for !begun.Load() {
					runtime.Gosched()
				}
			})
		})
		if s, ok := got.(string); !ok || !strings.Contains(s, "Goexit") {
			t.Fatalf("panic value %v, want one that names runtime.Goexit", got)
		}
	}
	checkLoops(t, p)
}

// A program that does not recover the panic prints its value and the stack of the worker.
func TestStackOfWorkerPanic(t *testing.T) {
	if os.Getenv("MAT_TEST_PANIC") != "" {
		var calls atomic.Int32
		Each(NewPool(2), 2, 1, failing{1, new(atomic.Bool), &calls})
	}
	c := exec.Command(os.Args[0], "-test.run=^TestStackOfWorkerPanic$")
	c.Env = append(os.Environ(), "MAT_TEST_PANIC=1")
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Skip("emulation: cannot run the test binary: ", err)
	}
	for _, want := range []string{"failed at 1", "(*failing).Range(", "TestStackOfWorkerPanic("} {
		if !strings.Contains(string(out), want) {
			t.Errorf("output lacks %q:\n%s", want, out)
		}
	}
}

// A caller that waits long for a worker parks, so that others can use its processor.
func TestCallerParks(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	var otherBegan atomic.Bool
	p.Do(2, 1, func(lo, hi int) {
		if onCaller("TestCallerParks") {
			for !otherBegan.Load() {
				runtime.Gosched()
			}
			return
		}
		otherBegan.Store(true)
		parked := regexp.MustCompile(`\[chan receive\]:\n.*/mat\.\(\*Pool\)\.waitForWorkers`)
		stacks := make([]byte, 1<<20)
		for i := 0; !parked.Match(stacks[:runtime.Stack(stacks, true)]); i++ {
			if i == 1000 {
				t.Error("the caller does not park")
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
	checkLoops(t, p)
}

func TestDo(t *testing.T) {
	for _, p := range []*Pool{nil, pools[3]} {
		sums := make([]int, 10)
		p.Do(100, 10, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				sums[lo/10] += i
			}
		})
		for i, got := range sums {
			if want := 100*i + 45; got != want {
				t.Errorf("%d threads: sum of range %d is %d, want %d", p.Threads(), i, got, want)
			}
		}
		if got := panicOf(func() { p.Do(5, 1, func(lo, hi int) { panic(failed{lo}) }) }); got != (failed{0}) {
			t.Errorf("%d threads: panic value %v, want %v", p.Threads(), got, failed{0})
		}
	}
	if panicOf(func() { pools[3].Do(1, 0, func(lo, hi int) {}) }) == nil {
		t.Error("a grain of 0 does not panic")
	}
}
