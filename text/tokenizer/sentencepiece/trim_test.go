package sentencepiece

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A text whose pieces are all used keeps them, with random models and with those of spm_train.
func TestTrim(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	alphabet := append([]string{" ", " ", "x", "a", "b", "ab", "\t"}, randomAlphabet...)
	compared, smaller := 0, 0
	for k := range 400 {
		tokenizer := newTestTokenizer(t, randomModel(r, ModelType(1+k%4)))
		used := make([]bool, tokenizer.Size())
		for range 3 {
			for _, id := range tokenizer.Encode(nil, randomText(r, 20, alphabet)) {
				used[id] = true
			}
		}
		trimmed, err := tokenizer.Trim(used)
		if err != nil {
			t.Fatalf("model %d: %v", k, err)
		}
		if trimmed.Size() < tokenizer.Size() {
			smaller++
		}
		for range 100 {
			s := randomText(r, 6, alphabet)
			ids := tokenizer.Encode(nil, s)
			if slices.ContainsFunc(ids, func(id int32) bool { return !used[id] }) {
				continue
			}
			compared++
			if got, want := pieces(trimmed, trimmed.Encode(nil, s)), pieces(tokenizer, ids); !slices.Equal(got, want) {
				t.Fatalf("model %d: pieces of %q: %q, want %q", k, s, got, want)
			}
		}
	}
	if compared < 4000 || smaller < 200 {
		t.Errorf("compared %d texts, %d smaller tokenizers, want at least 4000 and 200", compared, smaller)
	}
}

// pieces returns the pieces of ids.
func pieces(t *Tokenizer, ids []int32) []string {
	var list []string
	for _, id := range ids {
		list = append(list, t.Piece(id))
	}
	return list
}
