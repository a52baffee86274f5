package model

import "tfm/layer"

// AllocDoubled is Alloc for TrainRDrop and TrainSimCut. src, tgt and longest count the tokens of
// one copy.
func (s *Pass) AllocDoubled(src, tgt, longest int) {
	s.doubled.Grow(2*src, 2*tgt, 2*min(src, tgt)) // a sentence has at least one token
	s.alloc(2*src, 2*tgt, max(s.maxRows(), 2*longest), true)
}

// consistency is the loss of a batch that passes twice.
type consistency struct {
	alpha  float32 // 0: the batch passes once
	simCut bool    // else R-Drop
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
	s.double(b)
	return s.train(&s.doubled, seed, scale, consistency{alpha: alpha})
}

// TrainSimCut is Train with SimCut (Gao et al., 2022): a second copy of the batch goes through the
// model, in which the embedding of each token, source and target, is cut off with probability cut,
// and a KL divergence pulls the distributions of the two copies together. TrainSimCut adds scale
// times the derivative of their equation 4,
//
//	Σ loss of the tokens of the first copy + alpha·KL(first‖second)
//
// to the gradients, those of both copies. Loss counts each token twice, as that of TrainRDrop.
// alpha must be above 0. TrainSimCut panics as Train does.
func (s *Pass) TrainSimCut(b *Batch, seed uint64, scale, alpha, cut float32) Loss {
	s.checkTrain(b)
	s.double(b)
	s.cutOff(seed, cut)
	return s.train(&s.doubled, seed, scale, consistency{alpha, true})
}

// double sets s.doubled to two copies of each microbatch of b.
func (s *Pass) double(b *Batch) {
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
}

// cutOff replaces tokens in the second copies by layer.CutOff, each with a probability.
func (s *Pass) cutOff(seed uint64, probability float32) {
	b := &s.doubled
	sites := mix(seed ^ 0x53696d437574) // no dropout site has this key
	limit := uint64(float64(probability) * (1 << 32))
	for i := range len(s.bounds) - 1 {
		middle, end := (s.bounds[i]+s.bounds[i+1])/2, s.bounds[i+1]
		for side, of := range [2]struct{ ids, starts []int32 }{{b.Src, b.SrcStarts}, {b.TgtIn, b.TgtStarts}} {
			for at := of.starts[middle]; at < of.starts[end]; at++ {
				if mix(sites+uint64(side)<<40+uint64(at))>>32 < limit {
					of.ids[at] = layer.CutOff
				}
			}
		}
	}
}
