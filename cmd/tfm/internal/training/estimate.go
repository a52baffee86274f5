package training

import (
	"time"

	"tfm/train"
)

// measure measures the steps that follow another one, without a validation between. Once their
// speed is known, it estimates the last step of a run with -time.
func (w *watch) measure(e train.Event) {
	if w.first.Step == 0 {
		w.first = e
	}
	if w.previous.Kind == train.Stepped {
		w.stepping += e.Elapsed - w.previous.Elapsed
		w.steps++
	}
	if w.o.Time == 0 || w.lastStep > 0 || !w.measured(e) {
		return
	}
	w.lastStep = e.Steps
	inTime := e.Step + int(e.Left.Seconds()*float64(w.steps)/w.stepping.Seconds())
	if e.Steps == 0 || inTime < e.Steps {
		w.outOfTime, w.lastStep = true, twoDigits(inTime)
	}
	w.checkLength(w.lastStep)
}

// measured reports whether the speed is known: after 20 steps and 5 seconds, or after 10 seconds,
// because the steps of a large model take seconds. Sooner it varies by 10 %.
func (w *watch) measured(e train.Event) bool {
	const steps, short, long = 20, 5 * time.Second, 10 * time.Second
	d := e.Elapsed - w.first.Elapsed
	return w.steps > 0 && w.stepping > 0 && (w.steps >= steps && d >= short || d >= long)
}

// reaches reports whether the run ends at its last step, and not before, because of -time.
func (w *watch) reaches(last int) bool {
	limited := w.o.Time > 0 && (w.lastStep == 0 || w.outOfTime)
	return last > 0 && (!limited || last != w.o.Steps)
}

// twoDigits rounds n ≥ 0 to two digits.
func twoDigits(n int) int {
	unit := 1
	for n/unit >= 100 {
		unit *= 10
	}
	return (n + unit/2) / unit * unit
}
