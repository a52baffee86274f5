package train

import (
	"math"
	"testing"

	"tfm/layer"
)

func TestGradientNorm(t *testing.T) {
	for _, n := range []int{1, 100, normBlockSize, 3*normBlockSize + 5} {
		g := gradientOf(n, n)
		sum := 0.0
		for _, x := range g {
			sum += float64(x) * float64(x)
		}
		norm := newGradientNorm(n)
		one := norm.of(nil, g)
		// The relative error of 16 lanes with n/16 additions of positive float32s is below
		// 1e-4.
		if want := math.Sqrt(sum); math.Abs(one/want-1) > 1e-4 {
			t.Errorf("n = %d: norm %v, want %v", n, one, want)
		}
		for _, threads := range []int{2, 3} {
			if got := norm.of(pool(t, threads), g); got != one {
				t.Errorf("n = %d: norm %v on %d threads, want %v as on one", n, got, threads, one)
			}
		}
	}
}

// The norm of a finite gradient is finite, even if squares overflow float32.
func TestGradientNormOverflow(t *testing.T) {
	g := make([]float32, 2*normBlockSize)
	g[3], g[normBlockSize+7] = 3e25, -4e25
	if norm := newGradientNorm(len(g)).of(nil, g); math.Abs(norm/5e25-1) > 1e-6 {
		t.Errorf("norm %v, want 5e25", norm)
	}
	for i := range g {
		g[i] = math.MaxFloat32
	}
	if norm, want := newGradientNorm(len(g)).of(nil, g), math.MaxFloat32*math.Sqrt(float64(len(g))); math.Abs(norm/want-1) > 1e-6 {
		t.Errorf("norm %v, want %v", norm, want)
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		g[normBlockSize] = float32(bad)
		if norm := newGradientNorm(len(g)).of(nil, g); finite(norm) {
			t.Errorf("gradient with %v: norm %v, want it not finite", bad, norm)
		}
	}
}

func TestClipFactor(t *testing.T) {
	for _, c := range []struct {
		norm, limit float64
		want        float32
	}{{4, 1, 0.25}, {1, 1, 1}, {0.5, 1, 1}, {4, 0, 1}, {0, 1, 1}, {1, 1e-300, math.SmallestNonzeroFloat32}} {
		if got := clipFactor(c.norm, c.limit); got != c.want {
			t.Errorf("clipFactor(%v, %v) = %v, want %v", c.norm, c.limit, got, c.want)
		}
	}
}

func TestGradientFault(t *testing.T) {
	ps := &layer.Params{}
	ps.New("one.weight", 2, 3)
	ps.New("two.bias", 4)
	ps.AllocForTraining()
	ps.G[8] = float32(math.NaN())
	wantError(t, gradients.fault(ps), "two.bias [4]", "NaN", "element 2")
	ps.G[8], ps.G[1] = 0, float32(math.Inf(-1))
	wantError(t, gradients.fault(ps), "one.weight [2 3]", "-Inf", "element 1")
	ps.G[1], ps.G[9] = 1, -1e30
	wantError(t, gradients.fault(ps), "too large", "1e+30", "two.bias")
}
