package train

import (
	"runtime"
	"testing"

	"tfm/model"
)

// What follows the gradient in a step, for the number of weights of `base` with 10,000 shared pieces: memory
// alone sets its speed. The norm reads the gradient; Adam reads and writes weights, gradient and both moments.
func BenchmarkUpdate(b *testing.B) {
	c, err := model.Preset("base")
	if err != nil {
		b.Fatal(err)
	}
	c.SrcVocab, c.TgtVocab = 10_000, 10_000
	weights := c.CountParams()
	w, g := make([]float32, weights), make([]float32, weights)
	a, norm := NewAdam(weights, 0.9, 0.98, 1e-9), newGradientNorm(weights)
	p := pool(b, runtime.GOMAXPROCS(0))
	for i := range g { // memory that was never written is not there yet
		w[i], g[i], a.M[i], a.V[i] = 1, 1e-3, 1e-3, 1e-6
	}
	b.Run("part=norm", func(b *testing.B) {
		b.SetBytes(4 * int64(weights))
		for b.Loop() {
			norm.of(p, g)
		}
	})
	b.Run("part=adam", func(b *testing.B) {
		b.SetBytes(8 * 4 * int64(weights))
		for b.Loop() {
			a.Step(p, w, g, 1e-3, 1)
		}
	})
}

// An epoch of a million pairs: shuffled, sorted, cut.
func BenchmarkDeal(b *testing.B) {
	batches, err := NewBatches(randomPairs(1_000_000, 50), 4096, 50, 1)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		batches.deal()
	}
}
