package train

import "time"

// timing is what a run has measured of its own speed.
type timing struct {
	start      time.Time // when the run would have begun if it had never been stopped
	speed      speed
	save       time.Duration // of the last one, 0 before
	validation time.Duration // of the last one, 0 before
}

// elapsed is the duration of the training, before a resume too.
func (r *run) elapsed() time.Duration { return time.Since(r.timing.start) }

// finishTime estimates how long the run takes behind its last step: a validation, a save, and the
// validation of the average.
func (r *run) finishTime() time.Duration {
	rest := r.timing.save
	if r.valid != nil {
		rest += r.validationTime()
		if r.o.Average > 1 {
			rest += r.validationTime()
		}
	}
	return rest
}

// validationTime estimates how long a validation takes.
func (r *run) validationTime() time.Duration {
	if r.timing.validation > 0 {
		return r.timing.validation
	}
	_, tgt := r.timing.speed.perSec()
	return r.valid.estimate(tgt)
}

// timeLeft estimates the time to the end of the run, 0 if it is not known.
func (r *run) timeLeft() time.Duration {
	var left time.Duration
	if steps := r.o.Steps - r.state.Step; steps > 0 {
		left = time.Duration(steps) * r.timing.speed.step()
		if r.valid != nil {
			left += time.Duration(steps/r.o.ValidEvery) * r.validationTime()
		}
		if r.o.SaveEvery > 0 {
			left += time.Duration(steps/r.o.SaveEvery) * r.timing.save
		}
	}
	if r.o.Time > 0 {
		if rest := max(0, r.o.Time-r.elapsed()); r.o.Steps == 0 || rest < left {
			left = rest
		}
	}
	return left
}

// speed is the speed of the last steps: sums in which each step weighs 5 % less than the next one.
type speed struct {
	steps, src, tgt, seconds float64
}

const speedDecay = 0.95

func (s *speed) add(src, tgt int, took time.Duration) {
	s.steps = s.steps*speedDecay + 1
	s.src = s.src*speedDecay + float64(src)
	s.tgt = s.tgt*speedDecay + float64(tgt)
	s.seconds = s.seconds*speedDecay + took.Seconds()
}

// perSec returns tokens a second, 0 before the first step.
func (s *speed) perSec() (src, tgt float64) {
	if s.seconds == 0 {
		return 0, 0
	}
	return s.src / s.seconds, s.tgt / s.seconds
}

// step returns the duration of a step, 0 before the first one.
func (s *speed) step() time.Duration {
	if s.steps == 0 {
		return 0
	}
	return time.Duration(s.seconds / s.steps * float64(time.Second))
}
