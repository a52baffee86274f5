package convert

import (
	"fmt"
	"slices"

	"tfm/text"
	"tfm/text/tokenizer/sentencepiece"
)

// pieceSides returns the sides of a model with tokenizers of SentencePiece or subword-nmt. Those of
// a joint vocabulary have the same rows.
func pieceSides(src, tgt *vocabulary, joint bool) (s, t side, err error) {
	if src.codes != nil {
		return sidesOf(src, tgt, joint, (*vocabulary).segments)
	}
	return sidesOf(src, tgt, joint, func(v *vocabulary) (side, error) {
		if joint {
			return v.pieces(src.tokenizer, tgt.tokenizer)
		}
		return v.pieces(v.tokenizer)
	})
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

// pieces maps the rows of v to the ids of a tokenizer that splits text as v.tokenizer does. The
// file of that tokenizer has the tokens of v in their order, then the pieces of models that v
// lacks. A token that v.tokenizer lacks is unused: no text is encoded as it. A piece that v lacks
// has the row of the unknown token, because the source system encodes it as that; it is in the file
// so that texts are split as before.
func (v *vocabulary) pieces(models ...*sentencepiece.Tokenizer) (side, error) {
	if s, ok := v.ownIDs(); ok {
		return s, nil
	}
	m := v.tokenizer.Model()
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
		default:
			b.add(unusedPiece(token, m.Trainer.ModelType, lowest))
			b.m.Trainer.NameUnknown = true
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

// unusedPiece returns a piece that no text is encoded as, for a model whose lowest score is given.
func unusedPiece(text string, kind sentencepiece.ModelType, lowest float32) sentencepiece.Piece {
	p := sentencepiece.Piece{Text: text, Type: sentencepiece.Unused}
	if kind == sentencepiece.BPE {
		p.Score = lowest - 1 // merged last, and split again
	}
	return p
}

// ownIDs returns the side of v.tokenizer if its ids are those that pieces would give to the rows.
func (v *vocabulary) ownIDs() (s side, ok bool) {
	t := v.tokenizer
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
		if row < 0 || p.Text != v.tokens[row] || (p.Type == sentencepiece.Unknown) != (row == v.unknown) {
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
	m.Trainer.ModelType, m.Trainer.CountUnknown = sentencepiece.Word, true
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
	case b.v.controls[row]:
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
