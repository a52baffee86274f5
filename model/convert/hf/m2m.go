package hf

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tfm/lang"
	"tfm/model"
	"tfm/model/convert/internal/parts"
	"tfm/text/tokenizer/sentencepiece"
)

// The files of a folder of M2M100ForConditionalGeneration, besides those of MarianMTModel.
const (
	specialFile       = "special_tokens_map.json"
	tokenizerFile     = "tokenizer.json"
	maxM2MUnnamedRows = 8 // of the embeddings, after those of all tokens
	maxM2MLanguages   = 1 << 10
)

// ReadM2M reads a folder of transformers' M2M100ForConditionalGeneration, which is M2M-100 or
// NLLB-200: config.json, generation_config.json if it exists, the weights as ReadMarian reads
// them, sentencepiece.bpe.model, vocab.json of M2M-100, and those that exist of the files that list
// the tokens of languages: special_tokens_map.json, tokenizer_config.json and tokenizer.json.
//
// A source has the token of its language before the text, or after it with legacy_behaviour, and a
// target begins with that of its language. No language is assumed, except that of the target with
// forced_bos_token_id.
func ReadM2M(dir string) (model.File, error) {
	f, err := parts.OpenFolder(dir)
	if err != nil {
		return model.File{}, err
	}
	r := &reader{folder: f, config: m2mDefaults}
	if err := r.readM2MSettings(); err != nil {
		return model.File{}, err
	}
	v, err := r.readM2MVocabulary()
	if err != nil {
		return model.File{}, err
	}
	w, err := openWeights(f)
	if err != nil {
		return model.File{}, err
	}
	defer w.close()
	r.t = w.Tensors
	return r.readM2M(v)
}

// m2mTokenizerConfig is the part of tokenizer_config.json and special_tokens_map.json that names
// the tokens of languages.
type m2mTokenizerConfig struct {
	Class      string           `json:"tokenizer_class"`
	Legacy     bool             `json:"legacy_behaviour"`
	Additional []token          `json:"additional_special_tokens"`
	Extra      []token          `json:"extra_special_tokens"` // transformers 5
	Added      map[string]token `json:"added_tokens_decoder"` // by id
}

// readM2MSettings reads the configurations.
func (r *reader) readM2MSettings() error {
	if err := r.readSettings(nil); err != nil {
		return err
	}
	r.config.ShareEmbeddings = true
	for name := range r.folder.Files {
		if strings.HasPrefix(name, "tokenization_") && strings.HasSuffix(name, ".py") {
			return fmt.Errorf("%s: found a tokenizer in Python, which may place the tokens of languages otherwise, expected that of transformers", r.folder.Name(name))
		}
	}
	return nil
}

// readM2MVocabulary reads the vocabulary, whose rows are the special tokens, the pieces, the
// languages and rows without a token.
func (r *reader) readM2MVocabulary() (*parts.Vocabulary, error) {
	t, err := parts.ReadSentencePiece(r.folder, parts.M2MPiecesFile)
	if err != nil {
		return nil, err
	}
	pieces := t.Model().Pieces
	tokens := []string{"<s>", "<pad>", "</s>", "<unk>"}
	if r.folder.Has(vocabFile) {
		rows := map[string]int32{}
		if err := r.folder.ReadJSON(vocabFile, false, &rows); err != nil {
			return nil, err
		}
		v, err := parts.VocabularyOf(r.folder.Name(vocabFile), rows)
		if err != nil {
			return nil, err
		}
		if len(v.Tokens) < len(tokens) || !slices.Equal(v.Tokens[:len(tokens)], tokens) {
			return nil, fmt.Errorf("%s: found %.80q first, expected %q", v.Path, v.Tokens[:min(len(v.Tokens), len(tokens))], tokens)
		}
		tokens = v.Tokens
	} else {
		// fairseq's dictionary has one special token more than the model of SentencePiece.
		special := []sentencepiece.PieceType{sentencepiece.Unknown, sentencepiece.Control, sentencepiece.Control}
		for i, kind := range special {
			if len(pieces) <= len(special) || pieces[i].Type != kind || pieces[i].Text != []string{"<unk>", "<s>", "</s>"}[i] {
				return nil, fmt.Errorf("%s: found other special tokens, expected <unk>, <s> and </s> as pieces 0 to 2", r.folder.Name(parts.M2MPiecesFile))
			}
		}
		for i := range pieces[len(special):] {
			tokens = append(tokens, pieces[len(special)+i].Text)
		}
	}
	named := len(tokens)
	languages, err := r.readM2MLanguages(named)
	if err != nil {
		return nil, err
	}
	tokens = append(tokens, languages...)
	if !r.folder.Has(vocabFile) {
		tokens = append(tokens, "<mask>")
	}
	if n := r.config.VocabSize - len(tokens); n < 0 || n > maxM2MUnnamedRows {
		return nil, fmt.Errorf("%s: found vocab_size %d, expected %d, the tokens of %s with those of %d languages, or up to %d more",
			r.folder.Name(ConfigFile), r.config.VocabSize, len(tokens), parts.M2MPiecesFile, len(languages), maxM2MUnnamedRows)
	}
	for i := 0; len(tokens) < r.config.VocabSize; i++ {
		tokens = append(tokens, "madeupword"+strconv.Itoa(i))
	}
	v, err := parts.NewVocabulary(r.folder.Name(parts.M2MPiecesFile), tokens)
	if err != nil {
		return nil, err
	}
	v.Tokenizer, v.UnknownText = t, new(string)
	if err := v.Find("</s>", "<unk>"); err != nil {
		return nil, err
	}
	if v.EOS != int(r.generation.EOS) {
		return nil, fmt.Errorf("%s: found eos_token_id %d, expected %d, that of </s>", r.folder.Name(ConfigFile), r.generation.EOS, v.EOS)
	}
	v.Controls[0], v.Controls[1] = true, true
	for row := named; row < len(tokens); row++ {
		v.Controls[row] = true
	}
	return v, nil
}

// readM2MLanguages returns the tokens of languages, whose rows begin at first. It compares the rows
// with those that the files of the tokenizer name.
func (r *reader) readM2MLanguages(first int) (languages []string, err error) {
	var full struct {
		Added []struct {
			ID      int    `json:"id"`
			Content string `json:"content"`
		} `json:"added_tokens"`
	}
	var config, special m2mTokenizerConfig
	if err := cmp.Or(r.folder.ReadJSON(parts.TokenizerConfigFile, true, &config), r.folder.ReadJSON(specialFile, true, &special), r.folder.ReadJSON(tokenizerFile, true, &full)); err != nil {
		return nil, err
	}
	if name := strings.TrimSuffix(config.Class, "Fast"); name != "" && name != "NllbTokenizer" && name != "M2M100Tokenizer" {
		return nil, fmt.Errorf("%s: found tokenizer_class %.40q, expected NllbTokenizer or M2M100Tokenizer", r.folder.Name(parts.TokenizerConfigFile), name)
	}
	r.legacy = config.Legacy
	rows := map[string]int{}
	for id, token := range config.Added {
		if row, err := strconv.Atoi(id); err == nil && parts.M2MCode(string(token)) != "" {
			rows[string(token)] = row
		}
	}
	for _, token := range full.Added {
		if parts.M2MCode(token.Content) != "" {
			rows[token.Content] = token.ID
		}
	}
	for _, list := range [][]token{config.Additional, config.Extra, special.Additional, special.Extra} {
		for _, token := range list {
			isNew := parts.M2MCode(string(token)) != "" && !slices.Contains(languages, string(token))
			if isNew && len(languages) == maxM2MLanguages {
				return nil, fmt.Errorf("%s: found more than %d languages, expected those of a model", r.folder.Path, maxM2MLanguages)
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
		return nil, fmt.Errorf("%s: found no tokens of languages in %s, %s or %s, expected one of these files of the tokenizer", r.folder.Path, specialFile, parts.TokenizerConfigFile, tokenizerFile)
	}
	for i, token := range languages {
		if row, ok := rows[token]; ok && row != first+i {
			return nil, fmt.Errorf("%s: found id %d of %s in the files of the tokenizer, expected %d", r.folder.Path, row, token, first+i)
		}
	}
	return languages, nil
}

// readM2M returns the model.
func (r *reader) readM2M(v *parts.Vocabulary) (model.File, error) {
	c, err := r.config.ofModel()
	if err = cmp.Or(err, parts.Refuse(!r.config.TieWordEmbeddings, "tie_word_embeddings", false, "true")); err != nil {
		return model.File{}, fmt.Errorf("%s: %w", r.folder.Name(ConfigFile), err)
	}
	a := parts.Assembly{Names: &naming}
	r.readTables(&a)
	if r.t.Err != nil {
		return model.File{}, r.t.Err
	}
	if a.Src, a.Tgt, err = parts.PieceSides(v, v, true); err != nil {
		return model.File{}, err
	}
	c.Norm, c.FinalNorm, c.Positions, c.FirstPosition, c.Tie = model.PreNorm, model.FinalNormAuto, model.TimingSignal, 2, model.TieAll
	c.OutputBias = true // excludes BOS, whose row is that of EOS
	list := a.Src.Languages(v, parts.M2MCode)
	c.Source, c.SrcLanguages, c.TargetBegins = model.FromFirst, model.FormatLanguages(list), true
	if c.TgtLanguages = c.SrcLanguages; r.legacy {
		c.Source = model.FromLast
	}
	for _, stack := range []string{"encoder", "decoder"} {
		r.t.Skip("model." + stack + ".embed_positions.weights") // sinusoids, from older versions
	}
	a.Config = c
	f, err := r.t.Assemble(&a)
	if err != nil {
		return model.File{}, err
	}
	f.Info["source"] = "Hugging Face M2M-100 " + filepath.Base(filepath.Clean(r.folder.Path))
	d := r.generation.decoding()
	d.Suppressed = a.Tgt.Suppressed(r.generation.suppressed)
	f.Decoding = d.String()
	if forced := r.generation.ForcedBOS; forced != nil {
		code := ""
		if *forced >= 0 && int(*forced) < len(v.Tokens) {
			code = parts.M2MCode(v.Tokens[*forced])
		}
		if f.TgtLang = lang.Of(code); f.TgtLang == "" {
			return model.File{}, r.settingError(parts.Refuse(true, "forced_bos_token_id", *forced, "the token of a language"))
		}
	}
	return f, nil
}
