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
		remapped := b.Remap(old)
		if len(remapped) != b.Size() {
			t.Fatalf("%d ids, want %d", len(remapped), b.Size())
		}
		for id, ids := range remapped {
			var bytes strings.Builder
			for _, i := range ids {
				bytes.WriteString(old.pieces[i])
			}
			if bytes.String() != b.pieces[id] {
				t.Fatalf("ids of %q are those of %q", b.pieces[id], bytes.String())
			}
			if id < firstMerge && !slices.Equal(ids, []int32{int32(id)}) {
				t.Errorf("ids of id %d are %v, want itself", id, ids)
			}
			if len(ids) > 1 && slices.Contains(old.pieces, b.pieces[id]) {
				t.Errorf("ids of %q are %v, want the one id of that piece", b.pieces[id], ids)
			}
			if b == old && (len(ids) != 1 || ids[0] != int32(id)) {
				t.Errorf("same tokenizer: ids of id %d are %v, want itself", id, ids)
			}
		}
	}
	// The merges of small are the first merges of large.
	for id, ids := range small.Remap(large) {
		if len(ids) != 1 || ids[0] != int32(id) {
			t.Errorf("smaller vocabulary: ids of id %d are %v, want itself", id, ids)
		}
	}
}

// A piece that old lacks is split as Encode splits it.
func TestRemapSplitsAsEncode(t *testing.T) {
	old, b := train(t, 270, "ab ab ab abc abc"), train(t, 270, "abcd abcd abcd")
	for id, ids := range b.Remap(old) {
		if piece, ok := strings.CutPrefix(b.pieces[id], " "); ok && piece != "" && !slices.Equal(ids, old.Encode(nil, piece)) {
			t.Errorf("ids of %q are %v, want %v", b.pieces[id], ids, old.Encode(nil, piece))
		}
	}
}

// Two pieces of the same bytes map to the two in the other tokenizer, in order.
func TestRemapEqualPieces(t *testing.T) {
	a, b, c := int32(firstByte+'a'), int32(firstByte+'b'), int32(firstByte+'c')
	// ab, bc, ab|c, a|bc
	tokenizer, err := newTokenizer([]pair{{a, b}, {b, c}, {firstMerge, c}, {a, firstMerge + 1}})
	if err != nil {
		t.Fatal(err)
	}
	for id, ids := range tokenizer.Remap(tokenizer) {
		if len(ids) != 1 || ids[0] != int32(id) {
			t.Errorf("ids of id %d are %v, want itself", id, ids)
		}
	}
}
