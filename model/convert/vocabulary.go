package convert

import (
	"fmt"
	"slices"
	"strings"

	"tfm/mat"
	"tfm/text"
	"tfm/text/sentencepiece"
	"tfm/text/subword"
)

// vocabulary is one side of a source model: its tokens, whose index is the row of their embedding.
type vocabulary struct {
	path   string   // for errors
	tokens []string // distinct
	index  map[string]int

	controls []string // tokens without text, besides those of the rows

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

// row returns the row of a token, or -1.
func (v *vocabulary) row(token string) int {
	if i, ok := v.index[token]; ok {
		return i
	}
	return -1
}

// side is the vocabulary of one side of an imported model: its tokenizer and, for each of the
// tokenizer's ids, the row of the source.
type side struct {
	tokenizer text.Tokenizer
	rows      []int   // -1: the source has no such row
	special   []int32 // ids of tokens without text that the source can predict nevertheless
}

// pieces maps the rows of v to ids: Pad, BOS, EOS, then the other rows in order. The tokenizer is
// that of the .model file spm of SentencePiece, with the pieces of v in this order. Pieces that
// only v has are unused: no text is encoded as them. Pieces that only the file has follow. They
// have the row of the unknown token, because the source system encodes them as that.
func (v *vocabulary) pieces(spm []byte, name string) (side, error) {
	m, err := sentencepiece.UnmarshalModel(spm)
	if err != nil {
		return side{}, fmt.Errorf("%s: %w", name, err)
	}
	own, err := sentencepiece.Unmarshal(spm)
	if err != nil {
		return side{}, fmt.Errorf("%s: %w", name, err)
	}
	if rows := v.rowsOf(own); rows != nil {
		return side{tokenizer: own, rows: rows}, nil
	}
	known := make(map[string]*sentencepiece.Piece, len(m.Pieces))
	lowest := float32(0) // score
	for i := range m.Pieces {
		p := &m.Pieces[i]
		known[p.Text] = p
		lowest = min(lowest, p.Score)
	}
	b := v.newPieceList(m)
	for row, token := range v.tokens {
		p, ok := known[token]
		switch {
		case row == v.unknown || row == v.pad || row == v.bos || row == v.eos:
		case slices.Contains(v.controls, token) || ok && (p.Type == sentencepiece.Unknown || p.Type == sentencepiece.Control):
			b.addControl(token, row)
		case !ok:
			b.add(unusedPiece(token, m.Trainer.ModelType, lowest), row)
		default:
			b.add(sentencepiece.Piece{Text: token, Score: p.Score, Type: p.Type}, row)
		}
	}
	for i := range m.Pieces {
		p := &m.Pieces[i]
		isText := p.Type == sentencepiece.Normal || p.Type == sentencepiece.UserDefined || p.Type == sentencepiece.Byte
		if v.row(p.Text) < 0 && isText {
			b.add(sentencepiece.Piece{Text: p.Text, Score: p.Score, Type: p.Type}, v.unknown)
		}
	}
	return b.side(name)
}

// unusedPiece returns a piece that no text is encoded as, for a model whose lowest score is given.
func unusedPiece(text string, kind sentencepiece.ModelType, lowest float32) sentencepiece.Piece {
	p := sentencepiece.Piece{Text: text, Type: sentencepiece.Unused}
	if kind == sentencepiece.BPE {
		p.Score = lowest - 1 // merged last, and split again
	}
	return p
}

// rowsOf returns the rows of t's ids, or nil unless these have the order of pieces.
func (v *vocabulary) rowsOf(t *sentencepiece.Tokenizer) []int {
	order := []int{v.pad, v.bos, v.eos}
	for row := range v.tokens {
		if row != v.pad && row != v.bos && row != v.eos {
			order = append(order, row)
		}
	}
	if t.Size() != len(order) {
		return nil
	}
	for id, row := range order {
		file := t.FileID(int32(id))
		if id <= int(text.EOS) && file < 0 {
			continue
		}
		p := t.Model().Pieces[file]
		isControl := id > int(text.EOS) && p.Type == sentencepiece.Control
		if row < 0 || p.Text != v.tokens[row] || (p.Type == sentencepiece.Unknown) != (row == v.unknown) || isControl {
			return nil
		}
	}
	return order
}

// words maps the rows of v to ids as pieces does. The tokens of a text are its words, which must
// have spaces between them.
func (v *vocabulary) words() (side, error) {
	m := sentencepiece.NewModel()
	m.Trainer.ModelType = sentencepiece.Word
	b := v.newPieceList(m)
	for row, token := range v.tokens {
		switch {
		case row == v.unknown || row == v.pad || row == v.bos || row == v.eos:
		case slices.Contains(v.controls, token):
			b.addControl(token, row)
		default:
			b.add(sentencepiece.Piece{Text: "▁" + token, Type: sentencepiece.Normal}, row)
		}
	}
	return b.side(v.path)
}

// pieceList is a tokenizer under construction, in the order of the ids.
type pieceList struct {
	v       *vocabulary
	m       *sentencepiece.Model
	rows    []int
	special []int32
}

// newPieceList returns a list with Pad, BOS, EOS and the unknown piece, and the settings of m. A
// special id without a row has no piece.
func (v *vocabulary) newPieceList(m *sentencepiece.Model) *pieceList {
	b := &pieceList{v: v, m: sentencepiece.NewModel()}
	b.m.Trainer, b.m.Normalizer, b.m.Denormalizer = m.Trainer, m.Normalizer, m.Denormalizer
	t := &b.m.Trainer
	for _, s := range []struct {
		row   int
		piece *string
		id    *int32
		name  string
	}{
		{v.pad, &t.PadPiece, &t.PadID, "<pad>"}, {v.bos, &t.BOSPiece, &t.BOSID, "<s>"}, {v.eos, &t.EOSPiece, &t.EOSID, "</s>"},
	} {
		*s.id = -1
		if s.row >= 0 {
			*s.piece, *s.id = v.tokens[s.row], int32(len(b.m.Pieces))
			b.m.Pieces = append(b.m.Pieces, sentencepiece.Piece{Text: *s.piece, Type: sentencepiece.Control})
		} else {
			for *s.piece = s.name; v.row(*s.piece) >= 0; {
				*s.piece += "_" // no piece, which a special id does not need
			}
		}
		b.rows = append(b.rows, s.row)
	}
	t.UnknownPiece = "<unk>"
	if v.unknown >= 0 {
		t.UnknownPiece = v.tokens[v.unknown]
	}
	t.UnknownID = int32(len(b.m.Pieces))
	b.add(sentencepiece.Piece{Text: t.UnknownPiece, Type: sentencepiece.Unknown}, v.unknown)
	return b
}

func (b *pieceList) add(p sentencepiece.Piece, row int) {
	b.m.Pieces, b.rows = append(b.m.Pieces, p), append(b.rows, row)
}

// addControl adds a piece without text.
func (b *pieceList) addControl(token string, row int) {
	b.special = append(b.special, int32(len(b.rows)))
	b.add(sentencepiece.Piece{Text: token, Type: sentencepiece.Control}, row)
}

func (b *pieceList) side(name string) (side, error) {
	b.m.Trainer.VocabSize = int32(len(b.m.Pieces))
	t, err := sentencepiece.New(b.m)
	if err != nil {
		return side{}, fmt.Errorf("%s: %w", name, err)
	}
	return side{t, b.rows, b.special}, nil
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
		if row != v.unknown && row != v.pad && row != v.bos && row != v.eos {
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
// lacks.
func (s side) embed(dst, src mat.Matrix) {
	for id, row := range s.rows {
		if row < 0 {
			clear(dst.Row(id))
		} else {
			copy(dst.Row(id), src.Row(row))
		}
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

// equal reports whether the sides have the same ids and rows.
func (s side) equal(o side) bool {
	a, errA := s.tokenizer.MarshalBinary()
	b, errB := o.tokenizer.MarshalBinary()
	return errA == nil && errB == nil && slices.Equal(a, b) && slices.Equal(s.rows, o.rows)
}
