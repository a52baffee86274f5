package model

import (
	"tfm/layer"
	"tfm/mat"
)

// Transformer holds the parameters of the encoder and the decoder of figure 1. Activations belong
// to a Pass or a decode.Decoder; any number of these may share one Transformer while none trains
// it.
type Transformer struct {
	Config Config
	Params *layer.Params // of all fields below

	SrcEmbed, TgtEmbed layer.Embedding // embeddings and positional encodings (sections 3.4, 3.5)
	Encoder            []EncoderLayer  // the left stack of figure 1
	Decoder            []DecoderLayer  // the right stack; empty in a Classifier
	EncNorm, DecNorm   layer.Norm      // after the last layer of each stack, if Config.HasFinalNorm
	Output             layer.Output    // linear and softmax after the decoder (section 3.4)
}

// New returns the model that c describes, without memory for its weights: AllocWeights or
// AllocForTraining must follow. The error is that of Config.Validate.
func New(c Config) (*Transformer, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return declare(c), nil
}

// declare returns the model of a valid c: its parameters with names and shapes, but no memory.
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
	t.SrcEmbed.E, t.TgtEmbed.E = src, tgt
	t.SrcEmbed.Unscaled, t.TgtEmbed.Unscaled = c.Unscaled, c.Unscaled
	t.TgtEmbed.ZeroStart = c.Autoreg == SSRU
	if c.Positions == Learned {
		t.SrcEmbed.Learned = ps.New("source.positions", c.MaxLen, c.DModel)
		t.TgtEmbed.Learned = ps.New("target.positions", c.MaxLen, c.DModel)
	}
	t.Output = layer.Output{E: out, Smoothing: c.LabelSmoothing, SmoothAll: c.Smoothing == SmoothAll}
	if c.OutputBias {
		t.Output.Bias = ps.New("output.bias", c.TgtVocab)
	}
	t.declareStacks()
	return t
}

// declareStacks declares the encoder and, if the Config has decoder layers, the decoder.
func (t *Transformer) declareStacks() {
	encAlpha, _, decAlpha, _ := t.Config.DeepNormScales()
	enc := builder{t.Config, t.Params, layer.Residual{Alpha: float32(encAlpha)}}
	dec := builder{t.Config, t.Params, layer.Residual{Alpha: float32(decAlpha)}}
	for i := range t.Config.EncoderLayers {
		t.Encoder = append(t.Encoder, enc.encoderLayer(i))
	}
	for i := range t.Config.DecoderLayers {
		t.Decoder = append(t.Decoder, dec.decoderLayer(i))
	}
	if t.Config.HasFinalNorm() {
		t.EncNorm = enc.norm("encoder.norm")
		if len(t.Decoder) > 0 {
			t.DecNorm = dec.norm("decoder.norm")
		}
	}
}

// share returns an alias of t for one worker, and the Accumulator that orders the worker's
// additions to the gradients. The memory of t must have been allocated.
func (t *Transformer) share() (*Transformer, *layer.Accumulator) {
	u := declare(t.Config)
	accumulator := u.Params.Share(t.Params)
	u.SrcEmbed.Positions, u.TgtEmbed.Positions = t.SrcEmbed.Positions, t.TgtEmbed.Positions
	return u.In(t.Output.Precision), accumulator
}

// AllocWeights allocates the weights, all zeros, and sets the positional encodings.
func (t *Transformer) AllocWeights() {
	t.Params.AllocWeights()
	t.SetPositions()
}

// AllocForTraining allocates the weights and the gradients, all zeros, and sets the positional
// encodings.
func (t *Transformer) AllocForTraining() {
	t.Params.AllocForTraining()
	t.SetPositions()
}

// SetPositions sets the positional encodings that the Config selects, as AllocWeights does. It is
// for models where some parameters have memory, learned positions among them.
func (t *Transformer) SetPositions() {
	c := t.Config
	if c.Positions == Learned {
		t.SrcEmbed.Positions, t.TgtEmbed.Positions = t.SrcEmbed.Learned.Weights(), t.TgtEmbed.Learned.Weights()
		return
	}
	table := [...]func(positions, d int) mat.Matrix{layer.Sinusoids, layer.SinusoidHalves, layer.TimingSignal}[c.Positions]
	positions := table(c.FirstPosition+c.MaxLen, c.DModel).RowRange(c.FirstPosition, c.FirstPosition+c.MaxLen)
	t.SrcEmbed.Positions, t.TgtEmbed.Positions = positions, positions
}
