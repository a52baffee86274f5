package settings

import (
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/model"
)

// modelGroup is the heading of the settings that a model's weights depend on.
const modelGroup = "Model"

// modelFlags declares the flags of a model's shape, with the values in c as defaults.
func modelFlags(f *cli.Flags, c *model.Config) {
	f.Group(modelGroup)
	f.IntVar(&c.DModel, "d-model", c.DModel, "model width, d").Default(byPreset).Setting()
	f.IntVar(&c.Heads, "heads", c.Heads, "attention heads, h").Default(byPreset).Setting()
	f.IntVar(&c.DK, "d-k", c.DK, "width of a query and a key in a head; 0 is d/h").Default(byPreset).Setting()
	f.IntVar(&c.DV, "d-v", c.DV, "width of a value in a head; 0 is d/h").Default(byPreset).Setting()
	f.IntVar(&c.DFF, "d-ff", c.DFF, "inner width of the feed-forward networks").Default(byPreset).Setting()
	f.IntVar(&c.EncoderLayers, "encoder-layers", c.EncoderLayers, "encoder layers, N").Default(byPreset).Setting()
	f.IntVar(&c.DecoderLayers, "decoder-layers", c.DecoderLayers, "decoder layers").Default(byPreset).Setting()
	f.TextVar(&c.Autoreg, "autoreg", c.Autoreg, "first sublayer of decoder layers: self-attention, or ssru, a recurrent unit").Choices(names[model.Autoreg]()...).Default(byPreset).Setting()
	f.StringVar(&c.Tie, "tie", c.Tie, "embeddings that share one matrix:\n"+
		"  all      source, target and output projection, as in the paper\n"+
		"  decoder  target and output projection\n"+
		"  none").Default(byPreset).Choices(model.TieAll, model.TieDecoder, model.TieNone).Setting()
	f.BoolVar(&c.OutputBias, "output-bias", c.OutputBias, "bias of the output projection; true with tie=none unless given").Setting()
	f.TextVar(&c.Biases, "bias", c.Biases, "layers whose linear maps have a bias: all, ff (feed-forward), attention or none").Choices(names[model.Biases]()...).Setting()
	f.TextVar(&c.Activation, "activation", c.Activation, "activation function of the feed-forward networks: "+strings.Join(names[model.Activation](), ", ")).Choices(names[model.Activation]()...).Setting()
	f.TextVar(&c.Norm, "norm", c.Norm, "place of the norms:\n"+
		"  post  after the residual connection, as in the paper\n"+
		"  pre   before the sublayer\n"+
		"  deep  as post, with the scales of DeepNorm").Choices(names[model.Placement]()...).Default(byPreset).Setting()
	f.TextVar(&c.NormKind, "norm-kind", c.NormKind, "kind of norm:\n"+
		"  layer     LayerNorm\n"+
		"  unbiased  (x - mean)/(unbiased deviation + eps)\n"+
		"  rms       RMSNorm").Choices(names[model.NormKind]()...).Setting()
	f.Float32Var(&c.NormEps, "norm-eps", "epsilon of the norms").Setting()
	f.Var((*finalNormValue)(&c.FinalNorm), "final-norm", "norm after the last layer of each stack; auto: with norm=pre").Choices(names[model.FinalNorm]()...).Setting()
	f.TextVar(&c.Positions, "positions", c.Positions, "kind of positions:\n"+
		"  interleaved    alternating sines and cosines, as in the paper\n"+
		"  halves         sines, then cosines\n"+
		"  tensor2tensor  halves with rates 10000^(-i/(d/2-1))\n"+
		"  learned        limits sentences to the longest in training").Choices(names[model.Positions]()...).Default(byPreset).Setting()
	f.IntVar(&c.FirstPosition, "first-position", c.FirstPosition, "first position of a sentence, 0, 1 or 2").Setting()
	f.Var((*cli.NotValue)(&c.Unscaled), "scale-embeddings", "multiply embeddings by sqrt(d)").Setting()
}

// regularizationFlags declares the flags of a model that matter only in training, with the values
// in c as defaults.
func regularizationFlags(f *cli.Flags, c *model.Config) {
	f.Group("Regularization")
	f.Float32Var(&c.Dropout, "dropout", "dropout `probability` of embeddings and sublayer outputs").Default(byPreset)
	f.Float32Var(&c.AttentionDropout, "attention-dropout", "dropout `probability` of attention weights").Setting()
	f.Float32Var(&c.FFDropout, "ff-dropout", "dropout `probability` inside the feed-forward networks").Setting()
	f.Float32Var(&c.LabelSmoothing, "label-smoothing", "`probability` that label smoothing spreads over other pieces").Default(byPreset).Setting()
	f.TextVar(&c.Smoothing, "smoothing-over", c.Smoothing, "pieces that label smoothing spreads over: others, or all including the right one (PyTorch)").Choices(names[model.Smoothing]()...).Setting()
}

// initFlag declares the setting of how weights are drawn.
func initFlag(f *cli.Flags, c *model.Config) {
	f.TextVar(&c.Init, "init-scheme", c.Init, "initial weights: xavier, pytorch (as in nn.Transformer), or zero-output (sublayers add nothing at first)").Choices(names[model.InitScheme]()...).Setting()
}

// finalNormValue is a flag that needs no value to be true.
type finalNormValue model.FinalNorm

func (v *finalNormValue) String() string {
	text, _ := model.FinalNorm(*v).MarshalText()
	return string(text)
}

func (v *finalNormValue) Set(s string) error { return (*model.FinalNorm)(v).UnmarshalText([]byte(s)) }
func (v *finalNormValue) IsBoolFlag() bool   { return true }
