package bpe

import (
	"slices"
	"testing"

	"tfm/internal/texttest"
)

// A line whose pieces are all used keeps them, and the merges that no used piece needs go.
func TestTrim(t *testing.T) {
	lines := texttest.Lines(600)
	b := train(t, 1000, lines...)
	used := make([]bool, b.Size())
	for _, line := range lines[:100] {
		for _, id := range b.Encode(nil, line) {
			used[id] = true
		}
	}
	trimmed, err := b.Trim(used)
	if err != nil {
		t.Fatal(err)
	}
	if trimmed.Size() > 900 {
		t.Errorf("%d pieces of %d, want at most 900", trimmed.Size(), b.Size())
	}
	ids, others := trimmed.Remap(b), 0
	for i, line := range lines {
		want := b.Encode(nil, line)
		if slices.ContainsFunc(want, func(id int32) bool { return !used[id] }) {
			continue
		}
		if i >= 100 {
			others++
		}
		var got []int32
		for _, id := range trimmed.Encode(nil, line) {
			got = append(got, ids[id]...)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("ids of %q: %v, want %v", line, got, want)
		}
		if text := trimmed.Decode(trimmed.Encode(nil, line)); text != line {
			t.Errorf("%q becomes %q", line, text)
		}
	}
	if others == 0 {
		t.Error("compared none of the other lines")
	}
}
