package parts

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

// Vocabulary is one side of a source model: its tokens, whose index is the row of their embedding.
type Vocabulary struct {
	Path   string   // for errors
	Tokens []string // distinct
	index  map[string]int

	Tokenizer   *sentencepiece.Tokenizer // splits text into tokens; nil for words and subword-nmt
	Codes       *Codes                   // split words into tokens; nil for others
	spellsCodes bool                     // a code >>fra<< has the tokens of its text
	Controls    map[int]bool             // rows of tokens without text, besides those below
	UnknownText *string                  // text of the unknown token; nil: that of the tokenizer
	Unnamed     []int32                  // rows without a token of the source, which are controls

	// Rows of tokens with a meaning, or -1.
	Unknown int
	Pad     int // row of Pad: no text has it, and no translation can
	BOS     int // row of BOS, likewise
	EOS     int // row of EOS
}

// NewVocabulary returns a vocabulary of tokens without tokens of special meaning.
func NewVocabulary(path string, tokens []string) (*Vocabulary, error) {
	v := &Vocabulary{Path: path, Tokens: tokens, index: make(map[string]int, len(tokens)), Controls: map[int]bool{}, Unknown: -1, Pad: -1, BOS: -1, EOS: -1}
	for i, token := range tokens {
		if first, ok := v.index[token]; ok {
			return nil, fmt.Errorf("%s: found %.80q as tokens %d and %d, expected distinct tokens", path, token, first, i)
		}
		v.index[token] = i
	}
	return v, nil
}

// VocabularyOf returns the vocabulary of tokens with their rows. Each row from 0 has one.
func VocabularyOf(path string, rows map[string]int32) (*Vocabulary, error) {
	tokens := make([]string, len(rows))
	set := make([]bool, len(rows))
	for token, row := range rows {
		if row < 0 || int(row) >= len(rows) || set[row] {
			return nil, fmt.Errorf("%s: found id %d of %.40q, expected each of 0 to %d once", path, row, token, len(rows)-1)
		}
		tokens[row], set[row] = token, true
	}
	return NewVocabulary(path, tokens)
}

// VocabularyOfSentencePiece returns the vocabulary of a model whose rows are the ids of t's file.
func VocabularyOfSentencePiece(path string, t *sentencepiece.Tokenizer) (*Vocabulary, error) {
	m := t.Model()
	var tokens []string
	for i := range m.Pieces {
		tokens = append(tokens, m.Pieces[i].Text)
	}
	v, err := NewVocabulary(path, tokens)
	if err != nil {
		return nil, err
	}
	v.Tokenizer, v.spellsCodes = t, true
	return v, v.Find(m.Trainer.EOSPiece, m.Trainer.UnknownPiece)
}

// Find sets the rows of EOS and of the unknown token.
func (v *Vocabulary) Find(eos, unknown string) error {
	v.EOS, v.Unknown = v.Row(eos), v.Row(unknown)
	if v.EOS < 0 || v.Unknown < 0 {
		return fmt.Errorf("%s: found no %q or no %q, expected both", v.Path, eos, unknown)
	}
	return nil
}

// Row returns the row of a token, or -1.
func (v *Vocabulary) Row(token string) int {
	if i, ok := v.index[token]; ok {
		return i
	}
	return -1
}

// SetRows adds controls for the rows of n that the vocabulary has no tokens for, such as those of a
// model that was trained further with more. It returns an error for fewer rows.
func (v *Vocabulary) SetRows(n int, what string) error {
	if len(v.Tokens) > n {
		return fmt.Errorf("%s: found %d pieces, expected %d as in %s", v.Path, len(v.Tokens), n, what)
	}
	for row := len(v.Tokens); row < n; row++ {
		token := fmt.Sprintf("<row %d>", row)
		if v.Row(token) >= 0 {
			return fmt.Errorf("%s: found %q and no piece for row %d of %s, expected one", v.Path, token, row, what)
		}
		v.Tokens, v.index[token] = append(v.Tokens, token), row
		v.Controls[row], v.Unnamed = true, append(v.Unnamed, int32(row))
	}
	return nil
}

// Rewrite makes the tokenizer apply rules before its own normalization.
func (v *Vocabulary) Rewrite(rules []string) (err error) {
	if len(rules) == 0 {
		return nil
	}
	m := *v.Tokenizer.Model()
	m.Normalizer.Rewrites = rules
	if v.Tokenizer, err = sentencepiece.New(&m); err != nil {
		return fmt.Errorf("%s: %w", v.Path, err)
	}
	return nil
}

// TokenLines returns the tokens of a file with one in each line.
func TokenLines(text string) []string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	// A carriage return at the end of every line ends the line; otherwise it is part of tokens.
	if !slices.ContainsFunc(lines, func(s string) bool { return !strings.HasSuffix(s, "\r") }) {
		for i := range lines {
			lines[i] = lines[i][:len(lines[i])-1]
		}
	}
	return lines
}

// IsSpecial reports whether a row has a meaning of its own.
func (v *Vocabulary) IsSpecial(row int) bool {
	return row == v.Unknown || row == v.Pad || row == v.BOS || row == v.EOS
}

// Side is the vocabulary of one side of an imported model: its tokenizer and, for each of the
// tokenizer's ids, the row of the source.
type Side struct {
	Tokenizer text.Tokenizer
	Rows      []int   // -1: the source has no such row
	Special   []int32 // ids of tokens without text that the source can predict nevertheless
}

// SidesOf returns what f returns for the vocabularies of both sides. Equal sides of a joint
// vocabulary have one tokenizer.
func SidesOf(src, tgt *Vocabulary, joint bool, f func(*Vocabulary) (Side, error)) (s, t Side, err error) {
	if s, err = f(src); err != nil {
		return s, t, err
	}
	if t, err = f(tgt); err == nil && joint && s.Equal(t) {
		t = s
	}
	return s, t, err
}

// ReadSentencePiece decodes a .model file of SentencePiece.
func ReadSentencePiece(f Folder, name string) (*sentencepiece.Tokenizer, error) {
	data, err := f.Read(name)
	if err != nil {
		return nil, err
	}
	t, err := sentencepiece.Unmarshal(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(name), err)
	}
	return t, nil
}

// Codes is a file of codes of subword-nmt.
type Codes struct {
	Path  string
	Data  []byte
	Moses *moses.Chain // of raw text, nil for words
}

// segments maps the rows of v to ids as pieces does. The tokenizer is that of v.Codes.
func (v *Vocabulary) segments() (Side, error) {
	c, err := subword.ReadCodes(bytes.NewReader(v.Codes.Data), v.Codes.Path)
	if err != nil {
		return Side{}, err
	}
	s := Side{Rows: []int{v.Pad, v.BOS, v.EOS, v.Unknown}}
	var entries []subword.Entry
	for row, token := range v.Tokens {
		if v.IsSpecial(row) {
			continue
		}
		if v.Controls[row] {
			s.Special = append(s.Special, int32(len(s.Rows)))
			token = strings.ReplaceAll(token, " ", "_")
		}
		if token == "<unk>" || token == "<s>" || token == "</s>" || token == "<pad>" {
			s.Special = append(s.Special, int32(len(s.Rows)))
			for v.Row(token) >= 0 {
				token += "_" // because subword-nmt's has the id of another token
			}
		}
		entries = append(entries, subword.Entry{Piece: token, Count: 1})
		s.Rows = append(s.Rows, row)
	}
	list, err := subword.NewVocabulary(entries)
	if err != nil {
		return Side{}, fmt.Errorf("%s: %w", v.Path, err)
	}
	s.Tokenizer = subword.NewRaw(c, list, v.Codes.Moses)
	return s, nil
}

// embed sets dst [ids × d], the embeddings of a side, to rows of src, zeros for those that it
// lacks. BOS has row bos, unless it is -1.
func (s Side) embed(dst, src mat.Matrix, bos int) {
	for id, row := range s.Rows {
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

// SetBias sets dst, the bias of the output projection, to that of the rows, src or nil for zeros.
// It is -Inf, which makes an id impossible, for Pad, BOS, those that the source cannot predict, and
// those of the impossible rows.
func (s Side) SetBias(dst, src []float32, impossible []int32) {
	isImpossible := map[int]bool{}
	for _, row := range impossible {
		isImpossible[int(row)] = true
	}
	for id, row := range s.Rows {
		dst[id] = 0
		switch {
		case isImpossible[row]:
			dst[id] = MinusInf
		case row >= 0 && src != nil:
			dst[id] = src[row]
		}
	}
	for _, id := range append(s.Excluded(), text.Pad, text.BOS) {
		dst[id] = MinusInf
	}
}

// Excluded returns the ids that the source cannot predict: those without a row, Pad and BOS if
// their rows are not those of the source, and further ids of the same row.
func (s Side) Excluded() []int32 {
	var list []int32
	seen := map[int]bool{}
	for id, row := range s.Rows {
		if row < 0 || seen[row] {
			list = append(list, int32(id))
		}
		seen[row] = true
	}
	return list
}

// Suppressed returns the Decoding.Suppressed of rows, without EOS.
func (s Side) Suppressed(rows []int32) string {
	idOf := s.IDsOfRows()
	var ids []int32
	for _, row := range rows {
		if id, ok := idOf[int(row)]; ok && id != text.EOS {
			ids = append(ids, id)
		}
	}
	return decode.FormatSuppressed(ids)
}

// IDsOfRows returns the first id of each row.
func (s Side) IDsOfRows() map[int]int32 {
	idOf := make(map[int]int32, len(s.Rows))
	for id, row := range s.Rows {
		if _, ok := idOf[row]; !ok {
			idOf[row] = int32(id)
		}
	}
	return idOf
}

// Equal reports whether the sides have the same ids and rows.
func (s Side) Equal(o Side) bool {
	a, errA := s.Tokenizer.MarshalBinary()
	b, errB := o.Tokenizer.MarshalBinary()
	return errA == nil && errB == nil && bytes.Equal(a, b) && slices.Equal(s.Rows, o.Rows)
}
