package model

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"tfm/internal/ref"
	"tfm/layer"
	"tfm/mat"
)

// small returns a configuration for central differences, with one layer in each stack. Some
// variants have more.
func small() Config {
	c := toy()
	c.EncoderLayers, c.DecoderLayers = 1, 1
	c.DModel, c.Heads, c.DFF, c.SrcVocab, c.TgtVocab, c.MaxLen = 8, 2, 12, 9, 9, 16
	return c
}

// variants has each reading of the paper alone, and some combinations.
var variants = []struct {
	name   string
	change func(*Config)
}{
	{"pre-norm", func(c *Config) { c.Norm, c.EncoderLayers, c.DecoderLayers = PreNorm, 2, 2 }},
	{"pre-norm without final norms", func(c *Config) { c.Norm, c.FinalNorm = PreNorm, FinalNormOff }},
	{"post-norm with final norms", func(c *Config) { c.FinalNorm = FinalNormOn }},
	{"DeepNorm", func(c *Config) { c.Norm, c.EncoderLayers = DeepNorm, 2 }},
	{"unbiased norm", func(c *Config) { c.NormKind, c.NormEps = UnbiasedNorm, 1e-6 }},
	{"RMSNorm", func(c *Config) { c.NormKind = RMSNorm }},
	{"halves", func(c *Config) { c.Positions = Halves }},
	{"tensor2tensor from 1", func(c *Config) { c.Positions, c.FirstPosition = TimingSignal, 1 }},
	{"interleaved from 1", func(c *Config) { c.FirstPosition = 1 }},
	{"learned positions", func(c *Config) { c.Positions = Learned }},
	{"unscaled", func(c *Config) { c.Unscaled = true }},
	{"d_k below d/h", func(c *Config) { c.DK = 3 }},
	{"d_v above d/h", func(c *Config) { c.DV = 7 }},
	{"heads that do not divide d", func(c *Config) { c.Heads, c.DK, c.DV = 3, 2, 5 }},
	{"every head at full d", func(c *Config) { c.DK, c.DV = c.DModel, c.DModel }},
	{"one head", func(c *Config) { c.Heads = 1 }},
	{"no biases", func(c *Config) { c.Biases = NoBiases }},
	{"biases in feed-forward alone", func(c *Config) { c.Biases = FeedForwardBiases }},
	{"biases in attention alone", func(c *Config) { c.Biases = AttentionBiases }},
	{"output bias", func(c *Config) { c.Tie, c.OutputBias = TieNone, true }},
	{"output bias, tied", func(c *Config) { c.OutputBias = true }},
	{"SSRU", func(c *Config) { c.Autoreg, c.Positions, c.OutputBias, c.DecoderLayers = SSRU, TimingSignal, true, 2 }},
	{"SSRU in pre-norm, untied", func(c *Config) { c.Autoreg, c.Norm, c.Tie, c.Biases, c.Dropout = SSRU, PreNorm, TieNone, NoBiases, 0.1 }},
	{"SSRU in DeepNorm", func(c *Config) { c.Autoreg, c.Norm, c.NormKind, c.Positions = SSRU, DeepNorm, RMSNorm, Learned }},
	{"tied decoder, dropout", func(c *Config) {
		c.Tie, c.SrcVocab, c.Dropout, c.EncoderLayers, c.DecoderLayers = TieDecoder, 8, 0.2, 2, 2
	}},
	{"dropout everywhere", func(c *Config) { c.Dropout, c.AttentionDropout, c.FFDropout = 0.1, 0.2, 0.3 }},
	{"dropout inside alone", func(c *Config) { c.AttentionDropout, c.FFDropout, c.Activation = 0.2, 0.3, GELU }},
	{"smoothing over all", func(c *Config) { c.Smoothing = SmoothAll }},
	{"PyTorch", func(c *Config) {
		c.FinalNorm, c.Tie, c.OutputBias, c.Smoothing, c.Init = FinalNormOn, TieNone, true, SmoothAll, PyTorchInit
		c.Dropout, c.AttentionDropout, c.FFDropout, c.SrcVocab = 0.1, 0.1, 0.1, 8
	}},
	{"a modern one", func(c *Config) {
		c.Norm, c.NormKind, c.Biases, c.Activation, c.Positions, c.DK = PreNorm, RMSNorm, NoBiases, SiLU, Learned, 5
		c.AttentionDropout, c.EncoderLayers, c.DecoderLayers = 0.2, 2, 1
	}},
	{"tensor2tensor", func(c *Config) {
		c.Norm, c.Positions, c.Biases, c.NormEps, c.Dropout, c.AttentionDropout, c.FFDropout = PreNorm, TimingSignal, FeedForwardBiases, 1e-6, 0.1, 0.1, 0.1
	}},
	{"the annotated one", func(c *Config) {
		c.Norm, c.NormKind, c.NormEps, c.Tie, c.OutputBias, c.Dropout, c.AttentionDropout = PreNorm, UnbiasedNorm, 1e-6, TieNone, true, 0.1, 0.1
	}},
	{"deep and odd", func(c *Config) {
		c.Norm, c.FinalNorm, c.NormKind, c.Positions, c.FirstPosition, c.Activation = DeepNorm, FinalNormOn, RMSNorm, Halves, 1, GELUTanh
		c.Heads, c.DK, c.DV, c.FFDropout, c.Unscaled, c.Biases, c.DecoderLayers = 3, 4, 3, 0.2, true, AttentionBiases, 2
	}},
}

// eachVariant runs test for the configuration of base and for each of its variants.
func eachVariant(t *testing.T, base func() Config, test func(*testing.T, Config)) {
	t.Run("paper", func(t *testing.T) { test(t, base()) })
	for _, v := range variants {
		c := base()
		v.change(&c)
		t.Run(v.name, func(t *testing.T) { test(t, c) })
	}
	for i, name := range activations {
		c := base()
		if c.Activation != Activation(i) {
			c.Activation = Activation(i)
			t.Run(name, func(t *testing.T) { test(t, c) })
		}
	}
}

// perturbed returns a model whose initial weights have noise added. Without it attention is almost
// uniform and its gradients cancel.
func perturbed(t *testing.T, c Config) *Transformer {
	m := newModel(t, c)
	r := rand.New(rand.NewPCG(8, 8))
	for i := range m.Params.W {
		m.Params.W[i] += float32(0.3 * r.NormFloat64())
	}
	return m
}

// The loss of every variant equals that of its equations in float64, and gradients equal its
// central differences.
func TestGradientsOfEveryVariant(t *testing.T) {
	if raceDetector {
		t.Skip("race detector: one goroutine, and ten times as slow")
	}
	eachVariant(t, small, func(t *testing.T, c Config) {
		m := perturbed(t, c)
		b := new(Batch)
		b.Append([]int32{3, 7, 5}, []int32{4, 4})
		b.Append([]int32{6, 3}, []int32{8, 3, 5, 6})
		const seed, scale = 99, 0.5
		pass := NewPass(m, nil)
		got := pass.Train(b, seed, scale)
		equations := reference(m, seed, c.rates())
		want, nll := referenceLoss(equations, b)
		// About forty roundings of 6e-8 from the embeddings to the losses.
		if math.Abs(got.Sum-want) > 2e-6*want || math.Abs(got.NLL-nll) > 2e-6*nll {
			t.Errorf("loss %v and NLL %v, want %v and %v", got.Sum, got.NLL, want, nll)
		}
		want, nll = referenceLoss(reference(m, 0, rates{}), b)
		if got := pass.Evaluate(b); math.Abs(got.Sum-want) > 2e-6*want || math.Abs(got.NLL-nll) > 2e-6*nll {
			t.Errorf("Evaluate: loss %v and NLL %v, want %v and %v", got.Sum, got.NLL, want, nll)
		}
		if testing.Short() { // the differences are float64 Go code without kernels
			return
		}
		// Gradients of attention scores are differences of gradients of the attention's
		// output. Where they cancel, the rounding errors remain.
		rounding := 1e-7 * float64(max(mat.Max(m.Params.G), 1))
		for _, p := range m.Params.List {
			clearKeyBias(p, c)
			if strings.HasSuffix(p.Name, ".positions") {
				continue // see below: most rows are unused
			}
			ref.CheckGradient(t, p.Name, p.G, equations.Weights[p.Name], rounding, func() float64 {
				loss, _ := referenceLoss(equations, b)
				return loss * scale
			})
		}
		for _, p := range []*struct {
			name   string
			starts []int32
		}{{"source.positions", b.SrcStarts}, {"target.positions", b.TgtStarts}} {
			if c.Positions != Learned {
				continue
			}
			longest := 0
			for i := 1; i < len(p.starts); i++ {
				longest = max(longest, int(p.starts[i]-p.starts[i-1]))
			}
			i := slices.IndexFunc(m.Params.List, func(q *layer.Param) bool { return q.Name == p.name })
			n, g := longest*c.DModel, m.Params.List[i].G
			ref.CheckGradient(t, p.name, g[:n], equations.Weights[p.name][:n], rounding, func() float64 {
				loss, _ := referenceLoss(equations, b)
				return loss * scale
			})
			if mat.Max(g[n:]) != 0 {
				t.Errorf("%s: gradient of unused positions is not 0", p.name)
			}
		}
	})
}

// Other sentences of the batch, threads and reused memory change no bit of any variant.
func TestNoVariantDependsOnTheBatch(t *testing.T) {
	p := mat.NewPool(3)
	defer p.Close()
	eachVariant(t, toy, func(t *testing.T, c Config) {
		m := perturbed(t, c)
		b := randomBatch(c, 6, 0, 8)
		logits := func(pool *mat.Pool, b *Batch) mat.Matrix {
			x := wholeBatch(m, pool, b, false).forward(b, dropouts{}, dropouts{})
			y := mat.New(x.Rows, c.TgtVocab)
			m.Output.Logits(nil, y, x)
			return y
		}
		pass := NewPass(m, p)
		all := logits(p, b)
		for s := range b.Sentences() {
			one := new(Batch)
			one.Append(b.Src[b.SrcStarts[s]:b.SrcStarts[s+1]-1], b.TgtIn[b.TgtStarts[s]+1:b.TgtStarts[s+1]])
			alone := logits(nil, one)
			if !bitsEqual(alone.Data, all.RowRange(int(b.TgtStarts[s]), int(b.TgtStarts[s+1])).Data[:len(alone.Data)]) {
				t.Fatalf("sentence %d: logits alone and in a batch differ", s)
			}
		}
		clear(m.Params.G)
		pass.microbatchRows = 12 // several microbatches
		pass.Train(b, 7, 1)
		first := slices.Clone(m.Params.G)
		clear(m.Params.G)
		NewPass(m, nil).Train(b, 7, 1)
		if !bitsEqual(first, m.Params.G) {
			t.Error("gradients of one thread and of three differ")
		}
	})
}

func TestVariantTrainingDoesNotAllocate(t *testing.T) {
	if raceDetector {
		t.Skip("race detector: it allocates")
	}
	// A garbage collection would empty the sync.Pools of package mat.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	eachVariant(t, toy, func(t *testing.T, c Config) {
		m := newModel(t, c)
		b := randomBatch(c, 12, 0, 2)
		pass := NewPass(m, nil)
		step := func() { pass.Train(b, 1, 1) }
		step()
		if n := testing.AllocsPerRun(10, step); n != 0 {
			t.Errorf("%v allocations in a step, want 0", n)
		}
	})
}

func TestEveryVariantRoundTripsThroughItsFile(t *testing.T) {
	eachVariant(t, toy, func(t *testing.T, c Config) {
		m := perturbed(t, c)
		path := filepath.Join(t.TempDir(), "m.safetensors")
		if err := (File{Model: m}).Save(path); err != nil {
			t.Fatal(err)
		}
		f, err := Load(path, false)
		if err != nil {
			t.Fatal(err)
		}
		b := randomBatch(c, 5, 1, 3)
		if f.Model.Config != c || !bitsEqual(Logits(f.Model, b).Data, Logits(m, b).Data) {
			t.Error("Load returned another model than Save wrote")
		}
	})
}

// A configuration without the optional fields is the paper's model, and the paper's model is
// encoded without them, so that the first version of tfm can read it.
func TestOptionalConfigFields(t *testing.T) {
	const old = `{"d_model":16,"heads":4,"d_ff":24,"encoder_layers":2,"decoder_layers":2,"dropout":0,"label_smoothing":0.1,` +
		`"src_vocab":11,"tgt_vocab":11,"tie":"all","norm_eps":0.00001,"max_len":64}`
	h, err := DecodeHeader(map[string]string{"format": "tfm 1", "config": old})
	if err != nil || h.Config != toy() {
		t.Errorf("DecodeHeader = %+v, %v, want %+v", h.Config, err, toy())
	}
	if got, err := json.Marshal(toy()); err != nil || string(got) != old {
		t.Errorf("Marshal = %s, %v, want %s", got, err, old)
	}
}
