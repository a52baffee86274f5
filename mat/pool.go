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

// Pool runs loops on a fixed number of threads: the caller of a loop and the pool's workers. A nil
// *Pool runs them on the calling goroutine. Results never depend on the number of threads, because
// the ranges of a loop write disjoint outputs.
//
// A Pool may be used by several goroutines at once. The workers serve one loop at a time; a caller
// that finds them busy, such as a loop inside a loop, runs its own loop alone.
type Pool struct {
	threads int

	lock     sync.Mutex // held by the caller whose loop the workers serve
	loop     body
	n, grain int
	ranges   int                        // each of grain indices but the last one
	current  int                        // range that the caller is in, or ranges or more
	next     atomic.Int64               // first range that no thread has taken
	active   atomic.Int64               // workers inside the loop, plus closed while none may enter
	drained  chan struct{}              // one token after the last worker has left a closed loop
	panicked atomic.Pointer[rangePanic] // of the first range that panicked on a worker
	loops    atomic.Uint32              // loops begun, so that workers see a new one
	parked   atomic.Int32               // workers that are parked or about to park
	wake     chan struct{}              // one token for each worker to wake
	stop     atomic.Bool
}

// body is a loop's body: Range does the work of the indices [lo, hi).
type body interface{ Range(lo, hi int) }

const (
	loopClosed    = -1 << 32
	spinsPerYield = 64                     // spins between yielding the processor
	spinTime      = 200 * time.Microsecond // longer than the gap between two loops of training
)

// NewPool starts a pool of the given number of threads, the caller of a loop being one of them. It
// panics if threads is less than 1. Close ends the workers.
func NewPool(threads int) *Pool {
	if threads < 1 {
		panic("mat: a pool needs at least one thread")
	}
	p := &Pool{threads: threads, drained: make(chan struct{}, 1), wake: make(chan struct{}, threads)}
	p.active.Store(loopClosed)
	for range threads - 1 {
		go p.work()
	}
	return p
}

// DefaultPool returns the pool of functions that take none. It has as many threads as GOMAXPROCS
// was at the first call. Its workers park when they have nothing to do. Do not close it.
func DefaultPool() *Pool { return defaultPool() }

var defaultPool = sync.OnceValue(func() *Pool { return NewPool(runtime.GOMAXPROCS(0)) })

// Threads returns the number of threads that a loop runs on; 1 for a nil pool.
func (p *Pool) Threads() int {
	if p == nil {
		return 1
	}
	return p.threads
}

// Close ends the pool's workers. Loops still run afterwards, on their callers alone.
func (p *Pool) Close() {
	if p == nil {
		return
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.stop.Swap(true) {
		return
	}
	close(p.wake)
}

// Do calls f for ranges [lo, hi) that together are [0, n), as Each does. It is for loops off the
// hot path, because the closure f may be allocated in each call.
func (p *Pool) Do(n, grain int, f func(lo, hi int)) { Each(p, n, grain, function{f}) }

type function struct{ f func(lo, hi int) }

func (f *function) Range(lo, hi int) { f.f(lo, hi) }

// Each calls t.Range(lo, hi) for ranges that together are [0, n), each of at most grain indices, on
// the threads of p, and returns when all are done. T is a struct of the loop's arguments. It is
// copied into storage that is used again, so a loop allocates nothing once one of its type has run.
// Each panics if grain is less than 1.
//
// If Range panics, no further ranges begin, and when those that have begun are done Each panics
// with the same value: that of the first range that panicked, whatever the number of threads. The
// pool stays usable. If nobody recovers a panic of another goroutine, the program's last words
// include its stack.
//
// Ranges begin in ascending order, so one may wait for an earlier one. An earlier one must then end
// that wait even when it panics.
func Each[T any, R interface {
	*T
	body
}](p *Pool, n, grain int, t T) {
	if grain < 1 {
		panic(fmt.Sprintf("mat: a loop over %d indices with a grain of %d", n, grain))
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

// storage holds for each type of loop the memory that its arguments are copied into.
var storage sync.Map // reflect.Type → *sync.Pool

func storageOf[T any]() *sync.Pool {
	key := reflect.TypeFor[T]()
	if s, ok := storage.Load(key); ok {
		return s.(*sync.Pool)
	}
	s, _ := storage.LoadOrStore(key, &sync.Pool{New: func() any { return new(T) }})
	return s.(*sync.Pool)
}

// claim reports whether the workers are free to serve the caller's loop, and if so holds p.lock.
func (p *Pool) claim() bool {
	if p == nil || p.threads == 1 || !p.lock.TryLock() {
		return false
	}
	if p.stop.Load() {
		p.lock.Unlock()
		return false
	}
	return true
}

// run shares a loop with the workers and releases p.lock. Workers enter while the loop is open, so
// one that comes late, or never, costs nothing: the caller takes the ranges itself, closes the
// loop, and waits only for those inside.
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

// takeRanges runs ranges of the current loop until none is left. It keeps the one that it is in in
// current.
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

// finish ends the caller's loop, also when the caller's range panicked: it waits until the workers
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

// waitForWorkers returns when the last worker has left the closed loop: it spins for a while, then
// parks.
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

// work is the life of a worker.
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

// serve takes ranges of the current loop, which the worker has entered, and leaves it. A panic is
// kept for the caller.
func (p *Pool) serve() {
	current := 0
	defer func() {
		if current < p.ranges {
			value, stack := recover(), debug.Stack()
			if value == nil { // this goroutine ends: another takes its place
				value = "mat: the body of a loop called runtime.Goexit"
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

// rangePanic is the panic of a range on a worker.
type rangePanic struct {
	index int // of the range
	value any
	stack []byte
}

// keep makes f the loop's panic unless an earlier range has panicked, and lets no further ranges
// begin. The first range that panics is always among those that have begun.
func (p *Pool) keep(f *rangePanic) {
	p.next.Store(int64(p.ranges))
	for {
		old := p.panicked.Load()
		if old != nil && old.index < f.index || p.panicked.CompareAndSwap(old, f) {
			return
		}
	}
}

// raise panics with the value. The panic that it replaces is printed before it if nobody recovers.
func (f *rangePanic) raise() {
	defer panic(f.value)
	panic(f)
}

func (f *rangePanic) Error() string {
	return fmt.Sprintf("mat: range %d of a loop panicked on another goroutine: %v\n%s", f.index, f.value, f.stack)
}

// waitForLoop returns the number of loops when it is no longer seen: it spins for a while, then parks.
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
