package mat

import (
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// Pool runs loops on a fixed number of threads: the caller of a loop and the workers of the pool. A
// nil *Pool and the zero Pool run them on the calling goroutine; NewPool starts workers. Results do
// not depend on the number of threads if the ranges of a loop write disjoint outputs, as those of
// this package do.
//
// A Pool may be used concurrently. The workers serve one loop at a time; a caller that finds them
// busy, such as a nested loop, runs its loop alone.
type Pool struct {
	threads int

	lock     sync.Mutex // held by the caller whose loop the workers serve
	loop     body
	n, grain int
	ranges   int                        // number of ranges, of grain indices except the last
	current  int                        // the caller's range, or ranges or more at the end
	next     atomic.Int64               // first range that is not started
	active   atomic.Int64               // workers in the loop, plus loopClosed while none may enter
	drained  chan struct{}              // one token after the last worker has left a closed loop
	panicked atomic.Pointer[rangePanic] // the first range that panicked on a worker
	loops    atomic.Uint32              // number of loops begun, so that workers see a new one
	parked   atomic.Int32               // workers that are parked or about to park
	alone    atomic.Uint32              // calls of awake while workers were parked
	wake     chan struct{}              // one token for each worker to wake
	stop     atomic.Bool
}

// body is the body of a loop: Range processes indices [lo, hi).
type body interface{ Range(lo, hi int) }

const (
	loopClosed    = -1 << 32
	spinsPerYield = 64                     // spins between calls of runtime.Gosched
	spinTime      = 200 * time.Microsecond // longer than the gap between two loops of training
)

// NewPool starts a pool with the given number of threads, including the caller of a loop. It panics
// if threads is less than 1. Close ends the workers.
func NewPool(threads int) *Pool {
	if threads < 1 {
		panic(fmt.Sprintf("mat: pool of %d threads", threads))
	}
	p := &Pool{threads: threads, drained: make(chan struct{}, 1), wake: make(chan struct{}, threads)}
	p.active.Store(loopClosed)
	for range threads - 1 {
		go p.work()
	}
	return p
}

// DefaultPool returns the pool of functions without a pool argument. It has GOMAXPROCS threads, as
// of the first call. Do not close it.
func DefaultPool() *Pool { return defaultPool() }

var defaultPool = sync.OnceValue(func() *Pool { return NewPool(runtime.GOMAXPROCS(0)) })

// Threads returns the number of threads that run a loop: 1 for a nil pool, the zero Pool and a pool
// that is closed.
func (p *Pool) Threads() int {
	if p == nil || p.stop.Load() {
		return 1
	}
	return max(1, p.threads)
}

// Close ends the workers. Later loops run on their callers alone.
func (p *Pool) Close() {
	if p == nil {
		return
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.stop.Swap(true) {
		return
	}
	if p.wake != nil { // not the zero Pool
		close(p.wake)
	}
}

// Do calls f for ranges [lo, hi) that together are [0, n), as Each does, and not at all if n is 0
// or negative. It may allocate f in each call; use Each in hot loops.
func (p *Pool) Do(n, grain int, f func(lo, hi int)) { Each(p, n, grain, function{f}) }

type function struct{ f func(lo, hi int) }

func (f *function) Range(lo, hi int) { f.f(lo, hi) }

// Each calls t.Range(lo, hi) for ranges that together are [0, n), each of up to grain indices, on
// the threads of p or, if p is nil, on the calling goroutine, and returns when all are done. T is a
// struct of the loop's arguments:
//
//	type softmaxRows struct{ y, x mat.Matrix }
//
//	func (t *softmaxRows) Range(lo, hi int) {
//		for i := lo; i < hi; i++ {
//			mat.Softmax(t.y.Row(i), t.x.Row(i), 1)
//		}
//	}
//
//	mat.Each(p, x.Rows, 16, softmaxRows{y, x})
//
// Each copies t into reused memory instead of allocating a copy in each call. All ranges share the
// copy, and a field that Range assigns is lost with it: results go through slices and pointers. A
// range should take some microseconds or more. Each panics if grain is less than 1. If n is 0 or
// negative, Range is not called.
//
// If Range panics, no further ranges begin. When those in progress are done, Each panics with the
// same value: that of the first range that panicked, for any number of threads. The pool remains
// usable. If nobody recovers a panic that began on a worker, the program prints the worker's stack.
//
// Ranges begin in ascending order, so a range may wait for an earlier one, which must then signal
// it even if it panics.
func Each[T any, R interface {
	*T
	Range(lo, hi int)
}](p *Pool, n, grain int, t T) {
	if grain < 1 {
		panic(fmt.Sprintf("mat: loop over %d indices with grain %d", n, grain))
	}
	if n <= 0 {
		return
	}
	args := storageOf[T]()
	arg := args.Get().(*T)
	*arg = t
	if n > grain && p.claim() {
		p.run(R(arg), n, grain)
	} else {
		lo := 0
		for ; n-lo > grain; lo += grain {
			R(arg).Range(lo, lo+grain)
		}
		R(arg).Range(lo, n)
	}
	*arg = *new(T)
	args.Put(arg)
}

// storage holds the reused memory for loop arguments, by type.
var storage sync.Map // reflect.Type → *sync.Pool

func storageOf[T any]() *sync.Pool {
	key := reflect.TypeFor[T]()
	if s, ok := storage.Load(key); ok {
		return s.(*sync.Pool)
	}
	s, _ := storage.LoadOrStore(key, &sync.Pool{New: func() any { return new(T) }})
	return s.(*sync.Pool)
}

// claim reports whether the workers are free for the caller's loop. If so, it holds p.lock.
func (p *Pool) claim() bool {
	if p == nil || p.threads <= 1 || !p.lock.TryLock() {
		return false
	}
	if p.stop.Load() {
		p.lock.Unlock()
		return false
	}
	return true
}

// awake reports whether a loop of a few microseconds should use the workers: if none is parked and,
// to wake those that are, in one call of 1024.
func (p *Pool) awake() bool { return p.parked.Load() == 0 || p.alone.Add(1)%1024 == 0 }

// run shares a loop with the workers and releases p.lock. Workers enter while the loop is open, so
// a late worker costs nothing: the caller runs the ranges itself, closes the loop, and waits only
// for the workers in it.
func (p *Pool) run(t body, n, grain int) {
	p.loop, p.n, p.grain, p.ranges = t, n, grain, (n-1)/grain+1
	p.current = 0
	p.next.Store(0)
	p.active.Store(0)
	p.loops.Add(1)
	for range p.parked.Load() {
		select {
		case p.wake <- struct{}{}:
		default:
		}
	}
	defer p.finish()
	p.takeRanges(&p.current)
}

// takeRanges runs ranges of the current loop until all have begun. It stores the index of the one
// in progress in current.
func (p *Pool) takeRanges(current *int) {
	for {
		i := int(p.next.Add(1)) - 1
		*current = i
		if i >= p.ranges {
			return
		}
		lo := i * p.grain
		p.loop.Range(lo, lo+min(p.grain, p.n-lo))
	}
}

// finish ends the caller's loop, even if the caller's range panicked: it waits until the workers
// have left, frees the pool, and panics if an earlier range than the caller's has panicked.
func (p *Pool) finish() {
	current := p.current
	p.next.Store(int64(p.ranges))
	if p.active.Add(loopClosed) != loopClosed {
		p.waitForWorkers()
	}
	failed := p.panicked.Swap(nil)
	p.loop = nil
	p.lock.Unlock()
	if failed != nil && failed.index < current {
		failed.raise()
	}
}

// waitForWorkers returns when the last worker has left the closed loop. It spins, then parks.
func (p *Pool) waitForWorkers() {
	for start := time.Now(); ; {
		for range spinsPerYield {
			if p.active.Load() == loopClosed {
				return
			}
			pause()
		}
		runtime.Gosched() // other goroutines may need this processor
		if time.Since(start) > spinTime && p.active.Load() != loopClosed {
			<-p.drained // the token may be an earlier loop's
		}
	}
}

// work is the main loop of a worker.
func (p *Pool) work() {
	for seen := uint32(0); ; {
		if seen = p.waitForLoop(seen); p.stop.Load() {
			return
		}
		for n := p.active.Load(); n >= 0; n = p.active.Load() {
			if p.active.CompareAndSwap(n, n+1) {
				p.serve()
				break
			}
		}
	}
}

// serve runs ranges of the current loop, which the worker has entered, and leaves it. It stores a
// panic for the caller.
func (p *Pool) serve() {
	current := 0
	defer func() {
		if current < p.ranges {
			value, stack := recover(), debug.Stack()
			if value == nil { // runtime.Goexit ends this goroutine: start another worker
				value = "mat: loop body called runtime.Goexit"
				go p.work()
			}
			p.keep(&rangePanic{current, value, stack})
		}
		if p.active.Add(-1) == loopClosed {
			select {
			case p.drained <- struct{}{}:
			default:
			}
		}
	}()
	p.takeRanges(&current)
}

// rangePanic is a panic on a worker.
type rangePanic struct {
	index int // of its range
	value any
	stack []byte
}

// keep stores f as the loop's panic unless an earlier range has panicked, and lets no further
// ranges begin. The first range that panics has always begun before.
func (p *Pool) keep(f *rangePanic) {
	p.next.Store(int64(p.ranges))
	for {
		old := p.panicked.Load()
		if old != nil && old.index < f.index || p.panicked.CompareAndSwap(old, f) {
			return
		}
	}
}

// raise panics with the value. If nobody recovers, the runtime prints the worker's panic f first.
func (f *rangePanic) raise() {
	defer panic(f.value)
	panic(f)
}

func (f *rangePanic) Error() string {
	return fmt.Sprintf("mat: panic in range %d of a loop, on a worker: %v\n%s", f.index, f.value, f.stack)
}

// waitForLoop returns the number of loops when it differs from seen. It spins, then parks.
func (p *Pool) waitForLoop(seen uint32) uint32 {
	for start := time.Now(); time.Since(start) < spinTime; {
		for range spinsPerYield {
			if now := p.loops.Load(); now != seen {
				return now
			}
			pause()
		}
		runtime.Gosched() // other goroutines may need this processor
	}
	p.parked.Add(1)
	if p.loops.Load() == seen {
		<-p.wake
	}
	p.parked.Add(-1)
	return p.loops.Load()
}
