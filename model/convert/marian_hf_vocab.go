package convert

import (
	"bytes"
	"encoding/json"
	"fmt"

	"tfm/model"
	"tfm/text"
)

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

// readVocabularies reads the vocabularies and the SentencePiece models.
func (r *hfReader) readVocabularies() error {
	special := map[string]string{}
	for _, x := range []struct {
		name, otherwise string
		raw             json.RawMessage
	}{{"eos_token", "</s>", r.tokenizer.EOS}, {"unk_token", "<unk>", r.tokenizer.Unknown}} {
		token, err := tokenName(x.raw, x.otherwise)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", r.name(tokenizerConfigFile), x.name, err)
		}
		special[x.name] = token
	}
	tgtFile := hfVocabFile
	if r.tokenizer.SeparateVocs {
		tgtFile = hfTargetVocabFile
	} else if r.config.DecoderVocabSize != r.config.VocabSize {
		return fmt.Errorf("%s: found decoder_vocab_size %d, expected %d as vocab_size without separate_vocabs in %s",
			r.name(hfConfigFile), r.config.DecoderVocabSize, r.config.VocabSize, tokenizerConfigFile)
	}
	var err error
	if r.src, err = r.readVocabulary(hfVocabFile, r.config.VocabSize, special); err != nil {
		return err
	}
	r.src.hasCodes = true
	if r.tgt, err = r.readVocabulary(tgtFile, r.config.DecoderVocabSize, special); err != nil {
		return err
	}
	if r.srcPieces, err = readSentencePiece(r.folder, hfSourceFile); err != nil {
		return err
	}
	r.tgtPieces, err = readSentencePiece(r.folder, hfTargetFile)
	return err
}

// readVocabulary reads a vocabulary of size tokens. special names EOS and the unknown token.
func (r *hfReader) readVocabulary(name string, size int, special map[string]string) (*vocabulary, error) {
	rows := map[string]int32{}
	if err := r.readJSON(name, false, &rows); err != nil {
		return nil, err
	}
	v, err := vocabularyOf(r.name(name), rows)
	if err != nil {
		return nil, err
	}
	if err := v.checkRows(size, hfConfigFile); err != nil {
		return nil, err
	}
	if err := v.find(special["eos_token"], special["unk_token"]); err != nil {
		return nil, err
	}
	if v.eos != r.generation.eos {
		return nil, fmt.Errorf("%s: found id %d of %q, expected %d as in %s", v.path, v.eos, special["eos_token"], r.generation.eos, hfConfigFile)
	}
	for _, id := range []*int32{r.generation.Pad, r.generation.start} {
		if id != nil && int(*id) < size && !v.isSpecial(int(*id)) {
			v.controls = append(v.controls, int(*id))
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
	if g.Pad != nil && *g.Pad == text.Pad && *g.start == text.BOS && g.eos == int(text.EOS) && bias[text.Pad] == minusInf && bias[text.BOS] == minusInf {
		src, tgt := *r.src, *r.tgt
		src.pad, src.bos, tgt.pad, tgt.bos = model.Pad, model.BOS, model.Pad, model.BOS
		s, okSrc := src.ownIDs(r.srcPieces)
		t, okTgt := tgt.ownIDs(r.tgtPieces)
		if okSrc && okTgt {
			if joint && s.equal(t) {
				t = s
			}
			return s, t, true, nil
		}
	}
	s, t, err = pieceSides(r.src, r.tgt, r.srcPieces, r.tgtPieces, joint)
	return s, t, false, err
}
