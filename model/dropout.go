package model

import "tfm/mat"

// dropouts gives each place of dropout in a step a generator of its own. The places of section 5.4
// are numbered: the embeddings of a stack, then the result of each sublayer.
type dropouts struct {
	rates
	seed uint64 // of the step
	site uint64 // skipped by from

	// Rows and sentences of the batch before this microbatch: whether a number is dropped depends
	// on its place in the batch, not on the cuts.
	rows, sentences  int
	width, ff, heads int // d_model, d_ff, h: numbers of a row and of an inner row, generators of a sentence
}

// rates are the probabilities of the places.
type rates struct{ outer, weights, inner float32 }

func (c Config) rates() rates { return rates{c.Dropout, c.AttentionDropout, c.FFDropout} }

// at returns the generator of the i-th place from here.
func (d dropouts) at(i int) mat.Dropout {
	return mat.Dropout{Rate: d.outer, Key: d.key(i), Offset: d.rows * d.width}
}

// weightsAt returns the generator of the attention weights in the sublayer whose result is place i
// from here.
func (d dropouts) weightsAt(i int) mat.Dropout {
	return mat.Dropout{Rate: d.weights, Key: mix(d.key(i)) + uint64(d.sentences*d.heads)}
}

// innerAt returns the generator of the inner numbers of the feed-forward network whose result is
// place i from here.
func (d dropouts) innerAt(i int) mat.Dropout {
	return mat.Dropout{Rate: d.inner, Key: mix(d.key(i)), Offset: d.rows * d.ff}
}

func (d dropouts) key(i int) uint64 { return mix(d.seed + (d.site+uint64(i)+1)*0x9e3779b97f4a7c15) }

// skip skips to place i.
func (d dropouts) skip(i int) dropouts {
	d.site += uint64(i)
	return d
}

// offset skips rows and sentences of the batch.
func (d dropouts) offset(rows, sentences int) dropouts {
	d.rows, d.sentences = rows, sentences
	return d
}

// mix is the finalizer of SplitMix64 (Steele et al., 2014).
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
