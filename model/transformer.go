package model

import (
	"math"
	"math/rand/v2"
	"strings"

	"tfm/layer"
)

// Transformer is the encoder and decoder of figure 1, as parameters and what is computed from the Config
// alone. It holds no activations: passes (Pass) and decoders (Decoder) do, and any number may share one
// Transformer as long as none of them trains it.
type Transformer struct {
	Config Config
	Params *layer.Params

	srcEmbed, tgtEmbed layer.Embedding
	encoder            []encoderLayer
	decoder            []decoderLayer
	project            layer.Projection
}

// New returns the model that c describes, or why there is none. Its weights are not allocated.
func New(c Config) (*Transformer, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return declare(c), nil
}

func declare(c Config) *Transformer {
	t := &Transformer{Config: c, Params: new(layer.Params)}
	ps := t.Params
	src := ps.New("source.embedding", c.SrcVocab, c.DModel)
	tgt, out := src, src
	if c.Tie == TieAll {
		src.Name = "embedding"
	} else {
		tgt = ps.New("target.embedding", c.TgtVocab, c.DModel)
		out = tgt
	}
	if c.Tie == TieNone {
		out = ps.New("output.weight", c.TgtVocab, c.DModel)
	}
	t.srcEmbed.E, t.tgtEmbed.E = src, tgt
	t.project = layer.Projection{E: out, Smoothing: c.LabelSmoothing}
	for i := range c.EncoderLayers {
		t.encoder = append(t.encoder, newEncoderLayer(ps, i, c))
	}
	for i := range c.DecoderLayers {
		t.decoder = append(t.decoder, newDecoderLayer(ps, i, c))
	}
	return t
}

// Allocate makes room for the weights, all zeros, and for gradients if the model is to be trained.
func (t *Transformer) Allocate(gradients bool) {
	t.Params.Allocate(gradients)
	positions := layer.Sinusoids(t.Config.MaxLen, t.Config.DModel)
	t.srcEmbed.Positions, t.tgtEmbed.Positions = positions, positions
}

// Init sets the weights from a seed: matrices Xavier uniform, embeddings normal(0, d^-0.5), biases 0, gains 1.
func (t *Transformer) Init(seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0))
	d := t.Config.DModel
	for _, p := range t.Params.List {
		switch {
		case strings.HasSuffix(p.Name, "embedding"), p.Name == "output.weight":
			layer.Normal(p.W, 1/math.Sqrt(float64(d)), r)
		case strings.HasSuffix(p.Name, ".weight"):
			// W^Q, W^K and W^V are matrices of their own that happen to be stored together.
			out := p.Shape[1]
			if strings.HasSuffix(p.Name, ".qkv.weight") || strings.HasSuffix(p.Name, ".kv.weight") {
				out = d
			}
			layer.XavierUniform(p.W, p.Shape[0], out, r)
		case strings.HasSuffix(p.Name, ".gain"):
			layer.Fill(p.W, 1)
		default:
			layer.Fill(p.W, 0)
		}
	}
}
