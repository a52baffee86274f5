package layer

import "tfm/mat"

// The tables of positional encodings [positions × d], from position 0 on. They are computed in
// float64 and rounded once, with the same bits on every machine.

// Sinusoids returns the paper's table (section 3.5):
//
//	PE(pos, 2i) = sin(pos / 10000^(2i/d))   PE(pos, 2i+1) = cos(pos / 10000^(2i/d))
func Sinusoids(positions, d int) mat.Matrix {
	pe := mat.New(positions, d)
	for j := 0; j < d; j += 2 {
		cos := j + 1
		if cos == d {
			cos = j // d is odd: the last column is a sine, written last
		}
		waves(pe, cos, j, mat.Pow(10000, -float64(j)/float64(d)))
	}
	return pe
}

// SinusoidHalves returns the same numbers in another order, sines in the first half and cosines in
// the second:
//
//	PE(pos, i) = sin(pos / 10000^(2i/d))   PE(pos, d/2+i) = cos(pos / 10000^(2i/d))
//
// d must be even. Source: MarianSinusoidalPositionalEmbedding of Hugging Face's transformers.
func SinusoidHalves(positions, d int) mat.Matrix {
	pe := mat.New(positions, d)
	for i := range d / 2 {
		waves(pe, d/2+i, i, mat.Pow(10000, -float64(2*i)/float64(d)))
	}
	return pe
}

// TimingSignal returns halves whose slowest wave has the rate 1/10000 exactly:
//
//	PE(pos, i) = sin(pos / 10000^(i/(d/2-1)))   PE(pos, d/2+i) = cos(pos / 10000^(i/(d/2-1)))
//
// d must be even. Source: get_timing_signal_1d of tensor2tensor, from position 0; also in fairseq
// and Marian.
func TimingSignal(positions, d int) mat.Matrix {
	pe := mat.New(positions, d)
	for i := range d / 2 {
		waves(pe, d/2+i, i, mat.Pow(10000, -float64(i)/float64(max(d/2-1, 1))))
	}
	return pe
}

// waves sets column cos and then column sin of pe to the waves of one rate.
func waves(pe mat.Matrix, cos, sin int, rate float64) {
	for pos := range pe.Rows {
		s, c := mat.Sincos(float64(pos) * rate)
		pe.Row(pos)[cos] = float32(c)
		pe.Row(pos)[sin] = float32(s)
	}
}
