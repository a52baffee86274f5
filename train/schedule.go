package train

import "math"

// Schedule is a learning rate that rises in proportion to the step until step Warmup and then falls with its
// inverse square root:
//
//	rate(s) = Peak · min(s/Warmup, √(Warmup/s))
//
// or, if there is a step End, falls in a straight line that would be 0 at the step after it.
//
// The schedule of "Attention Is All You Need", section 5.3, d^-½ · min(s^-½, s·Warmup^-1.5), is the one with
// Peak = (d·Warmup)^-½. It is made of divisions and a square root, which IEEE 754 rounds the same everywhere.
type Schedule struct {
	Peak   float64 // the rate at step Warmup
	Warmup int     // at least 1
	End    int     // 0, or the last step of the straight line; above Warmup
}

// PaperSchedule is the paper's schedule for a model of width dModel, times factor.
func PaperSchedule(dModel, warmup int, factor float64) Schedule {
	return Schedule{factor / math.Sqrt(float64(dModel)*float64(warmup)), warmup, 0}
}

// Rate is the learning rate of step s; the first step is 1.
func (c Schedule) Rate(s int) float64 {
	if s < c.Warmup {
		return c.Peak * (float64(s) / float64(c.Warmup))
	}
	if c.End > 0 {
		return c.Peak * max(0, float64(c.End+1-s)/float64(c.End+1-c.Warmup))
	}
	return c.Peak * math.Sqrt(float64(c.Warmup)/float64(s))
}
