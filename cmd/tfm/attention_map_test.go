package main

import (
	"slices"
	"strings"
	"testing"

	"tfm/text/bpe"
)

func TestDisplayWidth(t *testing.T) {
	for s, want := range map[string]int{"": 0, "dog": 3, "狗": 2, "一本书": 6, "é": 1, "e\u0301": 1, "。": 2, "！": 2, "한국": 4, "ｱ": 1, "𠀀": 2, "🙂": 2} {
		if got := displayWidth(s); got != want {
			t.Errorf("%q: %d, want %d", s, got, want)
		}
	}
}

func TestDrawAttention(t *testing.T) {
	var b strings.Builder
	err := drawAttention(&b, [][]float32{{1, 0, 0}, {0.2, 0.4, 0.4}, {0, 0, 1}}, []string{"he", "reads", "</s>"}, []string{"他", "看书", "</s>"})
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
		t.Errorf("drew\n%s", b.String())
	}
	for _, line := range lines[:4] {
		if displayWidth(line) != displayWidth(want[0]) {
			t.Errorf("%q is %d columns wide, want %d", line, displayWidth(line), displayWidth(want[0]))
		}
	}
}

func TestWordsOfPieces(t *testing.T) {
	tokenizer, err := bpe.Train(259) // bytes alone
	if err != nil {
		t.Fatal(err)
	}
	ids := tokenizer.Encode(nil, "he reads 书")
	words := wordsOf(tokenizer, ids, true)
	if got := names(words); !slices.Equal(got, []string{"he", "reads", "书", "</s>"}) {
		t.Errorf("words %q", got)
	}
	src := tokenizer.Encode(nil, "看书")
	characters := wordsOf(tokenizer, src, false)
	if got := names(characters); !slices.Equal(got, []string{"看", "书", "</s>"}) {
		t.Errorf("characters %q", got)
	}
	// Every row of weights sums to 1, before and after.
	weights := make([][]float32, len(ids)+1)
	for i := range weights {
		weights[i] = make([]float32, len(src)+1)
		for j := range weights[i] {
			weights[i][j] = 1 / float32(len(src)+1)
		}
	}
	for _, row := range join(weights, words, characters) {
		sum := float32(0)
		for _, w := range row {
			sum += w
		}
		if sum < 0.9999 || sum > 1.0001 { // some roundings of float32
			t.Errorf("a row of the map sums to %v", sum)
		}
	}
}
