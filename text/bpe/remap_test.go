package bpe

import (
	"slices"
	"strings"
	"testing"

	"tfm/internal/texttest"
)

func TestRemap(t *testing.T) {
	lines := texttest.Lines(300)
	small, large := train(t, 500, lines...), train(t, 1000, lines...)
	other := train(t, 700, "quite another text with other words", "with other words", "another text", "quite quite")
	for _, pair := range [][2]*Tokenizer{{small, large}, {large, small}, {other, large}, {large, other}, {small, small}} {
		b, old := pair[0], pair[1]
		in := b.Remap(old)
		if len(in) != b.Size() {
			t.Fatalf("%d ids, want %d", len(in), b.Size())
		}
		for id, was := range in {
			var bytes strings.Builder
			for _, i := range was {
				bytes.WriteString(old.pieces[i])
			}
			if bytes.String() != b.pieces[id] {
				t.Fatalf("%q was %q", b.pieces[id], bytes.String())
			}
			if id < firstMerge && !slices.Equal(was, []int32{int32(id)}) {
				t.Errorf("id %d was %v", id, was)
			}
			if len(was) > 1 && slices.Contains(old.pieces, b.pieces[id]) {
				t.Errorf("%q was %v, but is a piece", b.pieces[id], was)
			}
			if b == old && (len(was) != 1 || was[0] != int32(id)) {
				t.Errorf("in itself id %d was %v", id, was)
			}
		}
	}
	// The merges of the smaller one come first in the larger one.
	for id, was := range small.Remap(large) {
		if len(was) != 1 || was[0] != int32(id) {
			t.Errorf("id %d was %v", id, was)
		}
	}
}

func TestRemapSplitsAsEncode(t *testing.T) {
	old, b := train(t, 270, "ab ab ab abc abc"), train(t, 270, "abcd abcd abcd")
	for id, was := range b.Remap(old) {
		if piece, ok := strings.CutPrefix(b.pieces[id], " "); ok && piece != "" && !slices.Equal(was, old.Encode(nil, piece)) {
			t.Errorf("%q was %v, want %v", b.pieces[id], was, old.Encode(nil, piece))
		}
	}
}

// Merges that make the same bytes in two ways are each the same one's.
func TestRemapEqualPieces(t *testing.T) {
	a, c, d := int32(firstByte+'a'), int32(firstByte+'b'), int32(firstByte+'c')
	merges := []pair{{a, c}, {c, d}, {firstMerge, d}, {a, firstMerge + 1}} // ab, bc, ab|c, a|bc
	b, err := newTokenizer(merges)
	if err != nil {
		t.Fatal(err)
	}
	for id, was := range b.Remap(b) {
		if len(was) != 1 || was[0] != int32(id) {
			t.Errorf("id %d was %v", id, was)
		}
	}
}
