package model

import (
	"encoding"
	"math"
	"math/rand/v2"
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

// The loss of the whole model equals that of the paper's equations in float64, and gradients equal
// its central differences.
func TestGradientsOfTheWholeModel(t *testing.T) {
	if raceDetector {
		t.Skip("race detector: one goroutine, and ten times as slow")
	}
	for _, tie := range []string{TieAll, TieDecoder, TieNone} {
		for _, rate := range []float32{0, 0.2} {
			c := toy()
			c.DModel, c.Heads, c.DFF, c.SrcVocab, c.TgtVocab = 8, 2, 12, 9, 9
			c.Tie, c.Dropout = tie, rate
			if tie != TieAll {
				c.SrcVocab = 8
			}
			m := newModel(t, c)
			r := rand.New(rand.NewPCG(8, 8))
			// Initial weights give almost uniform attention, where gradients cancel:
			// move away from them.
			for i := range m.Params.W {
				m.Params.W[i] += float32(0.3 * r.NormFloat64())
			}
			b := randomBatch(c, 2, 3, 4)
			const seed, scale = 99, 0.5
			got := NewPass(m, nil).Train(b, seed, scale)
			paper := reference(m, seed, c.rates())
			want, nll := referenceLoss(paper, b)
			// About forty roundings of 6e-8 from the embeddings to the losses.
			if math.Abs(got.Sum-want) > 2e-6*want || math.Abs(got.NLL-nll) > 2e-6*nll {
				t.Errorf("tie %s, dropout %v: loss %v and NLL %v, want %v and %v", tie, rate, got.Sum, got.NLL, want, nll)
			}
			want, nll = referenceLoss(reference(m, 0, rates{}), b)
			if got := NewPass(m, nil).Evaluate(b); math.Abs(got.Sum-want) > 2e-6*want || math.Abs(got.NLL-nll) > 2e-6*nll {
				t.Errorf("tie %s, dropout %v: Evaluate: loss %v and NLL %v, want %v and %v", tie, rate, got.Sum, got.NLL, want, nll)
			}
			// Without dropout the backward passes are the same, with fewer products.
			if rate == 0 || testing.Short() && tie != TieAll {
				continue
			}
			// Gradients of attention scores are differences of gradients of the
			// attention's output. Where they cancel, the rounding errors remain.
			rounding := 1e-7 * float64(max(mat.Max(m.Params.G), 1))
			for _, p := range m.Params.List {
				clearKeyBias(p, c)
				ref.CheckGradient(t, p.Name, p.G, paper.Weights[p.Name], rounding, func() float64 {
					loss, _ := referenceLoss(paper, b)
					return loss * scale
				})
			}
		}
	}
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

// The loss of a batch is the sum of the losses of its sentences.
func TestLossDoesNotDependOnTheBatch(t *testing.T) {
	m := newModel(t, toy())
	b := randomBatch(m.Config, 20, 0, 8)
	pool := mat.NewPool(2)
	defer pool.Close()
	pass := NewPass(m, pool)
	all := pass.Evaluate(b)
	var sum Loss
	for s := range b.Sentences() {
		one := new(Batch)
		one.Append(b.Src[b.SrcStarts[s]:b.SrcStarts[s+1]-1], b.TgtIn[b.TgtStarts[s]+1:b.TgtStarts[s+1]])
		sum = sum.Plus(NewPass(m, nil).Evaluate(one))
	}
	// Float64 sums of equal float32 values in another order.
	if math.Abs(sum.Sum-all.Sum) > 1e-12*all.Sum || sum.Correct != all.Correct || sum.Tokens != all.Tokens {
		t.Errorf("loss %+v in one batch, %+v one by one", all, sum)
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
