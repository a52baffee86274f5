package model

import "fmt"

// Batch is a ragged batch of sentence pairs: the tokens of all sentences one after another, without
// padding.
type Batch struct {
	Src       []int32 // sources, each with EOS at its end
	SrcStarts []int32 // where each source begins, and at the end len(Src)
	TgtIn     []int32 // what the decoder is given: BOS and the target
	TgtOut    []int32 // what the decoder is to predict: the target and EOS
	TgtStarts []int32 // where each target begins, and at the end len(TgtIn)
}

// Reset empties the batch and keeps its memory.
func (b *Batch) Reset() {
	b.Src, b.TgtIn, b.TgtOut = b.Src[:0], b.TgtIn[:0], b.TgtOut[:0]
	b.SrcStarts, b.TgtStarts = append(b.SrcStarts[:0], 0), append(b.TgtStarts[:0], 0)
}

// Append adds a pair of sentences, given without BOS and EOS.
func (b *Batch) Append(src, tgt []int32) {
	if len(b.SrcStarts) == 0 {
		b.Reset()
	}
	b.Src = append(append(b.Src, src...), EOS)
	b.TgtIn = append(append(b.TgtIn, BOS), tgt...)
	b.TgtOut = append(append(b.TgtOut, tgt...), EOS)
	b.SrcStarts = append(b.SrcStarts, int32(len(b.Src)))
	b.TgtStarts = append(b.TgtStarts, int32(len(b.TgtIn)))
}

// Sentences is the number of pairs.
func (b *Batch) Sentences() int { return max(0, len(b.SrcStarts)-1) }

// slice sets dst to sentences [lo, hi), whose tokens it shares.
func (b *Batch) slice(dst *Batch, lo, hi int) {
	src, tgt := b.SrcStarts[lo:hi+1], b.TgtStarts[lo:hi+1]
	dst.Src = b.Src[src[0]:src[hi-lo]]
	dst.TgtIn, dst.TgtOut = b.TgtIn[tgt[0]:tgt[hi-lo]], b.TgtOut[tgt[0]:tgt[hi-lo]]
	dst.SrcStarts, dst.TgtStarts = appendRebased(dst.SrcStarts[:0], src), appendRebased(dst.TgtStarts[:0], tgt)
}

// appendRebased appends starts, counted from the first of them.
func appendRebased(dst, starts []int32) []int32 {
	for _, s := range starts {
		dst = append(dst, s-starts[0])
	}
	return dst
}

// microbatchEnd returns the microbatchEnd of the microbatch that begins with sentence lo: it has at most the given rows
// on each side, except that it has one sentence at least.
func (b *Batch) microbatchEnd(lo, rows int) int {
	hi := lo + 1
	for hi < b.Sentences() && int(max(b.SrcStarts[hi+1]-b.SrcStarts[lo], b.TgtStarts[hi+1]-b.TgtStarts[lo])) <= rows {
		hi++
	}
	return hi
}

// rows returns the number of tokens of the rows that has more.
func (b *Batch) rows() int { return max(len(b.Src), len(b.TgtIn)) }

// maxSentence returns the length of the maxSentence sentence, marks counted.
func (b *Batch) maxSentence() int {
	longest := int32(0)
	for i := range b.Sentences() {
		longest = max(longest, b.SrcStarts[i+1]-b.SrcStarts[i], b.TgtStarts[i+1]-b.TgtStarts[i])
	}
	return int(longest)
}

// check panics if the batch is not valid for a model of this configuration, before other threads
// and assembly see it.
func (b *Batch) check(c Config) {
	if len(b.SrcStarts) != len(b.TgtStarts) {
		panic(fmt.Sprintf("model: %d source and %d target starts in a batch", len(b.SrcStarts), len(b.TgtStarts)))
	}
	checkSide("source", b.Src, b.SrcStarts, c.SrcVocab, c.MaxLen)
	checkSide("target", b.TgtIn, b.TgtStarts, c.TgtVocab, c.MaxLen)
	checkSide("target", b.TgtOut, b.TgtStarts, c.TgtVocab, c.MaxLen)
}

func checkSide(side string, ids, starts []int32, vocab, maxLen int) {
	for _, id := range ids {
		if id < 0 || int(id) >= vocab {
			panic(fmt.Sprintf("model: id %d in a %s, whose vocabulary has %d entries", id, side, vocab))
		}
	}
	at := 0
	for i, s := range starts {
		switch n := int(s) - at; {
		case i > 0 && n == 0:
			panic(fmt.Sprintf("model: %s %d of a batch is empty", side, i-1))
		case i == 0 && n != 0, n < 0:
			panic(fmt.Sprintf("model: %s %d of a batch begins at token %d, after token %d", side, i, s, at))
		case n > maxLen:
			panic(fmt.Sprintf("model: a %s of %d tokens, its mark counted, for a model that takes %d", side, n, maxLen))
		}
		at = int(s)
	}
	if at != len(ids) {
		panic(fmt.Sprintf("model: a batch of %d %s tokens whose sentences have %d", len(ids), side, at))
	}
}
