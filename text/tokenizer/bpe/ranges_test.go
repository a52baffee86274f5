package bpe

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"tfm/internal/texttest"
	"tfm/text"
)

var _ text.Tokenizer = (*Tokenizer)(nil)

// joinRanges returns the ranges of s with | between them.
func joinRanges(s string, ranges []text.Range) string {
	pieces := make([]string, len(ranges))
	for i, r := range ranges {
		pieces[i] = s[r.Start:r.End]
	}
	return strings.Join(pieces, "|")
}

func TestRanges(t *testing.T) {
	b := train(t, firstMerge+5, "hé hé hé hé", "ab ab ab ab") // ▁h, é, ▁hé, ▁a, ▁ab in some order
	for s, want := range map[string]string{
		"":         "",
		"hé ab":    "hé| ab",
		"ab":       "ab",
		"x":        "|x",         // the space that Encode adds is a separate piece
		"中é":       "|||中|é",     // 3 bytes: the last completes the character
		"\xe4\xb8": "|\xe4|\xb8", // invalid: each byte counts as a character
		" ab":      "| ab",
	} {
		ids, ranges := b.EncodeRanges([]int32{text.BOS}, []text.Range{{Start: 7, End: 9}}, s) // appends
		ids, ranges = ids[1:], ranges[1:]
		if got := joinRanges(s, ranges); got != want || !slices.Equal(ids, b.Encode(nil, s)) {
			t.Errorf("EncodeRanges(%q) has ranges %q, want %q", s, got, want)
		}
		back, ranges := b.DecodeRanges(nil, ids)
		if got := joinRanges(back, ranges); back != s || got != want {
			t.Errorf("DecodeRanges of the ids of %q = %q, ranges %q; want %q", s, back, got, want)
		}
	}
}

// idOfBytes returns for each byte of s the index of the id that encodes the last byte of its
// character, as text.Tokenizer defines ranges. lengths has the bytes of each id, and s begins after
// prefix bytes.
func idOfBytes(lengths []int, prefix int, s string) []int {
	var index []int
	for i, n := range lengths {
		for range n {
			index = append(index, i)
		}
	}
	index = index[prefix:]
	for i := 0; i < len(s); {
		_, size := utf8.DecodeRuneInString(s[i:])
		for j := i; j < i+size; j++ {
			index[j] = index[i+size-1]
		}
		i += size
	}
	return index
}

func checkRanges(t *testing.T, b *Tokenizer, ids []int32, ranges []text.Range, prefix int, s string) {
	t.Helper()
	if len(ranges) != len(ids) {
		t.Fatalf("%d ranges for %d ids", len(ranges), len(ids))
	}
	var lengths []int
	for _, id := range ids {
		lengths = append(lengths, len(b.Bytes(id)))
	}
	end, want := 0, idOfBytes(lengths, prefix, s)
	for i, r := range ranges {
		if r.Start != end || r.End < r.Start {
			t.Fatalf("range %d of %q is %v, want its start at %d", i, s, r, end)
		}
		for j := r.Start; j < r.End; j++ {
			if want[j] != i {
				t.Fatalf("byte %d of %q is in range %d, want %d", j, s, i, want[j])
			}
		}
		end = r.End
	}
	if end != len(s) {
		t.Fatalf("ranges of %q end at %d, want %d", s, end, len(s))
	}
}

func FuzzRanges(f *testing.F) {
	b := train(f, 700, append(texttest.Lines(200), "中文中文 文中", "\xff\xfe \xff\xfe")...)
	f.Add("Ein Hund\r\n", []byte{1, 0, 2, 0, 1})
	f.Add(" 中文\xe4\xb8 да\u200d", []byte{0, 100, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, s string, data []byte) {
		ids, ranges := b.EncodeRanges(nil, nil, s)
		checkRanges(t, b, ids, ranges, min(len(s), 1), s)

		ids = ids[:0]
		for i := 0; i+1 < len(data); i += 2 {
			ids = append(ids, int32(int8(data[i]))<<8|int32(data[i+1]))
		}
		back, ranges := b.DecodeRanges(nil, ids)
		if back != b.Decode(ids) {
			t.Fatalf("DecodeRanges(%v) = %q, want %q as of Decode", ids, back, b.Decode(ids))
		}
		bytes := 0
		for _, id := range ids {
			bytes += len(b.Bytes(id))
		}
		checkRanges(t, b, ids, ranges, bytes-len(back), back)
	})
}
