package marian

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"tfm/mat"
	"tfm/model"
	"tfm/model/convert/internal/parts"
	"tfm/model/decode"
	"tfm/model/safetensors"
	"tfm/text"
	"tfm/text/tokenizer/sentencepiece"
	"tfm/text/tokenizer/vocab"
)

// The other files of a model that is written.
const (
	binModelFile  = "model.intgemm8.bin"
	vocabFile     = "vocab.spm"
	srcVocabFile  = "srcvocab.spm"
	tgtVocabFile  = "trgvocab.spm"
	shortlistFile = "lex.s2t.bin"
)

// Write writes a model for Firefox and Bergamot's fork of Marian to the folder dir, which it
// creates: model.intgemm8.bin, vocab.spm or srcvocab.spm and trgvocab.spm, decoder.yml and, of a
// model with a shortlist, lex.s2t.bin. They are files that Read reads. Matrices are rounded
// to int8 for the precision int8shiftAll, which needs no statistics of activations.
//
// The vocabularies begin with EOS and the unknown piece, as Marian's do, and have neither Pad nor
// BOS. They end with unused pieces up to a multiple of 8, the number that intgemm needs. The error
// names what Marian does not have, for example a start of the decoder other than an embedding of
// zeros, which only SSRU has.
func Write(dir string, f model.File) error {
	tokenizers, err := vocab.UnmarshalTokenizers(f.Tokenizers)
	if err != nil {
		return err
	}
	src, err := newVocabulary(tokenizers.Source)
	if err != nil {
		return fmt.Errorf("source tokenizer: %w", err)
	}
	tgt, err := newVocabulary(tokenizers.Target)
	if err != nil {
		return fmt.Errorf("target tokenizer: %w", err)
	}
	if err := checkConfig(f); err != nil {
		return err
	}
	names := []string{vocabFile, vocabFile}
	if !tokenizers.Joint() {
		names = []string{srcVocabFile, tgtVocabFile}
	}
	settings, err := decode.ParseSettings(f.Decoding)
	if err != nil {
		return err
	}
	list, err := decode.ReadShortlist(f.Shortlist, f.Model.Config)
	if err != nil {
		return err
	}
	files := &parts.FileSet{Data: map[string][]byte{
		names[0]: src.file, names[1]: tgt.file, decoderFile: decoderOf(settings, list != nil, names),
		binModelFile: encodeBin(tensorsOf(f.Model, src.ids, tgt.ids), settingsOf(f.Model.Config, len(src.ids), len(tgt.ids))),
	}}
	if list != nil {
		files.Data[shortlistFile] = encodeBinaryShortlist(list, src, tgt)
	}
	if f.SrcLang != "" && f.TgtLang != "" {
		files.AddJSON(metadataFile, studentMetadata{f.SrcLang, f.TgtLang})
	}
	return files.Write(dir)
}

// checkConfig reports the first setting that Marian does not have, as a *model.FieldError.
func checkConfig(f model.File) error {
	c := f.Model.Config
	dk, dv := c.HeadSizes()
	const system, depth = " for Marian", 64 // of a product of intgemm
	start := f.Model.TgtEmbed.E.Weights().Row(model.BOS)
	return cmp.Or(
		parts.Refuse(c.Norm != model.PostNorm, "norm", parts.TextOf(c.Norm), "post"+system),
		parts.Refuse(c.NormKind != model.LayerNorm, "norm_kind", parts.TextOf(c.NormKind), "layer"+system),
		parts.Refuse(c.NormEps != normEps, "norm_eps", c.NormEps, "1e-06"+system),
		parts.Refuse(c.Positions != model.TimingSignal, "positions", parts.TextOf(c.Positions), parts.TextOf(model.TimingSignal)+system),
		parts.Refuse(c.FirstPosition != 0, "first_position", c.FirstPosition, "0"+system),
		parts.Refuse(c.Unscaled, "unscaled_embeddings", true, "false"+system),
		parts.Refuse(c.Activation != model.ReLU && c.Activation != model.SiLU, "activation", parts.TextOf(c.Activation), "relu or silu"+system),
		parts.Refuse(c.Source != model.EOSLast && c.Source != model.ToFirst, "source_marks", c.Source.String(), "a source that ends with EOS"+system),
		parts.Refuse(c.TargetBegins, "target_begins_with_language", true, "false"+system),
		parts.Refuse(dk*c.Heads != c.DModel, "d_k", dk, "d_model divided by the heads"+system),
		parts.Refuse(dv*c.Heads != c.DModel, "d_v", dv, "d_model divided by the heads"+system),
		parts.Refuse(c.DModel%depth != 0, "d_model", c.DModel, fmt.Sprintf("a multiple of %d%s", depth, system)),
		parts.Refuse(c.DFF%depth != 0, "d_ff", c.DFF, fmt.Sprintf("a multiple of %d%s", depth, system)),
		parts.Refuse(c.Autoreg != model.SSRU && slices.ContainsFunc(start, func(x float32) bool { return x != 0 }), "autoreg", parts.TextOf(c.Autoreg),
			"ssru"+system+", whose decoder begins with an embedding of zeros (presets student-tiny and student-base)"),
	)
}

// writtenVocabulary is a side of a model that is written: the .spm file and the id of each row.
type writtenVocabulary struct {
	file []byte
	ids  []int32  // -1 for unused rows
	rows []uint32 // of each id; that of the unknown piece for Pad and BOS
}

// newVocabulary returns the vocabulary of t with the order of rows that Marian expects: EOS, the
// unknown piece, the others.
func newVocabulary(t text.Tokenizer) (*writtenVocabulary, error) {
	s, ok := t.(*sentencepiece.Tokenizer)
	if !ok {
		return nil, fmt.Errorf("found another kind, expected SentencePiece for Marian: make one with 'tfm vocab -model-type unigram'")
	}
	m := *s.Model()
	if n := len(m.Normalizer.Rewrites); n > 0 {
		return nil, fmt.Errorf("found %d rules for text before SentencePiece, those of a preprocess.sh, which Marian does not have", n)
	}
	unknown := int32(slices.IndexFunc(m.Pieces, func(p sentencepiece.Piece) bool { return p.Type == sentencepiece.Unknown }))
	v := &writtenVocabulary{ids: []int32{text.EOS, s.FromFileID(unknown)}, rows: make([]uint32, s.Size())}
	for id := text.EOS + 1; int(id) < s.Size(); id++ {
		if id != v.ids[1] {
			v.ids = append(v.ids, id)
		}
	}
	pieces := m.Pieces
	m.Pieces = nil
	for row, id := range v.ids {
		p := sentencepiece.Piece{Text: m.Trainer.EOSPiece, Type: sentencepiece.Control}
		if file := s.FileID(id); file >= 0 { // not of a file without EOS
			p = pieces[file]
		}
		m.Pieces = append(m.Pieces, p)
		v.rows[id] = uint32(row)
	}
	for id := range text.EOS {
		v.rows[id] = 1
	}
	lowest := slices.MinFunc(pieces, func(a, b sentencepiece.Piece) int { return cmp.Compare(a.Score, b.Score) }).Score
	for len(v.ids)%8 != 0 {
		m.Pieces = append(m.Pieces, parts.UnusedPiece(fmt.Sprintf("<unused %d>", len(v.ids)), m.Trainer.ModelType, lowest))
		v.ids = append(v.ids, -1)
	}
	spec := &m.Trainer
	spec.EOSID, spec.UnknownID, spec.BOSID, spec.PadID, spec.VocabSize = 0, 1, -1, -1, int32(len(m.Pieces))
	if _, err := sentencepiece.New(&m); err != nil {
		return nil, err
	}
	var err error
	v.file, err = m.MarshalBinary()
	return v, err
}

// tensorsOf returns the tensors of m, whose rows of embeddings are those of ids.
func tensorsOf(m *model.Transformer, src, tgt []int32) []safetensors.Tensor {
	w := &parts.TensorList{}
	table := func(name string, e mat.Matrix, ids []int32) {
		rows := mat.New(len(ids), e.Cols)
		for row, id := range ids {
			if id >= 0 {
				copy(rows.Row(row), e.Row(int(id)))
			}
		}
		w.Table(name, rows)
	}
	c := m.Config
	if c.Tie == model.TieAll {
		table("Wemb", m.SrcEmbed.E.Weights(), src)
	} else {
		table("encoder_Wemb", m.SrcEmbed.E.Weights(), src)
		table("decoder_Wemb", m.TgtEmbed.E.Weights(), tgt)
	}
	if c.Tie == model.TieNone {
		table("decoder_ff_logit_out_Wt", m.Output.E.Weights(), tgt)
	}
	bias := make([]float32, len(tgt))
	for row, id := range tgt {
		if id < 0 {
			bias[row] = -1e9
		} else if m.Output.Bias != nil {
			bias[row] = m.Output.Bias.W[id]
		}
	}
	w.Add("decoder_ff_logit_out_b", bias, 1, len(bias))
	w.Layers(m, namingOf(c))
	slices.SortFunc(w.List, func(a, b safetensors.Tensor) int { return cmp.Compare(a.Name, b.Name) })
	return w.List
}

// settingsText is the format of special:model.yml without the NUL at its end. Marian expects
// every setting.
//
//go:embed marian_model.yml
var settingsText string

// settingsOf returns the content of special:model.yml.
func settingsOf(c model.Config, srcRows, tgtRows int) []byte {
	activation, autoreg, cell, top := "relu", "self-attention", "gru", `""`
	if c.Activation == model.SiLU {
		activation = "swish"
	}
	if c.Autoreg == model.SSRU {
		autoreg, cell = "rnn", "ssru"
	}
	if c.HasFinalNorm() {
		top = "n"
	}
	return fmt.Appendf(nil, settingsText+"\x00", cell, c.DecoderLayers, c.DModel, srcRows, tgtRows, c.EncoderLayers,
		c.Tie == model.TieDecoder, c.Tie == model.TieAll, autoreg, c.DFF, activation, c.Heads, top)
}

// decoderOf returns the settings of decoderFile for the vocabularies of the given names.
func decoderOf(d decode.Settings, hasList bool, vocabs []string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "relative-paths: true\nmodels:\n  - %s\nvocabs:\n  - %s\n  - %s\n", binModelFile, vocabs[0], vocabs[1])
	if hasList {
		fmt.Fprintf(&b, "shortlist:\n  - %s\n  - false\n", shortlistFile)
	}
	fmt.Fprintf(&b, "gemm-precision: int8shiftAll\nbeam-size: %d\nnormalize: %v\nword-penalty: 0\nmax-length-factor: %v\nmini-batch: 32\nmaxi-batch: 100\nmaxi-batch-sort: src\n",
		cmp.Or(d.Beam, 4), d.Alpha, cmp.Or(d.LengthFactor, 3))
	return []byte(b.String())
}
