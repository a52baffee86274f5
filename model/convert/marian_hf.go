package convert

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"tfm/lang"
	"tfm/layer"
	"tfm/model"
	"tfm/text"
)

// The files of a Hugging Face Marian folder, besides tokenizerConfigFile.
const (
	hfConfigFile      = "config.json"
	hfGenerationFile  = "generation_config.json"
	hfSourceFile      = "source.spm"
	hfTargetFile      = "target.spm"
	hfVocabFile       = "vocab.json"
	hfTargetVocabFile = "target_vocab.json" // if the sides do not share a vocabulary
)

// ReadMarianHF reads a folder of transformers' MarianMTModel and MarianTokenizer, for example an
// OPUS-MT model: config.json, generation_config.json if it exists, model.safetensors or
// pytorch_model.bin or the files of an index of one of them, vocab.json and, without a shared
// vocabulary, target_vocab.json, source.spm and target.spm, and tokenizer_config.json if it exists.
//
// The pieces of bad_words_ids become Decoding.Suppressed, or impossible with renormalize_logits.
// Tokens such as ">>fra<<" are the languages of the target. The beam is num_beams,
// the limit of the length max_new_tokens or max_length.
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
	r.generation.suppressed = append(r.generation.suppressed, r.tgt.unnamed...)
	w, err := openHFWeights(f)
	if err != nil {
		return model.File{}, err
	}
	defer w.close()
	r.t = w.tensors
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
	src, tgt *vocabulary
}

// readSettings reads the configurations.
func (r *hfReader) readSettings() error {
	// The defaults of transformers, which its files omit.
	r.generation = hfGeneration{NumBeams: 1, LengthPenalty: 1}
	r.tokenizer = hfTokenizerConfig{EOS: "</s>", Unknown: "<unk>"}
	var config, generation map[string]any
	for _, file := range []struct {
		name     string
		optional bool
		v        any
	}{
		{hfConfigFile, false, &r.config}, {hfConfigFile, false, &r.generation}, // in early versions
		{hfConfigFile, false, &r.extra}, {hfGenerationFile, true, &r.generation}, {tokenizerConfigFile, true, &r.tokenizer},
		{hfConfigFile, false, &config}, {hfConfigFile, false, &generation}, {hfGenerationFile, true, &generation},
	} {
		if err := r.readJSON(file.name, file.optional, file.v); err != nil {
			return err
		}
	}
	if r.config.DecoderVocabSize == 0 {
		r.config.DecoderVocabSize = r.config.VocabSize
	}
	if err := refuseSettings(config, hfConfigOff); err != nil {
		return fmt.Errorf("%s: %w", r.name(hfConfigFile), err)
	}
	if err := cmp.Or(refuseSettings(generation, hfGenerationOff), r.generation.validate(r.config.DecoderVocabSize)); err != nil {
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
		bias = r.t.values("final_logits_bias", 1, r.config.DecoderVocabSize)
	}
	a := assembly{bias: bias, names: &hfNaming}
	r.readTables(&a)
	if r.t.err != nil {
		return model.File{}, r.t.err
	}
	own := false
	if a.src, a.tgt, own, err = r.sides(bias); err != nil {
		return model.File{}, err
	}
	c.Tie = map[bool]string{true: model.TieDecoder, false: model.TieNone}[r.config.TieWordEmbeddings]
	if r.config.ShareEmbeddings && r.config.TieWordEmbeddings && !r.tokenizer.SeparateVocs {
		c.Tie = model.TieAll
	}
	a.src.addTargets(&c, r.src)
	if r.generation.Renormalize {
		a.impossible = r.generation.suppressed
	}
	if own {
		outputBias := make([]float32, len(a.tgt.rows))
		a.tgt.setBias(outputBias, bias, a.impossible)
		c.OutputBias = slices.ContainsFunc(outputBias[text.EOS:], func(x float32) bool { return x != 0 || math.Signbit(float64(x)) })
	}
	extra := r.extra.TFM
	if own && extra != nil {
		c.SrcVocab, c.TgtVocab = len(a.src.rows), len(a.tgt.rows)
		if c.OutputBias = c.OutputBias || extra.Config.OutputBias; extra.Config.Biases == model.AllBiases {
			extra.apply(&c)
		}
	}
	r.checkPositions(c)
	a.config = c
	f, err := r.t.assemble(&a)
	if err != nil {
		return model.File{}, err
	}
	f.Info["source"] = "Hugging Face Marian " + filepath.Base(filepath.Clean(r.path))
	if f.SrcLang = knownLanguage(r.tokenizer.SourceLang); c.TgtLanguages == "" {
		f.TgtLang = knownLanguage(r.tokenizer.TargetLang)
	}
	d := r.generation.decoding()
	if !r.generation.Renormalize {
		d.Suppressed = a.tgt.suppressed(r.generation.suppressed)
	}
	if err := d.ValidateFor(f.Model.Config); err != nil {
		return model.File{}, fmt.Errorf("%s: %w", r.name(hfGenerationFile), err)
	}
	f.Decoding = d.String()
	if own && extra != nil {
		extra.applyFile(&f)
	}
	return f, nil
}

// knownLanguage returns the tag of a language, or "" for other names.
func knownLanguage(name string) string {
	tag, err := lang.Canonical(name)
	if err != nil {
		return ""
	}
	return tag
}

// readTables reads the embeddings and the output projection. Matrices that are tied may be in the
// file more than once, but must then be equal.
func (r *hfReader) readTables(a *assembly) {
	const shared, src, tgt, out = "model.shared.weight", "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight"
	c := r.config
	first := func(size int, names ...string) table {
		found := table{bos: int(*r.generation.Start)}
		var foundName string
		for _, name := range names {
			if !r.t.has(name) {
				continue
			}
			m := r.t.matrix(name, size, c.DModel)
			if found.Data == nil {
				found.Matrix, foundName = m, name
			} else if !slices.Equal(found.Data, m.Data) {
				r.t.fail(name, "found elements that differ from those of %q, expected equal ones as in %s", foundName, hfConfigFile)
			}
		}
		if found.Data == nil {
			r.t.fail(names[0], "missing")
		}
		return found
	}
	outSize := c.DecoderVocabSize
	tied := []string{out}
	if !c.TieWordEmbeddings {
		tied = nil
	}
	if c.ShareEmbeddings {
		outSize = c.VocabSize
		a.srcTable = first(c.VocabSize, append([]string{shared, src, tgt}, tied...)...)
		a.tgtTable = a.srcTable
	} else {
		a.srcTable = first(c.VocabSize, src, shared)
		a.tgtTable = first(c.DecoderVocabSize, append([]string{tgt}, tied...)...)
	}
	if !c.TieWordEmbeddings {
		a.outTable = first(outSize, out)
	}
}

// checkPositions compares the tables of positions that early versions wrote with those of c.
func (r *hfReader) checkPositions(c model.Config) {
	for _, name := range []string{"model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight"} {
		if !r.t.has(name) || c.DModel%2 != 0 {
			continue
		}
		found := r.t.matrix(name, c.MaxLen, c.DModel)
		if !isClose(found, layer.SinusoidHalves(found.Rows, c.DModel), 0x1p-8) { // bfloat16
			r.t.fail(name, "found other positions, expected sinusoids in two halves: tfm's Transformer has no other with this format")
		}
	}
}
