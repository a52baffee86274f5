package layer

import (
	"math"
	"math/rand/v2"

	"tfm/internal/exact"
)

// Uniform fills w with uniform random values in [-bound, bound).
func Uniform(w []float32, bound float64, r *rand.Rand) {
	for i := range w {
		w[i] = float32(bound * (2*r.Float64() - 1))
	}
}

// Normal fills w with normally distributed values of mean 0 and the given standard deviation, by
// the transform of Box and Muller (1958). The same r gives the same bits on every machine.
func Normal(w []float32, deviation float64, r *rand.Rand) {
	for i := range w {
		radius := math.Sqrt(-2 * exact.Log(1-r.Float64()))
		_, cos := exact.Sincos(2 * math.Pi * r.Float64())
		w[i] = float32(deviation * radius * cos)
	}
}

// XavierUniform fills w, the weights of a linear map from in to out elements, with uniform values
// in ±sqrt(6/(in+out)) (Glorot and Bengio, 2010).
func XavierUniform(w []float32, in, out int, r *rand.Rand) {
	Uniform(w, math.Sqrt(6/float64(in+out)), r)
}

// Fill sets every element of w to v.
func Fill(w []float32, v float32) {
	for i := range w {
		w[i] = v
	}
}
