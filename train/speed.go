package train

import "time"

// timing is the measured speed of a run.
type timing struct {
	start      time.Time // start of the run, shifted by the interruptions
	speed      speed
	save       time.Duration // of the last save, 0 before
	validation time.Duration // of the last validation, 0 before
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

// perStep returns the duration of a step, 0 before the first step.
func (s *speed) perStep() time.Duration {
	if s.steps == 0 {
		return 0
	}
	return time.Duration(s.seconds / s.steps * float64(time.Second))
}
