package model

// TrainFLOPs returns the number of floating-point operations of a training step on b. It counts the
// matrix products, once forward and twice backward, with two operations for a multiplication and an
// addition. It does not count other arithmetic (norms, softmax, optimizer) or what the backward
// pass recomputes.
func (c Config) TrainFLOPs(b *Batch) float64 {
	d, ff := float64(c.DModel), float64(c.DFF)
	dk, dv := c.HeadSizes()
	k, v := float64(c.Heads*dk), float64(c.Heads*dv)
	m, n := float64(len(b.Src)), float64(len(b.TgtIn))
	var encPairs, decPairs, crossPairs float64 // pairs of a query and a key that is not masked
	for s := range b.Sentences() {
		src, tgt := float64(b.SrcStarts[s+1]-b.SrcStarts[s]), float64(b.TgtStarts[s+1]-b.TgtStarts[s])
		encPairs += src * src
		decPairs += tgt * (tgt + 1) / 2
		crossPairs += src * tgt
	}
	encoder := m*2*d*(k+v+ff) + (k+v)*encPairs
	decoder := n*d*(k+v+2*ff) + m*d*(k+v) + (k+v)*crossPairs // without the first sublayer
	if c.Autoreg == SSRU {
		decoder += n * d * 2 * d
	} else {
		decoder += n*d*2*(k+v) + (k+v)*decPairs
	}
	macs := float64(c.EncoderLayers)*encoder + float64(c.DecoderLayers)*decoder + n*d*float64(c.TgtVocab)
	return 3 * 2 * macs
}
