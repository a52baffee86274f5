package convert

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"tfm/model"
	"tfm/model/decode"
	"tfm/model/safetensors"
	"tfm/text"
	"tfm/text/tokenizer/bpe"
	"tfm/text/tokenizer/sentencepiece"
	"tfm/text/tokenizer/vocab"
)

// WriteMarianHF writes a model for transformers' MarianMTModel and, with vocabularies of
// SentencePiece, MarianTokenizer to the folder dir, which it creates: the files that ReadMarianHF
// reads. A joint byte-level BPE is written as tokenizer.json, which AutoTokenizer loads.
//
// Pieces keep their ids. Pad and BOS have a bias of -Inf, because no search selects them. Sinusoids
// that alternate become two halves by a permutation of the elements of d_model in all weights,
// which changes no output. transformers' length penalty is n^alpha whatever that of the model file.
// The error names what MarianMTModel does not have, for example pre-norm.
func WriteMarianHF(dir string, f model.File) error {
	c := f.Model.Config
	if err := checkMarianHF(c); err != nil {
		return err
	}
	tokenizers, err := vocab.UnmarshalTokenizers(f.Tokenizers)
	if err != nil {
		return err
	}
	files := &fileSet{data: map[string][]byte{}}
	if err := hfTokenizers(f, tokenizers, files); err != nil {
		return err
	}
	generation, err := newHFGeneration(f)
	if err != nil {
		return err
	}
	files.addJSON(hfConfigFile, newHFConfig(f))
	files.addJSON(hfGenerationFile, generation)
	if err := files.write(dir); err != nil {
		return err
	}
	return safetensors.Write(filepath.Join(dir, hfModelFile), map[string]string{"format": "pt"}, hfTensors(f.Model))
}

// hfConfigJSON is the content of config.json.
type hfConfigJSON struct {
	Architectures []string `json:"architectures"`
	hfMarianConfig
	IsEncoderDecoder bool      `json:"is_encoder_decoder"`
	Pad              int       `json:"pad_token_id"`
	BOS              *int      `json:"bos_token_id"`
	EOS              int       `json:"eos_token_id"`
	ForcedEOS        *int      `json:"forced_eos_token_id"`
	Start            int       `json:"decoder_start_token_id"`
	DType            string    `json:"dtype"`
	TorchDType       string    `json:"torch_dtype"` // of early versions
	TFM              *tfmExtra `json:"tfm"`
}

func newHFConfig(f model.File) hfConfigJSON {
	h := hfConfigJSON{
		Architectures: []string{"MarianMTModel"}, hfMarianConfig: hfMarianConfigOf(f.Model.Config), IsEncoderDecoder: true,
		Pad: model.Pad, EOS: model.EOS, Start: model.BOS, DType: "float32", TorchDType: "float32",
	}
	h.TFM = newTFMExtra(f)
	h.TFM.Config.Positions = model.Halves // after the permutation
	return h
}

// newHFGeneration returns the content of generation_config.json.
func newHFGeneration(f model.File) (hfGeneration, error) {
	d, err := decode.ParseSettings(f.Decoding)
	if err != nil {
		return hfGeneration{}, err
	}
	pad, start := int32(text.Pad), int32(text.BOS)
	g := hfGeneration{
		Pad: &pad, EOS: hfID(text.EOS), Start: &start, MaxLength: f.Model.Config.MaxLen, NumBeams: cmp.Or(d.Beam, 4), LengthPenalty: d.Alpha,
		EarlyStopping: true,
	}
	switch d.Search {
	case decode.SearchHeuristic:
		g.EarlyStopping = false
	case decode.SearchExact:
		g.EarlyStopping = "never"
	}
	ids, err := decode.ParseSuppressed(d.Suppressed)
	for _, id := range ids {
		g.BadWords = append(g.BadWords, []int32{id})
	}
	return g, err
}

// hfTokenizers adds the files of the tokenizers to files.
func hfTokenizers(f model.File, t vocab.Tokenizers, files *fileSet) error {
	c := f.Model.Config
	src, err := namesOf(t.Source)
	if err != nil {
		return fmt.Errorf("source tokenizer: %w", err)
	}
	tgt, err := namesOf(t.Target)
	if err != nil {
		return fmt.Errorf("target tokenizer: %w", err)
	}
	if b, ok := t.Source.(*bpe.Tokenizer); ok && t.Joint() {
		files.addJSON(tokenizerFile, tokenizerJSON(b, src.names))
		files.addJSON(tokenizerConfigFile, tokenizerConfigJSON(src.names, c.MaxLen))
		return nil
	}
	srcPieces, ok := t.Source.(*sentencepiece.Tokenizer)
	tgtPieces, ok2 := t.Target.(*sentencepiece.Tokenizer)
	if !ok || !ok2 {
		return fmt.Errorf("tokenizers: found other kinds, expected sentencepiece on both sides, or a joint byte-level BPE, for transformers' Marian")
	}
	config := hfTokenizerConfig{
		Class: "MarianTokenizer", SourceLang: f.SrcLang, TargetLang: f.TgtLang, EOS: hfToken(tgt.names[text.EOS]), Pad: hfToken(tgt.names[text.Pad]),
		Unknown: hfToken(tgt.unknown), MaxLength: c.MaxLen, SentencePieceOf: map[string]any{},
	}
	if src.unknown != tgt.unknown || src.names[text.EOS] != tgt.names[text.EOS] || src.names[text.Pad] != tgt.names[text.Pad] {
		return fmt.Errorf("tokenizers: found special pieces %q, %q and %q of the source and %q, %q and %q of the target, expected the same for transformers' Marian",
			src.unknown, src.names[text.EOS], src.names[text.Pad], config.Unknown, config.EOS, config.Pad)
	}
	for _, l := range c.TgtLanguages.List() {
		if len(l.IDs) != 1 || src.names[l.IDs[0]] != ">>"+l.Code+"<<" {
			return fmt.Errorf("tokenizers: found %d tokens of language %s, expected the piece >>%s<<, which MarianTokenizer looks up", len(l.IDs), l.Code, l.Code)
		}
	}
	vocabularies := map[string][]string{hfVocabFile: tgt.names}
	if config.SeparateVocs = !slices.Equal(src.names, tgt.names); config.SeparateVocs {
		if c.Tie == model.TieAll {
			return fmt.Errorf("tokenizers: found different pieces, expected the same on both sides with one matrix of embeddings")
		}
		vocabularies = map[string][]string{hfVocabFile: src.names, hfTargetVocabFile: tgt.names}
	}
	for name, list := range vocabularies {
		files.addJSON(name, namedIDs(list))
	}
	files.add(hfSourceFile, srcPieces.MarshalBinary)
	files.add(hfTargetFile, tgtPieces.MarshalBinary)
	files.addJSON(tokenizerConfigFile, config)
	return nil
}

// hfTensors returns the tensors of MarianMTModel.
func hfTensors(m *model.Transformer) []safetensors.Tensor {
	c := m.Config
	w := &tensorList{order: hfOrder(c)}
	if c.Tie == model.TieAll {
		w.table("model.shared.weight", m.SrcEmbed.E.Weights())
	} else {
		w.table("model.encoder.embed_tokens.weight", m.SrcEmbed.E.Weights())
		w.table("model.decoder.embed_tokens.weight", m.TgtEmbed.E.Weights())
	}
	if c.Tie == model.TieNone {
		w.table("lm_head.weight", m.Output.E.Weights())
	}
	w.add("final_logits_bias", closedBias(m), 1, c.TgtVocab)
	w.layers(m, &hfNaming)
	return w.list
}

// hfOrder returns the element of d_model in the model that each element has in the folder: nil for
// those in their order, or with alternating sinusoids first those of sines, then those of cosines.
func hfOrder(c model.Config) []int {
	if c.Positions != model.Interleaved {
		return nil
	}
	order := make([]int, c.DModel)
	for i := range order {
		half := c.DModel / 2
		order[i] = 2*(i%half) + i/half
	}
	return order
}
