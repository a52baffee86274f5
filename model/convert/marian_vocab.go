package convert

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"tfm/mat"
	"tfm/model"
	"tfm/text"
	"tfm/text/sentencepiece"
	"tfm/text/vocab"
)

// maxVocabulary limits the bytes of a vocabulary or a configuration. The vocabularies of published
// models have about 1 MB.
const maxVocabulary = 1 << 28

// readSmall reads a vocabulary or a configuration.
func readSmall(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxVocabulary {
		return nil, fmt.Errorf("%s: found %d bytes, expected a file of at most %d", path, info.Size(), maxVocabulary)
	}
	return os.ReadFile(path)
}

// readSentencePiece reads a SentencePiece model.
func readSentencePiece(path string) (*sentencepiece.Tokenizer, error) {
	data, err := readSmall(path)
	if err != nil {
		return nil, err
	}
	t, err := sentencepiece.Unmarshal(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// marianVocab is the vocabulary of one side in a source model: the names of its ids.
type marianVocab struct {
	path   string
	names  []string
	eos    int32
	unk    int32
	others []int32 // special pieces that have no text, such as padding

	unknownText string // of an unknown piece in a translation
}

// indexNames returns the names of a vocabulary by id, for the ids of names. Each id from 0 has one.
func indexNames(path string, ids map[string]int32) ([]string, error) {
	names := make([]string, len(ids))
	set := make([]bool, len(ids))
	for name, id := range ids {
		if id < 0 || int(id) >= len(ids) || set[id] {
			return nil, fmt.Errorf("%s: found id %d of %.40q, expected each of 0 to %d once", path, id, name, len(ids)-1)
		}
		names[id], set[id] = name, true
	}
	return names, nil
}

// find sets v.eos and v.unk.
func (v *marianVocab) find(eos, unk string) error {
	v.eos, v.unk = int32(slices.Index(v.names, eos)), int32(slices.Index(v.names, unk))
	if v.eos < 0 || v.unk < 0 {
		return fmt.Errorf("%s: found no %q or no %q, expected both", v.path, eos, unk)
	}
	return nil
}

// ofSentencePiece returns the vocabulary of a SentencePiece model whose ids are those of the source
// model, as Marian uses them.
func ofSentencePiece(path string, m *sentencepiece.Model) (*marianVocab, error) {
	v := &marianVocab{path: path, unknownText: m.Trainer.UnknownSurface}
	for i := range m.Pieces {
		v.names = append(v.names, m.Pieces[i].Text)
		if m.Pieces[i].Type == sentencepiece.Control && m.Pieces[i].Text != m.Trainer.EOSPiece {
			v.others = append(v.others, int32(i))
		}
	}
	return v, v.find(m.Trainer.EOSPiece, m.Trainer.UnknownPiece)
}

// rows maps the pieces of a tokenizer to those of a source model.
type rows struct {
	tokenizer *sentencepiece.Tokenizer

	// source has the id in the source model of each id of the tokenizer, or for Pad, BOS and a
	// piece that the source model treats as its unknown piece -1.
	source []int32
	own    bool // all ids are those of the source model, Pad and BOS too
}

// joinVocab returns the tokenizer with the pieces of v in their order, and after them absent:
// pieces of either side's SentencePiece model that v lacks. m segments text; pieces that it lacks
// are decoded, but never encoded. An absent piece has to be in the vocabulary, so that texts are
// segmented as before; for the source model it is the unknown piece.
func joinVocab(v *marianVocab, m *sentencepiece.Model, absent []string, codes bool) (*rows, error) {
	pieces := map[string]*sentencepiece.Piece{}
	for i := range m.Pieces {
		if p := &m.Pieces[i]; p.Type == sentencepiece.Normal || p.Type == sentencepiece.UserDefined || p.Type == sentencepiece.Byte {
			pieces[p.Text] = p
		}
	}
	joined := *m
	joined.Pieces = nil
	for i, name := range append(slices.Clone(v.names), absent...) {
		p := sentencepiece.Piece{Text: name, Type: sentencepiece.Unused}
		if m.Trainer.ModelType == sentencepiece.BPE {
			p.Score = -1e9 // merges of pieces that are not used come last
		}
		switch known := pieces[name]; {
		case int32(i) == v.eos || slices.Contains(v.others, int32(i)):
			p.Type = sentencepiece.Control
		case int32(i) == v.unk:
			p.Type = sentencepiece.Unknown
		case known != nil:
			p.Score, p.Type = known.Score, known.Type
		case codes && isLanguageCode(name):
			// Text is normalized to "▁>>fra<<▁…", where this piece is found.
			p.Text, p.Type = "▁"+name, sentencepiece.UserDefined
		}
		joined.Pieces = append(joined.Pieces, p)
	}
	spec := &joined.Trainer
	spec.EOSPiece, spec.UnknownPiece, spec.BOSPiece, spec.PadPiece = v.names[v.eos], v.names[v.unk], "", ""
	spec.EOSID, spec.UnknownID, spec.BOSID, spec.PadID = v.eos, v.unk, -1, -1
	spec.UnknownSurface = v.unknownText
	spec.VocabSize = int32(len(joined.Pieces))
	t, err := sentencepiece.New(&joined)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", v.path, err)
	}
	r := &rows{tokenizer: t}
	for id := range int32(t.Size()) {
		file := t.FileID(id)
		if int(file) >= len(v.names) {
			file = -1
		}
		r.source = append(r.source, file)
	}
	return r, nil
}

// isLanguageCode reports whether a piece selects the target language, as ">>fra<<" does at the
// begin of a text.
func isLanguageCode(name string) bool {
	return strings.HasPrefix(name, ">>") && strings.HasSuffix(name, "<<")
}

// absentPieces returns the pieces that m matches in text and v lacks, in the order of m.
func absentPieces(v *marianVocab, tokenizers ...*sentencepiece.Tokenizer) []string {
	found := map[string]bool{}
	for _, name := range v.names {
		found[name] = true
	}
	var absent []string
	for _, t := range tokenizers {
		m := t.Model()
		for i := range m.Pieces {
			p := &m.Pieces[i]
			if (p.Type == sentencepiece.Normal || p.Type == sentencepiece.UserDefined) && !found[p.Text] {
				found[p.Text] = true
				absent = append(absent, p.Text)
			}
		}
	}
	return absent
}

// marianSide is the vocabulary of one side with its SentencePiece model.
type marianSide struct {
	vocab     *marianVocab
	tokenizer *sentencepiece.Tokenizer
}

// joinVocabs returns the rows of both sides. If the sides share a vocabulary, they have the same
// rows.
func joinVocabs(src, tgt marianSide) (s, t *rows, err error) {
	shared := src.vocab == tgt.vocab
	absentSrc, absentTgt := absentPieces(src.vocab, src.tokenizer), absentPieces(tgt.vocab, tgt.tokenizer)
	if shared {
		absentSrc = absentPieces(src.vocab, src.tokenizer, tgt.tokenizer)
		absentTgt = absentSrc
	}
	if s, err = joinVocab(src.vocab, src.tokenizer.Model(), absentSrc, true); err != nil {
		return nil, nil, err
	}
	if shared && src.tokenizer == tgt.tokenizer {
		return s, s, nil
	}
	if t, err = joinVocab(tgt.vocab, tgt.tokenizer.Model(), absentTgt, false); err != nil {
		return nil, nil, err
	}
	return s, t, nil
}

// marshalRows encodes the tokenizers of both sides.
func marshalRows(s, t *rows) (map[string][]byte, error) {
	return vocab.Tokenizers{Source: s.tokenizer, Target: t.tokenizer}.Marshal()
}

// ownRows returns the rows of a tokenizer whose ids are those of the source model, or nil.
func ownRows(s marianSide) *rows {
	r := &rows{tokenizer: s.tokenizer, own: true}
	if s.tokenizer.Size() != len(s.vocab.names) {
		return nil
	}
	for id, name := range s.vocab.names {
		if file := s.tokenizer.FileID(int32(id)); file >= 0 {
			if piece := s.tokenizer.Model().Pieces[file].Text; piece != name && !isCodePiece(piece, name) {
				return nil
			}
		}
		r.source = append(r.source, int32(id))
	}
	return r
}

// equalTokenizers reports whether two tokenizers have equal encodings.
func equalTokenizers(a, b *sentencepiece.Tokenizer) bool {
	x, _ := a.MarshalBinary()
	y, _ := b.MarshalBinary()
	return bytes.Equal(x, y)
}

// setEmbedding sets the rows of an embedding or of an output projection from those of the source
// model. BOS gets row start, or with -1 zeros, as Pad does; an absent piece that of unk.
func (r *rows) setEmbedding(dst, src mat.Matrix, start, unk int32) {
	for id, from := range r.source {
		switch {
		case r.own:
		case id == int(text.BOS):
			from = start
		case id == int(text.Pad):
			from = -1
		case from < 0:
			from = unk
		}
		if from >= 0 {
			copy(dst.Row(id), src.Row(int(from)))
		}
	}
}

// setBias sets the biases of an output projection: -Inf, so that it is impossible, for a piece that
// the source model does not have, and for impossible ones.
func (r *rows) setBias(dst, src []float32, impossible []int32) {
	for id, from := range r.source {
		if dst[id] = minusInf; from >= 0 {
			if src != nil {
				dst[id] = src[from]
			} else {
				dst[id] = 0
			}
			if slices.Contains(impossible, from) {
				dst[id] = minusInf
			}
		}
	}
}

// ids returns the ids of pieces of the source model.
func (r *rows) ids(source []int32) []int32 {
	var ids []int32
	for _, from := range source {
		if !r.own {
			from = r.tokenizer.FromFileID(from)
		}
		ids = append(ids, from)
	}
	return ids
}

// checkRows returns an error unless the vocabulary has n pieces.
func (v *marianVocab) checkRows(n int, what string) error {
	if len(v.names) != n {
		return fmt.Errorf("%s: found %d pieces, expected %d as in %s", v.path, len(v.names), n, what)
	}
	return nil
}

// suppressedOf returns the Decoding.Suppressed of pieces of the source model.
func (r *rows) suppressedOf(source []int32) string {
	return model.FormatSuppressed(slices.DeleteFunc(r.ids(source), func(id int32) bool { return id == text.EOS }))
}
