package model

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"tfm/internal/ref"
	"tfm/layer"
	"tfm/mat"
)

// reference is m in float64, with the dropout of a training step of that seed if rate is above 0.
func reference(m *Transformer, seed uint64, rate float32) ref.Model {
	c := m.Config
	r := ref.Model{
		Weights: ref.WeightsOf(m.Params), D: c.DModel, Heads: c.Heads, EncoderLayers: c.EncoderLayers, DecoderLayers: c.DecoderLayers,
		Eps: float64(c.NormEps), Smoothing: float64(c.LabelSmoothing),
		Source: m.srcEmbed.E.Name, Target: m.tgtEmbed.E.Name, Output: m.project.E.Name,
	}
	if rate > 0 {
		all := dropouts{rates: rates{outer: rate}, seed: seed}
		r.Drop = func(place, first int, x ref.Matrix) {
			ones, mask := make([]float32, c.DModel), make([]float32, c.DModel)
			layer.Fill(ones, 1)
			for i, row := range x {
				all.at(place).Add(mask, ones, nil, (first+i)*c.DModel)
				for j := range row {
					row[j] *= float64(mask[j])
				}
			}
		}
	}
	return r
}

func referenceLoss(r ref.Model, b *Batch) (smoothed, nll float64) {
	for s := range b.Sentences() {
		m0, m1, n0, n1 := b.SrcStarts[s], b.SrcStarts[s+1], b.TgtStarts[s], b.TgtStarts[s+1]
		a, c := r.Loss(b.Src[m0:m1], b.TgtIn[n0:n1], b.TgtOut[n0:n1], int(m0), int(n0))
		smoothed, nll = smoothed+a, nll+c
	}
	return smoothed, nll
}

// The whole model: its loss is the paper's, and every gradient is the loss's derivative.
func TestGradientsOfTheWholeModel(t *testing.T) {
	if raceDetector {
		t.Skip("one goroutine, and ten times as slow under the race detector")
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
			for i := range m.Params.W { // away from the start, where attention is almost even and its derivatives cancel
				m.Params.W[i] += float32(0.3 * r.NormFloat64())
			}
			b := randomBatch(c, 2, 3, 4)
			const seed, scale = 99, 0.5
			got := NewPass(m, nil).Train(b, seed, scale)
			paper := reference(m, seed, rate)
			want, nll := referenceLoss(paper, b)
			// Some forty roundings of 6e-8 lie between the tokens and their losses.
			if math.Abs(got.Sum-want) > 2e-6*want || math.Abs(got.NLL-nll) > 2e-6*nll {
				t.Errorf("tie %s, dropout %v: loss %v and %v, the paper's is %v and %v", tie, rate, got.Sum, got.NLL, want, nll)
			}
			want, nll = referenceLoss(reference(m, 0, 0), b)
			if got := NewPass(m, nil).Evaluate(b); math.Abs(got.Sum-want) > 2e-6*want || math.Abs(got.NLL-nll) > 2e-6*nll {
				t.Errorf("tie %s, dropout %v: without dropout loss %v and %v, the paper's is %v and %v", tie, rate, got.Sum, got.NLL, want, nll)
			}
			// The derivative of attention's scores is a difference of derivatives of its result, whose rounding stays.
			rounding := 1e-7 * float64(max(mat.Max(m.Params.G), 1))
			for _, p := range m.Params.List {
				clearKeyBias(p, c.DModel)
				ref.Gradient(t, p.Name, p.G, paper.Weights[p.Name], rounding, func() float64 {
					loss, _ := referenceLoss(paper, b)
					return loss * scale
				})
			}
		}
	}
}

// clearKeyBias removes rounding errors: the derivative of the keys' bias is 0, see package attn's tests.
func clearKeyBias(p *layer.Param, d int) {
	switch {
	case strings.HasSuffix(p.Name, ".qkv.bias"):
		clear(p.G[d : 2*d])
	case strings.HasSuffix(p.Name, ".kv.bias"):
		clear(p.G[:d])
	}
}

// A batch of sentences gives each sentence the loss it has alone, bit for bit.
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
	// Float64 sums of the same float32 numbers in another order.
	if math.Abs(sum.Sum-all.Sum) > 1e-12*all.Sum || sum.Correct != all.Correct || sum.Tokens != all.Tokens {
		t.Errorf("together %+v, one by one %+v", all, sum)
	}
}

func TestThreadsChangeNoGradient(t *testing.T) {
	c := toy()
	c.Dropout = 0.3
	m := newModel(t, c)
	b := randomBatch(c, 40, 0, 6)
	var first []float32
	for _, threads := range []int{1, 2, 3, 8} {
		p := mat.NewPool(threads)
		clear(m.Params.G)
		NewPass(m, p).Train(b, 7, 1)
		p.Close()
		if first == nil {
			first = append(first, m.Params.G...)
		}
		if !bitsEqual(first, m.Params.G) {
			t.Errorf("%d threads give other gradients", threads)
		}
	}
}

func TestTrainingAllocatesNothingAStep(t *testing.T) {
	if raceDetector {
		t.Skip("allocations cannot be counted under the race detector")
	}
	c := toy()
	c.Dropout = 0.3
	m := newModel(t, c)
	p := mat.NewPool(2)
	defer p.Close()
	small, large := randomBatch(c, 5, 0, 1), randomBatch(c, 30, 0, 2)
	pass := NewPass(m, p)
	pass.Reserve(len(large.Src), len(large.TgtIn))
	step := func() {
		pass.Train(small, 1, 1)
		pass.Train(large, 2, 1)
	}
	step()
	if n := testing.AllocsPerRun(20, step); n != 0 {
		t.Errorf("%v allocations in two steps", n)
	}
}
