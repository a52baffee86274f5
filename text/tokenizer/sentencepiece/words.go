package sentencepiece

import "bytes"

// wordSegmenter makes a piece of each word: ▁ and the characters up to the next ▁.
type wordSegmenter struct{ t *Tokenizer }

func (w wordSegmenter) segment(dst []segment, s []byte, _ *scratch) []segment {
	for len(s) > 0 {
		n := charLen(s[0])
		for n < len(s) && !bytes.HasPrefix(s[n:], []byte(space)) {
			n += charLen(s[n])
		}
		n = min(n, len(s))
		dst = append(dst, segment{w.t.pieceID(s[:n]), int32(n)})
		s = s[n:]
	}
	return dst
}

// charSegmenter makes a piece of each character and of each user-defined symbol.
type charSegmenter struct{ t *Tokenizer }

func (c charSegmenter) segment(dst []segment, s []byte, _ *scratch) []segment {
	for len(s) > 0 {
		n, _ := c.t.normalizer.symbols.longest(s)
		if n == 0 {
			n = min(charLen(s[0]), len(s))
		}
		dst = append(dst, segment{c.t.pieceID(s[:n]), int32(n)})
		s = s[n:]
	}
	return dst
}
