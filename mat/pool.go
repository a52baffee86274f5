package mat

import (
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Pool runs loops on a fixed number of threads. The zero of the type, a nil *Pool, runs them on the
// calling goroutine. Results never depend on the number of threads: a loop's ranges write disjoint outputs.
//
// A Pool may be used by several goroutines at once: the helpers serve one loop at a time, and a caller that
// finds them busy runs its own loop alone.
type Pool struct {
	threads int

	loop     sync.Mutex // held by the caller whose loop the helpers serve
	task     body
	n, grain int
	next     atomic.Int64  // first index that nobody has taken
	gate     atomic.Int64  // helpers inside the current loop; closed is added while it may not be entered
	opened   atomic.Uint32 // counts loops, so that helpers see a new one
	idle     atomic.Int32  // helpers that are parked or about to park
	wake     chan struct{} // one token for a parked helper
	stop     atomic.Bool
}

type body interface{ Range(lo, hi int) }

const (
	closed = -1 << 32
	looks  = 64                     // between letting others run and reading the clock
	linger = 200 * time.Microsecond // a helper parks after: longer than the gap between two loops of a training step
)

// NewPool starts a pool of the given number of threads, the caller of a loop being one of them. It panics if
// threads is less than 1. Close ends the others.
func NewPool(threads int) *Pool {
	if threads < 1 {
		panic("mat: a pool needs at least one thread")
	}
	p := &Pool{threads: threads, wake: make(chan struct{}, threads)}
	p.gate.Store(closed)
	for range threads - 1 {
		go p.help()
	}
	return p
}

// DefaultPool is the pool of functions that take none, with as many threads as GOMAXPROCS was when it was first
// asked for. Its helpers park when they have nothing to do. Nobody should close it.
func DefaultPool() *Pool { return defaultPool() }

var defaultPool = sync.OnceValue(func() *Pool { return NewPool(runtime.GOMAXPROCS(0)) })

// Threads is the number of threads that a loop runs on; 1 for a nil pool.
func (p *Pool) Threads() int {
	if p == nil {
		return 1
	}
	return p.threads
}

// Close ends the pool's helpers. Loops still run afterwards, on their callers alone.
func (p *Pool) Close() {
	if p == nil {
		return
	}
	p.loop.Lock()
	defer p.loop.Unlock()
	if p.stop.Swap(true) {
		return
	}
	close(p.wake)
}

// Each calls t.Range(lo, hi) for ranges that together are [0, n), each of at most grain indices, on the
// threads of p, and returns when all are done. Ranges are begun in ascending order, so one may wait for those before it. T is a struct of the loop's arguments. It is copied into
// storage that is used again, so a loop allocates nothing once one of its type has run. Each panics if grain is
// less than 1. Range must not panic: on another thread nobody could recover it.
func Each[T any, R interface {
	*T
	body
}](p *Pool, n, grain int, t T) {
	if grain < 1 {
		panic("mat: Each needs a grain of at least one index")
	}
	if n <= 0 {
		return
	}
	box := boxOf[T]()
	arg := box.Get().(*T)
	*arg = t
	if n > grain && p.claim() {
		p.run(R(arg), n, grain)
		p.loop.Unlock()
	} else {
		for lo := 0; lo < n; lo += grain {
			R(arg).Range(lo, min(lo+grain, n))
		}
	}
	*arg = *new(T)
	box.Put(arg)
}

// boxes holds for each type of loop the storage that its arguments are copied into.
var boxes sync.Map // reflect.Type → *sync.Pool

func boxOf[T any]() *sync.Pool {
	key := reflect.TypeFor[T]()
	if box, ok := boxes.Load(key); ok {
		return box.(*sync.Pool)
	}
	box, _ := boxes.LoadOrStore(key, &sync.Pool{New: func() any { return new(T) }})
	return box.(*sync.Pool)
}

// claim reports whether the helpers are free to serve the caller's loop, and if so holds p.loop.
func (p *Pool) claim() bool {
	if p == nil || p.threads == 1 || !p.loop.TryLock() {
		return false
	}
	if p.stop.Load() {
		p.loop.Unlock()
		return false
	}
	return true
}

// run shares a loop with the helpers. Helpers enter while the gate is open, so one that comes late, or never,
// costs nothing: the caller takes the ranges itself, closes the gate, and waits only for those inside.
func (p *Pool) run(t body, n, grain int) {
	p.task, p.n, p.grain = t, n, grain
	p.next.Store(0)
	p.gate.Store(0)
	p.opened.Add(1)
	for range p.idle.Load() {
		select {
		case p.wake <- struct{}{}:
		default:
		}
	}
	p.work()
	p.gate.Add(closed)
	for i := 1; p.gate.Load() != closed; i++ {
		if pause(); i%looks == 0 {
			runtime.Gosched()
		}
	}
	p.task = nil
}

// work takes ranges of the current loop until none is left.
func (p *Pool) work() {
	for {
		hi := int(p.next.Add(int64(p.grain)))
		lo := hi - p.grain
		if lo >= p.n {
			return
		}
		p.task.Range(lo, min(hi, p.n))
	}
}

func (p *Pool) help() {
	for seen := uint32(0); ; {
		if seen = p.await(seen); p.stop.Load() {
			return
		}
		for g := p.gate.Load(); g >= 0; g = p.gate.Load() {
			if p.gate.CompareAndSwap(g, g+1) {
				p.work()
				p.gate.Add(-1)
				break
			}
		}
	}
}

// await returns the count of loops when it is no longer seen: it looks for a while, then parks.
func (p *Pool) await(seen uint32) uint32 {
	for start := time.Now(); time.Since(start) < linger; {
		for range looks {
			if now := p.opened.Load(); now != seen {
				return now
			}
			pause()
		}
		runtime.Gosched() // somebody else may need this processor
	}
	p.idle.Add(1)
	if p.opened.Load() == seen {
		<-p.wake
	}
	p.idle.Add(-1)
	return p.opened.Load()
}
