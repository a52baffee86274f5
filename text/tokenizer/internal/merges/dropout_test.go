package merges

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestDropout(t *testing.T) {
	for _, p := range []float64{0.1, 0.5, 1} {
		d := NewDropout(p, rand.NewPCG(1, 2))
		const draws = 20000
		dropped := 0
		for range draws {
			if d.Next() {
				dropped++
			}
		}
		// Five standard deviations.
		if got := float64(dropped) / draws; math.Abs(got-p) > 5*math.Sqrt(p*(1-p)/draws) {
			t.Errorf("share of dropped merges = %v, want %v", got, p)
		}
	}
}

func TestNoDropout(t *testing.T) {
	if d := NewDropout(0, nil); d != nil {
		t.Errorf("NewDropout(0) = %v, want nil", d)
	}
}

// Any equals Next, and leaves the random numbers as they were if a merge is dropped.
func TestAny(t *testing.T) {
	for seed := range uint64(200) {
		random, again := rand.NewPCG(seed, 0), rand.NewPCG(seed, 0)
		n := int(seed % 8)
		got, want := NewDropout(0.2, random).Any(n), false
		d := NewDropout(0.2, again)
		for range n {
			want = want || d.Next()
		}
		if got != want {
			t.Fatalf("seed %d: Any(%d) = %v, want %v", seed, n, got, want)
		}
		if want {
			*again = *rand.NewPCG(seed, 0)
		}
		if random.Uint64() != again.Uint64() {
			t.Fatalf("seed %d: Any(%d) = %v leaves another state", seed, n, got)
		}
	}
}
