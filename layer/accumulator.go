package layer

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Accumulator orders the additions of concurrent microbatches to the gradients by microbatch
// number. Every gradient is then the same sum, in the same order, for any number of workers. Each
// worker has one Accumulator.
//
// The contract:
//
//   - Params.BeginBatch comes before the first microbatch of a batch, while none is in progress.
//   - Microbatches are numbered from 0 and begin in that order, one at a time on each Accumulator:
//     Begin, the layers' Backward, End. A microbatch waits only for those with lower numbers, so
//     that no number of workers can deadlock.
//   - Between Begin and End layers add to gradients only within Param.AddInOrder, once for each
//     parameter in a microbatch. A bias is added to within its matrix's AddInOrder.
//     Embedding.Backward adds directly, after the last End.
//   - End releases the gradients that its microbatch has not released, so that a microbatch without
//     rows, or one that panics, blocks no other. Callers defer it. Because it releases biases, it
//     waits for the End of all earlier microbatches.
//
// A waiting microbatch spins for up to half a millisecond, then parks its goroutine. Nothing is
// allocated.
type Accumulator struct {
	microbatch int32
	gates      []gate // of all parameters, shared by all Accumulators of a model
}

// Share makes ps an alias of the weights and gradients of src for one worker, and returns the
// Accumulator that orders this worker's additions. src must be allocated. Share panics unless ps
// and src declare the same parameters. Several goroutines may share one src at once.
func (ps *Params) Share(src *Params) *Accumulator {
	if len(ps.List) != len(src.List) {
		panic(fmt.Sprintf("layer: Share by %d parameters of %d", len(ps.List), len(src.List)))
	}
	for i, p := range ps.List {
		if q := src.List[i]; p.Name != q.Name || !slices.Equal(p.Shape, q.Shape) {
			panic(fmt.Sprintf("layer: Share by %s %v of %s %v", p.Name, p.Shape, q.Name, q.Shape))
		}
	}
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

// Begin starts a microbatch: the layers add its gradients until End.
func (a *Accumulator) Begin(microbatch int) { a.microbatch = int32(microbatch) }

// End releases the gradients that AddInOrder has not: those that the microbatch did not add to, and
// those of biases.
func (a *Accumulator) End() {
	for i := range a.gates {
		if g := &a.gates[i]; g.next.Load() <= a.microbatch {
			g.wait(a.microbatch)
			g.advance()
		}
	}
}

// AddInOrder calls add for each block of rows [lo, hi) of p's gradient, after all earlier
// microbatches have added to that block, and then releases the block to the next microbatch. In its
// first call add may also add to smaller gradients of the same layer, such as a bias, which End
// releases. Without an Accumulator AddInOrder waits for nothing. It does nothing if p has no
// gradient, because only other weights are trained.
func (p *Param) AddInOrder(add func(lo, hi int)) { p.addChunkInOrder(true, add) }

// addChunkInOrder is AddInOrder for a microbatch that adds to p in several chunks; only the last
// one releases the blocks.
func (p *Param) addChunkInOrder(last bool, add func(lo, hi int)) {
	if p.G == nil {
		return
	}
	for block := range p.blocks() {
		lo, hi := block*blockRows, min((block+1)*blockRows, p.Shape[0])
		if p.accumulator == nil {
			add(lo, hi)
			continue
		}
		g := &p.gates[block]
		g.wait(p.accumulator.microbatch)
		add(lo, hi)
		if last {
			g.advance()
		}
	}
}

// blockRows is the number of rows in a block of a gradient: few enough that no microbatch waits for
// another's whole product with the largest matrix, the embeddings, and enough for products at full
// speed.
const blockRows = 2048

// blocks returns the number of blocks of p's gradient; a vector is one block.
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
		gates[i].advanced.L = &gates[i].mutex
	}
	return gates
}

// gate admits microbatches to one block of a gradient in the order of their numbers.
type gate struct {
	next     atomic.Int32 // microbatch that is admitted
	parked   atomic.Int32 // goroutines that wait for advanced, or are about to
	mutex    sync.Mutex
	advanced sync.Cond
}

// spin is the time that a waiting microbatch spins before it parks. It is longer than most products
// of a microbatch with a layer's gradient, because a worker that follows another one through the
// layers waits for one such product at each gate, and waking up takes longer than many of them.
const spin = 500 * time.Microsecond

// wait returns when microbatch is admitted.
func (g *gate) wait(microbatch int32) {
	if g.next.Load() == microbatch {
		return
	}
	for start := time.Now(); time.Since(start) < spin; {
		runtime.Gosched() // the admitted microbatch may need this processor
		if g.next.Load() == microbatch {
			return
		}
	}
	g.mutex.Lock()
	g.parked.Add(1)
	for g.next.Load() != microbatch {
		g.advanced.Wait()
	}
	g.parked.Add(-1)
	g.mutex.Unlock()
}

// advance admits the next microbatch.
func (g *gate) advance() {
	g.next.Add(1)
	if g.parked.Load() > 0 { // a microbatch that parks after this line reads the new next
		g.mutex.Lock() // waits until a microbatch that read the old next is in Wait
		g.advanced.Broadcast()
		g.mutex.Unlock()
	}
}
