package model

import (
	"math"
	"runtime/debug"
	"testing"

	"tfm/layer"
	"tfm/mat"
)

// Without dropout, and without tokens that are cut off, both copies are equal and the KL divergence
// is 0: the loss is twice that of Train, and the gradient, with half the scale for R-Drop, that of
// Train up to the order of its sums.
func TestEqualCopies(t *testing.T) {
	m := newModel(t, toy())
	b := randomBatch(m.Config, 6, 0, 3)
	pass := NewPass(m, nil)
	want := pass.Train(b, 1, 0.5)
	g := append([]float32(nil), m.Params.G...)
	for name, train := range map[string]func() Loss{
		"R-Drop": func() Loss { return pass.TrainRDrop(b, 1, 0.25, 3) },
		"SimCut": func() Loss { return pass.TrainSimCut(b, 1, 0.5, 3, 0) },
	} {
		clear(m.Params.G)
		got := train()
		// The KL of SimCut is a difference of larger sums.
		if math.Abs(got.Sum-2*want.Sum) > 1e-9*got.Sum || math.Abs(got.NLL-2*want.NLL) > 1e-9*got.NLL || got.Tokens != 2*want.Tokens ||
			got.Correct != 2*want.Correct || math.Abs(got.KL) > 1e-5 || name == "R-Drop" && got.KL != 0 {
			t.Errorf("%s: loss %+v, want twice %+v", name, got, want)
		}
		largest := max(mat.Max(g), 1e-3)
		for i := range g {
			if diff := math.Abs(float64(m.Params.G[i] - g[i])); diff > 1e-5*float64(largest) {
				t.Fatalf("%s: gradient %d is %v, want %v", name, i, m.Params.G[i], g[i])
			}
		}
	}
}

// The cross-entropy of TrainRDrop, with dropout, is that of Train on a batch with both copies.
func TestRDropIsABatchOfCopies(t *testing.T) {
	c := toy()
	c.Dropout, c.AttentionDropout, c.FFDropout = 0.3, 0.2, 0.1
	m := newModel(t, c)
	b := randomBatch(c, 6, 0, 3)
	doubled := new(Batch)
	for range 2 {
		for s := range b.Sentences() {
			doubled.Append(b.Src[b.SrcStarts[s]:b.SrcStarts[s+1]-1], b.TgtIn[b.TgtStarts[s]+1:b.TgtStarts[s+1]])
		}
	}
	pass := NewPass(m, nil)
	got, want := pass.TrainRDrop(b, 5, 1, 2), pass.Train(doubled, 5, 1)
	if got.KL <= 0 {
		t.Errorf("KL = %v, want above 0", got.KL)
	}
	got.KL = 0
	if got != want {
		t.Errorf("loss %+v, want %+v", got, want)
	}
}

func TestDoubledOnThreads(t *testing.T) {
	c := toy()
	c.Dropout = 0.3
	b := randomBatch(c, 40, 0, 6)
	for _, train := range []func(s *Pass){
		func(s *Pass) { s.TrainRDrop(b, 7, 1, 4) }, func(s *Pass) { s.TrainSimCut(b, 7, 1, 4, 0.2) },
	} {
		threadsChangeNoGradient(t, newModel(t, c), func(s *Pass) {
			s.microbatchRows = 60 // several microbatches
			train(s)
		})
	}
}

// Tokens of the second copies are cut off with the given probability, of the first ones none; the
// gradient, also of the embeddings, is that of the loss.
func TestSimCut(t *testing.T) {
	c := toy()
	m := newModel(t, c)
	b := randomBatch(c, 200, 0, 3)
	pass := NewPass(m, nil)
	pass.TrainSimCut(b, 5, 1, 3, 0.2)
	count := func(ids []int32) (n int) {
		for _, id := range ids {
			if id == layer.CutOff {
				n++
			}
		}
		return n
	}
	for side, ids := range [][]int32{pass.doubled.Src, pass.doubled.TgtIn} {
		if n, of := count(ids), len(ids)/2; n < of/7 || n > of/4 {
			t.Errorf("side %d: %d of %d tokens are cut off, want a fifth", side, n, of)
		}
	}
	if n := len(b.Src); count(b.Src) > 0 || count(pass.doubled.Src[:n/20]) > 0 {
		t.Error("tokens of the batch or of a first copy are cut off")
	}

	b = randomBatch(c, 3, 0, 4)
	loss := func() float64 {
		l := pass.TrainSimCut(b, 9, 1, 3, 0.3)
		return (l.Sum + 3*l.KL) / 2
	}
	clear(m.Params.G)
	loss()
	g := append([]float32(nil), m.Params.G...)
	for _, p := range m.Params.List {
		const h = 1.0 / 64 // of float32: large differences, and so a large tolerance
		i := largestGradient(g[:p.Size()])
		w := &p.W[i]
		old := *w
		*w = old + h
		up := loss()
		*w = old - h
		down := loss()
		*w = old
		if got, want := float64(g[i]), (up-down)/(2*h); math.Abs(got-want) > 0.02*math.Abs(want)+0.02 {
			t.Errorf("gradient %d of %s is %v, want %v", i, p.Name, got, want)
		}
		g = g[p.Size():]
	}
}

// largestGradient returns the index of the element with the largest absolute value.
func largestGradient(g []float32) (at int) {
	for i := range g {
		if math.Abs(float64(g[i])) > math.Abs(float64(g[at])) {
			at = i
		}
	}
	return at
}

func TestDoubledDoesNotAllocate(t *testing.T) {
	if raceDetector {
		t.Skip("race detector: it allocates")
	}
	// A garbage collection would empty the sync.Pools of package mat.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	c := toy()
	c.Dropout = 0.3
	m := newModel(t, c)
	p := mat.NewPool(2)
	defer p.Close()
	small, large := randomBatch(c, 5, 0, 1), randomBatch(c, 30, 0, 2)
	pass := NewPass(m, p)
	pass.microbatchRows = 40
	pass.AllocDoubled(len(large.Src), len(large.TgtIn), large.maxSentence())
	bytes := pass.Bytes()
	step := func() {
		pass.TrainRDrop(small, 1, 1, 1)
		pass.TrainRDrop(large, 2, 1, 1)
		pass.TrainSimCut(small, 1, 1, 1, 0.1)
		pass.TrainSimCut(large, 2, 1, 1, 0.1)
	}
	for range 10 { // until each worker has had the longest sentence
		step()
	}
	if n := testing.AllocsPerRun(50, step); n != 0 || pass.Bytes() != bytes {
		t.Errorf("%v allocations in two steps, want 0; memory of %d bytes grew to %d", n, bytes, pass.Bytes())
	}
	for _, loss := range []Loss{pass.TrainRDrop(new(Batch), 1, 1, 1), pass.TrainSimCut(new(Batch), 1, 1, 1, 0.1)} {
		if loss != (Loss{}) {
			t.Errorf("empty batch: loss %+v, want zero", loss)
		}
	}
}
