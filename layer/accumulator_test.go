package layer_test

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tfm/layer"
	"tfm/mat"
)

// Concurrent microbatches, the last begun first, leave the same sums as microbatches that run one
// after another, also if a gradient has several blocks and a microbatch several chunks of logits.
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
	shared := declare()
	shared.AllocForTraining()
	layer.Normal(shared.W, 0.5, rand.New(rand.NewPCG(1, 2)))
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
		step(shared, i)
	}
	want := slices.Clone(shared.G)
	clear(shared.G)
	shared.BeginBatch()
	var all sync.WaitGroup
	for i := microbatches - 1; i >= 0; i-- {
		all.Add(1)
		m := declare()
		accumulator := m.Share(shared.Params)
		go func() {
			defer all.Done()
			accumulator.Begin(i)
			defer accumulator.End()
			step(m, i)
		}()
	}
	all.Wait()
	for i, g := range shared.G {
		if g != want[i] {
			t.Fatalf("gradient %d = %v, want %v", i, g, want[i])
		}
	}
}

// linears allocates a linear map, and an alias of it for each of n workers.
func linears(n int) (shared *layer.Params, aliases []layer.Linear, accumulators []*layer.Accumulator) {
	declare := func() (*layer.Params, layer.Linear) {
		ps := new(layer.Params)
		return ps, layer.NewLinear(ps, "l", 3, 2)
	}
	shared, _ = declare()
	shared.AllocForTraining()
	shared.BeginBatch()
	for range n {
		ps, l := declare()
		accumulators = append(accumulators, ps.Share(shared))
		aliases = append(aliases, l)
	}
	return shared, aliases, accumulators
}

func TestSharePanicsOnOtherParameters(t *testing.T) {
	src := new(layer.Params)
	layer.NewLinear(src, "l", 3, 2)
	src.AllocForTraining()
	for name, declare := range map[string]func(*layer.Params){
		"fewer parameters": func(ps *layer.Params) { layer.NewLinearNoBias(ps, "l", 3, 2) },
		"another shape":    func(ps *layer.Params) { layer.NewLinear(ps, "l", 2, 2) },
		"another name":     func(ps *layer.Params) { layer.NewLinear(ps, "m", 3, 2) },
	} {
		func() {
			defer func() {
				if s, ok := recover().(string); !ok || !strings.HasPrefix(s, "layer: ") {
					t.Errorf("%s: panic %q, want one that begins with \"layer: \"", name, s)
				}
			}()
			ps := new(layer.Params)
			declare(ps)
			ps.Share(src)
		}()
	}
}

// backward adds the gradients of one row of ones to those of a linear map: 1 to each.
func backward(l layer.Linear) {
	x, dy, dx := mat.New(1, 3), mat.New(1, 2), mat.New(1, 3)
	layer.Fill(x.Data, 1)
	layer.Fill(dy.Data, 1)
	l.Backward(nil, dx, dy, x, layer.Set)
}

// A microbatch that adds to no gradient, because it has no rows or panics, blocks no other.
func TestMicrobatchesThatAddNothing(t *testing.T) {
	const n = 4
	shared, l, accumulators := linears(n)
	var all sync.WaitGroup
	for i := range n {
		all.Add(1)
		go func() {
			defer all.Done()
			defer func() { _ = recover() }()
			accumulators[i].Begin(i)
			defer accumulators[i].End()
			switch i {
			case 0: // without rows
			case 2:
				panic("in the middle of a microbatch")
			default:
				backward(l[i])
			}
		}()
	}
	all.Wait()
	for i, g := range shared.G {
		if g != 2 {
			t.Errorf("gradient %d = %v, want 2 from two microbatches", i, g)
		}
	}
}

// A microbatch that waits long parks its goroutine.
func TestWaitingMicrobatchParks(t *testing.T) {
	_, l, accumulators := linears(2)
	done := make(chan struct{})
	go func() {
		defer close(done)
		accumulators[1].Begin(1)
		defer accumulators[1].End()
		backward(l[1])
	}()
	state := ""
	for deadline := time.Now().Add(30 * time.Second); !strings.HasPrefix(state, "sync.Cond.Wait"); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("state of a waiting microbatch = %q, want sync.Cond.Wait", state)
		}
		state = stateOf("layer_test.backward")
	}
	accumulators[0].Begin(0)
	accumulators[0].End()
	<-done
}

// stateOf returns the state of the goroutine that executes a function, such as "sync.Cond.Wait".
func stateOf(function string) string {
	buf := make([]byte, 1<<20)
	for stack := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if strings.Contains(stack, function) {
			_, state, _ := strings.Cut(stack, "[")
			state, _, _ = strings.Cut(state, "]")
			return state
		}
	}
	return ""
}
