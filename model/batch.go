package model

import (
	"fmt"
	"slices"
)

// Batch is a ragged batch of sentence pairs: the ids of all sentences concatenated, without
// padding.
type Batch struct {
	Source    SourceLayout // of the marks that Append inserts
	Src       []int32      // sources with their marks
	SrcStarts []int32      // index in Src of each source's first token, then len(Src)
	TgtIn     []int32      // decoder inputs: BOS and the target
	TgtOut    []int32      // tokens to predict: the target and EOS
	TgtStarts []int32      // index in TgtIn of each target's first token, then len(TgtIn)
}

// Grow empties the batch and allocates memory for src source and tgt target tokens, BOS or EOS
// counted, in the given number of pairs.
func (b *Batch) Grow(src, tgt, sentences int) {
	grow := func(x []int32, n int) []int32 { return slices.Grow(x[:0], n) }
	b.Src, b.SrcStarts = grow(b.Src, src), grow(b.SrcStarts, sentences+1)
	b.TgtIn, b.TgtOut, b.TgtStarts = grow(b.TgtIn, tgt), grow(b.TgtOut, tgt), grow(b.TgtStarts, sentences+1)
	b.Reset()
}

// Reset empties the batch and keeps its memory.
func (b *Batch) Reset() {
	b.Src, b.TgtIn, b.TgtOut = b.Src[:0], b.TgtIn[:0], b.TgtOut[:0]
	b.SrcStarts, b.TgtStarts = append(b.SrcStarts[:0], 0), append(b.TgtStarts[:0], 0)
}

// Append adds a pair of sentences without BOS and EOS, which it inserts.
func (b *Batch) Append(src, tgt []int32) {
	if len(b.SrcStarts) == 0 {
		b.Reset()
	}
	b.Src = b.Source.Append(b.Src, src)
	b.TgtIn = append(append(b.TgtIn, BOS), tgt...)
	b.TgtOut = append(append(b.TgtOut, tgt...), EOS)
	b.SrcStarts = append(b.SrcStarts, int32(len(b.Src)))
	b.TgtStarts = append(b.TgtStarts, int32(len(b.TgtIn)))
}

// Sentences returns the number of pairs.
func (b *Batch) Sentences() int { return max(0, len(b.SrcStarts)-1) }

// appendRange appends pairs [lo, hi) of c.
func (b *Batch) appendRange(c *Batch, lo, hi int) {
	src, tgt := c.SrcStarts[lo:hi+1], c.TgtStarts[lo:hi+1]
	for i := range hi - lo {
		b.SrcStarts = append(b.SrcStarts, int32(len(b.Src))+src[i+1]-src[0])
		b.TgtStarts = append(b.TgtStarts, int32(len(b.TgtIn))+tgt[i+1]-tgt[0])
	}
	b.Src = append(b.Src, c.Src[src[0]:src[hi-lo]]...)
	b.TgtIn, b.TgtOut = append(b.TgtIn, c.TgtIn[tgt[0]:tgt[hi-lo]]...), append(b.TgtOut, c.TgtOut[tgt[0]:tgt[hi-lo]]...)
}

// microbatchEnd returns the largest hi for which pairs [lo, hi) have up to maxRows tokens on each
// side, but at least lo+1.
func (b *Batch) microbatchEnd(lo, maxRows int) int {
	hi := lo + 1
	for hi < b.Sentences() && int(max(b.SrcStarts[hi+1]-b.SrcStarts[lo], b.TgtStarts[hi+1]-b.TgtStarts[lo])) <= maxRows {
		hi++
	}
	return hi
}

// rows returns the number of tokens of the larger side.
func (b *Batch) rows() int { return max(len(b.Src), len(b.TgtIn)) }

// maxSentence returns the length of the longest sentence, including BOS or EOS.
func (b *Batch) maxSentence() int {
	longest := int32(0)
	for i := range b.Sentences() {
		longest = max(longest, b.SrcStarts[i+1]-b.SrcStarts[i], b.TgtStarts[i+1]-b.TgtStarts[i])
	}
	return int(longest)
}

// check panics if the batch is invalid for a model of configuration c. It runs before the batch
// reaches other goroutines or assembly.
func (b *Batch) check(c Config) {
	if len(b.SrcStarts) != len(b.TgtStarts) {
		panic(fmt.Sprintf("model: batch with %d source starts and %d target starts", len(b.SrcStarts), len(b.TgtStarts)))
	}
	checkSide("source", b.Src, b.SrcStarts, c.SrcVocab, c.MaxLen)
	checkSide("target", b.TgtIn, b.TgtStarts, c.TgtVocab, c.MaxLen)
	checkSide("target", b.TgtOut, b.TgtStarts, c.TgtVocab, c.MaxLen)
}

func checkSide(side string, ids, starts []int32, vocab, maxLen int) {
	for _, id := range ids {
		if id < 0 || int(id) >= vocab {
			panic(fmt.Sprintf("model: %s id %d outside the vocabulary of %d pieces", side, id, vocab))
		}
	}
	end := 0 // of the sentences before start i
	for i, start := range starts {
		if i == 0 && start != 0 {
			panic(fmt.Sprintf("model: %s 0 of the batch starts at token %d, want 0", side, start))
		}
		switch n := int(start) - end; {
		case n < 0:
			panic(fmt.Sprintf("model: %s %d of the batch starts at token %d, want %d or later", side, i, start, end))
		case n == 0 && i > 0:
			panic(fmt.Sprintf("model: %s %d of the batch is empty", side, i-1))
		case n > maxLen:
			panic(fmt.Sprintf("model: %s %d of the batch has %d tokens with BOS or EOS, over the model's limit of %d", side, i-1, n, maxLen))
		}
		end = int(start)
	}
	if end != len(ids) {
		panic(fmt.Sprintf("model: batch of %d %s tokens, but its sentences have %d", len(ids), side, end))
	}
}
