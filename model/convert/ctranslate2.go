package convert

import (
	"fmt"
	"slices"
	"strings"

	"tfm/model"
	"tfm/model/decode"
)

// ReadCTranslate2 reads the model of an encoder-decoder Transformer in a folder of CTranslate2: the
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
func ReadCTranslate2(dir string) (model.File, error) {
	f, err := openFolder(dir)
	if err != nil {
		return model.File{}, err
	}
	return readCTranslate2(f, f, nil)
}

// ct2Package is what a package of Argos Translate says of the model in it.
type ct2Package struct {
	from, to string // languages, for which Moses' rules prepare the text of codes in bpe.model
	prefix   string // token that every target begins with, "" for none
}

// readCTranslate2 reads a model in f whose tokenizers are in tokenizers. p is the package that it
// is in, nil for none.
func readCTranslate2(f, tokenizers folder, p *ct2Package) (model.File, error) {
	data, err := f.read(ct2File)
	if err != nil {
		return model.File{}, err
	}
	b, err := parseCT2Binary(data)
	if err != nil {
		return model.File{}, fmt.Errorf("%s: %w", f.name(ct2File), err)
	}
	r := ct2Reader{folder: f, tokenizers: tokenizers, pkg: p, binary: b}
	if r.tensors, err = b.tensors(f.name(ct2File), f.size); err != nil {
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
	ct2File   = "model.bin"
	ct2Config = "config.json"
)

// ct2Options are the settings of a model for sequences, config.json from version 6.
type ct2Options struct {
	Unknown   string   `json:"unk_token"`
	BOS       string   `json:"bos_token"`
	EOS       string   `json:"eos_token"`
	Start     *string  `json:"decoder_start_token"`
	SourceBOS bool     `json:"add_source_bos"`
	SourceEOS bool     `json:"add_source_eos"`
	Epsilon   *float32 `json:"layer_norm_epsilon"`

	MultiQuery   bool `json:"multi_query_attention"`
	Quantization any  `json:"quantization_type,omitempty"`

	TFM *tfmExtra `json:"tfm,omitempty"` // of WriteCTranslate2
}

// ct2Reader reads one model.
type ct2Reader struct {
	*tensors
	folder, tokenizers folder
	pkg                *ct2Package
	binary             *ct2Binary

	options  ct2Options
	src, tgt *vocabulary
	joint    bool
	isM2M    bool      // M2M-100 or NLLB-200
	bias     []float32 // of the output projection; nil without
	zero     bool      // the decoder starts from a zero embedding
	start    int       // row of the token that the decoder starts from

	source, target side
	config         model.Config
	decoding       decode.Settings
}

// refuse is fail for a property that tfm's models do not have.
func (r *ct2Reader) refuse(name, format string, args ...any) error {
	return r.fail(name, "found %s, which this program does not have", fmt.Sprintf(format, args...))
}

// number takes a scalar, or returns otherwise if the model lacks it.
func (r *ct2Reader) number(name string, otherwise float64) float64 {
	if r.has(name) {
		if x := r.values(name); x != nil {
			return float64(x[0])
		}
	}
	return otherwise
}

// isOn takes a switch, which is off if the model lacks it.
func (r *ct2Reader) isOn(name string) bool { return r.number(name, 0) != 0 }

// str takes a string, which is a vector of int8.
func (r *ct2Reader) str(name, otherwise string) string {
	t := r.byName[name]
	if t == nil || len(t.shape) != 1 || t.shape[0] == 0 {
		return otherwise // missing, or left to unused
	}
	t.used = true
	v := r.binary.vars[name]
	if v.dtype != "int8" {
		r.fail(name, "found %s of shape %s, expected int8", v.dtype, shapeText(t.shape))
	}
	return string(v.data)
}

// readOptions sets r.options.
func (r *ct2Reader) readOptions() error {
	switch r.binary.spec {
	case "", "TransformerBase", "TransformerBig", "TransformerSpec":
	default:
		return r.failFile("found a model of %.40q, expected TransformerSpec, an encoder and a decoder", r.binary.spec)
	}
	const newest = 7
	if r.binary.revision > newest {
		return r.failFile("found revision %d of %s, expected up to %d", r.binary.revision, r.binary.spec, newest)
	}
	o := &r.options
	o.Unknown, o.BOS, o.EOS = "<unk>", "<s>", "</s>"
	if r.binary.version >= 6 || r.folder.has(ct2Config) {
		if err := r.folder.readJSON(ct2Config, false, o); err != nil {
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
	case r.err != nil:
		return r.err
	case o.Start == nil:
		return fmt.Errorf("%s: found no decoder_start_token, expected one: translations of this model begin with a token of the caller, such as a language", r.folder.name(ct2Config))
	case o.MultiQuery:
		return fmt.Errorf("%s: found multi_query_attention, which this program does not have", r.folder.name(ct2Config))
	case o.Quantization != nil && o.Quantization != float64(0):
		return fmt.Errorf("%s: found quantization_type %.40v, expected that of CTranslate2", r.folder.name(ct2Config), o.Quantization)
	}
	return nil
}

// readModel returns the model.
func (r *ct2Reader) readModel() (model.File, error) {
	a := assembly{src: r.source, tgt: r.target, bias: r.bias, names: &ct2Naming}
	a.positions = r.readPositions()
	r.readEmbeddings(&a)
	a.config = r.config
	if r.options.TFM != nil {
		a.config.SrcVocab, a.config.TgtVocab = len(a.src.rows), len(a.tgt.rows)
		r.options.TFM.apply(&a.config)
	}
	f, err := r.assemble(&a)
	if err != nil {
		return model.File{}, err
	}
	if !r.isM2M { // whose tokens without text both systems select
		r.decoding.Suppressed = decode.FormatSuppressed(r.target.special)
	}
	f.Decoding = r.decoding.String()
	f.Info["source"] = fmt.Sprintf("CTranslate2, binary version %d, %s revision %d", r.binary.version, strings.TrimPrefix(r.binary.spec+",", ","), r.binary.revision)
	if r.options.TFM != nil {
		r.options.TFM.applyFile(&f)
	}
	return f, nil
}

// readEmbeddings takes the embeddings and sets which of them are one.
func (r *ct2Reader) readEmbeddings(a *assembly) {
	c := &r.config
	for _, t := range []struct {
		table *table
		name  string
		v     *vocabulary
	}{{&a.srcTable, r.sourceEmbedding(), r.src}, {&a.tgtTable, "decoder/embeddings/weight", r.tgt}, {&a.outTable, "decoder/projection/weight", r.tgt}} {
		*t.table = table{Matrix: r.matrix(t.name, len(t.v.tokens), c.DModel), bos: -1}
	}
	if !r.zero {
		a.tgtTable.bos = r.start
	}
	if c.Source.HasBOS() {
		a.srcTable.bos = r.src.row(r.options.BOS)
	}
	c.Tie = model.TieNone
	if slices.Equal(a.tgtTable.Data, a.outTable.Data) {
		c.Tie = model.TieDecoder
		oneBOS := !c.Source.HasBOS() || !r.zero && r.src.row(r.options.BOS) == r.start
		if r.joint && oneBOS && slices.Equal(a.srcTable.Data, a.tgtTable.Data) && slices.Equal(r.source.rows, r.target.rows) {
			c.Tie = model.TieAll
		}
	}
	// The bias excludes the ids that the source cannot predict.
	c.OutputBias = r.bias == nil || slices.ContainsFunc(r.target.excluded(), func(id int32) bool { return id > model.BOS })
	for row, b := range r.bias {
		if row != r.tgt.pad && row != r.tgt.bos && b != 0 {
			c.OutputBias = true
		}
	}
	c.OutputBias = c.OutputBias || r.bias != nil && (r.tgt.pad < 0 || r.tgt.bos < 0)
}

// ct2Naming are the names of CTranslate2.
var ct2Naming = naming{
	encoder: "encoder/layer_#/", decoder: "decoder/layer_#/",
	self:         [4]string{"self_attention/linear_0/*", "self_attention/linear_0/*", "self_attention/linear_0/*", "self_attention/linear_1/*"},
	cross:        [4]string{"attention/linear_0/*", "attention/linear_1/*", "attention/linear_1/*", "attention/linear_2/*"},
	encoderNorms: [2]string{"self_attention/layer_norm/*", "ffn/layer_norm/*"},
	decoderNorms: [3]string{"self_attention/layer_norm/*", "attention/layer_norm/*", "ffn/layer_norm/*"},
	finalNorms:   [2]string{"encoder/layer_norm/*", "decoder/layer_norm/*"},
	inner:        "ffn/linear_0/*", outer: "ffn/linear_1/*",
	weight: "weight", bias: "bias", gain: "gamma", normBias: "beta", outputsFirst: true, optionalBias: true,
}
