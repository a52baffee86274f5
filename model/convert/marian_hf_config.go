package convert

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"tfm/model"
)

// isMarianHF reports whether path is a folder of transformers' MarianMTModel.
func isMarianHF(path string, isDir bool) bool {
	if !isDir || !isFile(path, hfConfigFile) {
		return false
	}
	var c struct {
		ModelType string `json:"model_type"`
	}
	data, err := os.ReadFile(filepath.Join(path, hfConfigFile))
	return err == nil && json.Unmarshal(data, &c) == nil && c.ModelType == hfMarianType
}

const hfMarianType = "marian"

// hfMarianConfig is the part of config.json that describes the model. A field that transformers
// does not write has its default in newHFMarianConfig.
type hfMarianConfig struct {
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

// hfConfigOff are settings of other models, which some programs write for this one too.
var hfConfigOff = []offSetting{
	{"normalize_before", []any{false}, "false"},
	{"normalize_embedding", []any{false}, "false"},
	{"add_final_layer_norm", []any{false}, "false"},
	{"static_position_embeddings", []any{true}, "true"},
	{"extra_pos_embeddings", []any{0.0}, "0"},
}

func newHFMarianConfig() hfMarianConfig {
	return hfMarianConfig{
		VocabSize: 58101, MaxPositions: 1024, EncoderLayers: 12, DecoderLayers: 12, EncoderHeads: 16, DecoderHeads: 16, EncoderFFN: 4096, DecoderFFN: 4096,
		DModel: 1024, Activation: "gelu", ShareEmbeddings: true, TieWordEmbeddings: true, Dropout: 0.1,
	}
}

// hfActivations are the activation functions with their names in transformers. The first name of
// each is written.
var hfActivations = []struct {
	name       string
	activation model.Activation
}{{"relu", model.ReLU}, {"gelu", model.GELU}, {"gelu_new", model.GELUTanh}, {"swish", model.SiLU}, {"silu", model.SiLU}, {"gelu_pytorch_tanh", model.GELUTanh}}

// hfNormEps is the eps of all norms: that of torch.nn.LayerNorm.
const hfNormEps = 1e-5

// config returns the Config without sizes of vocabularies, or an error that names what tfm's
// Transformer does not have.
func (h *hfMarianConfig) config() (model.Config, error) {
	c := model.Config{
		MaxLen: h.MaxPositions, DModel: h.DModel, EncoderLayers: h.EncoderLayers, DecoderLayers: h.DecoderLayers, Heads: h.EncoderHeads, DFF: h.EncoderFFN,
		Dropout: h.Dropout, AttentionDropout: h.AttentionDropout, FFDropout: h.ActivationDropout,
		NormEps: hfNormEps, FinalNorm: model.FinalNormOff, Positions: model.Halves, Unscaled: !h.ScaleEmbedding, OutputBias: true,
	}
	found := false
	for _, a := range hfActivations {
		if a.name == h.Activation {
			c.Activation, found = a.activation, true
		}
	}
	return c, firstBroken([]rule{
		{h.ModelType != hfMarianType, "model_type", h.ModelType, hfMarianType},
		{!found, "activation_function", h.Activation, "relu, gelu, gelu_new, swish or silu"},
		{h.DecoderHeads != h.EncoderHeads, "decoder_attention_heads", h.DecoderHeads, fmt.Sprint(h.EncoderHeads, " as in the encoder")},
		{h.DecoderFFN != h.EncoderFFN, "decoder_ffn_dim", h.DecoderFFN, fmt.Sprint(h.EncoderFFN, " as in the encoder")},
		{h.ShareEmbeddings && h.DecoderVocabSize != 0 && h.DecoderVocabSize != h.VocabSize, "decoder_vocab_size", h.DecoderVocabSize, fmt.Sprint(h.VocabSize, " with shared embeddings")},
	}...)
}

// hfMarianConfigOf returns the part of config.json for a model, which checkMarianHF accepts.
func hfMarianConfigOf(c model.Config) (h hfMarianConfig) {
	h = hfMarianConfig{
		ModelType: hfMarianType, VocabSize: c.SrcVocab, DecoderVocabSize: c.TgtVocab, MaxPositions: c.MaxLen, DModel: c.DModel,
		EncoderLayers: c.EncoderLayers, DecoderLayers: c.DecoderLayers, EncoderHeads: c.Heads, DecoderHeads: c.Heads, EncoderFFN: c.DFF, DecoderFFN: c.DFF,
		ScaleEmbedding: !c.Unscaled, ShareEmbeddings: c.Tie == model.TieAll, TieWordEmbeddings: c.Tie != model.TieNone,
		Dropout: c.Dropout, AttentionDropout: c.AttentionDropout, ActivationDropout: c.FFDropout,
	}
	for _, a := range hfActivations {
		if a.activation == c.Activation {
			h.Activation = a.name
			break
		}
	}
	return h
}

// checkMarianHF reports the first setting that MarianMTModel does not have, as a *model.FieldError.
func checkMarianHF(c model.Config) error {
	dk, dv := c.HeadSizes()
	const system = " for transformers' Marian"
	return firstBroken([]rule{
		{c.Norm != model.PostNorm, "norm", textOf(c.Norm), "post" + system},
		{c.HasFinalNorm(), "final_norm", true, "false" + system},
		{c.NormKind != model.LayerNorm, "norm_kind", textOf(c.NormKind), "layer" + system},
		{c.NormEps != hfNormEps, "norm_eps", c.NormEps, "1e-05" + system},
		{c.Positions != model.Halves && c.Positions != model.Interleaved, "positions", textOf(c.Positions), "halves or interleaved" + system},
		{c.DModel%2 != 0, "d_model", c.DModel, "an even number" + system},
		{c.Autoreg != model.SelfAttention, "autoreg", textOf(c.Autoreg), "self-attention" + system},
		{c.FirstPosition != 0, "first_position", c.FirstPosition, "0" + system},
		{c.Source != model.EOSLast && c.Source != model.ToFirst, "source_marks", c.Source.String(), "a source that ends with EOS" + system},
		{c.TargetBegins, "target_begins_with_language", true, "false" + system},
		{dk*c.Heads != c.DModel, "d_k", dk, "d_model divided by the heads" + system},
		{dv*c.Heads != c.DModel, "d_v", dv, "d_model divided by the heads" + system},
	}...)
}

// hfNaming are the names of MarianMTModel.
var hfNaming = naming{
	encoder: "model.encoder.layers.#.", decoder: "model.decoder.layers.#.",
	self:         [4]string{"self_attn.q_proj.*", "self_attn.k_proj.*", "self_attn.v_proj.*", "self_attn.out_proj.*"},
	cross:        [4]string{"encoder_attn.q_proj.*", "encoder_attn.k_proj.*", "encoder_attn.v_proj.*", "encoder_attn.out_proj.*"},
	encoderNorms: [2]string{"self_attn_layer_norm.*", "final_layer_norm.*"},
	decoderNorms: [3]string{"self_attn_layer_norm.*", "encoder_attn_layer_norm.*", "final_layer_norm.*"},
	inner:        "fc1.*", outer: "fc2.*",
	weight: "weight", bias: "bias", gain: "weight", normBias: "bias", outputsFirst: true,
}
