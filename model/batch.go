package model

// Batch is a ragged batch of sentence pairs: the tokens of all sentences one after another, without padding.
type Batch struct {
	Src       []int32 // sources, each with EOS at its end
	SrcStarts []int32 // where each source begins, and at the end len(Src)
	TgtIn     []int32 // what the decoder is given: BOS and the target
	TgtOut    []int32 // what it shall say: the target and EOS
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
