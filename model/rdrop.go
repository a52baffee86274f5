package model

// AllocRDrop is Alloc for TrainRDrop. src, tgt and longest count the tokens of one copy.
func (s *Pass) AllocRDrop(src, tgt, longest int) {
	s.doubled.Grow(2*src, 2*tgt, 2*min(src, tgt)) // a sentence has at least one token
	s.reserve(2*src, 2*tgt, max(s.maxRows(), 2*longest), true)
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
