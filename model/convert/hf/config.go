package hf

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"tfm/model"
	"tfm/model/convert/internal/parts"
)

// The values of model_type that are read.
const (
	MarianType = "marian"
	M2MType    = "m2m_100"
)

// ModelType returns the model_type in the config.json of a folder of transformers, "" without one.
func ModelType(path string) string {
	if !parts.IsFile(path, ConfigFile) {
		return ""
	}
	var c struct {
		ModelType string `json:"model_type"`
	}
	data, err := os.ReadFile(filepath.Join(path, ConfigFile))
	if err != nil || json.Unmarshal(data, &c) != nil {
		return ""
	}
	return c.ModelType
}

// config is the part of config.json that describes the model. A field that transformers
// does not write has its default in marianDefaults or m2mDefaults.
type config struct {
	ModelType         string `json:"model_type"`
	VocabSize         int    `json:"vocab_size"`
	DecoderVocabSize  int    `json:"decoder_vocab_size,omitempty"`
	MaxPositions      int    `json:"max_position_embeddings"`
	EncoderLayers     int    `json:"encoder_layers"`
	DecoderLayers     int    `json:"decoder_layers"`
	EncoderHeads      int    `json:"encoder_attention_heads"`
	DecoderHeads      int    `json:"decoder_attention_heads"`
	EncoderFFN        int    `json:"encoder_ffn_dim"`
	DecoderFFN        int    `json:"decoder_ffn_dim"`
	DModel            int    `json:"d_model"`
	Activation        string `json:"activation_function"`
	ScaleEmbedding    bool   `json:"scale_embedding"`
	ShareEmbeddings   bool   `json:"share_encoder_decoder_embeddings"`
	TieWordEmbeddings bool   `json:"tie_word_embeddings"`

	// Of training.
	Dropout           float32 `json:"dropout"`
	AttentionDropout  float32 `json:"attention_dropout"`
	ActivationDropout float32 `json:"activation_dropout"`
}

// configOff are settings of other models, which some programs write for this one too.
var configOff = []offSetting{
	{"normalize_before", []any{false}, "false"},
	{"normalize_embedding", []any{false}, "false"},
	{"add_final_layer_norm", []any{false}, "false"},
	{"static_position_embeddings", []any{true}, "true"},
	{"extra_pos_embeddings", []any{0.0}, "0"},
}

// The settings of transformers that its files omit.
var (
	marianDefaults = config{
		VocabSize: 58101, MaxPositions: 1024, EncoderLayers: 12, DecoderLayers: 12, EncoderHeads: 16, DecoderHeads: 16, EncoderFFN: 4096, DecoderFFN: 4096,
		DModel: 1024, Activation: "gelu", ShareEmbeddings: true, TieWordEmbeddings: true, Dropout: 0.1,
	}
	m2mDefaults = config{
		VocabSize: 128112, MaxPositions: 1024, EncoderLayers: 12, DecoderLayers: 12, EncoderHeads: 16, DecoderHeads: 16, EncoderFFN: 4096, DecoderFFN: 4096,
		DModel: 1024, Activation: "relu", ScaleEmbedding: true, TieWordEmbeddings: true, Dropout: 0.1, AttentionDropout: 0.1,
	}
)

// activations are the activation functions with their names in transformers. The first name of
// each is written.
var activations = []struct {
	name       string
	activation model.Activation
}{{"relu", model.ReLU}, {"gelu", model.GELU}, {"gelu_new", model.GELUTanh}, {"swish", model.SiLU}, {"silu", model.SiLU}, {"gelu_pytorch_tanh", model.GELUTanh}}

// normEps is the eps of all norms: that of torch.nn.LayerNorm.
const normEps = 1e-5

// ofModel returns the Config without sizes of vocabularies, or an error that names what tfm's
// Transformer does not have.
func (h *config) ofModel() (model.Config, error) {
	c := model.Config{
		MaxLen: h.MaxPositions, DModel: h.DModel, EncoderLayers: h.EncoderLayers, DecoderLayers: h.DecoderLayers, Heads: h.EncoderHeads, DFF: h.EncoderFFN,
		Dropout: h.Dropout, AttentionDropout: h.AttentionDropout, FFDropout: h.ActivationDropout,
		NormEps: normEps, FinalNorm: model.FinalNormOff, Positions: model.Halves, Unscaled: !h.ScaleEmbedding, OutputBias: true,
	}
	found := false
	for _, a := range activations {
		if a.name == h.Activation {
			c.Activation, found = a.activation, true
		}
	}
	return c, cmp.Or(
		parts.Refuse(!found, "activation_function", h.Activation, "relu, gelu, gelu_new, swish or silu"),
		parts.Refuse(h.DecoderHeads != h.EncoderHeads, "decoder_attention_heads", h.DecoderHeads, fmt.Sprint(h.EncoderHeads, " as in the encoder")),
		parts.Refuse(h.DecoderFFN != h.EncoderFFN, "decoder_ffn_dim", h.DecoderFFN, fmt.Sprint(h.EncoderFFN, " as in the encoder")),
		parts.Refuse(h.ShareEmbeddings && h.DecoderVocabSize != 0 && h.DecoderVocabSize != h.VocabSize, "decoder_vocab_size", h.DecoderVocabSize, fmt.Sprint(h.VocabSize, " with shared embeddings")),
	)
}

// configOf returns the part of config.json for a model, which checkConfig accepts.
func configOf(c model.Config) (h config) {
	h = config{
		ModelType: MarianType, VocabSize: c.SrcVocab, DecoderVocabSize: c.TgtVocab, MaxPositions: c.MaxLen, DModel: c.DModel,
		EncoderLayers: c.EncoderLayers, DecoderLayers: c.DecoderLayers, EncoderHeads: c.Heads, DecoderHeads: c.Heads, EncoderFFN: c.DFF, DecoderFFN: c.DFF,
		ScaleEmbedding: !c.Unscaled, ShareEmbeddings: c.Tie == model.TieAll, TieWordEmbeddings: c.Tie != model.TieNone,
		Dropout: c.Dropout, AttentionDropout: c.AttentionDropout, ActivationDropout: c.FFDropout,
	}
	if i := indexOfActivation(c.Activation); i >= 0 {
		h.Activation = activations[i].name
	}
	return h
}

// indexOfActivation returns the first index of a function in activations, or -1.
func indexOfActivation(f model.Activation) int {
	for i, a := range activations {
		if a.activation == f {
			return i
		}
	}
	return -1
}

// checkConfig reports the first setting that MarianMTModel does not have, as a *model.FieldError.
func checkConfig(c model.Config) error {
	dk, dv := c.HeadSizes()
	const system = " for transformers' Marian"
	return cmp.Or(
		parts.Refuse(c.Norm != model.PostNorm, "norm", parts.TextOf(c.Norm), "post"+system),
		parts.Refuse(c.HasFinalNorm(), "final_norm", true, "false"+system),
		parts.Refuse(indexOfActivation(c.Activation) < 0, "activation", parts.TextOf(c.Activation), "one"+system),
		parts.Refuse(c.NormKind != model.LayerNorm, "norm_kind", parts.TextOf(c.NormKind), "layer"+system),
		parts.Refuse(c.NormEps != normEps, "norm_eps", c.NormEps, "1e-05"+system),
		parts.Refuse(c.Positions != model.Halves && c.Positions != model.Interleaved, "positions", parts.TextOf(c.Positions), "halves or interleaved"+system),
		parts.Refuse(c.DModel%2 != 0, "d_model", c.DModel, "an even number"+system),
		parts.Refuse(c.Autoreg != model.SelfAttention, "autoreg", parts.TextOf(c.Autoreg), "self-attention"+system),
		parts.Refuse(c.FirstPosition != 0, "first_position", c.FirstPosition, "0"+system),
		parts.Refuse(c.Source != model.EOSLast && c.Source != model.ToFirst, "source_marks", c.Source.String(), "a source that ends with EOS"+system),
		parts.Refuse(c.TargetBegins, "target_begins_with_language", true, "false"+system),
		parts.Refuse(dk*c.Heads != c.DModel, "d_k", dk, "d_model divided by the heads"+system),
		parts.Refuse(dv*c.Heads != c.DModel, "d_v", dv, "d_model divided by the heads"+system),
	)
}

// naming are the names of MarianMTModel and of M2M100ForConditionalGeneration, whose stacks end
// with a norm.
var naming = parts.Naming{
	Encoder: "model.encoder.layers.#.", Decoder: "model.decoder.layers.#.",
	Self:         [4]string{"self_attn.q_proj.*", "self_attn.k_proj.*", "self_attn.v_proj.*", "self_attn.out_proj.*"},
	Cross:        [4]string{"encoder_attn.q_proj.*", "encoder_attn.k_proj.*", "encoder_attn.v_proj.*", "encoder_attn.out_proj.*"},
	EncoderNorms: [2]string{"self_attn_layer_norm.*", "final_layer_norm.*"},
	DecoderNorms: [3]string{"self_attn_layer_norm.*", "encoder_attn_layer_norm.*", "final_layer_norm.*"},
	FinalNorms:   [2]string{"model.encoder.layer_norm.*", "model.decoder.layer_norm.*"},
	Inner:        "fc1.*", Outer: "fc2.*",
	Weight: "weight", Bias: "bias", Gain: "weight", NormBias: "bias", OutputsFirst: true,
}
