package train

import (
	"context"
	"slices"
	"testing"

	"tfm/text/score"
)

// Validations translate as package translate does: the translation of a source without words, of no
// tokens or of white space, is empty, and translations are single lines of valid UTF-8.
func TestBlankSourcesAreNotTranslated(t *testing.T) {
	const reference, decoded = "the dark red house stands there", "the dark\nred house \xffstands there"
	d := copyData()
	blank := int32(3) // id of a space
	d.Valid, d.References = new(Pairs), nil
	for _, src := range [][]int32{{}, {5, 6}, {blank, blank}, {6}} {
		d.Valid.Add(src, []int32{4, 5})
		d.References = append(d.References, reference)
	}
	d.Detokenize = func([]int32) string { return decoded }
	d.DetokenizeSource = func(ids []int32) string {
		s := ""
		for _, id := range ids {
			if s += " "; id != blank {
				s += "word"
			}
		}
		return s
	}
	translations := []string{"", "the dark red house \uFFFDstands there", "", "the dark red house \uFFFDstands there"}
	want := score.Count(score.BLEU{}, translations, slices.Repeat([]string{reference}, len(translations))).Result().Score
	o := smallOptions(2)
	o.ValidEvery, o.Tokenize = 2, score.Tok13a
	r := mustRun(t, context.Background(), newModel(t, smallConfig()), nil, d, o, nil)
	// the validation rounds to 9 digits
	if got := r.Best.BLEU; got < want-1e-9 || got > want+1e-9 {
		t.Errorf("BLEU %v, want %v", got, want)
	}
}
