package layer

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Accumulator makes the microbatches of a batch, which go through the layers on several threads at
// once, add to the gradients of one model in the order of their numbers. So every gradient is the
// same sum, in the same order, for any number of threads. There is one Accumulator for each thread.
//
// The contract:
//
//   - Params.BeginBatch comes before the first microbatch of a batch, when none is on its way.
//   - Microbatches are numbered from 0 and begin in that order, one at a time on each Accumulator:
//     Begin, the layers' Backward, End. A microbatch waits only for those with lower numbers, so
//     that there is no deadlock, whatever the number of threads.
//   - Layers add to gradients in Param.AddInOrder alone. A microbatch adds to each block of a
//     gradient once or, except for the last time, with last = false. The last addition passes the
//     block on.
//   - End passes on what its microbatch has not added to, so that a microbatch without rows, or one
//     that panics, stops no other. It is to be deferred.
//
// Waiting spins for up to half a millisecond, then parks the goroutine. Nothing is allocated.
type Accumulator struct {
	microbatch int32
	gates      []gate // of all blocks of all parameters, shared by all Accumulators of a model
}

// Share makes ps an alias of the weights and gradients of src for one thread, and returns the
// Accumulator that orders this thread's additions. ps must have been declared as src was, and src
// must have been allocated. Several goroutines may share one src at once.
func (ps *Params) Share(src *Params) *Accumulator {
	a := &Accumulator{gates: src.gates}
	ps.W, ps.G = src.W, src.G
	gates := src.gates
	for i, p := range ps.List {
		p.W, p.G = src.List[i].W, src.List[i].G
		if gates != nil {
			n := p.blocks()
			p.accumulator, p.gates, gates = a, gates[:n], gates[n:]
		}
	}
	return a
}

// BeginBatch makes microbatch 0 the next to add to every gradient.
func (ps *Params) BeginBatch() {
	for i := range ps.gates {
		ps.gates[i].next.Store(0)
	}
}

// Begin makes microbatch the one whose gradients are added.
func (a *Accumulator) Begin(microbatch int) { a.microbatch = int32(microbatch) }

// End passes on all that the microbatch has not added to.
func (a *Accumulator) End() {
	for i := range a.gates {
		if g := &a.gates[i]; g.next.Load() <= a.microbatch {
			g.await(a.microbatch)
			g.pass()
		}
	}
}

// AddInOrder calls add for each block of rows [lo, hi) of p's gradient when all earlier
// microbatches have added to it. add may add to smaller gradients of the same layer along with the
// first block. last says that this microbatch adds nothing more to p. Without an Accumulator
// nothing is waited for.
func (p *Param) AddInOrder(last bool, add func(lo, hi int)) {
	for block := range p.blocks() {
		lo, hi := block*blockRows, min((block+1)*blockRows, p.Shape[0])
		if p.accumulator == nil {
			add(lo, hi)
			continue
		}
		g := &p.gates[block]
		g.await(p.accumulator.microbatch)
		add(lo, hi)
		if last {
			g.pass()
		}
	}
}

// blockRows is the number of rows of a matrix that are passed on together: few enough that no
// microbatch waits for another's whole product with the largest matrix, the embeddings, and enough
// for products at full speed.
const blockRows = 2048

// blocks returns the number of blocks of the gradient; a vector is one block.
func (p *Param) blocks() int {
	if len(p.Shape) == 1 {
		return 1
	}
	return (p.Shape[0] + blockRows - 1) / blockRows
}

// newGates returns a gate for each block of each parameter.
func (ps *Params) newGates() []gate {
	n := 0
	for _, p := range ps.List {
		n += p.blocks()
	}
	gates := make([]gate, n)
	for i := range gates {
		gates[i].passed.L = &gates[i].mutex
	}
	return gates
}

// gate lets microbatches through in the order of their numbers.
type gate struct {
	next   atomic.Int32 // the microbatch that may go through
	parked atomic.Int32 // goroutines that wait for passed, or are about to
	mutex  sync.Mutex
	passed sync.Cond
}

// spin is the time after which a waiting microbatch parks. It is longer than most products of a
// microbatch with a layer's gradient, because a thread that follows another one through the layers
// waits for one such product at each gate, and waking up takes as long as many of them.
const spin = 500 * time.Microsecond

// await returns when microbatch may go through.
func (g *gate) await(microbatch int32) {
	if g.next.Load() == microbatch {
		return
	}
	for start := time.Now(); time.Since(start) < spin; {
		runtime.Gosched() // the microbatch that is waited for may need this processor
		if g.next.Load() == microbatch {
			return
		}
	}
	g.mutex.Lock()
	g.parked.Add(1)
	for g.next.Load() != microbatch {
		g.passed.Wait()
	}
	g.parked.Add(-1)
	g.mutex.Unlock()
}

// pass lets the next microbatch through.
func (g *gate) pass() {
	g.next.Add(1)
	if g.parked.Load() > 0 { // else a microbatch about to park sees the new next
		g.mutex.Lock() // so that it comes after the Wait of whoever has seen the old next
		g.passed.Broadcast()
		g.mutex.Unlock()
	}
}
