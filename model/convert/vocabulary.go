package convert

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"tfm/mat"
	"tfm/model"
	"tfm/text"
	"tfm/text/sentencepiece"
	"tfm/text/subword"
	"tfm/text/vocab"
)

// vocabulary is one side of a source model: its tokens, whose index is the row of their embedding.
type vocabulary struct {
	path   string   // for errors
	tokens []string // distinct
	index  map[string]int

	controls    []int   // rows of tokens without text, besides those below
	hasCodes    bool    // a token as >>fra<< at the begin of a text is one piece
	unknownText *string // text of the unknown token; nil: that of the tokenizer

	// Rows of tokens with a meaning, or -1.
	unknown int
	pad     int // row of Pad: no text has it, and no translation can
	bos     int // row of BOS, likewise
	eos     int // row of EOS
}

// newVocabulary returns a vocabulary of tokens without tokens of special meaning.
func newVocabulary(path string, tokens []string) (*vocabulary, error) {
	v := &vocabulary{path: path, tokens: tokens, index: make(map[string]int, len(tokens)), unknown: -1, pad: -1, bos: -1, eos: -1}
	for i, token := range tokens {
		if first, ok := v.index[token]; ok {
			return nil, fmt.Errorf("%s: found %.80q as tokens %d and %d, expected distinct tokens", path, token, first, i)
		}
		v.index[token] = i
	}
	return v, nil
}

// vocabularyOf returns the vocabulary of tokens with their rows. Each row from 0 has one.
func vocabularyOf(path string, rows map[string]int32) (*vocabulary, error) {
	tokens := make([]string, len(rows))
	set := make([]bool, len(rows))
	for token, row := range rows {
		if row < 0 || int(row) >= len(rows) || set[row] {
			return nil, fmt.Errorf("%s: found id %d of %.40q, expected each of 0 to %d once", path, row, token, len(rows)-1)
		}
		tokens[row], set[row] = token, true
	}
	return newVocabulary(path, tokens)
}

// vocabularyOfSentencePiece returns the vocabulary of a model whose rows are the ids of t's file.
func vocabularyOfSentencePiece(path string, t *sentencepiece.Tokenizer) (*vocabulary, error) {
	m := t.Model()
	var tokens []string
	for i := range m.Pieces {
		tokens = append(tokens, m.Pieces[i].Text)
	}
	v, err := newVocabulary(path, tokens)
	if err != nil {
		return nil, err
	}
	return v, v.find(m.Trainer.EOSPiece, m.Trainer.UnknownPiece)
}

// find sets the rows of EOS and of the unknown token.
func (v *vocabulary) find(eos, unknown string) error {
	v.eos, v.unknown = v.row(eos), v.row(unknown)
	if v.eos < 0 || v.unknown < 0 {
		return fmt.Errorf("%s: found no %q or no %q, expected both", v.path, eos, unknown)
	}
	return nil
}

// row returns the row of a token, or -1.
func (v *vocabulary) row(token string) int {
	if i, ok := v.index[token]; ok {
		return i
	}
	return -1
}

// checkRows returns an error unless the vocabulary has n tokens.
func (v *vocabulary) checkRows(n int, what string) error {
	if len(v.tokens) != n {
		return fmt.Errorf("%s: found %d pieces, expected %d as in %s", v.path, len(v.tokens), n, what)
	}
	return nil
}

// isSpecial reports whether a row has a meaning of its own.
func (v *vocabulary) isSpecial(row int) bool {
	return row == v.unknown || row == v.pad || row == v.bos || row == v.eos
}

// side is the vocabulary of one side of an imported model: its tokenizer and, for each of the
// tokenizer's ids, the row of the source.
type side struct {
	tokenizer text.Tokenizer
	rows      []int   // -1: the source has no such row
	special   []int32 // ids of tokens without text that the source can predict nevertheless
}

// readSentencePiece decodes a .model file of SentencePiece.
func readSentencePiece(f folder, name string) (*sentencepiece.Tokenizer, error) {
	data, err := f.read(name)
	if err != nil {
		return nil, err
	}
	t, err := sentencepiece.Unmarshal(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.name(name), err)
	}
	return t, nil
}

// pieceSides returns the sides of a model with tokenizers of SentencePiece. Those of a joint
// vocabulary have the same rows.
func pieceSides(src, tgt *vocabulary, srcPieces, tgtPieces *sentencepiece.Tokenizer, joint bool) (s, t side, err error) {
	srcModels, tgtModels := []*sentencepiece.Tokenizer{srcPieces}, []*sentencepiece.Tokenizer{tgtPieces}
	if joint {
		srcModels = append(srcModels, tgtPieces)
		tgtModels = srcModels
	}
	if s, err = src.pieces(srcPieces, srcModels); err != nil {
		return s, t, err
	}
	if t, err = tgt.pieces(tgtPieces, tgtModels); err == nil && joint && s.equal(t) {
		t = s
	}
	return s, t, err
}

// order returns the rows in the order of ids: their own, but the unknown token is before all rows
// that have no meaning.
func (v *vocabulary) order() (rows []int) {
	isFirst := v.unknown >= 0
	for row := range v.tokens {
		if isFirst && (row == v.unknown || !v.isSpecial(row)) {
			rows, isFirst = append(rows, v.unknown), false
		}
		if row != v.unknown {
			rows = append(rows, row)
		}
	}
	return rows
}

// pieces maps the rows of v to the ids of a tokenizer that splits text as own does. Its file has
// the tokens of v in their order, then the pieces of models that v lacks. A token that own lacks is
// unused: no text is encoded as it. A piece that v lacks has the row of the unknown token, because
// the source system encodes it as that; it is in the file so that texts are split as before.
func (v *vocabulary) pieces(own *sentencepiece.Tokenizer, models []*sentencepiece.Tokenizer) (side, error) {
	if s, ok := v.ownIDs(own); ok {
		return s, nil
	}
	m := own.Model()
	known := make(map[string]*sentencepiece.Piece, len(m.Pieces))
	lowest := float32(0) // score
	for i := range m.Pieces {
		p := &m.Pieces[i]
		known[p.Text] = p
		lowest = min(lowest, p.Score)
	}
	b := v.newPieceList(m)
	for _, row := range b.rows {
		token := v.tokens[row]
		p := known[token]
		switch {
		case b.addSpecial(row):
		case p != nil && (p.Type == sentencepiece.Unknown || p.Type == sentencepiece.Control):
			b.addControl(row)
		case p != nil:
			b.add(sentencepiece.Piece{Text: token, Score: p.Score, Type: p.Type})
		case v.hasCodes && isLanguageCode(token):
			// Text is normalized to "▁>>fra<<▁…", where this piece is found.
			b.add(sentencepiece.Piece{Text: "▁" + token, Type: sentencepiece.UserDefined})
		default:
			b.add(unusedPiece(token, m.Trainer.ModelType, lowest))
		}
	}
	added := map[string]bool{}
	for _, other := range models {
		for _, p := range other.Model().Pieces {
			isText := p.Type == sentencepiece.Normal || p.Type == sentencepiece.UserDefined || p.Type == sentencepiece.Byte
			if !isText || v.row(p.Text) >= 0 || added[p.Text] {
				continue
			}
			added[p.Text] = true
			if known[p.Text] == nil {
				p = unusedPiece(p.Text, m.Trainer.ModelType, lowest)
			}
			b.add(sentencepiece.Piece{Text: p.Text, Score: p.Score, Type: p.Type})
		}
	}
	return b.side()
}

// isLanguageCode reports whether a token selects the target language, as ">>fra<<" does at the
// begin of a text.
func isLanguageCode(token string) bool {
	return strings.HasPrefix(token, ">>") && strings.HasSuffix(token, "<<")
}

// isCodePiece reports whether piece is the piece of a language code.
func isCodePiece(piece, token string) bool { return isLanguageCode(token) && piece == "▁"+token }

// unusedPiece returns a piece that no text is encoded as, for a model whose lowest score is given.
func unusedPiece(text string, kind sentencepiece.ModelType, lowest float32) sentencepiece.Piece {
	p := sentencepiece.Piece{Text: text, Type: sentencepiece.Unused}
	if kind == sentencepiece.BPE {
		p.Score = lowest - 1 // merged last, and split again
	}
	return p
}

// ownIDs returns the side of t if its ids are those that pieces would give to the rows.
func (v *vocabulary) ownIDs(t *sentencepiece.Tokenizer) (s side, ok bool) {
	s = side{tokenizer: t, rows: []int{v.pad, v.bos, v.eos}}
	for _, row := range v.order() {
		if row != v.pad && row != v.bos && row != v.eos {
			s.rows = append(s.rows, row)
		}
	}
	if t.Size() != len(s.rows) {
		return s, false
	}
	for id, row := range s.rows {
		file := t.FileID(int32(id))
		if id <= int(text.EOS) && file < 0 {
			continue
		}
		p := t.Model().Pieces[file]
		if row < 0 || p.Text != v.tokens[row] && !isCodePiece(p.Text, v.tokens[row]) || (p.Type == sentencepiece.Unknown) != (row == v.unknown) {
			return s, false
		}
		if id > int(text.EOS) && p.Type == sentencepiece.Control {
			s.special = append(s.special, int32(id))
		}
	}
	return s, true
}

// words maps the rows of v to ids as pieces does. The tokens of a text are its words, which must
// have spaces between them.
func (v *vocabulary) words() (side, error) {
	m := sentencepiece.NewModel()
	m.Trainer.ModelType = sentencepiece.Word
	b := v.newPieceList(m)
	for _, row := range b.rows {
		if !b.addSpecial(row) {
			b.add(sentencepiece.Piece{Text: "▁" + v.tokens[row], Type: sentencepiece.Normal})
		}
	}
	return b.side()
}

// pieceList is the file of a tokenizer under construction: the tokens of v in their order, then
// other pieces.
type pieceList struct {
	v       *vocabulary
	m       *sentencepiece.Model
	rows    []int   // of the first pieces: those of v
	control []int32 // pieces of tokens without text
}

// newPieceList returns a list with the settings of m. An id of special meaning without a row has no
// piece.
func (v *vocabulary) newPieceList(m *sentencepiece.Model) *pieceList {
	b := &pieceList{v: v, m: sentencepiece.NewModel(), rows: v.order()}
	b.m.Trainer, b.m.Normalizer, b.m.Denormalizer = m.Trainer, m.Normalizer, m.Denormalizer
	t := &b.m.Trainer
	if v.unknownText != nil {
		t.UnknownSurface = *v.unknownText
	}
	for _, s := range []struct {
		row   int
		piece *string
		id    *int32
	}{{v.pad, &t.PadPiece, &t.PadID}, {v.bos, &t.BOSPiece, &t.BOSID}, {v.eos, &t.EOSPiece, &t.EOSID}, {v.unknown, &t.UnknownPiece, &t.UnknownID}} {
		*s.piece, *s.id = "", int32(slices.Index(b.rows, s.row))
		if s.row >= 0 {
			*s.piece = v.tokens[s.row]
		}
	}
	return b
}

func (b *pieceList) add(p sentencepiece.Piece) { b.m.Pieces = append(b.m.Pieces, p) }

// addControl adds a token without text.
func (b *pieceList) addControl(row int) {
	b.control = append(b.control, int32(len(b.m.Pieces)))
	b.add(sentencepiece.Piece{Text: b.v.tokens[row], Type: sentencepiece.Control})
}

// addSpecial adds a token whose row has a meaning, and reports whether it has.
func (b *pieceList) addSpecial(row int) bool {
	switch {
	case row == b.v.unknown:
		b.add(sentencepiece.Piece{Text: b.v.tokens[row], Type: sentencepiece.Unknown})
	case b.v.isSpecial(row):
		b.add(sentencepiece.Piece{Text: b.v.tokens[row], Type: sentencepiece.Control})
	case slices.Contains(b.v.controls, row):
		b.addControl(row)
	default:
		return false
	}
	return true
}

func (b *pieceList) side() (side, error) {
	b.m.Trainer.VocabSize = int32(len(b.m.Pieces))
	t, err := sentencepiece.New(b.m)
	if err != nil {
		return side{}, fmt.Errorf("%s: %w", b.v.path, err)
	}
	s := side{tokenizer: t}
	for id := range int32(t.Size()) {
		row, file := -1, int(t.FileID(id))
		if file >= 0 {
			row = b.v.unknown
			if file < len(b.rows) {
				row = b.rows[file]
			}
		}
		s.rows = append(s.rows, row)
	}
	for _, file := range b.control {
		s.special = append(s.special, t.FromFileID(file))
	}
	slices.Sort(s.special)
	return s, nil
}

// segments maps the rows of v to ids as pieces does. The tokenizer is that of codes, a file of
// subword-nmt.
func (v *vocabulary) segments(codes []byte, name string) (side, error) {
	c, err := subword.ReadCodes(strings.NewReader(string(codes)), name)
	if err != nil {
		return side{}, err
	}
	var entries []subword.Entry
	for row, token := range v.tokens {
		if !v.isSpecial(row) {
			entries = append(entries, subword.Entry{Piece: token, Count: 1})
		}
	}
	list, err := subword.NewVocabulary(entries, 0)
	if err != nil {
		return side{}, fmt.Errorf("%s: %w", v.path, err)
	}
	t := subword.New(c, list)
	s := side{tokenizer: t, rows: []int{v.pad, v.bos, v.eos, v.unknown}}
	for id := int32(len(s.rows)); id < int32(t.Size()); id++ {
		s.rows = append(s.rows, v.row(t.Piece(id)))
	}
	if len(s.rows) != len(entries)+4 {
		return side{}, fmt.Errorf("%s: found a second special token of subword-nmt, expected <unk>, <s>, </s> and <pad> to be those of the model", v.path)
	}
	return s, nil
}

// embed sets dst [ids × d], the embeddings of a side, to rows of src, zeros for those that it
// lacks. BOS has row bos, unless it is -1.
func (s side) embed(dst, src mat.Matrix, bos int) {
	for id, row := range s.rows {
		if row < 0 && id == int(text.BOS) {
			row = bos
		}
		if row < 0 {
			clear(dst.Row(id))
		} else {
			to := dst.Row(id)
			for j := range to {
				to[j] = src.At(row, j)
			}
		}
	}
}

// setBias sets dst, the bias of the output projection, to that of the rows, src or nil for zeros.
// It is -Inf, which makes an id impossible, for those that the source cannot predict, and for those
// of the impossible rows.
func (s side) setBias(dst, src []float32, impossible []int32) {
	for id, row := range s.rows {
		dst[id] = 0
		switch {
		case slices.Contains(impossible, int32(row)):
			dst[id] = minusInf
		case row >= 0 && src != nil:
			dst[id] = src[row]
		}
	}
	for _, id := range s.excluded() {
		dst[id] = minusInf
	}
}

// excluded returns the ids that the source cannot predict: those without a row, Pad and BOS if
// their rows are not those of the source, and further ids of the same row.
func (s side) excluded() []int32 {
	var list []int32
	seen := map[int]bool{}
	for id, row := range s.rows {
		if row < 0 || seen[row] {
			list = append(list, int32(id))
		}
		seen[row] = true
	}
	return list
}

// suppressed returns the Decoding.Suppressed of rows, without EOS.
func (s side) suppressed(rows []int32) string {
	var ids []int32
	for _, row := range rows {
		if id := slices.Index(s.rows, int(row)); id != int(text.EOS) {
			ids = append(ids, int32(id))
		}
	}
	return model.FormatSuppressed(ids)
}

// marshalSides encodes the tokenizers of both sides.
func marshalSides(src, tgt side) (map[string][]byte, error) {
	return vocab.Tokenizers{Source: src.tokenizer, Target: tgt.tokenizer}.Marshal()
}

// equal reports whether the sides have the same ids and rows.
func (s side) equal(o side) bool {
	a, errA := s.tokenizer.MarshalBinary()
	b, errB := o.tokenizer.MarshalBinary()
	return errA == nil && errB == nil && bytes.Equal(a, b) && slices.Equal(s.rows, o.rows)
}
