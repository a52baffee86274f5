package dropout

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestMerges(t *testing.T) {
	for _, p := range []float64{0.1, 0.5, 1} {
		m := New(p, rand.NewPCG(1, 2))
		const draws = 20000
		dropped := 0
		for range draws {
			if m.Next() {
				dropped++
			}
		}
		// Five standard deviations.
		if got := float64(dropped) / draws; math.Abs(got-p) > 5*math.Sqrt(p*(1-p)/draws) {
			t.Errorf("share of dropped merges = %v, want %v", got, p)
		}
	}
}

func TestNone(t *testing.T) {
	if m := New(0, nil); m != nil {
		t.Errorf("New(0) = %v, want nil", m)
	}
}

// Any equals Next, and leaves the random numbers as they were if a merge is dropped.
func TestAny(t *testing.T) {
	for seed := range uint64(200) {
		random, again := rand.NewPCG(seed, 0), rand.NewPCG(seed, 0)
		n := int(seed % 8)
		got, want := New(0.2, random).Any(n), false
		m := New(0.2, again)
		for range n {
			want = want || m.Next()
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
