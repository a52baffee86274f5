package model

import "slices"

// AllocRDrop is Alloc for TrainRDrop. src, tgt and longest count the tokens of one copy.
func (s *Pass) AllocRDrop(src, tgt, longest int) {
	grow := func(x []int32, n int) []int32 { return slices.Grow(x[:0], n) }
	b := &s.doubled
	// A sentence has at least one token, so there are at most as many sentences as tokens.
	b.Src, b.SrcStarts = grow(b.Src, 2*src), grow(b.SrcStarts, 2*src+1)
	b.TgtIn, b.TgtOut, b.TgtStarts = grow(b.TgtIn, 2*tgt), grow(b.TgtOut, 2*tgt), grow(b.TgtStarts, 2*tgt+1)
	s.alloc(2*src, 2*tgt, max(s.maxRows(), 2*longest), true)
}

// TrainRDrop is Train with R-Drop (Liang et al., 2021): two copies of the batch, with different
// dropout masks, go through the model, and a KL divergence pulls the two distributions of each
// token together. TrainRDrop adds scale times the derivative of their equation 4,
//
//	Σ loss of the tokens of both copies (Loss.Sum) + alpha/2·Loss.KL
//
// to the gradients. Loss and Loss.Tokens count both copies, so that means per token compare with
// those of Train; half of Train's scale gives gradients of the same size. alpha must be above 0.
// TrainRDrop panics as Train does.
func (s *Pass) TrainRDrop(b *Batch, seed uint64, scale, alpha float32) Loss {
	s.checkTrain(b)
	// Dropout masks depend on the position of a copy in the doubled batch, and that on the
	// split. So the split must not depend on the number of threads.
	maxRows := s.maxRows() / 2
	s.split(b, (b.rows()+maxRows-1)/maxRows, maxRows)
	s.doubled.Reset()
	for i := range s.bounds[1:] {
		for range 2 {
			s.doubled.appendRange(b, s.bounds[i], s.bounds[i+1])
		}
	}
	for i := range s.bounds {
		s.bounds[i] *= 2
	}
	return s.train(&s.doubled, seed, scale, alpha)
}

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
