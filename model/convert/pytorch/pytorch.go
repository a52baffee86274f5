package pytorch

import (
	"cmp"
	_ "embed"
	"fmt"
	"math"
	"path/filepath"

	"tfm/model"
	"tfm/model/convert/internal/parts"
	"tfm/model/decode"
	"tfm/model/safetensors"
	"tfm/text"
	"tfm/text/tokenizer/bpe"
	"tfm/text/tokenizer/sentencepiece"
	"tfm/text/tokenizer/vocab"
)

// program is the Python program that loads the folder of Write.
//
//go:embed pytorch.py
var program []byte

// Write writes a model for torch.nn.Transformer to the folder dir, which it creates:
//
//	model.safetensors  the parameters, with the names of nn.Transformer; source.weight,
//	                   target.weight, output.weight and output.bias, unless they are tied;
//	                   source_positions.weight and, if learned, target_positions.weight
//	config.json        the arguments of nn.Transformer, and the rest of the configuration
//	load.py            a program that loads the folder, and translates with greedy search
//	source.json, target.json    a byte-level BPE for the Python package tokenizers, or
//	source.model, target.model  a SentencePiece model
//
// nn.Transformer adds its biases always: those that the model lacks are zeros. The error names what
// nn.Transformer does not have, or a tokenizer without a form in Python.
func Write(dir string, f model.File) error {
	if err := checkConfig(f.Model.Config); err != nil {
		return err
	}
	tokenizers, err := vocab.UnmarshalTokenizers(f.Tokenizers)
	if err != nil {
		return err
	}
	config, err := settingsOf(f)
	if err != nil {
		return err
	}
	files := parts.FileSet{Data: map[string][]byte{"load.py": program}}
	for _, side := range []struct {
		name      string
		tokenizer text.Tokenizer
		ids       *[]int32
	}{{"source", tokenizers.Source, &config.SourceFileIDs}, {"target", tokenizers.Target, &config.TargetFileIDs}} {
		switch t := side.tokenizer.(type) {
		case *bpe.Tokenizer:
			names, err := parts.NamesOf(t)
			if err != nil {
				return fmt.Errorf("%s tokenizer: %w", side.name, err)
			}
			files.AddJSON(side.name+".json", parts.TokenizerJSON(t, names.Names))
		case *sentencepiece.Tokenizer:
			files.Add(side.name+".model", t.MarshalBinary)
			for id := range int32(t.Size()) {
				*side.ids = append(*side.ids, t.FileID(id))
			}
		default:
			return fmt.Errorf("%s tokenizer: found subword-nmt, expected a byte-level BPE or sentencepiece: nn.Transformer has no tokenizer of its own, and load.py applies those two", side.name)
		}
	}
	files.AddJSON("config.json", config)
	if err := files.Write(dir); err != nil {
		return err
	}
	return safetensors.Write(filepath.Join(dir, "model.safetensors"), map[string]string{"format": "pt"}, tensorsOf(f.Model))
}

// settings is the content of config.json.
type settings struct {
	Transformer struct { // arguments of nn.Transformer
		DModel        int     `json:"d_model"`
		Heads         int     `json:"nhead"`
		EncoderLayers int     `json:"num_encoder_layers"`
		DecoderLayers int     `json:"num_decoder_layers"`
		DFF           int     `json:"dim_feedforward"`
		Dropout       float32 `json:"dropout"`
		NormEps       float32 `json:"layer_norm_eps"`
		NormFirst     bool    `json:"norm_first"`
	} `json:"transformer"`
	Activation model.Activation `json:"activation"`
	FinalNorm  bool             `json:"final_norm"`
	Scale      float32          `json:"embedding_scale"`
	SrcVocab   int              `json:"source_vocab"`
	TgtVocab   int              `json:"target_vocab"`
	Tie        string           `json:"tie"`
	OutputBias bool             `json:"output_bias"`
	Learned    bool             `json:"learned_positions"`
	MaxLen     int              `json:"max_len"`
	Suppressed []int32          `json:"suppressed"` // ids that search does not choose
	Before     []int32          `json:"before_source"`
	After      []int32          `json:"after_source"`
	SrcLang    string           `json:"source_language,omitempty"`
	TgtLang    string           `json:"target_language,omitempty"`

	// Of each id, that of the SentencePiece model, or -1.
	SourceFileIDs []int32 `json:"source_file_ids,omitempty"`
	TargetFileIDs []int32 `json:"target_file_ids,omitempty"`
}

// settingsOf returns the content of config.json, without the ids of SentencePiece.
func settingsOf(f model.File) (settings, error) {
	c := f.Model.Config
	d, err := decode.ParseSettings(f.Decoding)
	if err != nil {
		return settings{}, err
	}
	suppressed, err := decode.ParseSuppressed(d.Suppressed)
	if err != nil {
		return settings{}, err
	}
	s := settings{
		Activation: c.Activation, FinalNorm: c.HasFinalNorm(), Scale: 1, SrcVocab: c.SrcVocab, TgtVocab: c.TgtVocab, Tie: c.Tie,
		OutputBias: c.OutputBias, Learned: c.Positions == model.Learned, MaxLen: c.MaxLen, Suppressed: append([]int32{model.Pad, model.BOS}, suppressed...),
		Before: []int32{}, After: []int32{}, SrcLang: f.SrcLang, TgtLang: f.TgtLang,
	}
	if c.Source.HasBOS() {
		s.Before = []int32{model.BOS}
	}
	if c.Source.HasEOS() {
		s.After = []int32{model.EOS}
	}
	if !c.Unscaled {
		s.Scale = float32(math.Sqrt(float64(c.DModel)))
	}
	t := &s.Transformer
	t.DModel, t.Heads, t.EncoderLayers, t.DecoderLayers, t.DFF = c.DModel, c.Heads, c.EncoderLayers, c.DecoderLayers, c.DFF
	t.Dropout, t.NormEps, t.NormFirst = c.Dropout, c.NormEps, c.Norm == model.PreNorm
	return s, nil
}

// checkConfig reports the first setting that nn.Transformer does not have.
func checkConfig(c model.Config) error {
	dk, dv := c.HeadSizes()
	const system = " for torch.nn.Transformer"
	return cmp.Or(
		parts.Refuse(c.Norm == model.DeepNorm, "norm", parts.TextOf(c.Norm), "post or pre"+system),
		parts.Refuse(c.Autoreg != model.SelfAttention, "autoreg", parts.TextOf(c.Autoreg), "self-attention"+system),
		parts.Refuse(c.SrcLanguages+c.TgtLanguages != "", "source_marks", c.Source.String(), "one language on each side"+system),
		parts.Refuse(c.NormKind != model.LayerNorm, "norm_kind", parts.TextOf(c.NormKind), "layer"+system),
		parts.Refuse(dk*c.Heads != c.DModel, "d_k", dk, "d_model divided by the heads"+system),
		parts.Refuse(dv*c.Heads != c.DModel, "d_v", dv, "d_model divided by the heads"+system),
	)
}

// naming are the names of nn.Transformer.
var naming = parts.Naming{
	Encoder: "encoder.layers.#.", Decoder: "decoder.layers.#.",
	Self:         [4]string{"self_attn.in_proj_*", "self_attn.in_proj_*", "self_attn.in_proj_*", "self_attn.out_proj.*"},
	Cross:        [4]string{"multihead_attn.in_proj_*", "multihead_attn.in_proj_*", "multihead_attn.in_proj_*", "multihead_attn.out_proj.*"},
	EncoderNorms: [2]string{"norm1.*", "norm2.*"},
	DecoderNorms: [3]string{"norm1.*", "norm2.*", "norm3.*"},
	FinalNorms:   [2]string{"encoder.norm.*", "decoder.norm.*"},
	Inner:        "linear1.*", Outer: "linear2.*",
	Weight: "weight", Bias: "bias", Gain: "weight", NormBias: "bias", OutputsFirst: true,
}

// tensorsOf returns the tensors of model.safetensors.
func tensorsOf(m *model.Transformer) []safetensors.Tensor {
	var l parts.TensorList
	c := m.Config
	l.Table("source.weight", m.SrcEmbed.E.Weights())
	if c.Tie != model.TieAll {
		l.Table("target.weight", m.TgtEmbed.E.Weights())
	}
	if c.Tie == model.TieNone {
		l.Table("output.weight", m.Output.E.Weights())
	}
	if c.OutputBias {
		l.Add("output.bias", m.Output.Bias.W, c.TgtVocab)
	}
	l.Table("source_positions.weight", m.SrcEmbed.Positions)
	if c.Positions == model.Learned {
		l.Table("target_positions.weight", m.TgtEmbed.Learned.Weights())
	}
	l.Layers(m, &naming)
	return l.List
}
