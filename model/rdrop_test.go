package model

import (
	"math"
	"testing"

	"tfm/mat"
)

// Without dropout both copies are equal and the KL divergence is 0: the loss is twice that of
// Train, and the gradient, at half the scale, that of Train up to the order of its sums.
func TestRDropWithoutDropout(t *testing.T) {
	m := newModel(t, toy())
	b := randomBatch(m.Config, 6, 0, 3)
	pass := NewPass(m, nil)
	want := pass.Train(b, 1, 0.5)
	g := append([]float32(nil), m.Params.G...)
	clear(m.Params.G)
	got := pass.TrainRDrop(b, 1, 0.25, 3)
	if math.Abs(got.Sum-2*want.Sum) > 1e-9*got.Sum || math.Abs(got.NLL-2*want.NLL) > 1e-9*got.NLL || got.Tokens != 2*want.Tokens ||
		got.Correct != 2*want.Correct || got.KL != 0 {
		t.Errorf("loss %+v, want twice %+v", got, want)
	}
	largest := max(mat.Max(g), 1e-3)
	for i := range g {
		if diff := math.Abs(float64(m.Params.G[i] - g[i])); diff > 1e-5*float64(largest) {
			t.Fatalf("gradient %d is %v, want %v", i, m.Params.G[i], g[i])
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

func TestRDropOnThreads(t *testing.T) {
	c := toy()
	c.Dropout = 0.3
	b := randomBatch(c, 40, 0, 6)
	threadsChangeNoGradient(t, newModel(t, c), func(s *Pass) {
		s.microbatchRows = 60 // several microbatches
		s.TrainRDrop(b, 7, 1, 4)
	})
}

func TestRDropDoesNotAllocate(t *testing.T) {
	stepsDoNotAllocate(t, 40, (*Pass).AllocRDrop, func(pass *Pass, b *Batch, seed uint64) { pass.TrainRDrop(b, seed, 1, 1) })
}

func TestRDropOfAnEmptyBatch(t *testing.T) {
	if loss := NewPass(newModel(t, toy()), nil).TrainRDrop(new(Batch), 1, 1, 1); loss != (Loss{}) {
		t.Errorf("loss %+v, want zero", loss)
	}
}
