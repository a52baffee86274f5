package train

import "time"

// speed is how fast the last steps were: sums in which each step weighs 5 % less than the next.
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

// perSec returns tokens a second.
func (s *speed) perSec() (src, tgt float64) {
	if s.seconds == 0 {
		return 0, 0
	}
	return s.src / s.seconds, s.tgt / s.seconds
}

// step is how long a step takes.
func (s *speed) step() time.Duration {
	if s.steps == 0 {
		return 0
	}
	return time.Duration(s.seconds / s.steps * float64(time.Second))
}
