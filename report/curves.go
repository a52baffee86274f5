package report

import (
	"fmt"
	"math"
	"slices"

	"tfm/internal/format"
	"tfm/train/runlog"
)

// curves returns the charts that the log has values for.
func curves(r *runlog.Run) []chart {
	steps := func(value func(runlog.Step) runlog.Number) (l line) {
		for _, s := range r.Steps {
			l.add(s.Step, float64(value(s)))
		}
		return l
	}
	valid := func(value func(runlog.Validation) runlog.Number) (l line) {
		for _, v := range r.Validations {
			l.add(v.Step, float64(value(v)))
		}
		return l
	}
	perplexity := func(nll runlog.Number) runlog.Number { return runlog.Number(math.Exp(float64(nll))) }
	percent := func(share runlog.Number) runlog.Number { return 100 * share }
	const train, validation = "training", "validation"

	var charts []chart
	draw := func(c chart, zero, log bool) {
		if len(c.Series) == 0 {
			return
		}
		lo, hi := stepRange(r)
		c.layout(lo, hi, zero, log)
		for _, s := range r.Starts {
			if s.Step > 0 {
				c.mark(s.Step, "resumed", fmt.Sprintf("resumed after step %s", format.Thousands(s.Step)))
			}
		}
		for _, s := range evenly(r.Skipped, maxSkippedMarks) {
			c.mark(s.Step, "skipped", fmt.Sprintf("step %s skipped: %s", format.Thousands(s.Step), s.Why))
		}
		charts = append(charts, c)
	}

	c := chart{Title: "Loss", Unit: "label-smoothed, nats per target token"}
	c.addNoisy(train, "a", steps(func(s runlog.Step) runlog.Number { return s.Loss }))
	c.add(validation, "b", 60, valid(func(v runlog.Validation) runlog.Number { return v.Loss }))
	draw(c, false, false)

	c = chart{Title: "Perplexity", Unit: "exp(NLL), per target token"}
	c.addNoisy(train, "a", steps(func(s runlog.Step) runlog.Number { return perplexity(s.NLL) }))
	c.add(validation, "b", 60, valid(func(v runlog.Validation) runlog.Number { return perplexity(v.NLL) }))
	draw(c, false, true)

	c = chart{Title: "BLEU", Unit: "of the validation sentences"}
	c.add(validation, "b", 60, valid(func(v runlog.Validation) runlog.Number { return v.BLEU }))
	draw(c, true, false)

	c = chart{Title: "Accuracy", Unit: "% of target tokens that the model ranks first"}
	c.addNoisy(train, "a", steps(func(s runlog.Step) runlog.Number { return percent(s.Accuracy) }))
	c.add(validation, "b", 60, valid(func(v runlog.Validation) runlog.Number { return percent(v.Accuracy) }))
	draw(c, true, false)

	c = chart{Title: "KL divergence", Unit: "between R-Drop's two copies, nats per target token"}
	c.addNoisy("KL", "a", steps(func(s runlog.Step) runlog.Number { return s.KL }))
	draw(c, true, false)

	c = chart{Title: "Learning rate"}
	c.add("learning rate", "a", 1, steps(func(s runlog.Step) runlog.Number { return s.Rate }))
	draw(c, true, false)

	c = chart{Title: "Gradient norm", Unit: "before clipping"}
	c.addNoisy("L2 norm", "a", steps(func(s runlog.Step) runlog.Number { return s.GradNorm }))
	draw(c, false, true)

	c = chart{Title: "Speed", Unit: "tokens/s"}
	c.add("source", "c", 1, steps(func(s runlog.Step) runlog.Number { return s.SrcPerSec }))
	c.add("target", "a", 1, steps(func(s runlog.Step) runlog.Number { return s.TgtPerSec }))
	draw(c, true, false)
	return charts
}

// maxSkippedMarks limits the marks of skipped steps in a chart.
const maxSkippedMarks = 100

// stepRange returns the range of steps in a run's charts. It begins at 0, unless the log begins
// in the second half.
func stepRange(r *runlog.Run) (lo, hi int) {
	hi = r.LastStep()
	if len(r.Steps) > 0 && r.Steps[0].Step-1 > hi/2 {
		lo = r.Steps[0].Step - 1
	}
	return lo, hi
}

// describe sets c.Text, the description for screen readers.
func (c *chart) describe() {
	c.Text = fmt.Sprintf("%s over steps %s to %s.", c.Title, format.Thousands(c.lo), format.Thousands(c.hi))
	for _, s := range c.Series {
		if s.Raw {
			continue
		}
		low, high := slices.Index(s.line.y, slices.Min(s.line.y)), slices.Index(s.line.y, slices.Max(s.line.y))
		at := func(i int) string {
			return fmt.Sprintf("%s at step %s", figure(s.line.y[i]), format.Thousands(int64(s.line.x[i])))
		}
		c.Text += fmt.Sprintf(" %s: first %s, last %s, lowest %s, highest %s.", s.Name, at(0), at(len(s.line.x)-1), at(low), at(high))
	}
}
