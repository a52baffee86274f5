package layer

import "tfm/mat"

// Sinusoids is the table of positional encodings [positions × d] of section 3.5:
//
//	PE(pos, 2i) = sin(pos / 10000^(2i/d))   PE(pos, 2i+1) = cos(pos / 10000^(2i/d))
//
// It is computed in float64 and rounded once, with the same bits on every machine.
func Sinusoids(positions, d int) mat.Matrix {
	pe := mat.New(positions, d)
	for j := 0; j < d; j += 2 {
		rate := mat.Pow(10000, -float64(j)/float64(d))
		for pos := range positions {
			sin, cos := mat.Sincos(float64(pos) * rate)
			row := pe.Row(pos)
			row[j] = float32(sin)
			if j+1 < d {
				row[j+1] = float32(cos)
			}
		}
	}
	return pe
}
