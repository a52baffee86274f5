package model

import (
	"math"
	"slices"
	"testing"

	"tfm/attn"
	"tfm/internal/golden"
	"tfm/layer"
	"tfm/mat"
)

// goldenConfig returns the configuration of a golden case.
func goldenConfig(c *golden.Case) Config {
	config := Config{DModel: c.D, Heads: c.Heads, DFF: c.FF, EncoderLayers: max(c.EncoderLayers, 1), DecoderLayers: max(c.DecoderLayers, 1),
		SrcVocab: 32, TgtVocab: 32, Tie: TieNone, NormEps: float32(c.Eps), MaxLen: 32, FinalNorm: FinalNormOff,
		Activation: Activation(slices.Index(activations, c.Activation))}
	if c.FinalNorm {
		config.FinalNorm = FinalNormOn
	}
	if c.NormFirst {
		config.Norm = PreNorm
	}
	if !c.Bias {
		config.Biases = NoBiases
	}
	return config
}

// wholeBatch returns stacks for a whole batch as one microbatch.
func wholeBatch(t *Transformer, pool *mat.Pool, b *Batch, train bool) *stacks {
	s := newStacks(t, pool, new(layer.Arena))
	m, n, d := len(b.Src), len(b.TgtIn), t.Config.DModel
	s.alloc(m, n, train, false, func() { s.dsrc, s.dtgt = s.arena.Matrix(m, d), s.arena.Matrix(n, d) })
	return &s
}

// finalNorm is the norm after a stack; without a norm it is the identity.
type finalNorm struct {
	norm layer.Norm
	act  layer.NormAct
}

func (f *finalNorm) forward(x mat.Matrix) mat.Matrix {
	if f.norm.Gain == nil {
		return x
	}
	return f.norm.Forward(nil, &f.act, x)
}

func (f *finalNorm) backward(dx mat.Matrix) {
	if f.norm.Gain != nil {
		f.norm.Backward(nil, dx, dx, &f.act, layer.Set)
	}
}

// PyTorch computes on padded batches with masks, package model on ragged ones. The test compares
// the rows of real tokens.
func TestEncoderMatchesPyTorch(t *testing.T) {
	golden.Each(t, "encoder_layer", encoderMatchesPyTorch)
	golden.Each(t, "encoder", encoderMatchesPyTorch)
}

func encoderMatchesPyTorch(t *testing.T, c *golden.Case) {
	config, ps := goldenConfig(c), new(layer.Params)
	stack := builder{config, ps, layer.Residual{Alpha: 1}}
	var layers []EncoderLayer
	for i := range c.EncoderLayers {
		layers = append(layers, stack.encoderLayer(i))
	}
	var final finalNorm
	if c.FinalNorm {
		final.norm = stack.norm("encoder.norm")
	}
	ps.AllocForTraining()
	c.Fill("param/", ps)
	x, starts := c.Input("x"), c.Starts("x")
	args := LayerArgs{Self: attn.Ragged{QStarts: starts, KStarts: starts}}
	acts, dx := make([]EncoderAct, len(layers)), mat.New(x.Rows, c.D)
	var g LayerGrad
	a := new(layer.Arena)
	a.Alloc(func() {
		for i := range layers {
			acts[i] = layers[i].Alloc(a, x.Rows, true)
		}
		g = layers[0].AllocGrad(a, x.Rows)
		if c.FinalNorm {
			final.act = final.norm.Alloc(a, x.Rows)
		}
	})
	for i := range layers {
		x = layers[i].Forward(args, &acts[i], x)
	}
	c.CheckOutput("y", final.forward(x))
	copy(dx.Data, c.Upstream().Data)
	final.backward(dx)
	for i := len(layers) - 1; i >= 0; i-- {
		layers[i].Backward(nil, dx, &acts[i], &g)
	}
	c.CheckGrad("x", dx)
	c.CheckGrads(ps)
}

func TestDecoderMatchesPyTorch(t *testing.T) {
	golden.Each(t, "decoder_layer", decoderMatchesPyTorch)
	golden.Each(t, "decoder", decoderMatchesPyTorch)
}

func decoderMatchesPyTorch(t *testing.T, c *golden.Case) {
	config, ps := goldenConfig(c), new(layer.Params)
	stack := builder{config, ps, layer.Residual{Alpha: 1}}
	var layers []DecoderLayer
	for i := range c.DecoderLayers {
		layers = append(layers, stack.decoderLayer(i))
	}
	var final finalNorm
	if c.FinalNorm {
		final.norm = stack.norm("decoder.norm")
	}
	ps.AllocForTraining()
	c.Fill("param/", ps)
	x, memory := c.Input("x"), c.Input("memory")
	n, m := x.Rows, memory.Rows
	args := LayerArgs{
		Self:  attn.Ragged{QStarts: c.Starts("x"), KStarts: c.Starts("x"), Causal: true},
		Cross: attn.Ragged{QStarts: c.Starts("x"), KStarts: c.Starts("memory")},
	}
	acts, dx, dmemory := make([]DecoderAct, len(layers)), mat.New(n, c.D), mat.New(m, c.D)
	var g LayerGrad
	a := new(layer.Arena)
	a.Alloc(func() {
		for i := range layers {
			acts[i] = layers[i].Alloc(a, n, m, true)
		}
		g = layers[0].AllocGrad(a, n, m)
		if c.FinalNorm {
			final.act = final.norm.Alloc(a, n)
		}
	})
	for i := range layers {
		x = layers[i].Forward(args, &acts[i], x, memory)
	}
	c.CheckOutput("y", final.forward(x))
	copy(dx.Data, c.Upstream().Data)
	final.backward(dx)
	for i := len(layers) - 1; i >= 0; i-- {
		layers[i].Backward(nil, dx, dmemory, &acts[i], &g)
	}
	c.CheckGrad("x", dx)
	c.CheckGrad("memory", dmemory)
	c.CheckGrads(ps)
}

// The inputs of nn.Transformer are vectors, those of package model ids. So the test gives each
// vector an id with that vector, divided by the factor sqrt(d), as its embedding, and sets
// positions to 0. The gradient of a vector is then that of its embedding.
func TestTransformerMatchesPyTorch(t *testing.T) {
	golden.Each(t, "transformer", func(t *testing.T, c *golden.Case) {
		m, err := New(goldenConfig(c))
		if err != nil {
			t.Fatal(err)
		}
		m.AllocForTraining()
		var stacks layer.Params // without embeddings and output projection
		for _, p := range m.Params.List {
			if p != m.SrcEmbed.E && p != m.TgtEmbed.E && p != m.Output.E {
				stacks.List = append(stacks.List, p)
			}
		}
		c.Fill("param/", &stacks)
		none := mat.New(m.Config.MaxLen, c.D)
		m.SrcEmbed.Positions, m.TgtEmbed.Positions = none, none

		scale := float32(math.Sqrt(float64(c.D)))
		tokens := func(e layer.Embedding, name string) (ids, starts []int32) {
			x := c.Input(name)
			for i := range x.Rows {
				ids = append(ids, int32(i))
				for j, v := range x.Row(i) {
					e.E.Weights().Row(i)[j] = v / scale
				}
			}
			return ids, c.Starts(name)
		}
		b := new(Batch)
		b.Src, b.SrcStarts = tokens(m.SrcEmbed, "src")
		b.TgtIn, b.TgtStarts = tokens(m.TgtEmbed, "tgt")
		b.TgtOut = b.TgtIn

		pass := wholeBatch(m, nil, b, true)
		c.CheckOutput("y", pass.forward(b, dropouts{}, dropouts{}))
		copy(pass.dtgt.Data, c.Upstream().Data)
		pass.backward()
		(&Pass{p: m, dsrc: pass.dsrc, dtgt: pass.dtgt}).embedBackward(b, dropouts{}, dropouts{})
		grad := func(e layer.Embedding, name string, n int) {
			dx := mat.New(n, c.D)
			for i := range n {
				mat.Axpy(1/scale, e.E.Grad().Row(i), dx.Row(i))
			}
			c.CheckGrad(name, dx)
		}
		grad(m.SrcEmbed, "src", len(b.Src))
		grad(m.TgtEmbed, "tgt", len(b.TgtIn))
		c.CheckGrads(&stacks)
	})
}
