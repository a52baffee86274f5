package train

import (
	"fmt"
	"math"
)

// Values of Options.Schedule and Schedule.Name: the course of the learning rate after its peak at
// step Warmup.
const (
	SchedulePaper       = "paper"        // inverse square root; the peak is factor·(d·Warmup)^-½
	ScheduleInverseSqrt = "inverse-sqrt" // inverse square root of the step, any peak
	ScheduleConstant    = "constant"     // the peak
)

// Schedule is a learning rate schedule. The rate rises linearly until step Warmup and then is
//
//	rate(s) = Peak · √(Warmup/s)  paper, inverse-sqrt
//	rate(s) = Peak                constant
//
// The schedule of "Attention Is All You Need", section 5.3, d^-½ · min(s^-½, s·Warmup^-1.5), is the
// first one with Peak = (d·Warmup)^-½.
//
// A cooldown multiplies the rates of the steps after Cooldown.From by a factor that falls linearly,
// (Cooldown.End+1-s)/(Cooldown.End+1-Cooldown.From), 0 after End, so that no step of a run of End
// steps has the rate 0. A constant rate with a cooldown is the schedule "warmup-stable-decay" (Hu
// et al., 2024, "MiniCPM"; Hägele et al., 2024, "Scaling Laws and Compute-Optimal Training Beyond
// Fixed Training Durations"), and with one from step Warmup a linear decay. It can begin a run
// whose length is not known yet.
type Schedule struct {
	Name     string
	Peak     float64  // the rate at step Warmup
	Warmup   int      // steps; 0 or 1 is no warmup; paper and inverse-sqrt need at least 1
	Cooldown Cooldown // the zero value is none
}

// Cooldown is the last part of a run, in which the learning rate falls to 0.
type Cooldown struct {
	From int `json:"from"` // steps before it
	End  int `json:"end"`  // its last step; 0 is no cooldown
}

// cooldownFrom returns the steps before a cooldown that is the given share of a run.
func cooldownFrom(steps int, share float64) int { return steps - int(share*float64(steps)) }

// cooldownAfter returns the cooldown that is the given share of a run and begins after from steps.
func cooldownAfter(from int, share float64) Cooldown {
	end := int(float64(from) / (1 - share))
	for cooldownFrom(end, share) < from {
		end++
	}
	return Cooldown{from, end}
}

// factor returns the factor of the rate of step s.
func (c Cooldown) factor(s int) float64 {
	if c.End == 0 || s <= c.From {
		return 1
	}
	return max(0, float64(c.End+1-s)/float64(c.End+1-c.From))
}

// PaperSchedule returns factor times the schedule of the paper (section 5.3) for a model of width
// dModel.
func PaperSchedule(dModel, warmup int, factor float64) Schedule {
	return Schedule{Name: SchedulePaper, Peak: factor / math.Sqrt(float64(dModel)*float64(warmup)), Warmup: warmup}
}

// Rate returns the learning rate of step s ≥ 1.
func (c Schedule) Rate(s int) float64 { return c.beforeCooldown(s) * c.Cooldown.factor(s) }

func (c Schedule) beforeCooldown(s int) float64 {
	if s < c.Warmup {
		return c.Peak * (float64(s) / float64(c.Warmup))
	}
	if c.Name == ScheduleConstant {
		return c.Peak
	}
	return c.Peak * math.Sqrt(float64(c.Warmup)/float64(s))
}

// String describes the schedule in one line.
func (c Schedule) String() string {
	peak := fmt.Sprintf("%s: %.3g from step 1, then ", c.Name, c.Peak)
	if c.Warmup > 1 {
		peak = fmt.Sprintf("%s: warmup to %.3g at step %d, then ", c.Name, c.Peak, c.Warmup)
	}
	cooldown := ""
	if c.Cooldown.End > 0 {
		cooldown = fmt.Sprintf(", and linearly to 0 from step %d to step %d", c.Cooldown.From, c.Cooldown.End)
	}
	if c.Name == ScheduleConstant {
		return peak + "constant" + cooldown
	}
	return peak + "inverse square root of the step" + cooldown
}
