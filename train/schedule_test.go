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

func TestLinearSchedule(t *testing.T) {
	c := Schedule{Name: ScheduleLinear, Peak: 1, Warmup: 100, End: 499}
	for s, want := range map[int]float64{50: 0.5, 100: 1, 200: 0.75, 300: 0.5, 499: 1. / 400, 500: 0, 600: 0} {
		if got := c.Rate(s); math.Abs(got-want) > 1e-15 {
			t.Errorf("step %d: %v, want %v", s, got, want)
		}
	}
}

// A run of DecaySteps steps, the limit, has no step with the rate 0; the next step would have it.
func TestLinearScheduleIsZeroAfterDecaySteps(t *testing.T) {
	o := DefaultOptions()
	o.LR, o.Warmup, o.DecaySteps, o.Steps = 1e-3, 100, 190, 190
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	c := o.LearningRate(64)
	if last, next := c.Rate(190), c.Rate(191); math.Abs(last*91/1e-3-1) > 1e-14 || next != 0 {
		t.Errorf("rates at 190, 191: %v, %v, want 1/91 of the peak, 0", last, next)
	}
	if want := "linear to 0 after step 190"; !strings.HasSuffix(c.String(), want) {
		t.Errorf("String = %q, want %q at its end", c.String(), want)
	}
	o.Steps++
	wantError(t, o.Validate(), "steps is 191, expected at most 190, because the learning rate of later steps is 0")
}

// The reference is Loshchilov and Hutter's formula with math.Cos.
func TestCosineSchedule(t *testing.T) {
	const peak, floor, warmup, end = 1e-3, 1e-5, 100, 1100
	c := Schedule{ScheduleCosine, peak, warmup, end, floor, Cooldown{}}
	for s := warmup; s <= end; s++ {
		want := floor + 0.5*(peak-floor)*(1+math.Cos(float64(s-warmup)/(end-warmup)*math.Pi))
		if got := c.Rate(s); math.Abs(got/want-1) > 1e-12 {
			t.Fatalf("Rate(%d) = %v, want %v", s, got, want)
		}
	}
	for s, want := range map[int]float64{1: peak / 100, 50: peak / 2, 100: peak, 600: (peak + floor) / 2, 1100: floor, 1101: floor, 1e6: floor} {
		if got := c.Rate(s); math.Abs(got/want-1) > 1e-12 {
			t.Errorf("step %d: %v, want %v", s, got, want)
		}
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
		{func(o *Options) {}, Schedule{SchedulePaper, paper, 4000, 0, 0, Cooldown{}}, "paper: warmup to 0.00198 at step 4000, then inverse square root of the step"},
		{func(o *Options) { o.Factor = 2 }, Schedule{SchedulePaper, 2 * paper, 4000, 0, 0, Cooldown{}}, "warmup to 0.00395"},
		{func(o *Options) { o.LR = 5e-4 }, Schedule{ScheduleInverseSqrt, 5e-4, 4000, 0, 0, Cooldown{}}, "inverse-sqrt: warmup to 0.0005"},
		{func(o *Options) { o.DecaySteps = 100_000 }, Schedule{ScheduleLinear, paper, 4000, 100_000, 0, Cooldown{}}, "linear: warmup to 0.00198 at step 4000, then linear to 0 after step 100000"},
		{func(o *Options) { o.LR, o.DecaySteps, o.Warmup = 5e-4, 100_000, 0 }, Schedule{ScheduleLinear, 5e-4, 0, 100_000, 0, Cooldown{}}, "linear: 0.0005 from step 1"},
		{func(o *Options) { o.Schedule, o.LR, o.Warmup = "constant", 1e-3, 0 }, Schedule{ScheduleConstant, 1e-3, 0, 0, 0, Cooldown{}}, "constant: 0.001 from step 1, then constant"},
		{func(o *Options) { o.Schedule, o.LR, o.DecaySteps, o.MinLR = "cosine", 1e-3, 100_000, 1e-5 }, Schedule{ScheduleCosine, 1e-3, 4000, 100_000, 1e-5, Cooldown{}},
			"cosine: warmup to 0.001 at step 4000, then cosine to 1e-05 at step 100000"},
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
