package report

import (
	"fmt"
	"math"
	"slices"

	"tfm/internal/format"
	"tfm/train/runlog"
)

// curves returns the charts that the log has values for.
func curves(r *runlog.Run) []*chart {
	valid := func(value func(runlog.Validation) runlog.Number) (l line) {
		for _, v := range r.Validations {
			l.add(v.Step, float64(value(v)))
		}
		return l
	}
	perplexity := func(nll runlog.Number) runlog.Number { return runlog.Number(math.Exp(float64(nll))) }
	percent := func(share runlog.Number) runlog.Number { return 100 * share }
	const train, validation = "training", "validation"

	loss := &chart{Title: "Loss", Unit: "label-smoothed, nats per target token"}
	loss.addNoisy(train, "a", steps(r, func(s runlog.Step) runlog.Number { return s.Loss }))
	loss.add(validation, "b", 60, valid(func(v runlog.Validation) runlog.Number { return v.Loss }))

	perplexities := &chart{Title: "Perplexity", Unit: "exp(NLL), per target token", log: true}
	perplexities.addNoisy(train, "a", steps(r, func(s runlog.Step) runlog.Number { return perplexity(s.NLL) }))
	perplexities.add(validation, "b", 60, valid(func(v runlog.Validation) runlog.Number { return perplexity(v.NLL) }))

	bleu := &chart{Title: "BLEU", Unit: "of the validation sentences", zero: true}
	bleu.add(validation, "b", 60, valid(func(v runlog.Validation) runlog.Number { return v.BLEU }))

	accuracy := &chart{Title: "Accuracy", Unit: "% of target tokens that the model ranks first", zero: true}
	accuracy.addNoisy(train, "a", steps(r, func(s runlog.Step) runlog.Number { return percent(s.Accuracy) }))
	accuracy.add(validation, "b", 60, valid(func(v runlog.Validation) runlog.Number { return percent(v.Accuracy) }))

	kl := &chart{Title: "KL divergence", Unit: "between R-Drop's two copies, nats per target token", zero: true}
	kl.addNoisy("KL", "a", steps(r, func(s runlog.Step) runlog.Number { return s.KL }))

	rate := &chart{Title: "Learning rate", zero: true}
	rate.add("learning rate", "a", 1, steps(r, func(s runlog.Step) runlog.Number { return s.Rate }))

	norm := &chart{Title: "Gradient norm", Unit: "before clipping", log: true}
	norm.addNoisy("L2 norm", "a", steps(r, func(s runlog.Step) runlog.Number { return s.GradNorm }))

	speed := &chart{Title: "Speed", Unit: "tokens/s", zero: true}
	speed.add("source", "c", 1, steps(r, func(s runlog.Step) runlog.Number { return s.SrcPerSec }))
	speed.add("target", "a", 1, steps(r, func(s runlog.Step) runlog.Number { return s.TgtPerSec }))

	charts := []*chart{loss, perplexities, bleu, accuracy, kl, rate, norm, speed}
	charts = slices.DeleteFunc(charts, func(c *chart) bool { return len(c.Series) == 0 })
	lo, hi := stepRange(r)
	for _, c := range charts {
		c.layout(lo, hi)
		for _, s := range r.Starts {
			if s.Step > 0 {
				c.mark(s.Step, "resumed", fmt.Sprintf("resumed after step %s", format.Thousands(s.Step)))
			}
		}
	}
	return charts
}

// steps returns the values of the steps of a run.
func steps(r *runlog.Run, value func(runlog.Step) runlog.Number) (l line) {
	for _, s := range r.Steps {
		l.add(s.Step, float64(value(s)))
	}
	return l
}

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
