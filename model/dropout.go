package model

import "tfm/mat"

// dropouts gives each place where a step drops something a generator of its own.
type dropouts struct {
	rate  float32
	seed  uint64 // of the step
	place uint64
}

// at is the generator of the i-th place from here.
func (d dropouts) at(i int) mat.Dropout {
	return mat.Dropout{Rate: d.rate, Key: mix(d.seed + (d.place+uint64(i)+1)*0x9e3779b97f4a7c15)}
}

// from skips to place i.
func (d dropouts) from(i int) dropouts {
	d.place += uint64(i)
	return d
}

// mix is the finalizer of SplitMix64 (Steele et al., 2014).
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
