package exact

import (
	"math"
	"testing"

	"tfm/mat"
)

// The functions have the bits of those of package mat, whose tests compare them with package math.
func TestEqualsMat(t *testing.T) {
	inf := math.Inf(1)
	equal := func(name string, x, got, want float64) {
		if math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("%s(%v) = %v, want %v", name, x, got, want)
		}
	}
	for _, x := range []float64{0, inf, -inf, 800, -800, -745, 709.7, 1, 5e-324, math.MaxFloat64} {
		equal("Exp", x, Exp(x), mat.Exp(x))
		equal("Log", x, Log(x), mat.Log(x))
	}
	if !math.IsNaN(Exp(math.NaN())) || !math.IsNaN(Log(-1)) || !math.IsNaN(Log(math.NaN())) {
		t.Error("Exp(NaN), Log(-1) and Log(NaN) must be NaN")
	}
	for x := -700.0; x < 709; x += 0.37 {
		equal("Exp", x, Exp(x), mat.Exp(x))
	}
	for x := 1e-300; x < 1e300; x *= 1.37 {
		equal("Log", x, Log(x), mat.Log(x))
		if got, want := Log2(x), math.Log2(x); math.Abs(got-want) > 6e-16*math.Abs(want) {
			t.Errorf("Log2(%v) = %v, want %v", x, got, want)
		}
	}
}
