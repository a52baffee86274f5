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

// unigramScratch is the memory of a segmentation.
type unigramScratch struct {
	best  []bestPiece // by the end of the piece
	exact []exactPiece
}

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
	best := sized(&sc.unigram.best, len(s)+1)
	clear(best)
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

// exactPiece is a bestPiece with unrounded sums.
type exactPiece struct {
	bestPiece
	sum      float64
	runnerUp float64 // the second largest sum, or -Inf
}

// segmentWord appends the pieces of a word in a text that may be split before and after it. The
// pieces are those of segment of the whole text if the magnitude of the sum before the word is less
// than limit. score is the sum of the word.
//
// Let k be the number of characters of the word, and M the largest magnitude of a sum within it,
// with the sum before. Each sum has an error of at most 2kuM with u = 2^-24, by induction: 2(k-1)uM
// from the sum that it extends, uM from an addition in float32 and uM from storing it. The largest
// sum at an end is chosen if it exceeds each other by more than the errors of both and one more
// rounding, which are less than 4kuM.
func (u *unigram) segmentWord(dst []segment, word []byte, sc *scratch) (_ []segment, score, limit float32) {
	best := sized(&sc.unigram.exact, len(word)+1)
	clear(best)
	chars, largest := 0, 0.0
	for start := 0; start < len(word); chars++ {
		start += u.edges(word, start, func(id int32, length int, score float32) {
			sum := best[start].sum + float64(score)
			largest = max(largest, math.Abs(sum))
			switch to := &best[start+length]; {
			case to.length == 0:
				*to = exactPiece{bestPiece{id: id, length: int32(length)}, sum, math.Inf(-1)}
			case sum > to.sum:
				*to = exactPiece{bestPiece{id: id, length: int32(length)}, sum, to.sum}
			default:
				to.runnerUp = max(to.runnerUp, sum)
			}
		})
	}
	margin := math.Inf(1)
	first := len(dst)
	for end := len(word); end > 0; {
		b := best[end]
		margin = min(margin, b.sum-b.runnerUp)
		dst = append(dst, segment{b.id, b.length})
		end -= int(b.length)
	}
	slices.Reverse(dst[first:])
	const (
		roundoff = 0x1p-24 // u above
		maxSum   = 1e6
		slack    = 1 // for the rounding of the sum before the word
	)
	limit = float32(min(margin/(4*roundoff*float64(chars))-largest-slack, maxSum))
	return dst, float32(best[len(word)].sum), limit
}

// userDefinedScore returns the score of a user-defined piece of n bytes.
func userDefinedScore(n int) float32 {
	return float32(float64(0.1*float64(n)) - 0.1)
}

// edges calls f for each piece that the character at start begins, and for the unknown piece if no
// piece is that character. It returns the length of the character.
func (u *unigram) edges(s []byte, start int, f func(id int32, length int, score float32)) int {
	n := min(charLen(s[start]), len(s)-start)
	hasChar := false
	node := &u.trie.nodes[0]
	for i, c := range s[start:] {
		if node = u.trie.child(node, c); node == nil {
			break
		}
		if node.id >= 0 {
			f(node.id, i+1, node.score)
			hasChar = hasChar || i+1 == n
		}
	}
	if !hasChar {
		f(u.unknown, n, u.unknownScore)
	}
	return n
}

// sized returns the first n elements of *s, which it reallocates if it is shorter.
func sized[T any](s *[]T, n int) []T {
	*s = slices.Grow((*s)[:0], n)
	return (*s)[:n]
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
