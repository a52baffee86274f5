package hf

import (
	"encoding/json"
	"fmt"

	"tfm/model/convert/internal/parts"
)

// tokenizerConfig is the content of tokenizer_config.json. EOS, Unknown, the languages and
// SeparateVocs are read.
type tokenizerConfig struct {
	Class           string         `json:"tokenizer_class"`
	SourceLang      string         `json:"source_lang,omitempty"`
	TargetLang      string         `json:"target_lang,omitempty"`
	Unknown         token          `json:"unk_token"`
	EOS             token          `json:"eos_token"`
	Pad             token          `json:"pad_token"`
	MaxLength       any            `json:"model_max_length"`
	SeparateVocs    bool           `json:"separate_vocabs"`
	CleanUp         bool           `json:"clean_up_tokenization_spaces"`
	SentencePieceOf map[string]any `json:"sp_model_kwargs"`
}

// token is a token, which transformers writes as a string or as an object.
type token string

func (t *token) UnmarshalJSON(data []byte) error {
	var object struct {
		Content token `json:"content"`
	}
	name := (*string)(t)
	if json.Unmarshal(data, name) == nil { // also null, which keeps the default
		return nil
	}
	if json.Unmarshal(data, &object) != nil || object.Content == "" {
		return fmt.Errorf("found token %.40q, expected a string", data)
	}
	*t = object.Content
	return nil
}

// readVocabularies reads the vocabularies and the SentencePiece models.
func (r *reader) readVocabularies() error {
	tgtFile := vocabFile
	if r.tokenizer.SeparateVocs {
		tgtFile = targetVocabFile
	} else if r.config.DecoderVocabSize != r.config.VocabSize {
		return fmt.Errorf("%s: found decoder_vocab_size %d, expected %d as vocab_size without separate_vocabs in %s",
			r.folder.Name(ConfigFile), r.config.DecoderVocabSize, r.config.VocabSize, parts.TokenizerConfigFile)
	}
	var err error
	if r.src, err = r.readVocabulary(vocabFile, r.config.VocabSize); err != nil {
		return err
	}
	if r.tgt, err = r.readVocabulary(tgtFile, r.config.DecoderVocabSize); err != nil {
		return err
	}
	if r.src.Tokenizer, err = parts.ReadSentencePiece(r.folder, sourceFile); err != nil {
		return err
	}
	r.tgt.Tokenizer, err = parts.ReadSentencePiece(r.folder, targetFile)
	return err
}

// readVocabulary reads a vocabulary of size tokens.
func (r *reader) readVocabulary(name string, size int) (*parts.Vocabulary, error) {
	rows := map[string]int32{}
	if err := r.folder.ReadJSON(name, false, &rows); err != nil {
		return nil, err
	}
	v, err := parts.VocabularyOf(r.folder.Name(name), rows)
	if err != nil {
		return nil, err
	}
	if err := v.SetRows(size, ConfigFile); err != nil {
		return nil, err
	}
	if err := v.Find(string(r.tokenizer.EOS), string(r.tokenizer.Unknown)); err != nil {
		return nil, err
	}
	if v.EOS != int(r.generation.EOS) {
		return nil, fmt.Errorf("%s: found id %d of %q, expected %d as in %s", v.Path, v.EOS, r.tokenizer.EOS, r.generation.EOS, ConfigFile)
	}
	for _, id := range []*int32{r.generation.Pad, r.generation.Start} {
		if id != nil && int(*id) < size && !v.IsSpecial(int(*id)) {
			v.Controls[int(*id)] = true
		}
	}
	v.UnknownText = new(string)
	return v, nil
}
