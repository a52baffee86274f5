package exact

import (
	"math"
	"testing"
)

// The bounds include the error of package exacth, one unit in the last place.
func TestExactAgainstMath(t *testing.T) {
	relative := func(name string, x, got, want, bound float64) {
		if d := math.Abs(got-want) / math.Abs(want); d > bound {
			t.Errorf("%s(%v) = %v, want %v: relative error %.2g", name, x, got, want, d)
		}
	}
	for x := -700.0; x < 709; x += 0.37 {
		relative("Exp", x, Exp(x), math.Exp(x), 6e-16)
	}
	for x := 1e-300; x < 1e300; x *= 1.37 {
		relative("Log", x, Log(x), math.Log(x), 6e-16)
		relative("Log2", x, Log2(x), math.Log2(x), 6e-16)
		relative("Pow", x, Pow(x, 0.3), math.Pow(x, 0.3), 1e-13)
	}
	for x := 0.0; x < 1<<20; x = x*1.01 + 0.013 {
		s, c := Sincos(x)
		if math.Abs(s-math.Sin(x)) > 1e-15 || math.Abs(c-math.Cos(x)) > 1e-15 {
			t.Errorf("Sincos(%v) = %v, %v, want %v, %v", x, s, c, math.Sin(x), math.Cos(x))
		}
	}
}

func TestExactOfSpecialValues(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct{ got, want float64 }{
		{Exp(0), 1}, {Exp(-inf), 0}, {Exp(inf), inf}, {Exp(800), inf}, {Exp(-800), 0},
		{Log(1), 0}, {Log(0), -inf}, {Log(inf), inf}, {Exp(-745), 5e-324},
	} {
		if c.got != c.want {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
	if !math.IsNaN(Exp(math.NaN())) || !math.IsNaN(Log(-1)) || !math.IsNaN(Log(math.NaN())) {
		t.Error("Exp(NaN), Log(-1) and Log(NaN) must be NaN")
	}
}
