package terminal

import (
	"slices"
	"strings"
	"testing"

	"tfm/text/tokenizer/bpe"
)

func TestDraw(t *testing.T) {
	var b strings.Builder
	err := DrawHeatmap(&b, [][]float32{{1, 0, 0}, {0.2, 0.4, 0.4}, {0, 0, 1}}, []string{"he", "reads", "</s>"}, []string{"他", "看书", "</s>"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"       他  看书  </s>",
		"   he  ██            ",
		"reads  ··  ░░░░  ░░░░",
		" </s>            ████",
	}
	lines := strings.Split(b.String(), "\n")
	if !slices.Equal(lines[:4], want) {
		t.Errorf("drawn\n%s\nwant\n%s", b.String(), strings.Join(want, "\n"))
	}
	for _, line := range lines[:4] {
		if Columns(line) != Columns(want[0]) {
			t.Errorf("line %q has %d columns, want %d", line, Columns(line), Columns(want[0]))
		}
	}
}

func TestWords(t *testing.T) {
	tokenizer, err := new(bpe.Trainer).Train(259) // bytes alone
	if err != nil {
		t.Fatal(err)
	}
	ids := tokenizer.Encode(nil, "he reads 书")
	words := Words(tokenizer, ids, true)
	if got := Names(words); !slices.Equal(got, []string{"he", "reads", "书", "</s>"}) {
		t.Errorf("words %q", got)
	}
	src := tokenizer.Encode(nil, "看书")
	characters := Words(tokenizer, src, false)
	if got := Names(characters); !slices.Equal(got, []string{"看", "书", "</s>"}) {
		t.Errorf("characters %q", got)
	}
	// Joined rows sum to 1 as the rows of weights do.
	weights := make([][]float32, len(ids)+1)
	for i := range weights {
		weights[i] = make([]float32, len(src)+1)
		for j := range weights[i] {
			weights[i][j] = 1 / float32(len(src)+1)
		}
	}
	for _, row := range Join(weights, words, characters) {
		sum := float32(0)
		for _, w := range row {
			sum += w
		}
		if sum < 0.9999 || sum > 1.0001 { // rounding of float32
			t.Errorf("joined row sums to %v, want 1", sum)
		}
	}
}
