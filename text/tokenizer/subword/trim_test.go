package subword

import (
	"slices"
	"testing"
)

// A line whose pieces are all used keeps them.
func TestTrim(t *testing.T) {
	tokenizer := New(readCodes(t, "codes.txt"), readVocabulary(t, 0))
	lines := readLines(t, "corpus.txt")
	used := make([]bool, tokenizer.Size())
	first := lines[:len(lines)/4]
	for _, line := range first {
		for _, id := range tokenizer.Encode(nil, line) {
			used[id] = true
		}
	}
	trimmed, err := tokenizer.Trim(used)
	if err != nil || trimmed.Size() >= tokenizer.Size() {
		t.Fatalf("%d pieces of %d, %v", trimmed.Size(), tokenizer.Size(), err)
	}
	compared := 0
	for _, line := range lines {
		was, ids := tokenizer.Encode(nil, line), trimmed.Encode(nil, line)
		if slices.ContainsFunc(was, func(id int32) bool { return !used[id] }) {
			continue
		}
		compared++
		if got, want := names(trimmed, ids), names(tokenizer, was); !slices.Equal(got, want) {
			t.Fatalf("pieces of %q: %q, want %q", line, got, want)
		}
	}
	if compared < len(first) {
		t.Errorf("compared %d lines, want at least %d", compared, len(first))
	}
}

func names(t *Tokenizer, ids []int32) []string {
	var list []string
	for _, id := range ids {
		list = append(list, t.Piece(id))
	}
	return list
}
