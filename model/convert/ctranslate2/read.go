package ctranslate2

import (
	"fmt"
	"slices"
	"strings"

	"tfm/model"
	"tfm/model/convert/internal/parts"
	"tfm/model/decode"
)

// Read reads the model of an encoder-decoder Transformer in a folder of CTranslate2: the
// file model.bin, of binary versions 1 to 6, vocabularies, config.json from version 6, and the
// tokenizers beside them, which are
//
//	source.spm, target.spm          SentencePiece
//	sentencepiece.model, spm.model  SentencePiece, for both sides
//	sentencepiece.bpe.model         likewise, of M2M-100 and NLLB-200
//	bpe.model                       codes of subword-nmt, for words with spaces between them
//
// Without these files the tokens of a text are
// its words with spaces between them. Other files are ignored, such as vmap.txt, which only
// restricts translations on demand.
//
// Weights in float16, bfloat16, int16 and int8 become the float32 numbers that CTranslate2
// multiplies by. The length penalty is CTranslate2's default.
//
// The error names the file, and the tensor or the property of the model that a model.Config does
// not have. Untrusted folders are safe: memory is bounded by 32 times the size of the folder.
func Read(dir string) (model.File, error) {
	f, err := parts.OpenFolder(dir)
	if err != nil {
		return model.File{}, err
	}
	return ReadPackage(f, f, nil)
}

// Package is what a package of Argos Translate says of the model in it.
type Package struct {
	From, To string // languages, for which Moses' rules prepare the text of codes in bpe.model
	Prefix   string // token that every target begins with, "" for none
}

// ReadPackage reads a model in f whose tokenizers are in tokenizers. p is the package that it
// is in, nil for none.
func ReadPackage(f, tokenizers parts.Folder, p *Package) (model.File, error) {
	data, err := f.Read(ModelFile)
	if err != nil {
		return model.File{}, err
	}
	b, err := parseModelFile(data)
	if err != nil {
		return model.File{}, fmt.Errorf("%s: %w", f.Name(ModelFile), err)
	}
	r := reader{folder: f, tokenizers: tokenizers, pkg: p, binary: b}
	if r.Tensors, err = b.tensors(f.Name(ModelFile), f.Size); err != nil {
		return model.File{}, err
	}
	for _, step := range []func() error{r.readOptions, r.readVocabularies, r.readConfig, r.readSides, r.readLanguages} {
		if err := step(); err != nil {
			return model.File{}, err
		}
	}
	return r.readModel()
}

const (
	ModelFile  = "model.bin"
	ConfigFile = "config.json"
)

// options are the settings of a model for sequences, config.json from version 6.
type options struct {
	Unknown   string   `json:"unk_token"`
	BOS       string   `json:"bos_token"`
	EOS       string   `json:"eos_token"`
	Start     *string  `json:"decoder_start_token"`
	SourceBOS bool     `json:"add_source_bos"`
	SourceEOS bool     `json:"add_source_eos"`
	Epsilon   *float32 `json:"layer_norm_epsilon"`

	MultiQuery   bool `json:"multi_query_attention"`
	Quantization any  `json:"quantization_type,omitempty"`
}

// reader reads one model.
type reader struct {
	*parts.Tensors
	folder, tokenizers parts.Folder
	pkg                *Package
	binary             *modelFile

	options  options
	src, tgt *parts.Vocabulary
	joint    bool
	isM2M    bool      // M2M-100 or NLLB-200
	bias     []float32 // of the output projection; nil without
	zero     bool      // the decoder starts from a zero embedding
	start    int       // row of the token that the decoder starts from

	source, target parts.Side
	config         model.Config
	decoding       decode.Settings
}

// refuse is fail for a property that tfm's models do not have.
func (r *reader) refuse(name, format string, args ...any) error {
	return r.Fail(name, "found %s, which this program does not have", fmt.Sprintf(format, args...))
}

// number takes a scalar, or returns otherwise if the model lacks it.
func (r *reader) number(name string, otherwise float64) float64 {
	if r.Has(name) {
		if x := r.Values(name); x != nil {
			return float64(x[0])
		}
	}
	return otherwise
}

// isOn takes a switch, which is off if the model lacks it.
func (r *reader) isOn(name string) bool { return r.number(name, 0) != 0 }

// str takes a string, which is a vector of int8.
func (r *reader) str(name, otherwise string) string {
	t := r.ByName[name]
	if t == nil || len(t.Shape) != 1 || t.Shape[0] == 0 {
		return otherwise // missing, or left to unused
	}
	t.Used = true
	v := r.binary.vars[name]
	if v.dtype != "int8" {
		r.Fail(name, "found %s of shape %s, expected int8", v.dtype, parts.ShapeText(t.Shape))
	}
	return string(v.data)
}

// readOptions sets r.options.
func (r *reader) readOptions() error {
	switch r.binary.spec {
	case "", "TransformerBase", "TransformerBig", "TransformerSpec":
	default:
		return r.FailFile("found a model of %.40q, expected TransformerSpec, an encoder and a decoder", r.binary.spec)
	}
	const newest = 7
	if r.binary.revision > newest {
		return r.FailFile("found revision %d of %s, expected up to %d", r.binary.revision, r.binary.spec, newest)
	}
	o := &r.options
	o.Unknown, o.BOS, o.EOS = "<unk>", "<s>", "</s>"
	if r.binary.version >= 6 || r.folder.Has(ConfigFile) {
		if err := r.folder.ReadJSON(ConfigFile, false, o); err != nil {
			return err
		}
	}
	if r.binary.version < 6 {
		o.Unknown, o.BOS, o.EOS = r.str("unk_token", "<unk>"), r.str("bos_token", "<s>"), r.str("eos_token", "</s>")
		o.SourceBOS, o.SourceEOS = r.isOn("with_source_bos"), r.isOn("with_source_eos")
		o.Start = &o.EOS
		if r.number("with_target_bos", 1) != 0 {
			o.Start = &o.BOS
		}
		if r.isOn("user_decoder_start_tokens") {
			o.Start = nil
		}
	}
	switch {
	case r.Err != nil:
		return r.Err
	case o.Start == nil:
		return fmt.Errorf("%s: found no decoder_start_token, expected one: translations of this model begin with a token of the caller, such as a language", r.folder.Name(ConfigFile))
	case o.MultiQuery:
		return fmt.Errorf("%s: found multi_query_attention, which this program does not have", r.folder.Name(ConfigFile))
	case o.Quantization != nil && o.Quantization != float64(0):
		return fmt.Errorf("%s: found quantization_type %.40v, expected that of CTranslate2", r.folder.Name(ConfigFile), o.Quantization)
	}
	return nil
}

// readModel returns the model.
func (r *reader) readModel() (model.File, error) {
	a := parts.Assembly{Src: r.source, Tgt: r.target, Bias: r.bias, Names: &naming}
	a.Positions = r.readPositions()
	r.readEmbeddings(&a)
	a.Config = r.config
	f, err := r.Assemble(&a)
	if err != nil {
		return model.File{}, err
	}
	if !r.isM2M { // whose tokens without text both systems select
		r.decoding.Suppressed = decode.FormatSuppressed(r.target.Special)
	}
	f.Decoding = r.decoding.String()
	f.Info["source"] = fmt.Sprintf("CTranslate2, binary version %d, %s revision %d", r.binary.version, strings.TrimPrefix(r.binary.spec+",", ","), r.binary.revision)
	return f, nil
}

// readEmbeddings takes the embeddings and sets which of them are one.
func (r *reader) readEmbeddings(a *parts.Assembly) {
	c := &r.config
	for _, t := range []struct {
		table *parts.Table
		name  string
		v     *parts.Vocabulary
	}{{&a.SrcTable, r.sourceEmbedding(), r.src}, {&a.TgtTable, "decoder/embeddings/weight", r.tgt}, {&a.OutTable, "decoder/projection/weight", r.tgt}} {
		*t.table = parts.Table{Matrix: r.Matrix(t.name, len(t.v.Tokens), c.DModel), BOS: -1}
	}
	if !r.zero {
		a.TgtTable.BOS = r.start
	}
	if c.Source.HasBOS() {
		a.SrcTable.BOS = r.src.Row(r.options.BOS)
	}
	c.Tie = model.TieNone
	if slices.Equal(a.TgtTable.Data, a.OutTable.Data) {
		c.Tie = model.TieDecoder
		oneBOS := !c.Source.HasBOS() || !r.zero && r.src.Row(r.options.BOS) == r.start
		if r.joint && oneBOS && slices.Equal(a.SrcTable.Data, a.TgtTable.Data) && slices.Equal(r.source.Rows, r.target.Rows) {
			c.Tie = model.TieAll
		}
	}
	// The bias excludes the ids that the source cannot predict.
	c.OutputBias = r.bias == nil || slices.ContainsFunc(r.target.Excluded(), func(id int32) bool { return id > model.BOS })
	for row, b := range r.bias {
		if row != r.tgt.Pad && row != r.tgt.BOS && b != 0 {
			c.OutputBias = true
		}
	}
	c.OutputBias = c.OutputBias || r.bias != nil && (r.tgt.Pad < 0 || r.tgt.BOS < 0)
}

// naming are the names of CTranslate2.
var naming = parts.Naming{
	Encoder: "encoder/layer_#/", Decoder: "decoder/layer_#/",
	Self:         [4]string{"self_attention/linear_0/*", "self_attention/linear_0/*", "self_attention/linear_0/*", "self_attention/linear_1/*"},
	Cross:        [4]string{"attention/linear_0/*", "attention/linear_1/*", "attention/linear_1/*", "attention/linear_2/*"},
	EncoderNorms: [2]string{"self_attention/layer_norm/*", "ffn/layer_norm/*"},
	DecoderNorms: [3]string{"self_attention/layer_norm/*", "attention/layer_norm/*", "ffn/layer_norm/*"},
	FinalNorms:   [2]string{"encoder/layer_norm/*", "decoder/layer_norm/*"},
	Inner:        "ffn/linear_0/*", Outer: "ffn/linear_1/*",
	Weight: "weight", Bias: "bias", Gain: "gamma", NormBias: "beta", OutputsFirst: true, OptionalBias: true,
}
