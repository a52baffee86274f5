package layer_test

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"tfm/layer"
	"tfm/mat"
)

// Microbatches that run at once, the last begun first, leave the sums of microbatches that run one after
// another, also where a gradient has several blocks and the logits of a microbatch come in several chunks.
func TestMicrobatchesAddInOrder(t *testing.T) {
	const microbatches, n, in, d, v = 3, 70, 5000, 4, 70_000
	type weights struct {
		*layer.Params
		l layer.Linear
		p layer.Output
	}
	declare := func() weights {
		ps := new(layer.Params)
		return weights{ps, layer.NewLinear(ps, "l", in, d), layer.Output{E: ps.New("e", v, d), Bias: ps.New("b", v), Smoothing: 0.1}}
	}
	whole := declare()
	whole.Allocate(true)
	layer.Normal(whole.W, 0.5, rand.New(rand.NewPCG(1, 2)))
	step := func(m weights, microbatch int) {
		r, a := rand.New(rand.NewPCG(3, uint64(microbatch))), new(layer.Arena)
		var workspace layer.LossWorkspace
		targets := layer.Targets{IDs: make([]int32, n), Scale: 0.1}
		a.Alloc(func() { workspace, targets.Losses = m.p.Alloc(a, n), layer.AllocLosses(a, n) })
		x, dx, y, dy := random(r, n, in), mat.New(n, in), mat.New(n, d), mat.New(n, d)
		for i := range targets.IDs {
			targets.IDs[i] = int32(r.IntN(v))
		}
		m.l.Forward(nil, y, x)
		m.p.ForwardBackward(nil, dy, y, targets, workspace)
		m.l.Backward(nil, dx, dy, x, layer.Set)
	}
	for i := range microbatches {
		step(whole, i)
	}
	want := slices.Clone(whole.G)
	clear(whole.G)
	whole.BeginBatch()
	var all sync.WaitGroup
	for i := microbatches - 1; i >= 0; i-- {
		all.Add(1)
		m := declare()
		accumulator := m.Share(whole.Params)
		go func() {
			defer all.Done()
			accumulator.Begin(i)
			defer accumulator.End()
			step(m, i)
		}()
	}
	all.Wait()
	for i, g := range whole.G {
		if g != want[i] {
			t.Fatalf("gradient %d is %v, want %v", i, g, want[i])
		}
	}
}
