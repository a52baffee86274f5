package corpus

import (
	"context"
	"slices"
	"strings"
	"testing"

	"tfm/internal/texttest"
	"tfm/model"
	"tfm/text"
	"tfm/text/tokenizer/vocab"
	"tfm/train"
)

// Trimmed tokenizers have the pieces that the pairs use, with which the pairs are encoded as
// before, and the tokens of all languages with their new ids.
func TestTrim(t *testing.T) {
	lines := texttest.Lines(400)
	for _, joint := range []bool{true, false} {
		var trainer vocab.Trainer
		for i := range 200 {
			trainer.Add(text.Pair{Source: lines[i], Target: lines[200+i]})
		}
		full, err := trainer.Train(600, joint)
		if err != nil {
			t.Fatal(err)
		}
		var tsv strings.Builder
		for i := range 20 {
			tsv.WriteString(">>fra<< " + lines[i] + "\t" + lines[200+i] + "\n")
		}
		path := write(t, "pairs.tsv", tsv.String(), false)
		last := int32(full.Source.Size() - 1)
		languages := []model.Language{{Code: "deu", IDs: []int32{last}}, {Code: "fra", IDs: []int32{last - 1, 40}}}
		read := func(trim bool) *Corpus {
			o := train.DefaultOptions()
			o.ValidEvery = 0
			c := mustRead(t, Options{Train: TSV(path), Tokenizers: &full, Tagged: true, Model: model.Config{Source: model.ToFirst, TgtLanguages: model.FormatLanguages(languages)}, Trim: trim}, o)
			return c
		}
		was, c := read(false), read(true)
		if c.Vocab.Joint() != joint || c.Vocab.Source.Size() >= full.Source.Size() || c.Vocab.Target.Size() >= full.Target.Size() {
			t.Errorf("joint %v: joint %v, %d and %d pieces of %d and %d, want fewer", joint, c.Vocab.Joint(),
				c.Vocab.Source.Size(), c.Vocab.Target.Size(), full.Source.Size(), full.Target.Size())
		}
		pieces := func(t text.Tokenizer, ids []int32) (list []string) {
			for _, id := range ids {
				list = append(list, t.Piece(id))
			}
			return list
		}
		for i := range 20 {
			if got, want := pieces(c.Vocab.Source, c.Train.Src(i)), pieces(full.Source, was.Train.Src(i)); !slices.Equal(got, want) {
				t.Fatalf("joint %v: source %d is %q, want %q", joint, i, got, want)
			}
			if got, want := pieces(c.Vocab.Target, c.Train.Tgt(i)), pieces(full.Target, was.Train.Tgt(i)); !slices.Equal(got, want) {
				t.Fatalf("joint %v: target %d is %q, want %q", joint, i, got, want)
			}
		}
		for i, l := range c.TgtLanguages.List() {
			if got, want := pieces(c.Vocab.Source, l.IDs), pieces(full.Source, languages[i].IDs); l.Code != languages[i].Code || !slices.Equal(got, want) {
				t.Errorf("joint %v: language %s has the tokens %q, want %q", joint, l.Code, got, want)
			}
		}
	}
}

// Learn learns the tokenizers of a corpus for which others are given, and says how many more tokens
// the corpus has with these. Without it the given ones stay.
func TestLearn(t *testing.T) {
	lines := texttest.Lines(2000)
	var tsv strings.Builder
	for i := range 1000 {
		tsv.WriteString(lines[i] + "\t" + lines[1000+i] + "\n")
	}
	path := write(t, "pairs.tsv", tsv.String(), false)
	var other vocab.Trainer
	other.Add(text.Pair{Source: "quite another text with other words", Target: "with other words"})
	given, err := other.Train(300, true)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	s := inspect(t, Options{Train: TSV(path), Tokenizers: &given, CountWords: true})
	learned, more, err := s.Learn(ctx, 600, true)
	if err != nil {
		t.Fatal(err)
	}
	want := mustRead(t, Options{Train: TSV(path), VocabSize: 600, Joint: true}, train.DefaultOptions())
	if same, err := learned.Equal(want.Vocab); err != nil || !same {
		t.Errorf("other tokenizers than of a corpus without given ones: %v, %v", same, err)
	}
	before, after := 0, 0
	for _, line := range lines {
		before += len(given.Source.Encode(nil, line))
		after += len(learned.Source.Encode(nil, line))
	}
	if ratio := float64(before) / float64(after); more != ratio || ratio < 1.5 {
		t.Errorf("ratio %v, want %v", more, ratio)
	}
	c, err := s.Read(ctx, train.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if same, err := c.Vocab.Equal(given); err != nil || !same {
		t.Errorf("the given tokenizers are replaced: %v, %v", same, err)
	}
}
