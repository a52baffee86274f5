package model

import "tfm/mat"

// dropouts gives each place where a step drops something a generator of its own. The places of the paper are
// numbered: the embeddings of a stack, then the result of each sublayer.
type dropouts struct {
	rates
	seed  uint64 // of the step
	place uint64

	// What comes before in the batch: a number is dropped or not by its place in the batch, in whatever part of it.
	rows, sentences  int
	width, ff, heads int // of a row; of an inner row; and how many weights of attention a sentence has a generator for
}

// rates are the probabilities of the places.
type rates struct{ outer, weights, inner float32 }

func (c Config) rates() rates { return rates{c.Dropout, c.AttentionDropout, c.FFDropout} }

// at is the generator of the i-th place from here.
func (d dropouts) at(i int) mat.Dropout {
	return mat.Dropout{Rate: d.outer, Key: d.key(i), First: d.rows * d.width}
}

// weightsAt is the generator of the weights of attention in the sublayer whose result is the i-th place from here.
func (d dropouts) weightsAt(i int) mat.Dropout {
	return mat.Dropout{Rate: d.weights, Key: mix(d.key(i)) + uint64(d.sentences*d.heads)}
}

// innerAt is the generator of the inner numbers of the feed-forward network whose result is the i-th place from here.
func (d dropouts) innerAt(i int) mat.Dropout {
	return mat.Dropout{Rate: d.inner, Key: mix(d.key(i)), First: d.rows * d.ff}
}

func (d dropouts) key(i int) uint64 { return mix(d.seed + (d.place+uint64(i)+1)*0x9e3779b97f4a7c15) }

// from skips to place i.
func (d dropouts) from(i int) dropouts {
	d.place += uint64(i)
	return d
}

// behind skips rows and sentences of the batch.
func (d dropouts) behind(rows, sentences int) dropouts {
	d.rows, d.sentences = rows, sentences
	return d
}

// mix is the finalizer of SplitMix64 (Steele et al., 2014).
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
