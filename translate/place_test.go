package translate

import (
	"testing"

	"tfm/text"
)

// A stand-in that the translation does not have is inserted between words, also where another name
// is removed.
func TestPlaceIsBetweenWords(t *testing.T) {
	at := func(start, end int) text.Range { return text.Range{Start: start, End: end} }
	p := placer{s: "by Tom of Lux in it", list: []standIn{{name: "Lux", target: "Lifar", at: at(10, 13)}}, source: []text.Range{at(0, 2), at(3, 6), at(7, 9), at(10, 13)}}
	tr := Translation{Text: "von Tom und Tom geschrieben", Tokens: []Token{{Range: at(0, 3)}, {Range: at(3, 7)}, {Range: at(7, 11)}, {Range: at(11, 15)}, {Range: at(15, 27)}}}
	for token, want := range map[int]string{
		0: "Lifar von Anna und geschrieben",
		1: "von Lifar Anna und geschrieben",
		3: "von Anna und Lifar geschrieben",
		4: "von Anna und Lifar geschrieben",
	} {
		edits := []edit{{Range: at(4, 7), with: "Anna", kept: 0}, {Range: at(11, 15), kept: -1}}
		weights := make([][]float32, len(tr.Tokens))
		for i := range weights {
			weights[i] = make([]float32, 5)
		}
		weights[token][3] = 1
		got := tr
		got.Tokens = nil
		edits = append(edits, p.place(0, &tr, weights, edits))
		if got.replace(edits); got.Text != want {
			t.Errorf("token %d: %q, want %q", token, got.Text, want)
		}
	}
}

// A genitive's s is not joined to a kept range, and goes with a name that is removed; a term keeps
// it.
func TestGenitiveOfNames(t *testing.T) {
	for _, test := range []struct {
		kept int
		want string
	}{{0, "@jane Hund und"}, {-1, "@janes Hund und"}} {
		p := placer{list: []standIn{{name: "Tom", target: "@jane", kept: test.kept}}}
		tr := Translation{Text: "Toms Hund und Toms"}
		edits, misses := p.found(tr.Text)
		if tr.replace(edits); tr.Text != test.want || misses != nil {
			t.Errorf("kept %d: %q, missing %v, want %q", test.kept, tr.Text, misses, test.want)
		}
	}
}
