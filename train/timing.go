package train

import "time"

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
		left = time.Duration(steps) * r.timing.speed.perStep()
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

// send completes an event with the state of the run and reports it.
func (r *run) send(e Event) {
	e.Step, e.Steps, e.Epoch = r.state.Step, r.lastStep(), r.state.Position.Epoch
	e.Elapsed, e.Left = r.elapsed(), r.timeLeft()
	e.SrcPerSec, e.TgtPerSec = r.timing.speed.perSec()
	r.report(e)
}
