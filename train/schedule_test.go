package train

import (
	"math"
	"strings"
	"testing"
)

// Rates rise to the peak at step Warmup, and a cooldown multiplies them by a linear factor.
func TestRates(t *testing.T) {
	for _, c := range []struct {
		schedule Schedule
		want     map[int]float64
	}{
		{Schedule{Name: ScheduleInverseSqrt, Peak: 2e-3, Warmup: 800}, map[int]float64{1: 2e-3 / 800, 400: 1e-3, 799: 2e-3 * 799 / 800, 800: 2e-3, 3200: 1e-3}},
		{Schedule{Name: ScheduleInverseSqrt, Peak: 1, Warmup: 1}, map[int]float64{1: 1, 4: 0.5}},
		{Schedule{Name: ScheduleConstant, Peak: 3e-4}, map[int]float64{1: 3e-4, 1e6: 3e-4}},
		{Schedule{Name: ScheduleConstant, Peak: 3e-4, Warmup: 1}, map[int]float64{1: 3e-4, 1e6: 3e-4}},
		{Schedule{Name: ScheduleConstant, Peak: 3e-4, Warmup: 10}, map[int]float64{1: 3e-5, 5: 1.5e-4, 10: 3e-4, 1e6: 3e-4}},
		{Schedule{Name: ScheduleConstant, Peak: 1, Warmup: 10, Cooldown: Cooldown{60, 99}}, map[int]float64{1: 0.1, 60: 1, 61: 39. / 40, 80: 0.5, 99: 1. / 40, 100: 0, 1000: 0}},
		{Schedule{Name: ScheduleInverseSqrt, Peak: 1, Warmup: 16, Cooldown: Cooldown{60, 99}}, map[int]float64{16: 1, 64: 0.5 * 36 / 40, 99: 4 / math.Sqrt(99) / 40, 100: 0}},
		{Schedule{Name: ScheduleConstant, Peak: 1, Warmup: 100, Cooldown: Cooldown{100, 499}}, map[int]float64{50: 0.5, 100: 1, 200: 0.75, 300: 0.5, 499: 1. / 400, 500: 0, 600: 0}},
	} {
		for s, want := range c.want {
			if got := c.schedule.Rate(s); math.Abs(got-want) > 1e-15 {
				t.Errorf("%v: Rate(%d) = %v, want %v", c.schedule, s, got, want)
			}
		}
	}
	want := "constant: warmup to 1 at step 10, then constant, and linearly to 0 from step 60 to step 99"
	if got := (Schedule{Name: ScheduleConstant, Peak: 1, Warmup: 10, Cooldown: Cooldown{60, 99}}).String(); got != want {
		t.Errorf("String = %q, want %q", got, want)
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
