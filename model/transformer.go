package model

import (
	"tfm/layer"
	"tfm/mat"
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
	encNorm, decNorm   layer.Norm // behind the stacks, if Config.HasFinalNorm
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
	t.srcEmbed.Unscaled, t.tgtEmbed.Unscaled = c.Unscaled, c.Unscaled
	if c.Positions == Learned {
		t.srcEmbed.Learned = ps.New("source.positions", c.MaxLen, c.DModel)
		t.tgtEmbed.Learned = ps.New("target.positions", c.MaxLen, c.DModel)
	}
	t.project = layer.Projection{E: out, Smoothing: c.LabelSmoothing, SmoothAll: c.Smoothing == SmoothAll}
	if c.OutputBias {
		t.project.Bias = ps.New("output.bias", c.TgtVocab)
	}
	t.declareStacks()
	return t
}

// declareStacks declares the encoder and, if there are layers, the decoder.
func (t *Transformer) declareStacks() {
	encAlpha, _, decAlpha, _ := t.Config.DeepNormScales()
	enc, dec := blocks{t.Config, t.Params, float32(encAlpha)}, blocks{t.Config, t.Params, float32(decAlpha)}
	for i := range t.Config.EncoderLayers {
		t.encoder = append(t.encoder, enc.encoderLayer(i))
	}
	for i := range t.Config.DecoderLayers {
		t.decoder = append(t.decoder, dec.decoderLayer(i))
	}
	if t.Config.HasFinalNorm() {
		t.encNorm = enc.norm("encoder.norm")
		if len(t.decoder) > 0 {
			t.decNorm = dec.norm("decoder.norm")
		}
	}
}

// share returns a view of t, which is allocated, for a thread that takes parts of batches.
func (t *Transformer) share(part *layer.Part) *Transformer {
	u := declare(t.Config)
	u.Params.Share(t.Params, part)
	u.srcEmbed.Positions, u.tgtEmbed.Positions = t.srcEmbed.Positions, t.tgtEmbed.Positions
	return u.In(t.project.Precision)
}

// Allocate makes room for the weights, all zeros, and for gradients if the model is to be trained.
func (t *Transformer) Allocate(gradients bool) {
	t.Params.Allocate(gradients)
	c := t.Config
	if c.Positions == Learned {
		t.srcEmbed.Positions, t.tgtEmbed.Positions = t.srcEmbed.Learned.Weights(), t.tgtEmbed.Learned.Weights()
		return
	}
	table := [...]func(positions, d int) mat.Matrix{layer.Sinusoids, layer.SinusoidHalves, layer.TimingSignal}[c.Positions]
	positions := table(c.FirstPosition+c.MaxLen, c.DModel).RowRange(c.FirstPosition, c.FirstPosition+c.MaxLen)
	t.srcEmbed.Positions, t.tgtEmbed.Positions = positions, positions
}
