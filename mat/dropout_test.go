package mat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// mask returns 1 for kept elements and 0 for the others.
func mask(d Dropout, n, first int) []float32 {
	ones, kept := make([]float32, n), make([]float32, n)
	for j := range ones {
		ones[j] = 1
	}
	d.Apply(kept, ones, nil, first)
	for j, x := range kept {
		if x != 0 {
			kept[j] = 1
		}
	}
	return kept
}

// A count of n independent events of probability p is within 5 standard deviations of its mean; one
// in two million is not.
func TestDropoutStatistics(t *testing.T) {
	const n = 1 << 17
	within := func(what string, got float32, n int, p float64) {
		t.Helper()
		if s := math.Sqrt(float64(n) * p * (1 - p)); math.Abs(float64(got)-float64(n)*p) > 5*s {
			t.Errorf("%s: %g of %d, want %.0f ± %.0f", what, got, n, float64(n)*p, 5*s)
		}
	}
	r := rand.New(rand.NewPCG(11, 12))
	for _, rate := range []float32{0.05, 0.1, 0.3, 0.5, 0.9} {
		d := Dropout{Rate: rate, Key: r.Uint64()}
		p := 1 - float64(rate)
		m := mask(d, n, 0)
		within(fmt.Sprintf("kept at rate %v", rate), Sum(m), n, p)

		// pairs of neighbours, at distances of usual row widths and of powers of 2
		for _, lag := range []int{1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 64, 128, 255, 256, 512, 1000, 1024, 2048, 4096, 1 << 14, 1 << 16} {
			within(fmt.Sprintf("kept %d apart at rate %v", lag, rate), Dot(m[:n-lag], m[lag:]), n-lag, p*p)
		}

		// other keys: the next ones, and those with one different bit
		keys := []uint64{d.Key + 1, d.Key + 2, d.Key + 3}
		for bit := range 64 {
			keys = append(keys, d.Key^1<<bit)
		}
		for _, key := range keys {
			other := mask(Dropout{Rate: rate, Key: key}, n, 0)
			within(fmt.Sprintf("kept under both keys %#x and %#x at rate %v", d.Key, key, rate), Dot(m, other), n, p*p)
		}
	}
}

func TestDropoutMaskIsAFunctionOfTheIndex(t *testing.T) {
	d := Dropout{Rate: 0.4, Key: 0xfedcba9876543210}
	all := mask(d, 3*run, 0)
	forEachKernel(t, func(t *testing.T) {
		for _, first := range []int{0, 1, 15, 16, 777, run - 3, run} {
			for j, x := range mask(d, run+100, first) {
				if x != all[first+j] {
					t.Fatalf("element %d of the mask depends on the first element of the call, %d", first+j, first)
				}
			}
		}
	})
}

func TestDropoutAtTheEndsOfRate(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		for _, c := range []struct{ rate, kept float32 }{{0, 1000}, {1e-12, 1000}, {1 - 0x1p-24, 0}} {
			if kept := Sum(mask(Dropout{Rate: c.rate, Key: 42}, 1000, 0)); kept != c.kept {
				t.Errorf("rate %v keeps %v of 1000, want %v", c.rate, kept, c.kept)
			}
		}
	})
}

func TestDropoutPanicsOnInvalidRate(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		x := []float32{1, 2}
		for _, rate := range []float32{1, 1.5, -0.1, float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))} {
			want := fmt.Sprintf("mat: dropout rate %v", rate)
			if s, _ := panicOf(func() { Dropout{Rate: rate}.Apply(x, x, nil, 0) }).(string); !strings.HasPrefix(s, want) {
				t.Errorf("rate %v panics with %q, want %q", rate, s, want)
			}
		}
	})
}
