package model

import (
	"encoding"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"tfm/internal/ref"
	"tfm/layer"
	"tfm/mat"
)

// reference returns m in float64, with the dropout masks of Train with that seed.
func reference(m *Transformer, seed uint64, r rates) ref.Model {
	c := m.Config
	text := func(v encoding.TextMarshaler) string {
		name, _ := v.MarshalText()
		return string(name)
	}
	encAlpha, _, decAlpha, _ := c.DeepNormScales()
	w := ref.Model{
		Weights: ref.WeightsOf(m.Params), D: c.DModel, Heads: c.Heads, EncoderLayers: c.EncoderLayers, DecoderLayers: c.DecoderLayers,
		Eps: float64(c.NormEps), Smoothing: float64(c.LabelSmoothing),
		Source: m.SrcEmbed.E.Name, Target: m.TgtEmbed.E.Name, Output: m.Output.E.Name,
		SourcePositions: text(c.Positions), TargetPositions: text(c.Positions),
		Variant: ref.Variant{
			Pre: c.Norm == PreNorm, FinalNorm: c.HasFinalNorm(), EncAlpha: encAlpha, DecAlpha: decAlpha, NormKind: text(c.NormKind),
			First: c.FirstPosition, Unscaled: c.Unscaled, Activation: text(c.Activation), SmoothAll: c.Smoothing == SmoothAll, Recurrent: c.Autoreg == SSRU,
		},
	}
	if c.Positions == Learned {
		w.SourcePositions, w.TargetPositions = "source.positions", "target.positions"
	}
	mask := func(drop mat.Dropout, row []float64, first int) {
		ones, mask := make([]float32, len(row)), make([]float32, len(row))
		layer.Fill(ones, 1)
		drop.Apply(mask, ones, nil, first)
		for j := range row {
			row[j] *= float64(mask[j])
		}
	}
	rows := func(at func(int) mat.Dropout) ref.Drop {
		return func(site, first int, x ref.Matrix) {
			for i, row := range x {
				mask(at(site), row, (first+i)*len(row))
			}
		}
	}
	all := dropouts{rates: r, seed: seed}
	w.Drop, w.DropInner = rows(all.at), rows(all.innerAt)
	w.DropWeights = func(site, sentence, head int, weights ref.Matrix) {
		drop := all.weightsAt(site)
		drop.Key += uint64(sentence*c.Heads + head)
		for i, row := range weights {
			mask(drop, row, i*len(row))
		}
	}
	return w
}

// referenceLoss returns the loss of b, with label smoothing and without.
func referenceLoss(r ref.Model, b *Batch) (smoothed, nll float64) {
	for s := range b.Sentences() {
		m0, m1, n0, n1 := b.SrcStarts[s], b.SrcStarts[s+1], b.TgtStarts[s], b.TgtStarts[s+1]
		r.Sentence = s
		a, c := r.Loss(b.Src[m0:m1], b.TgtIn[n0:n1], b.TgtOut[n0:n1], int(m0), int(n0))
		smoothed, nll = smoothed+a, nll+c
	}
	return smoothed, nll
}

// clearKeyBias clears the gradient of the keys' bias. The exact gradient is 0, see package attn's
// tests, and the gradient has only rounding errors.
func clearKeyBias(p *layer.Param, c Config) {
	dk, _ := c.HeadSizes()
	k := c.Heads * dk
	switch {
	case strings.HasSuffix(p.Name, ".qkv.bias"):
		clear(p.G[k : 2*k])
	case strings.HasSuffix(p.Name, ".kv.bias"):
		clear(p.G[:k])
	}
}

func TestThreadsChangeNoGradient(t *testing.T) {
	c := toy()
	c.Dropout = 0.3
	b := randomBatch(c, 40, 0, 6)
	threadsChangeNoGradient(t, newModel(t, c), func(s *Pass) { s.Train(b, 7, 1) })
}

// On one processor, threads that wait for an earlier microbatch must yield to it.
func TestThreadsOnOneProcessorChangeNoGradient(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	TestThreadsChangeNoGradient(t)
}

func threadsChangeNoGradient(t *testing.T, m *Transformer, train func(*Pass)) {
	t.Helper()
	var first []float32
	for _, threads := range []int{1, 2, 3, 8} {
		p := mat.NewPool(threads)
		clear(m.Params.G)
		train(NewPass(m, p))
		p.Close()
		if first == nil {
			first = append(first, m.Params.G...)
		}
		if !bitsEqual(first, m.Params.G) {
			t.Errorf("gradients of %d threads differ from those of one", threads)
		}
	}
}

func TestTrainingDoesNotAllocate(t *testing.T) {
	stepsDoNotAllocate(t, 20, (*Pass).Alloc, func(pass *Pass, b *Batch, seed uint64) { pass.Train(b, seed, 1) })
}

// stepsDoNotAllocate checks steps on a small and a large batch, in microbatches of some rows.
func stepsDoNotAllocate(t *testing.T, rows int, alloc func(s *Pass, src, tgt, longest int), train func(s *Pass, b *Batch, seed uint64)) {
	t.Helper()
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
	pass.microbatchRows = rows
	alloc(pass, len(large.Src), len(large.TgtIn), large.maxSentence())
	bytes := pass.Bytes()
	step := func() {
		train(pass, small, 1)
		train(pass, large, 2)
	}
	for range 10 { // until each worker has had the longest sentence
		step()
	}
	if n := testing.AllocsPerRun(50, step); n != 0 || pass.Bytes() != bytes {
		t.Errorf("%v allocations in two steps, want 0; memory of %d bytes grew to %d", n, bytes, pass.Bytes())
	}
}
