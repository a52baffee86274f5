package train

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"tfm/internal/golden"
	"tfm/layer"
	"tfm/mat"
	"tfm/model"
)

// optimizerOf returns the optimizer of a case.
func optimizerOf(c *golden.Case, n int) Optimizer {
	switch strings.TrimPrefix(c.Name, "optimizer.") {
	case "adam":
		return NewAdam(n, c.Beta1, c.Beta2, c.Eps)
	case "adamw":
		var ps layer.Params
		ps.New("w", 1, n) // a matrix, because PyTorch decays every weight
		return NewAdamW(&ps, c.Beta1, c.Beta2, c.Eps, c.Decay)
	}
	return NewSGD(n, c.Momentum)
}

func TestOptimizersMatchPyTorch(t *testing.T) {
	golden.Each(t, "optimizer", func(t *testing.T, c *golden.Case) {
		w, gradients, after := c.Matrix("param/w").Data, c.Matrix("input/gradients"), c.Matrix("output/w")
		optimizer := optimizerOf(c, len(w))
		for i := range gradients.Rows {
			optimizer.StepAndClear(nil, w, gradients.Row(i), c.Rate, 1)
			// A weight is rounded ten times; the updates are about 1/1000 of it.
			golden.CheckClose(t, fmt.Sprint("weights after step ", i+1), mat.Of(w, 1, len(w)), after.RowRange(i, i+1), 10*0x1p-24)
		}
	})
}

// PyTorch divides by norm + 1e-6 instead of the norm. For norms above 1 the relative difference is
// at most 1e-6, plus the rounding of the norm and the product.
func TestClippingMatchesPyTorch(t *testing.T) {
	golden.Each(t, "clip", func(t *testing.T, c *golden.Case) {
		g := c.Matrix("input/gradient")
		norm := newGradientNorm(g.Cols).of(nil, g.Data)
		want := c.Float64s("table/norm")[0]
		if math.Abs(norm/want-1) > 1e-6 {
			t.Errorf("norm %v, want %v", norm, want)
		}
		mat.Scal(clipFactor(norm, c.Limit), g.Data)
		golden.CheckClose(t, "clipped gradient", g, c.Matrix("output/gradient"), 1e-6/want+4*0x1p-24)
	})
}

// Both are computed in float64, with a few rounding errors of 1e-16.
func TestScheduleMatchesPyTorch(t *testing.T) {
	c := golden.Open(t, "schedule.paper")
	schedule := PaperSchedule(c.D, c.Warmup, c.Factor)
	for i, want := range c.Float64s("table/rates") {
		if got := schedule.Rate(i + 1); math.Abs(got/want-1) > 1e-14 {
			t.Errorf("Rate(%d) = %v, want %v", i+1, got, want)
		}
	}
}

// TestTrainingMatchesPyTorch compares ten training steps: loss, norm of the gradient, clipping,
// schedule, Adam.
func TestTrainingMatchesPyTorch(t *testing.T) {
	golden.Each(t, "training", func(t *testing.T, c *golden.Case) {
		config := model.Config{DModel: c.D, Heads: c.Heads, DFF: c.FF, EncoderLayers: c.EncoderLayers, DecoderLayers: c.DecoderLayers,
			LabelSmoothing: float32(c.Smoothing), SrcVocab: c.Vocab, TgtVocab: c.Vocab, Tie: model.TieNone, NormEps: float32(c.Eps), MaxLen: 32}
		if c.Tied {
			config.Tie = model.TieAll
		}
		config.FinalNorm = model.FinalNormOff
		if c.FinalNorm {
			config.FinalNorm = model.FinalNormOn
		}
		if c.NormFirst {
			config.Norm = model.PreNorm
		}
		if err := config.Activation.UnmarshalText([]byte(c.Activation)); err != nil {
			t.Fatal(err)
		}
		if c.SmoothOver == "all" {
			config.Smoothing = model.SmoothAll
		}
		m, err := model.New(config)
		if err != nil {
			t.Fatal(err)
		}
		m.AllocForTraining()
		c.Fill("0/", m.Params)
		pass, b := model.NewPass(m, nil), new(model.Batch)
		adam, gradient := NewAdam(m.Params.Count(), c.Beta1, c.Beta2, 1e-9), newGradientNorm(m.Params.Count())
		schedule := PaperSchedule(c.D, c.Warmup, c.Factor)
		losses, norms := c.Float64s("table/losses"), c.Float64s("table/norms")
		for step := 1; step <= c.Steps; step++ {
			b.Reset()
			src, tgt := sentences(c, fmt.Sprint("src/", step)), sentences(c, fmt.Sprint("tgt/", step))
			for i := range src {
				b.Append(src[i], tgt[i])
			}
			loss := pass.Train(b, 0, 1/float32(len(b.TgtOut)))
			norm := gradient.of(nil, m.Params.G)
			if math.Abs(loss.Sum/losses[step-1]-1) > tenSteps || math.Abs(norm/norms[step-1]-1) > normError {
				t.Errorf("step %d: loss %v and norm %v, want %v and %v", step, loss.Sum, norm, losses[step-1], norms[step-1])
			}
			adam.StepAndClear(nil, m.Params.W, m.Params.G, schedule.Rate(step), clipFactor(norm, c.Limit))
			c.Weights(fmt.Sprint(step, "/"), m.Params, func(p *layer.Param, got, want mat.Matrix) {
				name := fmt.Sprintf("%s after step %d", p.Name, step)
				if lo, hi := keyBias(p, c.D); hi > 0 {
					copy(got.Row(0)[lo:hi], want.Row(0)[lo:hi]) // see keyBias
				}
				golden.CheckClose(t, name, got, want, tenSteps)
			})
		}
	})
}

// tenSteps is the tolerance of weights and losses after ten steps. A weight is rounded ten times,
// by 2^-25 on average, and its updates, about 1/100 of it, have the error of the gradients. The
// measured error is 3e-7. normError is that of the norm: in float32, gradients of a model of this
// depth have an error of about 1e-6 in PyTorch too.
const tenSteps, normError = 1e-6, 4e-6

// keyBias returns the range of the key bias in p. The key bias adds a constant to all scores of a
// query, which does not change the softmax: its gradient is 0 and the computed gradient is rounding
// error. Adam divides a gradient by its magnitude and so turns float32's rounding error into
// updates of nearly the learning rate, but not float64's, which is below eps.
func keyBias(p *layer.Param, d int) (lo, hi int) {
	switch {
	case strings.HasSuffix(p.Name, ".qkv.bias"):
		return d, 2 * d
	case strings.HasSuffix(p.Name, ".kv.bias"):
		return 0, d
	}
	return 0, 0
}

// sentences returns the sentences of a padded matrix of ids.
func sentences(c *golden.Case, name string) (all [][]int32) {
	ids := c.Int32s(name)
	const pairs = 4
	n := len(ids) / pairs
	for i := range pairs {
		row := ids[i*n:][:n]
		for len(row) > 0 && row[len(row)-1] == model.Pad {
			row = row[:len(row)-1]
		}
		all = append(all, row)
	}
	return all
}
