package hf

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"tfm/layer"
	"tfm/model"
	"tfm/model/convert/internal/parts"
)

// The files of a Hugging Face Marian folder, besides parts.TokenizerConfigFile.
const (
	ConfigFile      = "config.json"
	generationFile  = "generation_config.json"
	sourceFile      = "source.spm"
	targetFile      = "target.spm"
	vocabFile       = "vocab.json"
	targetVocabFile = "target_vocab.json" // if the sides do not share a vocabulary
)

// ReadMarian reads a folder of transformers' MarianMTModel and MarianTokenizer, for example an
// OPUS-MT model: config.json, generation_config.json if it exists, model.safetensors or
// pytorch_model.bin or the files of an index of one of them, vocab.json and, without a shared
// vocabulary, target_vocab.json, source.spm and target.spm, and tokenizer_config.json if it exists.
//
// The pieces of bad_words_ids become Decoding.Suppressed, or impossible with renormalize_logits.
// Tokens such as ">>fra<<" are the languages of the target. The beam is num_beams,
// the limit of the length max_new_tokens or max_length.
func ReadMarian(dir string) (model.File, error) {
	f, err := parts.OpenFolder(dir)
	if err != nil {
		return model.File{}, err
	}
	r := &reader{folder: f, config: marianDefaults}
	if err := r.readSettings(configOff); err != nil {
		return model.File{}, err
	}
	if id := r.generation.ForcedBOS; id != nil {
		return model.File{}, r.settingError(parts.Refuse(true, "forced_bos_token_id", *id, "null"))
	}
	if err := r.readVocabularies(); err != nil {
		return model.File{}, err
	}
	r.generation.suppressed = append(r.generation.suppressed, r.tgt.Unnamed...)
	w, err := openWeights(f)
	if err != nil {
		return model.File{}, err
	}
	defer w.close()
	r.t = w.Tensors
	return r.read()
}

// reader reads a folder.
type reader struct {
	folder     parts.Folder
	t          *parts.Tensors
	config     config
	generation generation
	tokenizer  tokenizerConfig
	src, tgt   *parts.Vocabulary

	generationFields map[string]any // the content of generationFile

	legacy bool // of M2M100ForConditionalGeneration: the language follows the text of a source
}

// readSettings reads the configurations, whose defaults r.config has. It refuses the settings off.
func (r *reader) readSettings(off []offSetting) error {
	// The defaults of transformers, which its files omit.
	r.generation = generation{NumBeams: 1, LengthPenalty: 1}
	r.tokenizer = tokenizerConfig{EOS: "</s>", Unknown: "<unk>"}
	config := map[string]any{}
	for _, file := range []struct {
		name     string
		optional bool
		v        any
	}{
		{ConfigFile, false, &r.config}, {ConfigFile, false, &r.generation}, // in early versions
		{generationFile, true, &r.generation}, {parts.TokenizerConfigFile, true, &r.tokenizer},
		{ConfigFile, false, &config}, {generationFile, true, &r.generationFields},
	} {
		if err := r.folder.ReadJSON(file.name, file.optional, file.v); err != nil {
			return err
		}
	}
	r.config.DecoderVocabSize = cmp.Or(r.config.DecoderVocabSize, r.config.VocabSize)
	if err := refuseSettings(config, off); err != nil {
		return fmt.Errorf("%s: %w", r.folder.Name(ConfigFile), err)
	}
	maps.Copy(config, r.generationFields)
	if err := cmp.Or(refuseSettings(config, generationOff), r.generation.validate(r.config.DecoderVocabSize)); err != nil {
		return r.settingError(err)
	}
	return nil
}

// settingError returns err with the file that has its setting: generationFile or, of early
// versions, ConfigFile.
func (r *reader) settingError(err error) error {
	name, field := ConfigFile, new(model.FieldError)
	if errors.As(err, &field) && r.generationFields[field.Field] != nil {
		name = generationFile
	}
	return fmt.Errorf("%s: %w", r.folder.Name(name), err)
}

// read returns the model.
func (r *reader) read() (model.File, error) {
	c, err := r.config.ofModel()
	if err != nil {
		return model.File{}, fmt.Errorf("%s: %w", r.folder.Name(ConfigFile), err)
	}
	bias := make([]float32, r.config.DecoderVocabSize)
	if r.t.Has("final_logits_bias") {
		bias = r.t.Values("final_logits_bias", 1, r.config.DecoderVocabSize)
	}
	a := parts.Assembly{Bias: bias, Names: &naming}
	r.readTables(&a)
	if r.t.Err != nil {
		return model.File{}, r.t.Err
	}
	if a.Src, a.Tgt, err = parts.PieceSides(r.src, r.tgt, !r.tokenizer.SeparateVocs); err != nil {
		return model.File{}, err
	}
	c.Tie = map[bool]string{true: model.TieDecoder, false: model.TieNone}[r.config.TieWordEmbeddings]
	if r.config.ShareEmbeddings && r.config.TieWordEmbeddings && !r.tokenizer.SeparateVocs {
		c.Tie = model.TieAll
	}
	a.Src.AddTargets(&c, r.src)
	if r.generation.Renormalize {
		a.Impossible = r.generation.suppressed
	}
	r.checkPositions(c)
	a.Config = c
	f, err := r.t.Assemble(&a)
	if err != nil {
		return model.File{}, err
	}
	f.Info["source"] = "Hugging Face Marian " + filepath.Base(filepath.Clean(r.folder.Path))
	if f.SrcLang = parts.KnownLanguage(r.tokenizer.SourceLang); c.TgtLanguages == "" {
		f.TgtLang = parts.KnownLanguage(r.tokenizer.TargetLang)
	}
	d := r.generation.decoding()
	if !r.generation.Renormalize {
		d.Suppressed = a.Tgt.Suppressed(r.generation.suppressed)
	}
	if err := d.ValidateFor(f.Model.Config); err != nil {
		return model.File{}, r.settingError(err)
	}
	f.Decoding = d.String()
	return f, nil
}

// readTables reads the embeddings and the output projection. Matrices that are tied may be in the
// file more than once, but must then be equal.
func (r *reader) readTables(a *parts.Assembly) {
	const shared, src, tgt, out = "model.shared.weight", "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight"
	c := r.config
	outSize := c.DecoderVocabSize
	tied := []string{out}
	if !c.TieWordEmbeddings {
		tied = nil
	}
	if c.ShareEmbeddings {
		outSize = c.VocabSize
		a.SrcTable = r.readTable(c.VocabSize, append([]string{shared, src, tgt}, tied...)...)
		a.TgtTable = a.SrcTable
	} else {
		a.SrcTable = r.readTable(c.VocabSize, src, shared)
		a.TgtTable = r.readTable(c.DecoderVocabSize, append([]string{tgt}, tied...)...)
	}
	if !c.TieWordEmbeddings {
		a.OutTable = r.readTable(outSize, out)
	}
}

// readTable reads a matrix of size rows that has at least one of names, and is equal in all of
// them.
func (r *reader) readTable(size int, names ...string) parts.Table {
	table := parts.Table{BOS: int(*r.generation.Start)}
	tableName := ""
	for _, name := range names {
		if !r.t.Has(name) {
			continue
		}
		m := r.t.Matrix(name, size, r.config.DModel)
		if table.Data == nil {
			table.Matrix, tableName = m, name
		} else if !slices.Equal(table.Data, m.Data) {
			r.t.Fail(name, "found elements that differ from those of %q, expected equal ones as in %s", tableName, ConfigFile)
		}
	}
	if table.Data == nil {
		r.t.Fail(names[0], "missing")
	}
	return table
}

// checkPositions compares the tables of positions that early versions wrote with those of c.
func (r *reader) checkPositions(c model.Config) {
	for _, name := range []string{"model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight"} {
		if !r.t.Has(name) || c.DModel%2 != 0 {
			continue
		}
		found := r.t.Matrix(name, c.MaxLen, c.DModel)
		if !parts.IsClose(found, layer.SinusoidHalves(found.Rows, c.DModel), 0x1p-8) { // bfloat16
			r.t.Fail(name, "found other positions, expected sinusoids in two halves: tfm's Transformer has no other with this format")
		}
	}
}
