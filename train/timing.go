package train

import "time"

// timing is the measured speed of a run.
type timing struct {
	start      time.Time // start of the run, shifted by the interruptions
	speed      speed
	save       time.Duration // of the last save, 0 before
	validation time.Duration // of the last validation, 0 before
}

// elapsed returns the duration of the training, time before a resume included.
func (r *run) elapsed() time.Duration { return time.Since(r.timing.start) }

// finishTime estimates the time from the last step to the end of the run: a validation, a save, and
// the validation of the average.
func (r *run) finishTime() time.Duration {
	t := r.timing.save
	if r.valid != nil {
		t += r.validationTime()
		if r.o.Average > 1 {
			t += r.validationTime()
		}
	}
	return t
}

// cooldownTime returns the time at which the cooldown has to begin so that the run ends in time.
// The steps of the cooldown take the mean time of the steps before, validations and saves included.
func (r *run) cooldownTime() time.Duration {
	const margin = 0.99 // a run that is cut off has no step with the lowest rates
	before := (1 - r.o.Cooldown) * float64(r.o.Time)
	// The first estimates of the final validation can be far too high.
	return time.Duration(max(before/2, margin*before-(1-r.o.Cooldown)*float64(r.finishTime())))
}

// lastStep returns the last step of the run, 0 if it is unknown.
func (r *run) lastStep() int {
	if r.end > 0 {
		return r.end
	}
	if end := r.state.Cooldown.End; end > 0 && (r.o.Steps == 0 || end < r.o.Steps) {
		return end
	}
	return r.o.Steps
}

// validationTime estimates the duration of a validation.
func (r *run) validationTime() time.Duration {
	if r.timing.validation > 0 {
		return r.timing.validation
	}
	_, tgt := r.timing.speed.perSec()
	return r.valid.estimate(tgt)
}

// timeLeft estimates the time to the end of the run, 0 if it is unknown.
func (r *run) timeLeft() time.Duration {
	var left time.Duration
	if steps := r.lastStep() - r.state.Step; steps > 0 {
		left = time.Duration(steps) * r.timing.speed.step()
		if r.end > 0 {
			return left
		}
		if r.valid != nil {
			left += time.Duration(steps/r.o.ValidEvery) * r.validationTime()
		}
		if r.o.SaveEvery > 0 {
			left += time.Duration(steps/r.o.SaveEvery) * r.timing.save
		}
	}
	if r.o.Time > 0 {
		if limit := max(0, r.o.Time-r.elapsed()); r.lastStep() == 0 || limit < left {
			left = limit
		}
	}
	return left
}

// speed holds exponentially decaying sums over the last steps.
type speed struct {
	steps, src, tgt, seconds float64
}

const speedDecay = 0.95 // weight of a step relative to the next

func (s *speed) add(src, tgt int, took time.Duration) {
	s.steps = s.steps*speedDecay + 1
	s.src = s.src*speedDecay + float64(src)
	s.tgt = s.tgt*speedDecay + float64(tgt)
	s.seconds = s.seconds*speedDecay + took.Seconds()
}

// perSec returns tokens per second, 0 before the first step.
func (s *speed) perSec() (src, tgt float64) {
	if s.seconds == 0 {
		return 0, 0
	}
	return s.src / s.seconds, s.tgt / s.seconds
}

// step returns the duration of a step, 0 before the first step.
func (s *speed) step() time.Duration {
	if s.steps == 0 {
		return 0
	}
	return time.Duration(s.seconds / s.steps * float64(time.Second))
}
