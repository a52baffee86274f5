package convert

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"tfm/mat"
	"tfm/model"
	"tfm/model/safetensors"
	"tfm/text"
	"tfm/text/sentencepiece"
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

// ReadMarianHF reads a folder of transformers' MarianMTModel and MarianTokenizer, for example an
// OPUS-MT model: config.json, generation_config.json if it exists, model.safetensors, vocab.json
// and, without a shared vocabulary, target_vocab.json, source.spm and target.spm, and
// tokenizer_config.json if it exists.
//
// The pieces of bad_words_ids become Decoding.Suppressed, or impossible with renormalize_logits. A
// language code such as ">>fra<<" at the begin of a text is one piece. The beam is num_beams.
// Limits of length are those of decode.Options, not max_length.
func ReadMarianHF(dir string) (model.File, error) {
	f, err := openFolder(dir)
	if err != nil {
		return model.File{}, err
	}
	r := &hfReader{folder: f, config: newHFMarianConfig()}
	if err := r.readSettings(); err != nil {
		return model.File{}, err
	}
	if err := r.readVocabularies(); err != nil {
		return model.File{}, err
	}
	if !f.has(hfModelFile) {
		if err := checkPickle(dir); err != nil {
			return model.File{}, err
		}
	}
	s, err := safetensors.Open(f.name(hfModelFile))
	if err != nil {
		return model.File{}, err
	}
	defer s.Close()
	if r.t, err = safetensorsTensors(f.name(hfModelFile), s); err != nil {
		return model.File{}, err
	}
	return r.read()
}

// hfReader reads a folder.
type hfReader struct {
	folder
	t          *tensors
	config     hfMarianConfig
	generation hfGeneration
	tokenizer  hfTokenizerConfig
	extra      struct {
		TFM *tfmExtra `json:"tfm"`
	}
	src, tgt             *vocabulary
	srcPieces, tgtPieces *sentencepiece.Tokenizer
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
		return fmt.Errorf("%s: %w", r.name(hfGenerationFile), err)
	}
	return nil
}

// read returns the model.
func (r *hfReader) read() (model.File, error) {
	c, err := r.config.config()
	if err != nil {
		return model.File{}, fmt.Errorf("%s: %w", r.name(hfConfigFile), err)
	}
	bias := make([]float32, r.config.DecoderVocabSize)
	if r.t.has("final_logits_bias") {
		if bias, err = r.t.values("final_logits_bias", 1, r.config.DecoderVocabSize); err != nil {
			return model.File{}, err
		}
	}
	tables, err := r.readTables()
	if err != nil {
		return model.File{}, err
	}
	s, t, own, err := r.sides(bias)
	if err != nil {
		return model.File{}, err
	}
	c.SrcVocab, c.TgtVocab = len(s.rows), len(t.rows)
	c.Tie = map[bool]string{true: model.TieDecoder, false: model.TieNone}[tables.tieOut]
	if tables.tieAll && !r.tokenizer.SeparateVocs {
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
	m, err := r.t.newModel(c)
	if err != nil {
		return model.File{}, err
	}
	if c.OutputBias {
		copy(m.Output.Bias.W, outputBias)
	}
	start := int(*r.generation.start)
	s.embed(m.SrcEmbed.E.Weights(), tables.src, start)
	t.embed(m.TgtEmbed.E.Weights(), tables.tgt, start)
	t.embed(m.Output.E.Weights(), tables.out, start)
	if err := r.t.readLayers(m, &hfNaming); err != nil {
		return model.File{}, err
	}
	if err := r.checkPositions(m.SrcEmbed.Positions); err != nil {
		return model.File{}, err
	}
	if err := r.t.unused(); err != nil {
		return model.File{}, err
	}
	f := model.File{Model: m, Info: map[string]string{"source": "Hugging Face Marian " + filepath.Base(filepath.Clean(r.path))}}
	if f.Tokenizers, err = marshalSides(s, t); err != nil {
		return model.File{}, err
	}
	f.SrcLang, f.TgtLang = knownLanguage(r.tokenizer.SourceLang), knownLanguage(r.tokenizer.TargetLang)
	f.Decoding = r.generation.decoding()
	if !r.generation.Renormalize {
		f.Decoding.Suppressed = t.suppressed(r.generation.suppressed)
	}
	if own && extra != nil {
		extra.applyFile(&f)
	}
	if err := f.Decoding.ValidateFor(m.Config); err != nil {
		return model.File{}, fmt.Errorf("%s: %w", r.name(hfGenerationFile), err)
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
			if !r.t.has(name) {
				continue
			}
			m, err := r.t.matrix(name, size, c.DModel)
			if err != nil {
				return m, err
			}
			if found.Data == nil {
				found, foundName = m, name
			} else if !slices.Equal(found.Data, m.Data) {
				return m, r.t.fail(name, "found elements that differ from those of %q, expected equal ones as in %s", foundName, hfConfigFile)
			}
		}
		if found.Data == nil {
			return found, r.t.fail(names[0], "missing")
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
		if !r.t.has(name) {
			continue
		}
		found, err := r.t.matrix(name, table.Rows, table.Cols)
		if err != nil {
			return err
		}
		if !isClose(found, table, 1e-3) { // float16
			return r.t.fail(name, "found other positions, expected sinusoids in two halves: tfm's Transformer has no other with this format")
		}
	}
	return nil
}
