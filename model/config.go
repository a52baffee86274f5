package model

import (
	"cmp"
	"fmt"
	"strings"

	"tfm/internal/exact"
)

// Ids that every vocabulary begins with.
const (
	Pad = 0 // padding in batches of other systems; a ragged batch never contains it
	BOS = 1 // first token of every decoder input
	EOS = 2 // last token of every source and every target
)

// Tie values: which of the three matrices of section 3.4 are one parameter. The three are the
// source embedding, the target embedding and the output projection.
const (
	TieAll     = "all"     // all three (the paper); needs a joint vocabulary
	TieDecoder = "decoder" // target embedding and output projection
	TieNone    = "none"
)

// Config describes a model. The model file stores it as JSON. Optional fields select variants,
// see variants.go; zero values are the paper's, except AllBiases and SmoothOthers.
type Config struct {
	DModel int `json:"d_model"`       // d, width of every layer's input and output
	Heads  int `json:"heads"`         // h
	DK     int `json:"d_k,omitempty"` // width of a query and a key in a head; 0 is d/h
	DV     int `json:"d_v,omitempty"` // width of a value in a head; 0 is d/h
	DFF    int `json:"d_ff"`          // hidden width of the feed-forward network

	EncoderLayers int `json:"encoder_layers"` // N of the encoder
	DecoderLayers int `json:"decoder_layers"` // N of the decoder

	// Dropout is P_drop, for embeddings + positions and for each sublayer's output.
	Dropout        float32 `json:"dropout"`
	LabelSmoothing float32 `json:"label_smoothing"` // ε_ls
	SrcVocab       int     `json:"src_vocab"`       // pieces of the source vocabulary
	TgtVocab       int     `json:"tgt_vocab"`       // pieces of the target vocabulary
	Tie            string  `json:"tie"`             // TieAll, TieDecoder or TieNone

	// NormEps is added to the variance, in UnbiasedNorm to the deviation.
	NormEps float32 `json:"norm_eps"`
	MaxLen  int     `json:"max_len"` // limit of the tokens of a sentence, including BOS or EOS

	Norm          Placement `json:"norm,omitempty"`
	FinalNorm     FinalNorm `json:"final_norm,omitempty"`
	NormKind      NormKind  `json:"norm_kind,omitempty"`
	Positions     Positions `json:"positions,omitempty"`
	FirstPosition int       `json:"first_position,omitempty"`      // of a sentence, 0 to 2
	Unscaled      bool      `json:"unscaled_embeddings,omitempty"` // no factor sqrt(d)
	Biases        Biases    `json:"biases,omitempty"`
	Autoreg       Autoreg   `json:"autoreg,omitempty"`     // first sublayer of decoder layers
	OutputBias    bool      `json:"output_bias,omitempty"` // bias of the output projection

	// Languages and special tokens, see SourceLayout and Languages. A reader of another system's
	// model sets what the model was trained with; translating, training and serving use the same
	// fields.
	Source       SourceLayout `json:"source_marks,omitempty"`
	SrcLanguages Languages    `json:"src_languages,omitempty"`
	TgtLanguages Languages    `json:"tgt_languages,omitempty"`

	// TargetBegins is set if every target begins with the token of its language, after BOS.
	TargetBegins bool `json:"target_begins_with_language,omitempty"`

	Activation       Activation `json:"activation,omitempty"`
	AttentionDropout float32    `json:"attention_dropout,omitempty"` // of attention weights
	FFDropout        float32    `json:"ff_dropout,omitempty"`        // of the hidden layer
	Smoothing        Smoothing  `json:"smoothing,omitempty"`
	Init             InitScheme `json:"start,omitempty"`
}

// MaxSource returns the limit of the tokens of a source without its marks.
func (c Config) MaxSource() int {
	if c.Source.HasBOS() && c.Source.HasEOS() {
		return max(c.MaxLen-2, 0)
	}
	return c.MaxLen - 1 // also without marks, because a source has at least one token
}

// HasFinalNorm reports whether a norm follows the last layer of each stack.
func (c Config) HasFinalNorm() bool {
	return c.FinalNorm == FinalNormOn || c.FinalNorm == FinalNormAuto && c.Norm == PreNorm
}

// HeadSizes returns d_k and d_v.
func (c Config) HeadSizes() (dk, dv int) {
	paper := c.DModel / c.Heads
	return cmp.Or(c.DK, paper), cmp.Or(c.DV, paper)
}

// DeepNormScales returns α, the factor of the residuals, and β, the factor of some initial
// weights, for the encoder and the decoder (Wang et al., 2022, "DeepNet: Scaling Transformers to
// 1,000 Layers", figure 2, with N encoder and M decoder layers). All are 1 without DeepNorm.
func (c Config) DeepNormScales() (encAlpha, encBeta, decAlpha, decBeta float64) {
	if c.Norm != DeepNorm {
		return 1, 1, 1, 1
	}
	n, m := float64(c.EncoderLayers), float64(c.DecoderLayers)
	n4m := n * n * n * n * m
	return 0.81 * exact.Pow(n4m, 1./16), 0.87 * exact.Pow(n4m, -1./16), exact.Pow(3*m, 1./4), exact.Pow(12*m, -1./4)
}

// presets are in the order of PresetNames.
var presets = []struct {
	name   string
	config Config
}{
	// The paper's.
	{"base", base},
	{"big", Config{DModel: 1024, Heads: 16, DFF: 4096, EncoderLayers: 6, DecoderLayers: 6, Dropout: 0.3, LabelSmoothing: 0.1}},
	// For minutes of training on an ordinary CPU. The widths are those of Wu et al. (ACL 2021,
	// R-Drop's and others' Transformer-tiny), with norms before the sublayers.
	{"tiny", Config{DModel: 128, Heads: 4, DFF: 256, EncoderLayers: 4, DecoderLayers: 4, Norm: PreNorm, Dropout: 0.1, LabelSmoothing: 0.1}},
	// For hours.
	{"small", Config{DModel: 256, Heads: 4, DFF: 1024, EncoderLayers: 4, DecoderLayers: 4, Norm: PreNorm, Dropout: 0.1, LabelSmoothing: 0.1}},
	// Students of larger models in the shapes of Firefox's (browsermt/students, student.tiny11 and
	// student.base), which Marian can run.
	{"student-tiny", student.with(func(c *Config) { c.DModel, c.DFF = 256, 1536 })},
	{"student-base", student},
	// Trained by `tfm demo` in about half a minute.
	{"demo", Config{DModel: 128, Heads: 4, DFF: 256, EncoderLayers: 2, DecoderLayers: 2, LabelSmoothing: 0.1}},
	// The other rows of Table 3 of the paper, in its order, as differences from base.
	{"A1", base.with(func(c *Config) { c.Heads = 1 })},
	{"A2", base.with(func(c *Config) { c.Heads = 4 })},
	{"A3", base.with(func(c *Config) { c.Heads = 16 })},
	{"A4", base.with(func(c *Config) { c.Heads = 32 })},
	{"B1", base.with(func(c *Config) { c.DK = 16 })},
	{"B2", base.with(func(c *Config) { c.DK = 32 })},
	{"C1", base.with(func(c *Config) { c.EncoderLayers, c.DecoderLayers = 2, 2 })},
	{"C2", base.with(func(c *Config) { c.EncoderLayers, c.DecoderLayers = 4, 4 })},
	{"C3", base.with(func(c *Config) { c.EncoderLayers, c.DecoderLayers = 8, 8 })},
	{"C4", base.with(func(c *Config) { c.DModel, c.DK, c.DV = 256, 32, 32 })},
	{"C5", base.with(func(c *Config) { c.DModel, c.DK, c.DV = 1024, 128, 128 })},
	{"C6", base.with(func(c *Config) { c.DFF = 1024 })},
	{"C7", base.with(func(c *Config) { c.DFF = 4096 })},
	{"D1", base.with(func(c *Config) { c.Dropout = 0 })},
	{"D2", base.with(func(c *Config) { c.Dropout = 0.2 })},
	{"D3", base.with(func(c *Config) { c.LabelSmoothing = 0 })},
	{"D4", base.with(func(c *Config) { c.LabelSmoothing = 0.2 })},
	{"E", base.with(func(c *Config) { c.Positions = Learned })},
}

var base = Config{DModel: 512, Heads: 8, DFF: 2048, EncoderLayers: 6, DecoderLayers: 6, Dropout: 0.1, LabelSmoothing: 0.1}

var student = Config{
	DModel: 512, Heads: 8, DFF: 2048, EncoderLayers: 6, DecoderLayers: 2, Autoreg: SSRU, Positions: TimingSignal, OutputBias: true,
	Dropout: 0.1, LabelSmoothing: 0.1, NormEps: 1e-6,
	Init: ZeroOutputInit, // learns in less than half the steps, see docs/smaller.md
}

// with returns c after change.
func (c Config) with(change func(*Config)) Config {
	change(&c)
	return c
}

// PresetNames returns the names of the presets.
func PresetNames() []string {
	var names []string
	for _, p := range presets {
		names = append(names, p.name)
	}
	return names
}

// Preset returns the named configuration. The caller must set the vocabulary sizes, which are 0.
func Preset(name string) (Config, error) {
	for _, p := range presets {
		if p.name == name {
			c := p.config
			c.Tie, c.NormEps, c.MaxLen = TieAll, cmp.Or(c.NormEps, 1e-5), 1024
			return c, nil
		}
	}
	return Config{}, fmt.Errorf("unknown preset %q, expected one of %s", name, strings.Join(PresetNames(), ", "))
}

// maxPositions limits the table of sinusoids, in float32 values: 256 MB. The table is computed, not
// stored in a model file, so the size of the file does not bound it.
const maxPositions = 1 << 26

// Validate reports the first invalid field, as a *FieldError.
func (c Config) Validate() error {
	between := func(lo, hi int, name string, v int) error {
		if v < lo || v > hi {
			return &FieldError{name, v, fmt.Sprintf("%d to %d", lo, hi)}
		}
		return nil
	}
	fraction := func(name string, v float32) error {
		if !(v >= 0 && v < 1) {
			return &FieldError{name, v, "at least 0 and below 1"}
		}
		return nil
	}
	for _, err := range []error{
		// Values outside these bounds are mistakes, or from a file made to exhaust memory.
		between(1, 1<<20, "d_model", c.DModel), between(1, 1<<20, "heads", c.Heads), between(1, 1<<24, "d_ff", c.DFF),
		between(1, 1000, "encoder_layers", c.EncoderLayers), between(1, 1000, "decoder_layers", c.DecoderLayers),
		between(1, 1<<16, "max_len", c.MaxLen), fraction("dropout", c.Dropout), fraction("label_smoothing", c.LabelSmoothing),
		fraction("attention_dropout", c.AttentionDropout), fraction("ff_dropout", c.FFDropout),
		known("norm", c.Norm, placements), known("final_norm", c.FinalNorm, finalNorms), known("norm_kind", c.NormKind, normKinds),
		known("positions", c.Positions, positions), known("biases", c.Biases, biases), known("autoreg", c.Autoreg, autoregs),
		known("activation", c.Activation, activations),
		known("smoothing", c.Smoothing, smoothings), known("start", c.Init, initSchemes),
		between(0, 1<<20, "d_k", c.DK), between(0, 1<<20, "d_v", c.DV),
		between(EOS+2, 1<<24, "src_vocab", c.SrcVocab), between(EOS+2, 1<<24, "tgt_vocab", c.TgtVocab), c.validateLanguages(),
	} {
		if err != nil {
			return err
		}
	}
	switch {
	case c.DK*c.Heads > 1<<24:
		return &FieldError{"d_k", c.DK, fmt.Sprintf("at most %d with %d heads", 1<<24/c.Heads, c.Heads)}
	case c.DV*c.Heads > 1<<24:
		return &FieldError{"d_v", c.DV, fmt.Sprintf("at most %d with %d heads", 1<<24/c.Heads, c.Heads)}
	case c.Positions != Learned && (c.MaxLen+c.FirstPosition)*c.DModel > maxPositions:
		return &FieldError{"max_len", c.MaxLen, fmt.Sprintf("at most %d with a d_model of %d", maxPositions/c.DModel-c.FirstPosition, c.DModel)}
	case c.DModel%c.Heads != 0 && (c.DK == 0 || c.DV == 0):
		return &FieldError{"d_model", c.DModel, fmt.Sprintf("a multiple of the %d heads, or both d_k and d_v", c.Heads)}
	case c.Tie != TieAll && c.Tie != TieDecoder && c.Tie != TieNone:
		return &FieldError{"tie", c.Tie, fmt.Sprintf("%s, %s or %s", TieAll, TieDecoder, TieNone)}
	case c.Tie == TieAll && c.SrcVocab != c.TgtVocab:
		return &FieldError{"tie", c.Tie, fmt.Sprintf("%s or %s with vocabularies of %d and %d pieces: a shared matrix needs a joint vocabulary",
			TieDecoder, TieNone, c.SrcVocab, c.TgtVocab)}
	case !(c.NormEps > 0 && c.NormEps < 1):
		return &FieldError{"norm_eps", c.NormEps, "above 0 and below 1"}
	case c.NormKind == UnbiasedNorm && c.DModel < 2:
		return &FieldError{"norm_kind", normKinds[c.NormKind], "layer or rms with a d_model of 1: one value has no unbiased deviation"}
	case c.FirstPosition < 0 || c.FirstPosition > 2:
		return &FieldError{"first_position", c.FirstPosition, "0, 1 or 2"}
	case c.FirstPosition != 0 && c.Positions == Learned:
		return &FieldError{"first_position", c.FirstPosition, "0 with learned positions: it selects a sinusoid"}
	case c.DModel%2 != 0 && (c.Positions == Halves || c.Positions == TimingSignal):
		return &FieldError{"d_model", c.DModel, "an even number with positions in two halves"}
	case c.Smoothing == SmoothAll && c.LabelSmoothing == 0:
		return &FieldError{"smoothing", smoothings[c.Smoothing], "others with a label_smoothing of 0"}
	}
	return nil
}

// known returns a *FieldError unless v is the index of one of names.
func known[V ~uint8](name string, v V, names []string) error {
	if int(v) >= len(names) {
		return &FieldError{name, int(v), "one of " + strings.Join(names, ", ")}
	}
	return nil
}

// CountParams returns the number of weights without allocating them. c must be valid.
func (c Config) CountParams() int { return declare(c).Params.Count() }
