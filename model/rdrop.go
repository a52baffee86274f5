package model

// ReserveRDrop is Reserve for TrainRDrop on batches of up to src source and tgt target tokens, each counted once.
func (s *Pass) ReserveRDrop(src, tgt int) {
	tokens := func(x []int32, n int) []int32 { return append(make([]int32, 0, max(n, cap(x))), x...) }
	b := &s.twice
	b.Src, b.SrcStarts = tokens(b.Src, 2*src), tokens(b.SrcStarts, 2*src+1) // no sentence is empty
	b.TgtIn, b.TgtOut, b.TgtStarts = tokens(b.TgtIn, 2*tgt), tokens(b.TgtOut, 2*tgt), tokens(b.TgtStarts, 2*tgt+1)
	s.bindRDrop(src, tgt)
}

// TrainRDrop is Train on a batch that goes through the model twice, with other dropout each time, and whose two
// distributions of each token shall be alike: R-Drop (Liang et al., 2021). It adds scale times the derivative of
//
//	Σ over both copies of their tokens' loss (Loss.Sum) + alpha/2·Loss.KL
//
// which is that of the paper's equation 4. Both copies count in Loss, Loss.Tokens included, so its means are those of
// Train, and with scale half that of Train so is the size of the derivatives. Alpha must be above 0. It panics as Train does.
func (s *Pass) TrainRDrop(b *Batch, seed uint64, scale, alpha float32) Loss {
	b.check(s.Config)
	if s.Params.G == nil {
		panic("model: training of a Transformer that was allocated without gradients")
	}
	twice := &s.twice
	twice.Reset()
	twice.join(b)
	twice.join(b)
	s.bindRDrop(len(b.Src), len(b.TgtIn))
	enc, dec := s.drops(seed)
	x := s.forward(twice, enc, dec)
	loss := s.project.RDrop(s.pool, s.dtgt, x, twice.TgtOut, scale, alpha, s.rdropRoom)
	s.backward(twice, enc, dec)
	return loss
}

// bindRDrop is bind for two copies of a batch of m source and n target tokens.
func (s *Pass) bindRDrop(m, n int) {
	take := func() {
		s.take(2*m, 2*n, true)
		s.rdropRoom = s.project.NewRDropRoom(&s.arena, n, s.room)
	}
	s.arena.Measure()
	take()
	s.arena.Reserve()
	take()
}

// join appends the sentences of c.
func (b *Batch) join(c *Batch) {
	src, tgt := int32(len(b.Src)), int32(len(b.TgtIn))
	b.Src, b.TgtIn, b.TgtOut = append(b.Src, c.Src...), append(b.TgtIn, c.TgtIn...), append(b.TgtOut, c.TgtOut...)
	for i := range c.Sentences() {
		b.SrcStarts, b.TgtStarts = append(b.SrcStarts, src+c.SrcStarts[i+1]), append(b.TgtStarts, tgt+c.TgtStarts[i+1])
	}
}
