package training

import (
	"fmt"
	"math"
	"strings"
	"time"

	"tfm/internal/format"
	"tfm/train"
)

// estimate is the expected course of a run after its first seconds.
type estimate struct {
	tokensPerSec float64
	stepsPerSec  float64
	epoch        time.Duration
	epochSteps   float64
	left         time.Duration // to the end of the run; 0 if it is unknown
	steps        int           // last step of the run; 0 if it is unknown
	outOfTime    bool          // -time ends the run before its last step
}

// measure adds the time of a step that follows another one, without a validation between.
func (w *watch) measure(e train.Event) {
	if w.first.Step == 0 {
		w.first = e
	}
	if w.previous.Kind == train.Stepped {
		w.stepping += e.Elapsed - w.previous.Elapsed
		w.steps++
	}
}

// measured reports whether the speed is known: after 20 steps and 5 seconds, or after 10 seconds,
// because the steps of a large model take seconds. Sooner it varies by 10 %.
func (w *watch) measured(e train.Event) bool {
	const steps, short, long = 20, 5 * time.Second, 10 * time.Second
	d := e.Elapsed - w.first.Elapsed
	return w.steps > 0 && w.stepping > 0 && (w.steps >= steps && d >= short || d >= long)
}

// newEstimate returns the estimate at a step.
func (w *watch) newEstimate(e train.Event) *estimate {
	s := &estimate{tokensPerSec: e.TokensPerSec(), stepsPerSec: float64(w.steps) / w.stepping.Seconds(), epochSteps: w.epochSteps(), left: e.Left, steps: e.Steps}
	s.epoch = time.Duration(float64(w.started.SrcTokens+w.started.TgtTokens) / s.tokensPerSec * float64(time.Second))
	if inTime := e.Step + int(e.Left.Seconds()*s.stepsPerSec); w.o.Time > 0 && (s.steps == 0 || inTime < s.steps) {
		s.outOfTime, s.steps = true, twoDigits(inTime)
	}
	return s
}

// messages returns the estimate as two fields, nothing at the end of a run.
func (s *estimate) messages(w *watch) []message {
	const end = 15 * time.Second
	if s.left > 0 && s.left < end {
		return nil
	}
	speed := fmt.Sprintf("%s tokens/s, %s steps/s; an epoch is %s steps, %s",
		format.Thousands(int(s.tokensPerSec)), digits(s.stepsPerSec), format.Thousands(int(math.Round(s.epochSteps))), rough(s.epoch))
	return []message{{"speed", speed}, {"estimate", s.end(w)}}
}

// end describes when the run ends.
func (s *estimate) end(w *watch) string {
	validates := w.started.ValidPairs > 0 && w.o.Patience > 0
	patience := fmt.Sprintf("%s in a row, one every %s, bring no improvement", format.Count(w.o.Patience, "validation"), format.Count(w.o.ValidEvery, "step"))
	if s.steps == 0 {
		return "the run ends when " + patience
	}
	about := ""
	if s.outOfTime {
		about = "about "
	}
	text := fmt.Sprintf("done in %s, after %s%s steps (%s epochs)", rough(s.left), about, format.Thousands(s.steps), digits(float64(s.steps)/s.epochSteps))
	if validates && (w.o.Patience+1)*w.o.ValidEvery < s.steps {
		text += ", or when " + patience
	}
	return text
}

// reaches reports whether the run ends at its last step, and not before, because of -time.
func (w *watch) reaches(last int) bool {
	limited := w.o.Time > 0 && (w.estimate == nil || w.estimate.outOfTime)
	return last > 0 && (!limited || last != w.o.Steps)
}

// checkSpeed warns if the speed has fallen so far for a minute that the run ends late, or -time
// ends it early. On an undisturbed machine it stays within 10 %; 20 % is one more program on two
// cores.
func (w *watch) checkSpeed(e train.Event) {
	const fallen, lasting, slip = 0.6, time.Minute, time.Minute
	s := w.estimate
	if s == nil {
		return
	}
	share := e.TokensPerSec() / s.tokensPerSec
	if !(share < fallen) {
		w.slowSince = 0
		return
	}
	if w.slowSince == 0 {
		w.slowSince = e.Elapsed
	}
	late := time.Duration((1 - share) * float64(e.Left))
	if e.Elapsed-w.slowSince < lasting || late < slip {
		return
	}
	effect := fmt.Sprintf("the run needs %s more, %s of that because it is slower", rough(e.Left), rough(late))
	if s.outOfTime {
		steps := e.Step + int(e.Left.Seconds()*s.stepsPerSec*share)
		effect = fmt.Sprintf("the run ends after about %s steps instead of %s", format.Thousands(twoDigits(steps)), format.Thousands(s.steps))
	}
	w.warn(slowed, "the speed has been below %s tokens/s for a minute, at the beginning it was %s. Now %s. Does another program use the processor?",
		format.Thousands(int(fallen*s.tokensPerSec)), format.Thousands(int(s.tokensPerSec)), effect)
}

// rough formats a duration to about two digits: 45s, 9m30s, 47m, 2h20m.
func rough(d time.Duration) string {
	switch {
	case d < time.Minute:
		d = d.Round(time.Second)
	case d < 10*time.Minute:
		d = d.Round(10 * time.Second)
	case d < time.Hour:
		d = d.Round(time.Minute)
	default:
		d = d.Round(10 * time.Minute)
	}
	s := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if cut, ok := strings.CutSuffix(s, zero); ok {
			s = cut + zero[:1]
		}
	}
	return s
}

// digits formats a positive number with two digits or more.
func digits(x float64) string {
	switch {
	case x < 1:
		return fmt.Sprintf("%.2f", x)
	case x < 10:
		return fmt.Sprintf("%.1f", x)
	}
	return format.Thousands(int(math.Round(x)))
}

// twoDigits rounds n ≥ 0 to two digits.
func twoDigits(n int) int {
	unit := 1
	for n/unit >= 100 {
		unit *= 10
	}
	return (n + unit/2) / unit * unit
}
