package train

import (
	"math"
	"strings"
	"testing"
)

// The reference is the paper's formula with math.Pow.
func TestPaperSchedule(t *testing.T) {
	const d, warmup = 512, 4000
	c := PaperSchedule(d, warmup, 1)
	for _, s := range []int{1, 2, 100, 3999, 4000, 4001, 12345, 100000, 10000000} {
		want := math.Pow(d, -0.5) * min(math.Pow(float64(s), -0.5), float64(s)*math.Pow(warmup, -1.5))
		if got := c.Rate(s); math.Abs(got/want-1) > 1e-14 {
			t.Errorf("Rate(%d) = %v, want %v", s, got, want)
		}
	}
	if got := PaperSchedule(d, warmup, 2).Rate(77); got != 2*c.Rate(77) {
		t.Errorf("factor 2: Rate(77) = %v, want %v", got, 2*c.Rate(77))
	}
}

func TestSchedulePeaksAtWarmup(t *testing.T) {
	c := Schedule{Name: ScheduleInverseSqrt, Peak: 2e-3, Warmup: 800}
	if c.Rate(800) != 2e-3 || c.Rate(400) != 1e-3 || c.Rate(3200) != 1e-3 {
		t.Errorf("rates at 400, 800, 3200: %v, %v, %v, want 1e-3, 2e-3, 1e-3", c.Rate(400), c.Rate(800), c.Rate(3200))
	}
	for s := 1; s < 5000; s++ {
		if up := c.Rate(s+1) > c.Rate(s); up != (s < 800) {
			t.Fatalf("Rate(%d), Rate(%d) = %v, %v, want a peak at step 800", s, s+1, c.Rate(s), c.Rate(s+1))
		}
	}
	if got := (Schedule{Name: ScheduleInverseSqrt, Peak: 1, Warmup: 1}).Rate(1); got != 1 {
		t.Errorf("without warmup: Rate(1) = %v, want 1, the peak", got)
	}
}

func TestConstantSchedule(t *testing.T) {
	for _, warmup := range []int{0, 1, 10} {
		c := Schedule{Name: ScheduleConstant, Peak: 3e-4, Warmup: warmup}
		for _, s := range []int{1, 5, 10, 11, 1e6} {
			want := 3e-4
			if s < warmup {
				want *= float64(s) / float64(warmup)
			}
			if got := c.Rate(s); got != want {
				t.Errorf("warmup %d: Rate(%d) = %v, want %v", warmup, s, got, want)
			}
		}
	}
}

func TestOptionsChooseTheSchedule(t *testing.T) {
	const d = 64
	paper := PaperSchedule(d, 4000, 1).Peak
	for _, c := range []struct {
		change func(*Options)
		want   Schedule
		text   string
	}{
		{func(o *Options) {}, Schedule{SchedulePaper, paper, 4000, Cooldown{}}, "paper: warmup to 0.00198 at step 4000, then inverse square root of the step"},
		{func(o *Options) { o.Factor = 2 }, Schedule{SchedulePaper, 2 * paper, 4000, Cooldown{}}, "warmup to 0.00395"},
		{func(o *Options) { o.LR = 5e-4 }, Schedule{ScheduleInverseSqrt, 5e-4, 4000, Cooldown{}}, "inverse-sqrt: warmup to 0.0005"},
		{func(o *Options) { o.Schedule, o.LR, o.Warmup = "constant", 1e-3, 0 }, Schedule{ScheduleConstant, 1e-3, 0, Cooldown{}}, "constant: 0.001 from step 1, then constant"},
	} {
		o := DefaultOptions()
		c.change(&o)
		if err := o.Validate(); err != nil {
			t.Error(err)
		}
		got := o.LearningRate(d)
		if got != c.want || !strings.Contains(got.String(), c.text) {
			t.Errorf("LearningRate = %#v, text %q; want %#v, %q in the text", got, got.String(), c.want, c.text)
		}
	}
}
