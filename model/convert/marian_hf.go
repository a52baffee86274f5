package convert

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"tfm/mat"
	"tfm/model"
	"tfm/model/safetensors"
	"tfm/text"
)

// The files of a Hugging Face Marian folder, besides tokenizerConfigFile.
const (
	hfConfigFile      = "config.json"
	hfGenerationFile  = "generation_config.json"
	hfModelFile       = "model.safetensors"
	hfSourceFile      = "source.spm"
	hfTargetFile      = "target.spm"
	hfVocabFile       = "vocab.json"
	hfTargetVocabFile = "target_vocab.json" // if the sides do not share a vocabulary
)

// isMarianHF reports whether path is a folder of transformers' MarianMTModel.
func isMarianHF(path string, isDir bool) bool {
	if !isDir || !isFile(path, hfConfigFile) {
		return false
	}
	var c struct {
		ModelType string `json:"model_type"`
	}
	data, err := readSmall(filepath.Join(path, hfConfigFile))
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

	// Of other models, which some programs write for this one too.
	NormalizeBefore    bool  `json:"normalize_before,omitempty"`
	NormalizeEmbedding bool  `json:"normalize_embedding,omitempty"`
	AddFinalNorm       bool  `json:"add_final_layer_norm,omitempty"`
	StaticPositions    *bool `json:"static_position_embeddings,omitempty"`
	ExtraPositions     int   `json:"extra_pos_embeddings,omitempty"`
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
		DModel: h.DModel, Heads: h.EncoderHeads, DFF: h.EncoderFFN, EncoderLayers: h.EncoderLayers, DecoderLayers: h.DecoderLayers,
		NormEps: hfNormEps, MaxLen: h.MaxPositions, FinalNorm: model.FinalNormOff, Positions: model.Halves, Unscaled: !h.ScaleEmbedding, OutputBias: true,
		Dropout: h.Dropout, AttentionDropout: h.AttentionDropout, FFDropout: h.ActivationDropout,
	}
	found := false
	for _, a := range hfActivations {
		if a.name == h.Activation {
			c.Activation, found = a.activation, true
		}
	}
	for _, rule := range []struct {
		broken   bool
		name     string
		found    any
		expected string
	}{
		{h.ModelType != hfMarianType, "model_type", h.ModelType, hfMarianType},
		{!found, "activation_function", h.Activation, "relu, gelu, gelu_new, swish or silu"},
		{h.DecoderHeads != h.EncoderHeads, "decoder_attention_heads", h.DecoderHeads, fmt.Sprint(h.EncoderHeads, " as in the encoder")},
		{h.DecoderFFN != h.EncoderFFN, "decoder_ffn_dim", h.DecoderFFN, fmt.Sprint(h.EncoderFFN, " as in the encoder")},
		{h.NormalizeBefore, "normalize_before", true, "false"},
		{h.NormalizeEmbedding, "normalize_embedding", true, "false"},
		{h.AddFinalNorm, "add_final_layer_norm", true, "false"},
		{h.StaticPositions != nil && !*h.StaticPositions, "static_position_embeddings", false, "true"},
		{h.ExtraPositions != 0, "extra_pos_embeddings", h.ExtraPositions, "0"},
		{h.ShareEmbeddings && h.DecoderVocabSize != 0 && h.DecoderVocabSize != h.VocabSize, "decoder_vocab_size", h.DecoderVocabSize, fmt.Sprint(h.VocabSize, " with shared embeddings")},
	} {
		if rule.broken {
			return c, &model.FieldError{Field: rule.name, Found: rule.found, Expected: rule.expected}
		}
	}
	return c, nil
}

// ReadMarianHF reads a folder of transformers' MarianMTModel and MarianTokenizer, for example an
// OPUS-MT model: config.json, generation_config.json if it exists, model.safetensors, vocab.json
// and, without a shared vocabulary, target_vocab.json, source.spm and target.spm, and
// tokenizer_config.json if it exists.
//
// The pieces of bad_words_ids become Decoding.Suppressed, or impossible with renormalize_logits. A
// language code such as ">>fra<<" at the begin of a text is one piece. The beam is num_beams.
// Limits of length are those of decode.Options, not max_length.
func ReadMarianHF(dir string) (model.File, error) {
	r := &hfReader{dir: dir, config: newHFMarianConfig()}
	if err := r.readSettings(); err != nil {
		return model.File{}, err
	}
	if err := r.readVocabularies(); err != nil {
		return model.File{}, err
	}
	path := filepath.Join(dir, hfModelFile)
	if !isFile(dir, hfModelFile) {
		if err := checkPickle(dir); err != nil {
			return model.File{}, err
		}
	}
	s, err := safetensors.Open(path)
	if err != nil {
		return model.File{}, err
	}
	defer s.Close()
	if r.tensors, err = safetensorsTensors(path, s); err != nil {
		return model.File{}, err
	}
	return r.read()
}

// safetensorsTensors returns the tensors of an open safetensors file.
func safetensorsTensors(path string, s *safetensors.File) (*tensors, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	all := newTensors(path, info.Size())
	for _, t := range s.Tensors() {
		if err := all.add(t.Name, t.DType, t.Shape, t.Float32s); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// hfReader reads a folder.
type hfReader struct {
	*tensors
	dir        string
	config     hfMarianConfig
	generation hfGeneration
	tokenizer  hfTokenizerConfig
	extra      struct {
		TFM *ct2Extra `json:"tfm"`
	}
	src, tgt marianSide
}

// hfTokenizerConfig is the part of tokenizer_config.json that matters here.
type hfTokenizerConfig struct {
	SourceLang   string          `json:"source_lang"`
	TargetLang   string          `json:"target_lang"`
	EOS          json.RawMessage `json:"eos_token"`
	Unknown      json.RawMessage `json:"unk_token"`
	SeparateVocs bool            `json:"separate_vocabs"`
}

// tokenName returns a token that transformers writes as a string or as an object.
func tokenName(raw json.RawMessage, def string) (string, error) {
	var object struct {
		Content string `json:"content"`
	}
	var name string
	switch {
	case len(raw) == 0 || bytes.Equal(raw, []byte("null")):
		return def, nil
	case json.Unmarshal(raw, &name) == nil:
		return name, nil
	case json.Unmarshal(raw, &object) == nil && object.Content != "":
		return object.Content, nil
	}
	return "", fmt.Errorf("found token %.40q, expected a string", raw)
}

// readJSON decodes a file of the folder into v. It does nothing if an optional file does not exist.
func (r *hfReader) readJSON(name string, optional bool, v any) error {
	path := filepath.Join(r.dir, name)
	data, err := readSmall(path)
	if optional && errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// readSettings reads the configurations.
func (r *hfReader) readSettings() error {
	r.generation = newHFGeneration()
	for _, file := range []struct {
		name     string
		optional bool
		v        any
	}{
		{hfConfigFile, false, &r.config}, {hfConfigFile, false, &r.generation}, // in early versions
		{hfConfigFile, false, &r.extra}, {hfGenerationFile, true, &r.generation}, {tokenizerConfigFile, true, &r.tokenizer},
	} {
		if err := r.readJSON(file.name, file.optional, file.v); err != nil {
			return err
		}
	}
	if r.config.DecoderVocabSize == 0 {
		r.config.DecoderVocabSize = r.config.VocabSize
	}
	if err := r.generation.validate(r.config.DecoderVocabSize); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(r.dir, hfGenerationFile), err)
	}
	return nil
}

// readVocabularies reads the vocabularies and the SentencePiece models.
func (r *hfReader) readVocabularies() error {
	eos, err := tokenName(r.tokenizer.EOS, "</s>")
	if err != nil {
		return fmt.Errorf("%s: eos_token: %w", filepath.Join(r.dir, tokenizerConfigFile), err)
	}
	unknown, err := tokenName(r.tokenizer.Unknown, "<unk>")
	if err != nil {
		return fmt.Errorf("%s: unk_token: %w", filepath.Join(r.dir, tokenizerConfigFile), err)
	}
	read := func(name string, size int) (*marianVocab, error) {
		ids := map[string]int32{}
		if err := r.readJSON(name, false, &ids); err != nil {
			return nil, err
		}
		v := &marianVocab{path: filepath.Join(r.dir, name)}
		if v.names, err = indexNames(v.path, ids); err != nil {
			return nil, err
		}
		if err := v.checkRows(size, hfConfigFile); err != nil {
			return nil, err
		}
		if err := v.find(eos, unknown); err != nil {
			return nil, err
		}
		if int(v.eos) != r.generation.eos {
			return nil, fmt.Errorf("%s: found id %d of %q, expected %d as in %s", v.path, v.eos, eos, r.generation.eos, hfConfigFile)
		}
		for _, id := range []*int32{r.generation.Pad, r.generation.start} {
			if id != nil && *id != v.eos && *id != v.unk && int(*id) < size && !slices.Contains(v.others, *id) {
				v.others = append(v.others, *id)
			}
		}
		return v, nil
	}
	if r.src.vocab, err = read(hfVocabFile, r.config.VocabSize); err != nil {
		return err
	}
	r.tgt.vocab = r.src.vocab
	if r.tokenizer.SeparateVocs {
		if r.tgt.vocab, err = read(hfTargetVocabFile, r.config.DecoderVocabSize); err != nil {
			return err
		}
	} else if r.config.DecoderVocabSize != r.config.VocabSize {
		return fmt.Errorf("%s: found decoder_vocab_size %d, expected %d as vocab_size without separate_vocabs in %s",
			filepath.Join(r.dir, hfConfigFile), r.config.DecoderVocabSize, r.config.VocabSize, tokenizerConfigFile)
	}
	if r.src.tokenizer, err = readSentencePiece(filepath.Join(r.dir, hfSourceFile)); err != nil {
		return err
	}
	if r.tgt.tokenizer, err = readSentencePiece(filepath.Join(r.dir, hfTargetFile)); err != nil {
		return err
	}
	shared := r.src.vocab == r.tgt.vocab && equalTokenizers(r.src.tokenizer, r.tgt.tokenizer)
	if shared && !slices.ContainsFunc(r.src.vocab.names, isLanguageCode) {
		r.tgt.tokenizer = r.src.tokenizer
	}
	return nil
}

// hasOwnIDs reports whether Pad, BOS and EOS of a folder have the ids of this program, and Pad and
// BOS are impossible, as in folders of WriteMarianHF.
func (r *hfReader) hasOwnIDs(bias []float32) bool {
	g := r.generation
	return g.Pad != nil && *g.Pad == text.Pad && *g.start == text.BOS && g.eos == int(text.EOS) && bias[text.Pad] == minusInf && bias[text.BOS] == minusInf
}

// read returns the model.
func (r *hfReader) read() (model.File, error) {
	c, err := r.config.config()
	if err != nil {
		return model.File{}, fmt.Errorf("%s: %w", filepath.Join(r.dir, hfConfigFile), err)
	}
	bias := make([]float32, r.config.DecoderVocabSize)
	if r.has("final_logits_bias") {
		if bias, err = r.values("final_logits_bias", 1, r.config.DecoderVocabSize); err != nil {
			return model.File{}, err
		}
	}
	tables, err := r.readTables()
	if err != nil {
		return model.File{}, err
	}
	src, tgt := r.src, r.tgt
	s, t := ownRows(src), ownRows(tgt)
	own := s != nil && t != nil && r.hasOwnIDs(bias)
	if own && src == tgt {
		t = s
	} else if !own {
		if s, t, err = joinVocabs(src, tgt); err != nil {
			return model.File{}, err
		}
	}
	c.SrcVocab, c.TgtVocab = s.tokenizer.Size(), t.tokenizer.Size()
	c.Tie = map[bool]string{true: model.TieDecoder, false: model.TieNone}[tables.tieOut]
	if tables.tieAll && src.vocab == tgt.vocab {
		c.Tie = model.TieAll
	}
	impossible := []int32(nil)
	if r.generation.Renormalize {
		impossible = r.generation.suppressed
	}
	outputBias := make([]float32, c.TgtVocab)
	t.setBias(outputBias, bias, impossible)
	if own && !slices.ContainsFunc(outputBias[text.EOS:], func(x float32) bool { return x != 0 || math.Signbit(float64(x)) }) {
		c.OutputBias = false
	}
	extra := r.extra.TFM
	if own && extra != nil {
		if c.OutputBias = c.OutputBias || extra.Config.OutputBias; extra.Config.Biases == model.AllBiases {
			extra.apply(&c)
		}
	}
	m, err := r.newModel(c)
	if err != nil {
		return model.File{}, err
	}
	if c.OutputBias {
		copy(m.Output.Bias.W, outputBias)
	}
	start := *r.generation.start
	s.setEmbedding(m.SrcEmbed.E.Weights(), tables.src, start, src.vocab.unk)
	t.setEmbedding(m.TgtEmbed.E.Weights(), tables.tgt, start, tgt.vocab.unk)
	t.setEmbedding(m.Output.E.Weights(), tables.out, start, tgt.vocab.unk)
	if err := r.readLayers(m, &hfNaming); err != nil {
		return model.File{}, err
	}
	if err := r.checkPositions(m.SrcEmbed.Positions); err != nil {
		return model.File{}, err
	}
	if err := r.unused(); err != nil {
		return model.File{}, err
	}
	f := model.File{Model: m, Info: map[string]string{"source": "Hugging Face Marian " + filepath.Base(filepath.Clean(r.dir))}}
	if f.Tokenizers, err = marshalRows(s, t); err != nil {
		return model.File{}, err
	}
	f.SrcLang, f.TgtLang = knownLanguage(r.tokenizer.SourceLang), knownLanguage(r.tokenizer.TargetLang)
	f.Decoding = r.generation.decoding()
	if !r.generation.Renormalize {
		f.Decoding.Suppressed = t.suppressedOf(r.generation.suppressed)
	}
	if own && extra != nil {
		extra.applyFile(&f)
	}
	if err := f.Decoding.ValidateFor(m.Config); err != nil {
		return model.File{}, fmt.Errorf("%s: %w", filepath.Join(r.dir, hfGenerationFile), err)
	}
	return f, nil
}

// knownLanguage returns the tag of a language, or "" for other names.
func knownLanguage(name string) string {
	tag, err := model.CanonicalLanguage(name)
	if err != nil {
		return ""
	}
	return tag
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

// hfTables are the embeddings and the output projection.
type hfTables struct {
	src, tgt, out  mat.Matrix
	tieAll, tieOut bool
}

// readTables reads the embeddings and the output projection. Matrices that are tied may be in the
// file more than once, but must then be equal.
func (r *hfReader) readTables() (t hfTables, err error) {
	const shared, src, tgt, out = "model.shared.weight", "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight"
	c := r.config
	first := func(size int, names ...string) (mat.Matrix, error) {
		var found mat.Matrix
		var foundName string
		for _, name := range names {
			if !r.has(name) {
				continue
			}
			m, err := r.matrix(name, size, c.DModel)
			if err != nil {
				return m, err
			}
			if found.Data == nil {
				found, foundName = m, name
			} else if !slices.Equal(found.Data, m.Data) {
				return m, r.fail(name, "found elements that differ from those of %q, expected equal ones as in %s", foundName, hfConfigFile)
			}
		}
		if found.Data == nil {
			return found, r.fail(names[0], "missing")
		}
		return found, nil
	}
	t.tieAll, t.tieOut = c.ShareEmbeddings && c.TieWordEmbeddings, c.TieWordEmbeddings
	switch {
	case t.tieAll:
		t.src, err = first(c.VocabSize, shared, src, tgt, out)
		t.tgt, t.out = t.src, t.src
	case c.ShareEmbeddings:
		if t.src, err = first(c.VocabSize, shared, src, tgt); err == nil {
			t.tgt = t.src
			t.out, err = first(c.VocabSize, out)
		}
	default:
		if t.src, err = first(c.VocabSize, src, shared); err != nil {
			return t, err
		}
		if c.TieWordEmbeddings {
			t.tgt, err = first(c.DecoderVocabSize, tgt, out)
			t.out = t.tgt
		} else if t.tgt, err = first(c.DecoderVocabSize, tgt); err == nil {
			t.out, err = first(c.DecoderVocabSize, out)
		}
	}
	return t, err
}

// checkPositions compares the tables of positions that early versions wrote with the model's table.
func (r *hfReader) checkPositions(table mat.Matrix) error {
	for _, name := range []string{"model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight"} {
		if !r.has(name) {
			continue
		}
		found, err := r.matrix(name, table.Rows, table.Cols)
		if err != nil {
			return err
		}
		if !isClose(found, table, 1e-3) { // float16
			return r.fail(name, "found other positions, expected sinusoids in two halves: tfm's Transformer has no other with this format")
		}
	}
	return nil
}
