package convert

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tfm/lang"
	"tfm/model"
	"tfm/text/tokenizer/sentencepiece"
)

// The files of a folder of M2M100ForConditionalGeneration, besides those of MarianMTModel.
const (
	m2mPiecesFile     = "sentencepiece.bpe.model"
	hfSpecialFile     = "special_tokens_map.json"
	hfTokenizerFile   = "tokenizer.json"
	m2mType           = "m2m_100"
	maxM2MUnnamedRows = 8 // of the embeddings, after those of all tokens
	maxM2MLanguages   = 1 << 10
)

// ReadM2M reads a folder of transformers' M2M100ForConditionalGeneration, which is M2M-100 or
// NLLB-200: config.json, generation_config.json if it exists, the weights as ReadMarianHF reads
// them, sentencepiece.bpe.model, vocab.json of M2M-100, and those that exist of the files that list
// the tokens of languages: special_tokens_map.json, tokenizer_config.json and tokenizer.json.
//
// A source has the token of its language before the text, or after it with legacy_behaviour, and a
// target begins with that of its language. No language is assumed, except that of the target with
// forced_bos_token_id.
func ReadM2M(dir string) (model.File, error) {
	f, err := openFolder(dir)
	if err != nil {
		return model.File{}, err
	}
	r := &m2mReader{hfReader: hfReader{folder: f}}
	if err := r.readSettings(); err != nil {
		return model.File{}, err
	}
	v, err := r.readVocabulary()
	if err != nil {
		return model.File{}, err
	}
	w, err := openHFWeights(f)
	if err != nil {
		return model.File{}, err
	}
	defer w.close()
	r.t = w.tensors
	return r.read(v)
}

// isM2M reports whether path is a folder of M2M100ForConditionalGeneration.
func isM2M(path string, isDir bool) bool {
	if !isDir || !isFile(path, hfConfigFile) {
		return false
	}
	var c struct {
		ModelType string `json:"model_type"`
	}
	data, err := os.ReadFile(filepath.Join(path, hfConfigFile))
	return err == nil && json.Unmarshal(data, &c) == nil && c.ModelType == m2mType
}

// m2mReader reads a folder.
type m2mReader struct {
	hfReader
	forced *int32 // first token of every target, nil if the caller chooses it
	legacy bool   // the language follows the text of a source
}

// m2mTokenizerConfig is the part of tokenizer_config.json and special_tokens_map.json that names
// the tokens of languages.
type m2mTokenizerConfig struct {
	Class      string             `json:"tokenizer_class"`
	Legacy     bool               `json:"legacy_behaviour"`
	Additional []hfToken          `json:"additional_special_tokens"`
	Extra      []hfToken          `json:"extra_special_tokens"` // transformers 5
	Added      map[string]hfToken `json:"added_tokens_decoder"` // by id
}

// readSettings reads the configurations.
func (r *m2mReader) readSettings() error {
	r.config = hfMarianConfig{
		VocabSize: 128112, MaxPositions: 1024, EncoderLayers: 12, DecoderLayers: 12, EncoderHeads: 16, DecoderHeads: 16, EncoderFFN: 4096, DecoderFFN: 4096,
		DModel: 1024, Activation: "relu", ScaleEmbedding: true, TieWordEmbeddings: true, Dropout: 0.1, AttentionDropout: 0.1,
	}
	r.generation = hfGeneration{NumBeams: 1, LengthPenalty: 1}
	var generation map[string]any
	forced := struct {
		ID *int32 `json:"forced_bos_token_id"`
	}{}
	for _, file := range []struct {
		name     string
		optional bool
		v        any
	}{
		{hfConfigFile, false, &r.config}, {hfConfigFile, false, &r.generation}, {hfGenerationFile, true, &r.generation},
		{hfConfigFile, false, &generation}, {hfGenerationFile, true, &generation}, {hfConfigFile, false, &forced}, {hfGenerationFile, true, &forced},
	} {
		if err := r.readJSON(file.name, file.optional, file.v); err != nil {
			return err
		}
	}
	r.config.DecoderVocabSize, r.config.ShareEmbeddings, r.forced = r.config.VocabSize, true, forced.ID
	delete(generation, "forced_bos_token_id")
	if err := cmp.Or(refuseSettings(generation, hfGenerationOff), r.generation.validate(r.config.VocabSize)); err != nil {
		return fmt.Errorf("%s: %w", r.name(hfGenerationFile), err)
	}
	for name := range r.files {
		if strings.HasPrefix(name, "tokenization_") && strings.HasSuffix(name, ".py") {
			return fmt.Errorf("%s: found a tokenizer in Python, which may place the tokens of languages otherwise, expected that of transformers", r.name(name))
		}
	}
	return nil
}

// readVocabulary reads the vocabulary, whose rows are the special tokens, the pieces, the languages
// and rows without a token.
func (r *m2mReader) readVocabulary() (*vocabulary, error) {
	t, err := readSentencePiece(r.folder, m2mPiecesFile)
	if err != nil {
		return nil, err
	}
	pieces := t.Model().Pieces
	tokens := []string{"<s>", "<pad>", "</s>", "<unk>"}
	if r.has(hfVocabFile) {
		rows := map[string]int32{}
		if err := r.readJSON(hfVocabFile, false, &rows); err != nil {
			return nil, err
		}
		v, err := vocabularyOf(r.name(hfVocabFile), rows)
		if err != nil {
			return nil, err
		}
		if len(v.tokens) < len(tokens) || !slices.Equal(v.tokens[:len(tokens)], tokens) {
			return nil, fmt.Errorf("%s: found %.80q first, expected %q", v.path, v.tokens[:min(len(v.tokens), len(tokens))], tokens)
		}
		tokens = v.tokens
	} else {
		// fairseq's dictionary has one special token more than the model of SentencePiece.
		special := []sentencepiece.PieceType{sentencepiece.Unknown, sentencepiece.Control, sentencepiece.Control}
		for i, kind := range special {
			if len(pieces) <= len(special) || pieces[i].Type != kind || pieces[i].Text != []string{"<unk>", "<s>", "</s>"}[i] {
				return nil, fmt.Errorf("%s: found other special tokens, expected <unk>, <s> and </s> as pieces 0 to 2", r.name(m2mPiecesFile))
			}
		}
		for i := range pieces[len(special):] {
			tokens = append(tokens, pieces[len(special)+i].Text)
		}
	}
	named := len(tokens)
	languages, err := r.readLanguages(named)
	if err != nil {
		return nil, err
	}
	tokens = append(tokens, languages...)
	if !r.has(hfVocabFile) {
		tokens = append(tokens, "<mask>")
	}
	if n := r.config.VocabSize - len(tokens); n < 0 || n > maxM2MUnnamedRows {
		return nil, fmt.Errorf("%s: found vocab_size %d, expected %d, the tokens of %s with those of %d languages, or up to %d more",
			r.name(hfConfigFile), r.config.VocabSize, len(tokens), m2mPiecesFile, len(languages), maxM2MUnnamedRows)
	}
	for i := 0; len(tokens) < r.config.VocabSize; i++ {
		tokens = append(tokens, "madeupword"+strconv.Itoa(i))
	}
	v, err := newVocabulary(r.name(m2mPiecesFile), tokens)
	if err != nil {
		return nil, err
	}
	v.tokenizer, v.unknownText = t, new(string)
	if err := v.find("</s>", "<unk>"); err != nil {
		return nil, err
	}
	if v.eos != int(r.generation.EOS) {
		return nil, fmt.Errorf("%s: found eos_token_id %d, expected %d, that of </s>", r.name(hfConfigFile), r.generation.EOS, v.eos)
	}
	v.controls[0], v.controls[1] = true, true
	for row := named; row < len(tokens); row++ {
		v.controls[row] = true
	}
	return v, nil
}

// m2mLanguage matches the token of a language: fra_Latn of NLLB-200, or __fr__ of M2M-100.
var m2mLanguage = regexp.MustCompile(`^(?:([a-z]{3}_[A-Z][a-z]{3})|__([a-z]{2,3})__)$`)

// m2mCode returns the code of the token of a language, "" for other tokens.
func m2mCode(token string) string {
	found := m2mLanguage.FindStringSubmatch(token)
	if found == nil {
		return ""
	}
	return cmp.Or(found[1], found[2])
}

// readLanguages returns the tokens of languages, whose rows begin at first. It compares the rows
// with those that the files of the tokenizer name.
func (r *m2mReader) readLanguages(first int) (languages []string, err error) {
	var full struct {
		Added []struct {
			ID      int    `json:"id"`
			Content string `json:"content"`
		} `json:"added_tokens"`
	}
	var config, special m2mTokenizerConfig
	if err := cmp.Or(r.readJSON(tokenizerConfigFile, true, &config), r.readJSON(hfSpecialFile, true, &special), r.readJSON(hfTokenizerFile, true, &full)); err != nil {
		return nil, err
	}
	if name := strings.TrimSuffix(config.Class, "Fast"); name != "" && name != "NllbTokenizer" && name != "M2M100Tokenizer" {
		return nil, fmt.Errorf("%s: found tokenizer_class %.40q, expected NllbTokenizer or M2M100Tokenizer", r.name(tokenizerConfigFile), name)
	}
	r.legacy = config.Legacy
	rows := map[string]int{}
	for id, token := range config.Added {
		if row, err := strconv.Atoi(id); err == nil && m2mCode(string(token)) != "" {
			rows[string(token)] = row
		}
	}
	for _, token := range full.Added {
		if m2mCode(token.Content) != "" {
			rows[token.Content] = token.ID
		}
	}
	for _, list := range [][]hfToken{config.Additional, config.Extra, special.Additional, special.Extra} {
		for _, token := range list {
			isNew := m2mCode(string(token)) != "" && !slices.Contains(languages, string(token))
			if isNew && len(languages) == maxM2MLanguages {
				return nil, fmt.Errorf("%s: found more than %d languages, expected those of a model", r.path, maxM2MLanguages)
			}
			if isNew {
				languages = append(languages, string(token))
			}
		}
	}
	if len(languages) == 0 {
		for token := range rows {
			languages = append(languages, token)
		}
		slices.SortFunc(languages, func(a, b string) int { return rows[a] - rows[b] })
	}
	if len(languages) < 2 {
		return nil, fmt.Errorf("%s: found no tokens of languages in %s, %s or %s, expected one of these files of the tokenizer", r.path, hfSpecialFile, tokenizerConfigFile, hfTokenizerFile)
	}
	for i, token := range languages {
		if row, ok := rows[token]; ok && row != first+i {
			return nil, fmt.Errorf("%s: found id %d of %s in the files of the tokenizer, expected %d", r.path, row, token, first+i)
		}
	}
	return languages, nil
}

// read returns the model.
func (r *m2mReader) read(v *vocabulary) (model.File, error) {
	h := r.config
	h.ModelType = hfMarianType // whose fields have the same names
	c, err := h.config()
	if err != nil || !h.TieWordEmbeddings {
		return model.File{}, fmt.Errorf("%s: %w", r.name(hfConfigFile), cmp.Or(err, fmt.Errorf("tie_word_embeddings is false, expected true")))
	}
	a := assembly{names: &m2mNaming}
	r.readTables(&a)
	if r.t.err != nil {
		return model.File{}, r.t.err
	}
	if a.src, a.tgt, err = pieceSides(v, v, true); err != nil {
		return model.File{}, err
	}
	c.Norm, c.FinalNorm, c.Positions, c.FirstPosition, c.Tie = model.PreNorm, model.FinalNormAuto, model.TimingSignal, 2, model.TieAll
	c.OutputBias = true // excludes BOS, whose row is that of EOS
	list := a.src.languages(v, m2mCode)
	c.Source, c.SrcLanguages, c.TargetBegins = model.FromFirst, model.FormatLanguages(list), true
	if c.TgtLanguages = c.SrcLanguages; r.legacy {
		c.Source = model.FromLast
	}
	for _, stack := range []string{"encoder", "decoder"} {
		r.t.skip("model." + stack + ".embed_positions.weights") // sinusoids, from older versions
	}
	a.config = c
	f, err := r.t.assemble(&a)
	if err != nil {
		return model.File{}, err
	}
	f.Info["source"] = "Hugging Face M2M-100 " + filepath.Base(filepath.Clean(r.path))
	d := r.generation.decoding()
	d.Suppressed = a.tgt.suppressed(r.generation.suppressed)
	f.Decoding = d.String()
	if r.forced != nil {
		code := ""
		if *r.forced >= 0 && int(*r.forced) < len(v.tokens) {
			code = m2mCode(v.tokens[*r.forced])
		}
		if f.TgtLang = lang.Of(code); f.TgtLang == "" {
			return model.File{}, fmt.Errorf("%s: found forced_bos_token_id %d, expected the token of a language", r.name(hfGenerationFile), *r.forced)
		}
	}
	return f, nil
}

// m2mNaming are the names of M2M100ForConditionalGeneration: those of MarianMTModel, and norms
// after the stacks.
var m2mNaming = func() naming {
	n := hfNaming
	n.finalNorms = [2]string{"model.encoder.layer_norm.*", "model.decoder.layer_norm.*"}
	return n
}()
