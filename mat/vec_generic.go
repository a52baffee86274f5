package mat

import "math"

// The vector kernels in plain Go, for machines without assembly: the operations of the 16-lane
// machine in the same order, except that a product is rounded before it is added, because a fused
// multiply-add in software would be fifty times slower.

// lanes holds the 16 partial results of a reduction.
type lanes [16]float32

func (s *lanes) sum() float32 {
	for h := 8; h > 0; h /= 2 {
		for l := range h {
			s[l] += s[l+h]
		}
	}
	return s[0]
}

func sumGeneric(x []float32) float32 {
	var s lanes
	for j, v := range x {
		s[j%16] += v
	}
	return s.sum()
}

func dotGeneric(x, y []float32) float32 {
	var s lanes
	for j, v := range x {
		s[j%16] += float32(v * y[j])
	}
	return s.sum()
}

func sumSquaredDiffGeneric(x []float32, mean float32) float32 {
	var s lanes
	for j, v := range x {
		d := v - mean
		s[j%16] += float32(d * d)
	}
	return s.sum()
}

func maxGeneric(x []float32) float32 {
	m := float32(math.Inf(-1))
	for _, v := range x {
		m = max(m, v)
	}
	return m + 0 // a zero becomes +0
}

func addGeneric(y, x []float32) {
	for j, v := range x {
		y[j] += v
	}
}

func axpyGeneric(y []float32, a float32, x []float32) {
	for j, v := range x {
		y[j] += float32(a * v)
	}
}

func scalGeneric(x []float32, a float32) {
	for j := range x {
		x[j] *= a
	}
}

func scaleShiftGeneric(y []float32, a, b float32) {
	for j := range y {
		y[j] = float32(y[j]*a) + b
	}
}

func axpyToGeneric(dst []float32, a float32, x, y []float32) {
	for j := range dst {
		dst[j] = float32(a*x[j]) + y[j]
	}
}
