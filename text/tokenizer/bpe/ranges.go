package bpe

import (
	"unicode/utf8"

	"tfm/text"
)

// EncodeRanges implements text.Tokenizer. No range includes the space that Encode puts before s.
func (t *Tokenizer) EncodeRanges(dst []int32, ranges []text.Range, s string) ([]int32, []text.Range) {
	start := len(dst)
	dst = t.Encode(dst, s)
	return dst, t.appendRanges(ranges, dst[start:], s, " ")
}

// DecodeRanges implements text.Tokenizer.
func (t *Tokenizer) DecodeRanges(ranges []text.Range, ids []int32) (string, []text.Range) {
	s, space := t.decode(ids)
	return s, t.appendRanges(ranges, ids, s, space)
}

// appendRanges appends the range of s of each id. The pieces of ids concatenate to prefix + s.
func (t *Tokenizer) appendRanges(ranges []text.Range, ids []int32, s, prefix string) []text.Range {
	start, pieceEnd := 0, -len(prefix)
	for _, id := range ids {
		pieceEnd += len(t.Bytes(id))
		end := start
		for end < pieceEnd {
			_, size := utf8.DecodeRuneInString(s[end:])
			if end+size > pieceEnd {
				break // the character belongs to the id that completes it
			}
			end += size
		}
		ranges = append(ranges, text.Range{Start: start, End: end})
		start = end
	}
	return ranges
}
