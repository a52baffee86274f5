package convert

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tfm/model"
	"tfm/text"
	"tfm/text/tokenizer/sentencepiece"
)

// A language code is one piece at the begin of a source, in models of CTranslate2 too, whose own
// tokenizer does not know it. The other side does not encode it.
func TestLanguageCodes(t *testing.T) {
	dir := t.TempDir()
	if err := WriteCTranslate2(dir, randomModelFile(t, true, func(*model.Config) {})); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "shared_vocabulary.json")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var tokens []string
	if err := json.Unmarshal(data, &tokens); err != nil {
		t.Fatal(err)
	}
	tokens[len(tokens)-1] = ">>fra<<"
	if data, err = json.Marshal(tokens); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := ReadCTranslate2(dir)
	if err != nil {
		t.Fatal(err)
	}
	c, source := f.Model.Config, tokenizersOf(t, f).Source
	french, err := c.TgtLanguages.Find("to", "fr")
	if err != nil || c.Source != model.ToFirst {
		t.Fatalf("source %s, error %v", c.Source, err)
	}
	if len(french.IDs) != 1 || source.Piece(french.IDs[0]) != ">>fra<<" {
		t.Errorf("found ids %v of French, want one, of >>fra<<", french.IDs)
	}
	if ids := source.Encode(nil, ">>fra<< rokoge"); slices.Contains(ids, french.IDs[0]) {
		t.Errorf("tokens %v of a text have the code", ids)
	}
}

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
	v, err := newVocabulary("vocab", []string{"</s>", "b", "<s>", "▁a", "<unk>", "new"})
	if err != nil {
		t.Fatal(err)
	}
	if err := v.find("</s>", "<unk>"); err != nil {
		t.Fatal(err)
	}
	v.tokenizer = spm
	s, _, err := pieceSides(v, v, true)
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{-1, -1, 0, 4, 1, 2, 3, 5}; !slices.Equal(s.rows[:8], want) || len(s.rows) != 8+256 || s.rows[100] != 4 {
		t.Errorf("found rows %v, want %v and 256 times that of the unknown piece", s.rows, want)
	}
	if !slices.Equal(s.special, []int32{5}) || s.tokenizer.Decode([]int32{6, 5, 4}) != "ab" {
		t.Errorf("found special pieces %v, text %q", s.special, s.tokenizer.Decode([]int32{6, 5, 4}))
	}
	if ids := s.tokenizer.Encode(nil, "abé"); len(ids) != 4 || ids[0] != 6 || ids[1] != 4 || s.rows[ids[2]] != 4 || s.rows[ids[3]] != 4 {
		t.Errorf("found ids %v", ids)
	}
}

// Many rows without a token are suppressed, or impossible, in linear time.
func TestManyRows(t *testing.T) {
	v, err := newVocabulary("x", []string{"</s>", "<unk>"})
	if err != nil {
		t.Fatal(err)
	}
	v.eos, v.unknown = 0, 1
	const n = 20_000
	if err := v.setRows(n, "y"); err != nil {
		t.Fatal(err)
	}
	s, err := v.words()
	if err != nil || len(s.special) != n-2 {
		t.Fatalf("%d tokens without text, error %v, want %d", len(s.special), err, n-2)
	}
	bias := make([]float32, len(s.rows))
	if s.setBias(bias, nil, v.unnamed); bias[len(bias)-1] != minusInf {
		t.Errorf("bias %v, want -Inf", bias[len(bias)-1])
	}
	if got := len(strings.Fields(s.suppressed(v.unnamed))); got != n-2 {
		t.Errorf("%d suppressed, want %d", got, n-2)
	}
}

// Each word without a row is unknown, as in CTranslate2.
func TestUnknownWords(t *testing.T) {
	v, err := newVocabulary("x", []string{"</s>", "<unk>", "a"})
	if err != nil {
		t.Fatal(err)
	}
	v.eos, v.unknown = 0, 1
	s, err := v.words()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time from a cache
		ids, ranges := s.tokenizer.EncodeRanges(nil, nil, "a b c a d")
		if plain := s.tokenizer.Encode(nil, "a b c a d"); len(ids) != 5 || !slices.Equal(ids, plain) || ids[1] != ids[2] || len(ranges) != 5 || ranges[2] != (text.Range{Start: 3, End: 5}) {
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
	v, err := vocabularyOfSentencePiece("x", tok)
	if err != nil {
		t.Fatal(err)
	}
	v.tokens[2] = ">>fra<<"
	if err := v.rewrite([]string{".+\t"}); err != nil {
		t.Fatal(err)
	}
	s := side{tokenizer: v.tokenizer, rows: []int{-1, -1, 1, 0, 2}}
	var c model.Config
	if s.addTargets(&c, v); c.TgtLanguages != "" {
		t.Errorf("languages %q, want none", c.TgtLanguages)
	}
}
