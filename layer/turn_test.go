package layer_test

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"tfm/layer"
	"tfm/mat"
)

// Parts that are taken at once, the last begun first, leave the sums of parts taken one after another, also where a gradient has
// several turns and the logits of a part come in several chunks.
func TestPartsAddInTheirOrder(t *testing.T) {
	const parts, n, in, d, v = 3, 70, 5000, 4, 70_000
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
	step := func(m weights, part int) {
		r, a := rand.New(rand.NewPCG(3, uint64(part))), new(layer.Arena)
		var room layer.LossRoom
		var losses layer.Losses
		a.Fit(func() { room, losses = m.p.NewLossRoom(a, n), layer.NewLosses(a, n) })
		x, dx, y, dy := random(r, n, in), mat.New(n, in), mat.New(n, d), mat.New(n, d)
		targets := make([]int32, n)
		for i := range targets {
			targets[i] = int32(r.IntN(v))
		}
		m.l.Forward(nil, y, x)
		m.p.ForwardBackward(nil, dy, y, targets, 0.1, room, losses)
		m.l.Backward(nil, dx, dy, x, layer.Set)
	}
	for part := range parts {
		step(whole, part)
	}
	want := slices.Clone(whole.G)
	clear(whole.G)
	whole.FirstPart()
	var all sync.WaitGroup
	for part := parts - 1; part >= 0; part-- {
		all.Add(1)
		m := declare()
		m.Share(whole.Params, &layer.Part{Number: int32(part)})
		go func() {
			defer all.Done()
			step(m, part)
		}()
	}
	all.Wait()
	for i, g := range whole.G {
		if g != want[i] {
			t.Fatalf("gradient %d is %v, want %v", i, g, want[i])
		}
	}
}
