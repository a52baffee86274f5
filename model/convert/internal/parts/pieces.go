package parts

import (
	"fmt"
	"slices"

	"tfm/text"
	"tfm/text/tokenizer/sentencepiece"
)

// PieceSides returns the sides of a model with tokenizers of SentencePiece or subword-nmt. Those of
// a joint vocabulary have the same rows.
func PieceSides(src, tgt *Vocabulary, joint bool) (s, t Side, err error) {
	if src.Codes != nil {
		return SidesOf(src, tgt, joint, (*Vocabulary).segments)
	}
	return SidesOf(src, tgt, joint, func(v *Vocabulary) (Side, error) {
		if joint {
			return v.pieces(src.Tokenizer, tgt.Tokenizer)
		}
		return v.pieces(v.Tokenizer)
	})
}

// order returns the rows in the order of ids: their own, but the unknown token is before all rows
// that have no meaning.
func (v *Vocabulary) order() (rows []int) {
	isFirst := v.Unknown >= 0
	for row := range v.Tokens {
		if isFirst && (row == v.Unknown || !v.IsSpecial(row)) {
			rows, isFirst = append(rows, v.Unknown), false
		}
		if row != v.Unknown {
			rows = append(rows, row)
		}
	}
	return rows
}

// pieces maps the rows of v to the ids of a tokenizer that splits text as v.Tokenizer does. The
// file of that tokenizer has the tokens of v in their order, then the pieces of models that v
// lacks. A token that v.Tokenizer lacks is unused: no text is encoded as it. A piece that v lacks
// has the row of the unknown token, because the source system encodes it as that; it is in the file
// so that texts are split as before.
func (v *Vocabulary) pieces(models ...*sentencepiece.Tokenizer) (Side, error) {
	if s, ok := v.ownIDs(); ok {
		return s, nil
	}
	m := v.Tokenizer.Model()
	known := make(map[string]*sentencepiece.Piece, len(m.Pieces))
	lowest := float32(0) // score
	for i := range m.Pieces {
		p := &m.Pieces[i]
		known[p.Text] = p
		lowest = min(lowest, p.Score)
	}
	b := v.newPieceList(m)
	for _, row := range b.rows {
		token := v.Tokens[row]
		p := known[token]
		switch {
		case b.addSpecial(row):
		case p != nil && (p.Type == sentencepiece.Unknown || p.Type == sentencepiece.Control):
			b.addControl(row)
		case p != nil:
			b.add(sentencepiece.Piece{Text: token, Score: p.Score, Type: p.Type})
		default:
			b.add(UnusedPiece(token, m.Trainer.ModelType, lowest))
			b.m.Trainer.NameUnknown = true
		}
	}
	added := map[string]bool{}
	for _, other := range models {
		for _, p := range other.Model().Pieces {
			isText := p.Type == sentencepiece.Normal || p.Type == sentencepiece.UserDefined || p.Type == sentencepiece.Byte
			if !isText || v.Row(p.Text) >= 0 || added[p.Text] {
				continue
			}
			added[p.Text] = true
			if known[p.Text] == nil {
				p = UnusedPiece(p.Text, m.Trainer.ModelType, lowest)
			}
			b.add(sentencepiece.Piece{Text: p.Text, Score: p.Score, Type: p.Type})
		}
	}
	return b.side()
}

// UnusedPiece returns a piece that no text is encoded as, for a model whose lowest score is given.
func UnusedPiece(text string, kind sentencepiece.ModelType, lowest float32) sentencepiece.Piece {
	p := sentencepiece.Piece{Text: text, Type: sentencepiece.Unused}
	if kind == sentencepiece.BPE {
		p.Score = lowest - 1 // merged last, and split again
	}
	return p
}

// ownIDs returns the side of v.Tokenizer if its ids are those that pieces would give to the rows.
func (v *Vocabulary) ownIDs() (s Side, ok bool) {
	t := v.Tokenizer
	s = Side{Tokenizer: t, Rows: []int{v.Pad, v.BOS, v.EOS}}
	for _, row := range v.order() {
		if row != v.Pad && row != v.BOS && row != v.EOS {
			s.Rows = append(s.Rows, row)
		}
	}
	if t.Size() != len(s.Rows) {
		return s, false
	}
	for id, row := range s.Rows {
		file := t.FileID(int32(id))
		if id <= int(text.EOS) && file < 0 {
			continue
		}
		p := t.Model().Pieces[file]
		if row < 0 || p.Text != v.Tokens[row] || (p.Type == sentencepiece.Unknown) != (row == v.Unknown) {
			return s, false
		}
		if id > int(text.EOS) && p.Type == sentencepiece.Control {
			s.Special = append(s.Special, int32(id))
		}
	}
	return s, true
}

// Words maps the rows of v to ids as pieces does. The tokens of a text are its words, which must
// have spaces between them.
func (v *Vocabulary) Words() (Side, error) {
	m := sentencepiece.NewModel()
	m.Trainer.ModelType, m.Trainer.CountUnknown = sentencepiece.Word, true
	b := v.newPieceList(m)
	for _, row := range b.rows {
		if !b.addSpecial(row) {
			b.add(sentencepiece.Piece{Text: "▁" + v.Tokens[row], Type: sentencepiece.Normal})
		}
	}
	return b.side()
}

// pieceList is the file of a tokenizer under construction: the tokens of v in their order, then
// other pieces.
type pieceList struct {
	v       *Vocabulary
	m       *sentencepiece.Model
	rows    []int   // of the first pieces: those of v
	control []int32 // pieces of tokens without text
}

// newPieceList returns a list with the settings of m. An id of special meaning without a row has no
// piece.
func (v *Vocabulary) newPieceList(m *sentencepiece.Model) *pieceList {
	b := &pieceList{v: v, m: sentencepiece.NewModel(), rows: v.order()}
	b.m.Trainer, b.m.Normalizer, b.m.Denormalizer = m.Trainer, m.Normalizer, m.Denormalizer
	t := &b.m.Trainer
	if v.UnknownText != nil {
		t.UnknownSurface = *v.UnknownText
	}
	for _, s := range []struct {
		row   int
		piece *string
		id    *int32
	}{{v.Pad, &t.PadPiece, &t.PadID}, {v.BOS, &t.BOSPiece, &t.BOSID}, {v.EOS, &t.EOSPiece, &t.EOSID}, {v.Unknown, &t.UnknownPiece, &t.UnknownID}} {
		*s.piece, *s.id = "", int32(slices.Index(b.rows, s.row))
		if s.row >= 0 {
			*s.piece = v.Tokens[s.row]
		}
	}
	return b
}

func (b *pieceList) add(p sentencepiece.Piece) { b.m.Pieces = append(b.m.Pieces, p) }

// addControl adds a token without text.
func (b *pieceList) addControl(row int) {
	b.control = append(b.control, int32(len(b.m.Pieces)))
	b.add(sentencepiece.Piece{Text: b.v.Tokens[row], Type: sentencepiece.Control})
}

// addSpecial adds a token whose row has a meaning, and reports whether it has.
func (b *pieceList) addSpecial(row int) bool {
	switch {
	case row == b.v.Unknown:
		b.add(sentencepiece.Piece{Text: b.v.Tokens[row], Type: sentencepiece.Unknown})
	case b.v.IsSpecial(row):
		b.add(sentencepiece.Piece{Text: b.v.Tokens[row], Type: sentencepiece.Control})
	case b.v.Controls[row]:
		b.addControl(row)
	default:
		return false
	}
	return true
}

func (b *pieceList) side() (Side, error) {
	b.m.Trainer.VocabSize = int32(len(b.m.Pieces))
	t, err := sentencepiece.New(b.m)
	if err != nil {
		return Side{}, fmt.Errorf("%s: %w", b.v.Path, err)
	}
	s := Side{Tokenizer: t}
	for id := range int32(t.Size()) {
		row, file := -1, int(t.FileID(id))
		if file >= 0 {
			row = b.v.Unknown
			if file < len(b.rows) {
				row = b.rows[file]
			}
		}
		s.Rows = append(s.Rows, row)
	}
	for _, file := range b.control {
		s.Special = append(s.Special, t.FromFileID(file))
	}
	slices.Sort(s.Special)
	return s, nil
}
