package layer

import (
	"tfm/internal/exact"
	"tfm/mat"
)

// Tables of positional encodings PE [positions × d], beginning with position 0. They are computed
// in float64 and rounded once, to the same bits on every machine.

// Sinusoids returns the paper's table (section 3.5):
//
//	PE(pos, 2i) = sin(pos / 10000^(2i/d))   PE(pos, 2i+1) = cos(pos / 10000^(2i/d))
func Sinusoids(positions, d int) mat.Matrix {
	pe := mat.New(positions, d)
	for j := 0; j < d; j += 2 {
		cos := j + 1
		if cos == d {
			cos = j // d is odd: the sine overwrites the cosine in the last column
		}
		setWaves(pe, cos, j, exact.Pow(10000, -float64(j)/float64(d)))
	}
	return pe
}

// SinusoidHalves returns the paper's values in another order, sines in the first half of the
// columns and cosines in the second:
//
//	PE(pos, i) = sin(pos / 10000^(2i/d))   PE(pos, d/2+i) = cos(pos / 10000^(2i/d))
//
// d must be even. Source: MarianSinusoidalPositionalEmbedding of Hugging Face's transformers.
func SinusoidHalves(positions, d int) mat.Matrix {
	pe := mat.New(positions, d)
	for i := range d / 2 {
		setWaves(pe, d/2+i, i, exact.Pow(10000, -float64(2*i)/float64(d)))
	}
	return pe
}

// TimingSignal returns sines and cosines in halves, with frequencies from 1 to exactly 1/10000:
//
//	PE(pos, i) = sin(pos / 10000^(i/(d/2-1)))   PE(pos, d/2+i) = cos(pos / 10000^(i/(d/2-1)))
//
// d must be even. Source: get_timing_signal_1d of tensor2tensor, from position 0; also in fairseq
// and Marian.
func TimingSignal(positions, d int) mat.Matrix {
	pe := mat.New(positions, d)
	for i := range d / 2 {
		setWaves(pe, d/2+i, i, exact.Pow(10000, -float64(i)/float64(max(d/2-1, 1))))
	}
	return pe
}

// setWaves sets column cos and then column sin of pe to the cosine and the sine of pos·frequency.
func setWaves(pe mat.Matrix, cos, sin int, frequency float64) {
	for pos := range pe.Rows {
		s, c := exact.Sincos(float64(pos) * frequency)
		pe.Row(pos)[cos] = float32(c)
		pe.Row(pos)[sin] = float32(s)
	}
}
