package convert

import (
	"encoding/json"
	"fmt"

	"tfm/model"
	"tfm/text"
)

// hfTokenizerConfig is the content of tokenizer_config.json. EOS, Unknown, the languages and
// SeparateVocs are read.
type hfTokenizerConfig struct {
	Class           string         `json:"tokenizer_class"`
	SourceLang      string         `json:"source_lang,omitempty"`
	TargetLang      string         `json:"target_lang,omitempty"`
	Unknown         hfToken        `json:"unk_token"`
	EOS             hfToken        `json:"eos_token"`
	Pad             hfToken        `json:"pad_token"`
	MaxLength       any            `json:"model_max_length"`
	SeparateVocs    bool           `json:"separate_vocabs"`
	CleanUp         bool           `json:"clean_up_tokenization_spaces"`
	SentencePieceOf map[string]any `json:"sp_model_kwargs"`
}

// hfToken is a token, which transformers writes as a string or as an object.
type hfToken string

func (t *hfToken) UnmarshalJSON(data []byte) error {
	var object struct {
		Content hfToken `json:"content"`
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
func (r *hfReader) readVocabularies() error {
	tgtFile := hfVocabFile
	if r.tokenizer.SeparateVocs {
		tgtFile = hfTargetVocabFile
	} else if r.config.DecoderVocabSize != r.config.VocabSize {
		return fmt.Errorf("%s: found decoder_vocab_size %d, expected %d as vocab_size without separate_vocabs in %s",
			r.name(hfConfigFile), r.config.DecoderVocabSize, r.config.VocabSize, tokenizerConfigFile)
	}
	var err error
	if r.src, err = r.readVocabulary(hfVocabFile, r.config.VocabSize); err != nil {
		return err
	}
	if r.tgt, err = r.readVocabulary(tgtFile, r.config.DecoderVocabSize); err != nil {
		return err
	}
	if r.src.tokenizer, err = readSentencePiece(r.folder, hfSourceFile); err != nil {
		return err
	}
	r.tgt.tokenizer, err = readSentencePiece(r.folder, hfTargetFile)
	return err
}

// readVocabulary reads a vocabulary of size tokens.
func (r *hfReader) readVocabulary(name string, size int) (*vocabulary, error) {
	rows := map[string]int32{}
	if err := r.readJSON(name, false, &rows); err != nil {
		return nil, err
	}
	v, err := vocabularyOf(r.name(name), rows)
	if err != nil {
		return nil, err
	}
	if err := v.setRows(size, hfConfigFile); err != nil {
		return nil, err
	}
	if err := v.find(string(r.tokenizer.EOS), string(r.tokenizer.Unknown)); err != nil {
		return nil, err
	}
	if v.eos != int(r.generation.EOS) {
		return nil, fmt.Errorf("%s: found id %d of %q, expected %d as in %s", v.path, v.eos, r.tokenizer.EOS, r.generation.EOS, hfConfigFile)
	}
	for _, id := range []*int32{r.generation.Pad, r.generation.Start} {
		if id != nil && int(*id) < size && !v.isSpecial(int(*id)) {
			v.controls[int(*id)] = true
		}
	}
	v.unknownText = new(string)
	return v, nil
}

// sides returns the sides of the model, and whether its ids are those of this program: Pad, BOS and
// EOS have the ids of this program, and Pad and BOS are impossible, as in folders of WriteMarianHF.
func (r *hfReader) sides(bias []float32) (s, t side, own bool, err error) {
	joint := !r.tokenizer.SeparateVocs
	g := r.generation
	if g.Pad != nil && *g.Pad == text.Pad && *g.Start == text.BOS && g.EOS == hfID(text.EOS) && bias[text.Pad] == minusInf && bias[text.BOS] == minusInf {
		src, tgt := *r.src, *r.tgt
		src.pad, src.bos, tgt.pad, tgt.bos = model.Pad, model.BOS, model.Pad, model.BOS
		s, okSrc := src.ownIDs()
		t, okTgt := tgt.ownIDs()
		if okSrc && okTgt {
			if joint && s.equal(t) {
				t = s
			}
			return s, t, true, nil
		}
	}
	s, t, err = pieceSides(r.src, r.tgt, joint)
	return s, t, false, err
}
