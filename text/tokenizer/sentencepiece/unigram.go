package sentencepiece

import (
	"math"
	"slices"
)

// unigram finds the most probable segmentation under a unigram language model: the one with the
// largest sum of scores. A character without a piece has a score of unknownPenalty less than the
// lowest. Sums are rounded as by sentencepiece.
type unigram struct {
	pieces       []Piece // by file id
	trie         trie
	unknown      int32
	unknownScore float32
}

const unknownPenalty = 10

// bestPiece is the last piece of the best segmentation of a prefix of the text.
type bestPiece struct {
	score  float32 // of the segmentation
	id     int32
	length int32 // 0 if no piece ends here
}

func newUnigram(t *Tokenizer) (*unigram, error) {
	u := &unigram{pieces: t.model.Pieces, unknown: t.unknown}
	lowest := float32(math.MaxFloat32)
	for _, p := range t.model.Pieces {
		if p.Type == Normal {
			lowest = min(lowest, p.Score)
		}
	}
	u.unknownScore = lowest - unknownPenalty
	var entries []entry
	for i, p := range t.model.Pieces {
		switch p.Type {
		case Normal:
			entries = append(entries, entry{p.Text, int32(i), p.Score})
		case UserDefined:
			entries = append(entries, entry{p.Text, int32(i), userDefinedScore(len(p.Text))})
		}
	}
	var err error
	u.trie, err = newTrie(entries)
	return u, err
}

// segment implements segmenter. It takes time linear in the length of s times that of the pieces.
func (u *unigram) segment(dst []segment, s []byte, sc *scratch) []segment {
	best := append(sc.best[:0], make([]bestPiece, len(s)+1)...)
	sc.best = best
	for start := 0; start < len(s); {
		charLen := min(charLen(s[start]), len(s)-start)
		before := best[start].score
		hasChar := false // whether a piece is the character at start
		node := &u.trie.nodes[0]
		for end := start; end < len(s); {
			if node = u.trie.child(node, s[end]); node == nil {
				break
			}
			end++
			if node.id < 0 {
				continue
			}
			sum := node.score + before
			if to := &best[end]; to.length == 0 || sum > to.score {
				*to = bestPiece{sum, node.id, int32(end - start)}
			}
			hasChar = hasChar || end-start == charLen
		}
		if !hasChar {
			to := &best[start+charLen]
			if score := u.unknownScore + before; to.length == 0 || score > to.score {
				*to = bestPiece{score, u.unknown, int32(charLen)}
			}
		}
		start += charLen
	}
	first := len(dst)
	for end := len(s); end > 0; {
		b := best[end]
		dst = append(dst, segment{b.id, b.length})
		end -= int(b.length)
	}
	slices.Reverse(dst[first:])
	return dst
}

// userDefinedScore returns the score of a user-defined piece of n bytes.
func userDefinedScore(n int) float32 {
	return float32(float64(0.1*float64(n)) - 0.1)
}

// charLen returns the length of a character of UTF-8 from its first byte, and 1 for others.
func charLen(c byte) int {
	switch {
	case c < 0xC0:
		return 1
	case c < 0xE0:
		return 2
	case c < 0xF0:
		return 3
	}
	return 4
}
