package settings

import (
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/model"
)

// ModelFlags declares the flags that change what a preset says of a model. They begin with the
// values in c.
func ModelFlags(f *cli.Flags, c *model.Config) {
	modelFlags(f, c)
	regularizationFlags(f, c)
}

// modelFlags declares the flags of a model's shape.
func modelFlags(f *cli.Flags, c *model.Config) {
	const preset = "; the default is the preset's"
	f.Group("Model")
	f.IntVar(&c.DModel, "d-model", c.DModel, "width of the model, d"+preset)
	f.IntVar(&c.Heads, "heads", c.Heads, "attention heads, h"+preset)
	f.IntVar(&c.DK, "d-k", c.DK, "numbers of a query and a key in a head; 0 is d/h"+preset)
	f.IntVar(&c.DV, "d-v", c.DV, "numbers of a value in a head; 0 is d/h"+preset)
	f.IntVar(&c.DFF, "d-ff", c.DFF, "inner width of the feed-forward networks"+preset)
	f.IntVar(&c.EncoderLayers, "encoder-layers", c.EncoderLayers, "layers of the encoder, N"+preset)
	f.IntVar(&c.DecoderLayers, "decoder-layers", c.DecoderLayers, "layers of the decoder"+preset)
	f.StringVar(&c.Tie, "tie", c.Tie, "`which` embeddings are one matrix: all (and the output projection, as in the paper),\ndecoder (target and output), none"+preset)
	f.BoolVar(&c.OutputBias, "output-bias", c.OutputBias, "a bias of the output projection; the default is true with -tie none, else false")
	f.TextVar(&c.Biases, "bias", c.Biases, "`which` layers' linear maps have biases: all, ff (feed-forward), attention, none; true is all and false none")
	f.TextVar(&c.Activation, "activation", c.Activation, "`function` in the feed-forward networks: relu, gelu, gelu-tanh, silu")
	f.TextVar(&c.Norm, "norm", c.Norm, "`where` norms stand: post (behind the residual connection, as in the paper), pre (before the sublayer),\ndeep (post, with DeepNorm's scales)")
	f.TextVar(&c.NormKind, "norm-kind", c.NormKind, "`what` a norm is: layer (LayerNorm), unbiased (divides by the unbiased deviation + eps), rms (RMSNorm)")
	f.Var((*cli.Float32Value)(&c.NormEps), "norm-eps", "`number` that keeps norms from dividing by 0")
	f.Var(finalNormValue{&c.FinalNorm}, "final-norm", "a norm behind the last layer of each stack; the default is true with -norm pre, else false")
	f.TextVar(&c.Positions, "positions", c.Positions, "`kind` of positions: interleaved (sine and cosine in turn, as in the paper), halves (sines first), tensor2tensor\n(halves, in steps of 10000^(1/(d/2-1))), learned (no sentence may be longer than those trained on)")
	f.IntVar(&c.FirstPosition, "first-position", c.FirstPosition, "number of a sentence's first position, 0 or 1")
	f.Var((*cli.NotValue)(&c.Unscaled), "scale-embeddings", "multiply embeddings by the root of d")
}

// regularizationFlags declares the flags of what a model does only in training.
func regularizationFlags(f *cli.Flags, c *model.Config) {
	const preset = "; the default is the preset's"
	f.Group("Regularization")
	f.Var((*cli.Float32Value)(&c.Dropout), "dropout", "`probability` that a number is dropped: of embeddings and of each sublayer's result"+preset)
	f.Var((*cli.Float32Value)(&c.AttentionDropout), "attention-dropout", "`probability` that a weight of attention is dropped")
	f.Var((*cli.Float32Value)(&c.FFDropout), "ff-dropout", "`probability` that an inner number of a feed-forward network is dropped")
	f.Var((*cli.Float32Value)(&c.LabelSmoothing), "label-smoothing", "`probability` that the loss spreads over other pieces"+preset)
	f.TextVar(&c.Smoothing, "smoothing-over", c.Smoothing, "`which` pieces that are: the others, or all, the right one too (PyTorch)")
}

// StartUsage is the usage of -init where it names a way to draw weights.
const StartUsage = "`how` weights begin: xavier, pytorch (as nn.Transformer, nn.Embedding and nn.Linear)"

// finalNormValue is a flag that may stand alone.
type finalNormValue struct{ *model.FinalNorm }

func (v finalNormValue) String() string {
	text, _ := v.MarshalText()
	return string(text)
}

func (v finalNormValue) Set(s string) error { return v.UnmarshalText([]byte(s)) }
func (v finalNormValue) IsBoolFlag() bool   { return true }

// initValue is the flag -init: the name of a way to draw the first weights, or a file that has
// them.
type initValue struct {
	start *model.Start
	file  *string
}

func (v initValue) String() string {
	if *v.file != "" {
		return *v.file
	}
	text, _ := v.start.MarshalText()
	return string(text)
}

func (v initValue) Set(s string) error {
	err := v.start.UnmarshalText([]byte(s))
	switch {
	case err == nil:
		*v.file = ""
	case strings.TrimSpace(s) == "":
		return err
	default:
		*v.file = s
	}
	return nil
}
