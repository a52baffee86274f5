package convert

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"tfm/mat"
	"tfm/model/decode"
	"tfm/text"
	"tfm/text/tokenizer/moses"
	"tfm/text/tokenizer/sentencepiece"
	"tfm/text/tokenizer/subword"
)

// vocabulary is one side of a source model: its tokens, whose index is the row of their embedding.
type vocabulary struct {
	path   string   // for errors
	tokens []string // distinct
	index  map[string]int

	tokenizer   *sentencepiece.Tokenizer // splits text into tokens; nil for words and subword-nmt
	codes       *codes                   // split words into tokens; nil for others
	spellsCodes bool                     // a code >>fra<< has the tokens of its text
	controls    map[int]bool             // rows of tokens without text, besides those below
	unknownText *string                  // text of the unknown token; nil: that of the tokenizer
	unnamed     []int32                  // rows without a token of the source, which are controls

	// Rows of tokens with a meaning, or -1.
	unknown int
	pad     int // row of Pad: no text has it, and no translation can
	bos     int // row of BOS, likewise
	eos     int // row of EOS
}

// newVocabulary returns a vocabulary of tokens without tokens of special meaning.
func newVocabulary(path string, tokens []string) (*vocabulary, error) {
	v := &vocabulary{path: path, tokens: tokens, index: make(map[string]int, len(tokens)), controls: map[int]bool{}, unknown: -1, pad: -1, bos: -1, eos: -1}
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
	v.tokenizer, v.spellsCodes = t, true
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

// setRows adds controls for the rows of n that the vocabulary has no tokens for, such as those of a
// model that was trained further with more. It returns an error for fewer rows.
func (v *vocabulary) setRows(n int, what string) error {
	if len(v.tokens) > n {
		return fmt.Errorf("%s: found %d pieces, expected %d as in %s", v.path, len(v.tokens), n, what)
	}
	for row := len(v.tokens); row < n; row++ {
		token := fmt.Sprintf("<row %d>", row)
		if v.row(token) >= 0 {
			return fmt.Errorf("%s: found %q and no piece for row %d of %s, expected one", v.path, token, row, what)
		}
		v.tokens, v.index[token] = append(v.tokens, token), row
		v.controls[row], v.unnamed = true, append(v.unnamed, int32(row))
	}
	return nil
}

// rewrite makes the tokenizer apply rules before its own normalization.
func (v *vocabulary) rewrite(rules []string) (err error) {
	if len(rules) == 0 {
		return nil
	}
	m := *v.tokenizer.Model()
	m.Normalizer.Rewrites = rules
	if v.tokenizer, err = sentencepiece.New(&m); err != nil {
		return fmt.Errorf("%s: %w", v.path, err)
	}
	return nil
}

// tokenLines returns the tokens of a file with one in each line.
func tokenLines(text string) []string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	// A carriage return at the end of every line ends the line; otherwise it is part of tokens.
	if !slices.ContainsFunc(lines, func(s string) bool { return !strings.HasSuffix(s, "\r") }) {
		for i := range lines {
			lines[i] = lines[i][:len(lines[i])-1]
		}
	}
	return lines
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

// sidesOf returns what f returns for the vocabularies of both sides. Equal sides of a joint
// vocabulary have one tokenizer.
func sidesOf(src, tgt *vocabulary, joint bool, f func(*vocabulary) (side, error)) (s, t side, err error) {
	if s, err = f(src); err != nil {
		return s, t, err
	}
	if t, err = f(tgt); err == nil && joint && s.equal(t) {
		t = s
	}
	return s, t, err
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

// codes is a file of codes of subword-nmt.
type codes struct {
	path  string
	data  []byte
	moses *moses.Chain // of raw text, nil for words
}

// segments maps the rows of v to ids as pieces does. The tokenizer is that of v.codes.
func (v *vocabulary) segments() (side, error) {
	c, err := subword.ReadCodes(bytes.NewReader(v.codes.data), v.codes.path)
	if err != nil {
		return side{}, err
	}
	s := side{rows: []int{v.pad, v.bos, v.eos, v.unknown}}
	var entries []subword.Entry
	for row, token := range v.tokens {
		if v.isSpecial(row) {
			continue
		}
		if v.controls[row] {
			s.special = append(s.special, int32(len(s.rows)))
			token = strings.ReplaceAll(token, " ", "_")
		}
		if token == "<unk>" || token == "<s>" || token == "</s>" || token == "<pad>" {
			s.special = append(s.special, int32(len(s.rows)))
			for v.row(token) >= 0 {
				token += "_" // because subword-nmt's has the id of another token
			}
		}
		entries = append(entries, subword.Entry{Piece: token, Count: 1})
		s.rows = append(s.rows, row)
	}
	list, err := subword.NewVocabulary(entries, 0)
	if err != nil {
		return side{}, fmt.Errorf("%s: %w", v.path, err)
	}
	s.tokenizer = subword.NewRaw(c, list, v.codes.moses)
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
// It is -Inf, which makes an id impossible, for Pad, BOS, those that the source cannot predict, and
// those of the impossible rows.
func (s side) setBias(dst, src []float32, impossible []int32) {
	isImpossible := map[int]bool{}
	for _, row := range impossible {
		isImpossible[int(row)] = true
	}
	for id, row := range s.rows {
		dst[id] = 0
		switch {
		case isImpossible[row]:
			dst[id] = minusInf
		case row >= 0 && src != nil:
			dst[id] = src[row]
		}
	}
	for _, id := range append(s.excluded(), text.Pad, text.BOS) {
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
	idOf := s.idsOfRows()
	var ids []int32
	for _, row := range rows {
		if id, ok := idOf[int(row)]; ok && id != text.EOS {
			ids = append(ids, id)
		}
	}
	return decode.FormatSuppressed(ids)
}

// idsOfRows returns the first id of each row.
func (s side) idsOfRows() map[int]int32 {
	idOf := make(map[int]int32, len(s.rows))
	for id, row := range s.rows {
		if _, ok := idOf[row]; !ok {
			idOf[row] = int32(id)
		}
	}
	return idOf
}

// equal reports whether the sides have the same ids and rows.
func (s side) equal(o side) bool {
	a, errA := s.tokenizer.MarshalBinary()
	b, errB := o.tokenizer.MarshalBinary()
	return errA == nil && errB == nil && bytes.Equal(a, b) && slices.Equal(s.rows, o.rows)
}
