package parts

import (
	"slices"
	"strings"
	"testing"

	"tfm/model"
	"tfm/text"
	"tfm/text/tokenizer/sentencepiece"
)

// Tokens that are controls of the SentencePiece model have no text, and bytes that only this model
// has are pieces, whichever system the vocabulary is of.
func TestPieceSides(t *testing.T) {
	m := sentencepiece.NewModel()
	m.Trainer.ModelType, m.Trainer.ByteFallback = sentencepiece.Unigram, true
	add := func(text string, kind sentencepiece.PieceType) {
		m.Pieces = append(m.Pieces, sentencepiece.Piece{Text: text, Type: kind, Score: -float32(len(m.Pieces))})
	}
	add("<unk>", sentencepiece.Unknown)
	add("<s>", sentencepiece.Control)
	add("</s>", sentencepiece.Control)
	for b := range 256 {
		add("<0x"+strings.ToUpper(string("0123456789abcdef"[b/16])+string("0123456789abcdef"[b%16]))+">", sentencepiece.Byte)
	}
	add("▁a", sentencepiece.Normal)
	add("b", sentencepiece.Normal)
	m.Trainer.VocabSize = int32(len(m.Pieces))
	spm, err := sentencepiece.New(m)
	if err != nil {
		t.Fatal(err)
	}
	v, err := NewVocabulary("vocab", []string{"</s>", "b", "<s>", "▁a", "<unk>", "new"})
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Find("</s>", "<unk>"); err != nil {
		t.Fatal(err)
	}
	v.Tokenizer = spm
	s, _, err := PieceSides(v, v, true)
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{-1, -1, 0, 4, 1, 2, 3, 5}; !slices.Equal(s.Rows[:8], want) || len(s.Rows) != 8+256 || s.Rows[100] != 4 {
		t.Errorf("found rows %v, want %v and 256 times that of the unknown piece", s.Rows, want)
	}
	if !slices.Equal(s.Special, []int32{5}) || s.Tokenizer.Decode([]int32{6, 5, 4}) != "ab" {
		t.Errorf("found special pieces %v, text %q", s.Special, s.Tokenizer.Decode([]int32{6, 5, 4}))
	}
	if ids := s.Tokenizer.Encode(nil, "abé"); len(ids) != 4 || ids[0] != 6 || ids[1] != 4 || s.Rows[ids[2]] != 4 || s.Rows[ids[3]] != 4 {
		t.Errorf("found ids %v", ids)
	}
}

// Many rows without a token are suppressed, or impossible, in linear time.
func TestManyRows(t *testing.T) {
	v, err := NewVocabulary("x", []string{"</s>", "<unk>"})
	if err != nil {
		t.Fatal(err)
	}
	v.EOS, v.Unknown = 0, 1
	const n = 20_000
	if err := v.SetRows(n, "y"); err != nil {
		t.Fatal(err)
	}
	s, err := v.Words()
	if err != nil || len(s.Special) != n-2 {
		t.Fatalf("%d tokens without text, error %v, want %d", len(s.Special), err, n-2)
	}
	bias := make([]float32, len(s.Rows))
	if s.SetBias(bias, nil, v.Unnamed); bias[len(bias)-1] != MinusInf {
		t.Errorf("bias %v, want -Inf", bias[len(bias)-1])
	}
	if got := len(strings.Fields(s.Suppressed(v.Unnamed))); got != n-2 {
		t.Errorf("%d suppressed, want %d", got, n-2)
	}
}

// Each word without a row is unknown, as in CTranslate2.
func TestUnknownWords(t *testing.T) {
	v, err := NewVocabulary("x", []string{"</s>", "<unk>", "a"})
	if err != nil {
		t.Fatal(err)
	}
	v.EOS, v.Unknown = 0, 1
	s, err := v.Words()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time from a cache
		ids, ranges := s.Tokenizer.EncodeRanges(nil, nil, "a b c a d")
		if plain := s.Tokenizer.Encode(nil, "a b c a d"); len(ids) != 5 || !slices.Equal(ids, plain) || ids[1] != ids[2] || len(ranges) != 5 || ranges[2] != (text.Range{Start: 3, End: 5}) {
			t.Errorf("found %v and %v, ranges %v, want 5", ids, plain, ranges)
		}
	}
}

// A code that the rules of a preprocess.sh delete selects no language.
func TestDeletedCode(t *testing.T) {
	m := sentencepiece.NewModel()
	m.Trainer.ModelType = sentencepiece.Unigram
	m.Pieces = []sentencepiece.Piece{{Text: "<unk>", Type: sentencepiece.Unknown}, {Text: "</s>", Type: sentencepiece.Control}, {Text: "▁>>fra<<", Type: sentencepiece.Normal}}
	tok, err := sentencepiece.New(m)
	if err != nil {
		t.Fatal(err)
	}
	v, err := VocabularyOfSentencePiece("x", tok)
	if err != nil {
		t.Fatal(err)
	}
	v.Tokens[2] = ">>fra<<"
	if err := v.Rewrite([]string{".+\t"}); err != nil {
		t.Fatal(err)
	}
	s := Side{Tokenizer: v.Tokenizer, Rows: []int{-1, -1, 1, 0, 2}}
	var c model.Config
	if s.AddTargets(&c, v); c.TgtLanguages != "" {
		t.Errorf("languages %q, want none", c.TgtLanguages)
	}
}
