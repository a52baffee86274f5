package model

import "tfm/mat"

// dropouts gives each dropout site of a pass an independent generator. The sites of section 5.4 are
// numbered: the embeddings of the encoder, the output of each encoder sublayer, the embeddings of
// the decoder, the output of each decoder sublayer.
type dropouts struct {
	rates
	seed uint64 // of the batch
	site uint64 // first site; at(i) is site+i

	// Rows and sentences of the batch before this microbatch. Masks depend on the position of
	// an element in the batch, not on the split into microbatches.
	rows, sentences  int
	width, ff, heads int // d_model, d_ff, h
}

// rates are the dropout probabilities of sublayer outputs, attention weights and the hidden layer
// of the feed-forward network.
type rates struct{ outer, weights, inner float32 }

func (c Config) rates() rates { return rates{c.Dropout, c.AttentionDropout, c.FFDropout} }

// dropouts returns the dropout sites of the encoder and of the decoder. Site 0 of each is its
// embeddings; two sites for each encoder layer, three for each decoder layer follow.
func (c Config) dropouts(seed uint64) (enc, dec dropouts) {
	enc = dropouts{rates: c.rates(), seed: seed, width: c.DModel, ff: c.DFF, heads: c.Heads}
	return enc, enc.skip(1 + 2*c.EncoderLayers)
}

// at returns the generator of site d.site+i.
func (d dropouts) at(i int) mat.Dropout {
	return mat.Dropout{Rate: d.outer, Key: d.key(i), Offset: d.rows * d.width}
}

// weightsAt returns the generator of the attention weights in the sublayer of site d.site+i.
func (d dropouts) weightsAt(i int) mat.Dropout {
	return mat.Dropout{Rate: d.weights, Key: mix(d.key(i)) + uint64(d.sentences*d.heads)}
}

// innerAt returns the generator of the hidden layer in the feed-forward network of site d.site+i.
// Its key is that of weightsAt, because a site has attention or a hidden layer.
func (d dropouts) innerAt(i int) mat.Dropout {
	return mat.Dropout{Rate: d.inner, Key: mix(d.key(i)), Offset: d.rows * d.ff}
}

func (d dropouts) key(i int) uint64 { return mix(d.seed + (d.site+uint64(i)+1)*0x9e3779b97f4a7c15) }

// skip returns d with site advanced by i.
func (d dropouts) skip(i int) dropouts {
	d.site += uint64(i)
	return d
}

// offset returns d for a microbatch that follows the given rows and sentences of its batch.
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
