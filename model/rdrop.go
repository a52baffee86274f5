package model

import "slices"

// AllocRDrop is Alloc for TrainRDrop on batches of up to src source and tgt target tokens, each
// counted once.
func (s *Pass) AllocRDrop(src, tgt, longest int) {
	grow := func(x []int32, n int) []int32 { return slices.Grow(x[:0], n) }
	b := &s.doubled
	b.Src, b.SrcStarts = grow(b.Src, 2*src), grow(b.SrcStarts, 2*src+1) // no sentence is empty
	b.TgtIn, b.TgtOut, b.TgtStarts = grow(b.TgtIn, 2*tgt), grow(b.TgtOut, 2*tgt), grow(b.TgtStarts, 2*tgt+1)
	s.alloc(2*src, 2*tgt, max(s.maxRows(), 2*longest), true)
}

// TrainRDrop is Train on a batch that goes through the model twice, with different dropout, and
// makes the two distributions of each token alike: R-Drop (Liang et al., 2021). It adds scale times
// the derivative of
//
//	Σ over both copies of their tokens' loss (Loss.Sum) + alpha/2·Loss.KL
//
// which is the paper's equation 4. Both copies count in Loss, Loss.Tokens included, so that its
// means are those of Train; half of Train's scale gives derivatives of the same size. Alpha must be
// above 0. It panics as Train does.
func (s *Pass) TrainRDrop(b *Batch, seed uint64, scale, alpha float32) Loss {
	s.checkTrain(b)
	// Where a copy stands decides its dropout, so the microbatches are the same for any number of
	// threads.
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

// appendRange appends sentences [lo, hi) of c.
func (b *Batch) appendRange(c *Batch, lo, hi int) {
	src, tgt := c.SrcStarts[lo:hi+1], c.TgtStarts[lo:hi+1]
	for i := range hi - lo {
		b.SrcStarts = append(b.SrcStarts, int32(len(b.Src))+src[i+1]-src[0])
		b.TgtStarts = append(b.TgtStarts, int32(len(b.TgtIn))+tgt[i+1]-tgt[0])
	}
	b.Src = append(b.Src, c.Src[src[0]:src[hi-lo]]...)
	b.TgtIn, b.TgtOut = append(b.TgtIn, c.TgtIn[tgt[0]:tgt[hi-lo]]...), append(b.TgtOut, c.TgtOut[tgt[0]:tgt[hi-lo]]...)
}
