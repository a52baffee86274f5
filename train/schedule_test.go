package train

import (
	"math"
	"testing"
)

// The paper's formula with math.Pow, to rounding.
func TestPaperSchedule(t *testing.T) {
	const d, warmup = 512, 4000
	c := PaperSchedule(d, warmup, 1)
	for _, s := range []int{1, 2, 100, 3999, 4000, 4001, 12345, 100000, 10000000} {
		want := math.Pow(d, -0.5) * min(math.Pow(float64(s), -0.5), float64(s)*math.Pow(warmup, -1.5))
		if got := c.Rate(s); math.Abs(got/want-1) > 1e-14 {
			t.Errorf("step %d: %v, want %v", s, got, want)
		}
	}
	if got := PaperSchedule(d, warmup, 2).Rate(77); got != 2*c.Rate(77) {
		t.Errorf("factor 2 gives %v, want %v", got, 2*c.Rate(77))
	}
}

func TestSchedulePeaksAtWarmup(t *testing.T) {
	c := Schedule{2e-3, 800, 0}
	if c.Rate(800) != 2e-3 || c.Rate(400) != 1e-3 || c.Rate(3200) != 1e-3 {
		t.Errorf("rates at 400, 800, 3200: %v, %v, %v, want 1e-3, 2e-3, 1e-3", c.Rate(400), c.Rate(800), c.Rate(3200))
	}
	for s := 1; s < 5000; s++ {
		if up := c.Rate(s+1) > c.Rate(s); up != (s < 800) {
			t.Fatalf("from step %d to the next the rate goes from %v to %v", s, c.Rate(s), c.Rate(s+1))
		}
	}
	if got := (Schedule{1, 1, 0}).Rate(1); got != 1 {
		t.Errorf("without warm-up the first rate is %v, want the peak 1", got)
	}
}

func TestScheduleInAStraightLine(t *testing.T) {
	c := Schedule{1, 100, 499}
	for s, want := range map[int]float64{50: 0.5, 100: 1, 200: 0.75, 300: 0.5, 499: 1. / 400, 500: 0, 600: 0} {
		if got := c.Rate(s); math.Abs(got-want) > 1e-15 {
			t.Errorf("step %d: %v, want %v", s, got, want)
		}
	}
}
