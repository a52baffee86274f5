package train

import (
	"context"
	"testing"

	"tfm/text/score"
)

// The BLEU of a validation is that of translate's translations: a source without a word, whether
// it has no tokens or tokens of white space alone, has the empty one, and a translation is one
// line of valid UTF-8.
func TestBlankSourcesAreNotTranslated(t *testing.T) {
	const reference, said = "the dark red house stands there", "the dark\nred house \xffstands there"
	d := copyData()
	blank := int32(3) // a token of white space
	d.Valid, d.References = new(Pairs), nil
	for _, src := range [][]int32{{}, {5, 6}, {blank, blank}, {6}} {
		d.Valid.Add(src, []int32{4, 5})
		d.References = append(d.References, reference)
	}
	d.Detokenize = func([]int32) string { return said }
	d.DetokenizeSource = func(ids []int32) string {
		s := ""
		for _, id := range ids {
			if s += " "; id != blank {
				s += "word"
			}
		}
		return s
	}
	var want score.BLEU
	for _, translation := range []string{"", "the dark red house \uFFFDstands there", "", "the dark red house \uFFFDstands there"} {
		want.Add(translation, reference)
	}
	o := smallOptions(2)
	o.ValidEvery, o.Tokenize = 2, score.Tok13a
	r := mustRun(t, context.Background(), newModel(t, smallConfig()), nil, d, o, nil)
	if got, want := r.Best.BLEU, want.Score().Score; got < want-1e-9 || got > want+1e-9 { // it is rounded to as much
		t.Errorf("BLEU %v, want %v", got, want)
	}
}
