package model

import "slices"

// ReserveRDrop is Reserve for TrainRDrop on batches of up to src source and tgt target tokens, each counted once.
func (s *Pass) ReserveRDrop(src, tgt, longest int) {
	room := func(x []int32, n int) []int32 { return slices.Grow(x[:0], n) }
	b := &s.twice
	b.Src, b.SrcStarts = room(b.Src, 2*src), room(b.SrcStarts, 2*src+1) // no sentence is empty
	b.TgtIn, b.TgtOut, b.TgtStarts = room(b.TgtIn, 2*tgt), room(b.TgtOut, 2*tgt), room(b.TgtStarts, 2*tgt+1)
	s.reserve(2*src, 2*tgt, max(s.most(), 2*longest), true)
}

// TrainRDrop is Train on a batch that goes through the model twice, with other dropout each time, and whose two
// distributions of each token shall be alike: R-Drop (Liang et al., 2021). It adds scale times the derivative of
//
//	Σ over both copies of their tokens' loss (Loss.Sum) + alpha/2·Loss.KL
//
// which is that of the paper's equation 4. Both copies count in Loss, Loss.Tokens included, so its means are those of
// Train, and with scale half that of Train so is the size of the derivatives. Alpha must be above 0. It panics as Train does.
func (s *Pass) TrainRDrop(b *Batch, seed uint64, scale, alpha float32) Loss {
	s.checkTrain(b)
	// Where a copy stands decides its dropout, so the parts are the same for any number of threads.
	most := s.most() / 2
	s.cut(b, (b.side()+most-1)/most, most)
	s.twice.Reset()
	for i := range s.cuts[1:] {
		for range 2 {
			s.twice.join(b, s.cuts[i], s.cuts[i+1])
		}
	}
	for i := range s.cuts {
		s.cuts[i] *= 2
	}
	return s.train(&s.twice, seed, scale, alpha)
}

// join appends sentences [lo, hi) of c.
func (b *Batch) join(c *Batch, lo, hi int) {
	src, tgt := c.SrcStarts[lo:hi+1], c.TgtStarts[lo:hi+1]
	for i := range hi - lo {
		b.SrcStarts = append(b.SrcStarts, int32(len(b.Src))+src[i+1]-src[0])
		b.TgtStarts = append(b.TgtStarts, int32(len(b.TgtIn))+tgt[i+1]-tgt[0])
	}
	b.Src = append(b.Src, c.Src[src[0]:src[hi-lo]]...)
	b.TgtIn, b.TgtOut = append(b.TgtIn, c.TgtIn[tgt[0]:tgt[hi-lo]]...), append(b.TgtOut, c.TgtOut[tgt[0]:tgt[hi-lo]]...)
}
