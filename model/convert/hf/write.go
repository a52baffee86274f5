package hf

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"tfm/model"
	"tfm/model/convert/internal/parts"
	"tfm/model/decode"
	"tfm/model/safetensors"
	"tfm/text"
	"tfm/text/tokenizer/bpe"
	"tfm/text/tokenizer/sentencepiece"
	"tfm/text/tokenizer/vocab"
)

// Write writes a model for transformers' MarianMTModel and, with vocabularies of
// SentencePiece, MarianTokenizer to the folder dir, which it creates: the files that ReadMarian
// reads. A joint byte-level BPE is written as tokenizer.json, which AutoTokenizer loads.
//
// Pieces keep their ids. Pad and BOS have a bias of -Inf, because no search selects them. Sinusoids
// that alternate become two halves by a permutation of the elements of d_model in all weights,
// which changes no output. transformers' length penalty is n^alpha whatever that of the model file.
// The error names what MarianMTModel does not have, for example pre-norm.
func Write(dir string, f model.File) error {
	c := f.Model.Config
	if err := checkConfig(c); err != nil {
		return err
	}
	tokenizers, err := vocab.UnmarshalTokenizers(f.Tokenizers)
	if err != nil {
		return err
	}
	files := &parts.FileSet{Data: map[string][]byte{}}
	if err := addTokenizers(f, tokenizers, files); err != nil {
		return err
	}
	generation, err := newGeneration(f)
	if err != nil {
		return err
	}
	files.AddJSON(ConfigFile, newConfig(f))
	files.AddJSON(generationFile, generation)
	if err := files.Write(dir); err != nil {
		return err
	}
	return safetensors.Write(filepath.Join(dir, modelFile), map[string]string{"format": "pt"}, tensorsOf(f.Model))
}

// writtenConfig is the content of config.json.
type writtenConfig struct {
	Architectures []string `json:"architectures"`
	config
	IsEncoderDecoder bool   `json:"is_encoder_decoder"`
	Pad              int    `json:"pad_token_id"`
	BOS              *int   `json:"bos_token_id"`
	EOS              int    `json:"eos_token_id"`
	ForcedEOS        *int   `json:"forced_eos_token_id"`
	Start            int    `json:"decoder_start_token_id"`
	DType            string `json:"dtype"`
	TorchDType       string `json:"torch_dtype"` // of early versions
}

func newConfig(f model.File) writtenConfig {
	return writtenConfig{
		Architectures: []string{"MarianMTModel"}, config: configOf(f.Model.Config), IsEncoderDecoder: true,
		Pad: model.Pad, EOS: model.EOS, Start: model.BOS, DType: "float32", TorchDType: "float32",
	}
}

// newGeneration returns the content of generation_config.json.
func newGeneration(f model.File) (generation, error) {
	d, err := decode.ParseSettings(f.Decoding)
	if err != nil {
		return generation{}, err
	}
	pad, start := int32(text.Pad), int32(text.BOS)
	g := generation{
		Pad: &pad, EOS: oneID(text.EOS), Start: &start, MaxLength: f.Model.Config.MaxLen, NumBeams: cmp.Or(d.Beam, 4), LengthPenalty: d.Alpha,
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

// addTokenizers adds the files of the tokenizers to files.
func addTokenizers(f model.File, t vocab.Tokenizers, files *parts.FileSet) error {
	c := f.Model.Config
	src, tgt, err := parts.NamesOfSides(t)
	if err != nil {
		return err
	}
	if b, ok := t.Source.(*bpe.Tokenizer); ok && t.Joint() {
		files.AddJSON(parts.TokenizerFile, parts.TokenizerJSON(b, src.Names))
		files.AddJSON(parts.TokenizerConfigFile, parts.TokenizerConfigJSON(src.Names, c.MaxLen))
		return nil
	}
	srcPieces, ok := t.Source.(*sentencepiece.Tokenizer)
	tgtPieces, ok2 := t.Target.(*sentencepiece.Tokenizer)
	if !ok || !ok2 {
		return fmt.Errorf("tokenizers: found other kinds, expected sentencepiece on both sides, or a joint byte-level BPE, for transformers' Marian")
	}
	config := tokenizerConfig{
		Class: "MarianTokenizer", SourceLang: f.SrcLang, TargetLang: f.TgtLang, EOS: token(tgt.Names[text.EOS]), Pad: token(tgt.Names[text.Pad]),
		Unknown: token(tgt.Unknown), MaxLength: c.MaxLen, SentencePieceOf: map[string]any{},
	}
	if src.Unknown != tgt.Unknown || src.Names[text.EOS] != tgt.Names[text.EOS] || src.Names[text.Pad] != tgt.Names[text.Pad] {
		return fmt.Errorf("tokenizers: found special pieces %q, %q and %q of the source and %q, %q and %q of the target, expected the same for transformers' Marian",
			src.Unknown, src.Names[text.EOS], src.Names[text.Pad], config.Unknown, config.EOS, config.Pad)
	}
	for _, l := range c.TgtLanguages.List() {
		if len(l.IDs) != 1 || src.Names[l.IDs[0]] != ">>"+l.Code+"<<" {
			return fmt.Errorf("tokenizers: found %d tokens of language %s, expected the piece >>%s<<, which MarianTokenizer looks up", len(l.IDs), l.Code, l.Code)
		}
	}
	vocabularies := map[string][]string{vocabFile: tgt.Names}
	if config.SeparateVocs = !slices.Equal(src.Names, tgt.Names); config.SeparateVocs {
		if c.Tie == model.TieAll {
			return fmt.Errorf("tokenizers: found different pieces, expected the same on both sides with one matrix of embeddings")
		}
		vocabularies = map[string][]string{vocabFile: src.Names, targetVocabFile: tgt.Names}
	}
	for name, list := range vocabularies {
		files.AddJSON(name, parts.IDsOf(list))
	}
	files.Add(sourceFile, srcPieces.MarshalBinary)
	files.Add(targetFile, tgtPieces.MarshalBinary)
	files.AddJSON(parts.TokenizerConfigFile, config)
	return nil
}

// tensorsOf returns the tensors of MarianMTModel.
func tensorsOf(m *model.Transformer) []safetensors.Tensor {
	c := m.Config
	w := &parts.TensorList{Order: orderOf(c)}
	if c.Tie == model.TieAll {
		w.Table("model.shared.weight", m.SrcEmbed.E.Weights())
	} else {
		w.Table("model.encoder.embed_tokens.weight", m.SrcEmbed.E.Weights())
		w.Table("model.decoder.embed_tokens.weight", m.TgtEmbed.E.Weights())
	}
	if c.Tie == model.TieNone {
		w.Table("lm_head.weight", m.Output.E.Weights())
	}
	w.Add("final_logits_bias", parts.ClosedBias(m), 1, c.TgtVocab)
	w.Layers(m, &naming)
	return w.List
}

// orderOf returns the element of d_model in the model that each element has in the folder: nil for
// those in their order, or with alternating sinusoids first those of sines, then those of cosines.
func orderOf(c model.Config) []int {
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
