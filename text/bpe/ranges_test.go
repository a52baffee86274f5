package bpe

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"tfm/internal/texttest"
	"tfm/text"
)

var _ text.Sampler = (*Tokenizer)(nil)

// cutAt returns what ranges cut out of s, with | between them.
func cutAt(s string, ranges []text.Range) string {
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
		"x":        "|x",         // the space that Encode adds is a piece of its own
		"中é":       "|||中|é",     // 3 bytes: the last one completes the character
		"\xe4\xb8": "|\xe4|\xb8", // no valid character: each byte counts
		" ab":      "| ab",
	} {
		ids, ranges := b.EncodeRanges(nil, nil, s)
		if got := cutAt(s, ranges); got != want || !slices.Equal(ids, b.Encode(nil, s)) {
			t.Errorf("%q is encoded as %q, want %q", s, got, want)
		}
		back, ranges := b.DecodeRanges(nil, ids)
		if got := cutAt(back, ranges); back != s || got != want {
			t.Errorf("%q is decoded as %q, want %q", s, got, want)
		}
	}
}

func TestRangesAppend(t *testing.T) {
	b := train(t, firstMerge, "")
	first := text.Range{Start: 7, End: 9}
	ids, ranges := b.EncodeRanges([]int32{text.BOS}, []text.Range{first}, "a")
	if want := []text.Range{first, {}, {Start: 0, End: 1}}; !slices.Equal(ranges, want) || len(ids) != 3 {
		t.Errorf("ids %v with ranges %v, want %v", ids, ranges, want)
	}
}

// Ids without text have empty ranges where they stand, and a text that does not begin with a space
// loses nothing.
func TestDecodeRangesOfSpecialIds(t *testing.T) {
	b := train(t, firstMerge, "")
	s, ranges := b.DecodeRanges(nil, []int32{text.BOS, firstByte + 'x', text.Pad, -1, firstByte + ' ', int32(b.Size()), text.EOS})
	if got := cutAt(s, ranges); s != "x " || got != "|x||| ||" {
		t.Errorf("%q cut as %q, want %q as %q", s, got, "x ", "|x||| ||")
	}
}

// owner returns for each byte of s the index of the piece that holds the last byte of its
// character: the rule of text.Tokenizer, byte by byte.
func owner(pieces []string, prefix int, s string) []int {
	var of []int
	for i, p := range pieces {
		for range p {
			of = append(of, i)
		}
	}
	of = of[prefix:]
	for i := 0; i < len(s); {
		_, size := utf8.DecodeRuneInString(s[i:])
		for j := i; j < i+size; j++ {
			of[j] = of[i+size-1]
		}
		i += size
	}
	return of
}

func checkRanges(t *testing.T, b *Tokenizer, ids []int32, ranges []text.Range, prefix int, s string) {
	t.Helper()
	if len(ranges) != len(ids) {
		t.Fatalf("%d ranges for %d ids", len(ranges), len(ids))
	}
	var pieces []string
	for _, id := range ids {
		// A character for each byte, so that owner can range over them.
		pieces = append(pieces, strings.Repeat("x", len(b.bytes(id))))
	}
	end, want := 0, owner(pieces, prefix, s)
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
		t.Fatalf("the ranges of %q end at %d, want %d", s, end, len(s))
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
			t.Fatalf("%v: text %q with ranges, %q without", ids, back, b.Decode(ids))
		}
		all := 0
		for _, id := range ids {
			all += len(b.bytes(id))
		}
		checkRanges(t, b, ids, ranges, all-len(back), back)
	})
}
