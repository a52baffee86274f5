package model

import (
	"math"
	"testing"
)

// Equation 14 of Wu et al. (2016) by hand: ((5+n)/6)^alpha is 1 for one token, 2 for seven and 10 for 55.
func TestLengthPenalty(t *testing.T) {
	for _, c := range []struct {
		n           int
		alpha, want float64
	}{{1, 0.6, 1}, {7, 1, 2}, {7, 0.5, math.Sqrt2}, {55, 1, 10}, {55, 2, 100}, {30, 0, 1}, {19, 0.6, math.Pow(4, 0.6)}} {
		if got := -1 / (Search{Alpha: c.alpha}).score(-1, c.n); math.Abs(got/c.want-1) > 1e-14 { // a few roundings of float64
			t.Errorf("%d tokens, alpha %v: %v, want %v", c.n, c.alpha, got, c.want)
		}
	}
}
