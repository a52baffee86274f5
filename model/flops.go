package model

// TrainFLOPs returns the number of floating-point operations that a training step on b needs, a
// multiplication and an addition counted as two: those of the matrix products, forward once and
// backward twice. Other arithmetic (norms, softmax, optimizer) and recomputation in the backward
// pass do not count.
func (c Config) TrainFLOPs(b *Batch) float64 {
	d, ff := float64(c.DModel), float64(c.DFF)
	dk, dv := c.HeadSizes()
	k, v := float64(c.Heads*dk), float64(c.Heads*dv)
	m, n := float64(len(b.Src)), float64(len(b.TgtIn))
	var encPairs, decPairs, crossPairs float64 // of a query and a key that it may see
	for s := range b.Sentences() {
		src, tgt := float64(b.SrcStarts[s+1]-b.SrcStarts[s]), float64(b.TgtStarts[s+1]-b.TgtStarts[s])
		encPairs += src * src
		decPairs += tgt * (tgt + 1) / 2
		crossPairs += src * tgt
	}
	encoder := m*2*d*(k+v+ff) + (k+v)*encPairs
	decoder := n*d*(3*k+3*v+2*ff) + m*d*(k+v) + (k+v)*(decPairs+crossPairs)
	macs := float64(c.EncoderLayers)*encoder + float64(c.DecoderLayers)*decoder + n*d*float64(c.TgtVocab)
	return 3 * 2 * macs
}
