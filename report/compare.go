package report

import (
	"fmt"
	"math"
	"slices"

	"tfm/internal/format"
	"tfm/train/runlog"
)

// Other is a run whose losses the page compares with its own run's.
type Other struct {
	Name string
	Run  *runlog.Run
}

// comparison compares the losses of two runs.
type comparison struct {
	Name   string // of the other run
	Text   string // the largest difference, in a sentence
	Common int    // steps with finite losses in both runs
	Charts []*chart
}

// compare compares the losses of run r, named name, with those of o.
func compare(r *runlog.Run, name string, o Other) comparison {
	c := comparison{Name: o.Name}
	var ours, theirs, differences line
	other := map[int]float64{}
	for _, s := range o.Run.Steps {
		theirs.add(s.Step, float64(s.Loss))
		other[s.Step] = float64(s.Loss)
	}
	maxDiff, at, sum := -1.0, 0, 0.0
	for _, s := range r.Steps {
		ours.add(s.Step, float64(s.Loss))
		y, ok := other[s.Step]
		d := math.Abs(float64(s.Loss) - y)
		if !ok || !(d < maxValue) {
			continue
		}
		c.Common++
		sum += d
		differences.add(s.Step, d)
		if d > maxDiff {
			maxDiff, at = d, s.Step
		}
	}
	if c.Common == 0 {
		c.Text = "The runs have no step in common for which both logs have a finite loss."
		return c
	}
	c.Text = fmt.Sprintf("Largest difference of the losses: %s, at step %s. Mean difference: %s, over %s common steps.",
		figure(maxDiff), format.Thousands(at), figure(sum/float64(c.Common)), format.Thousands(c.Common))
	lo, hi := differences.x[0], differences.x[len(differences.x)-1]
	inRange := func(l line) line {
		first, _ := slices.BinarySearch(l.x, lo)
		end, _ := slices.BinarySearch(l.x, hi+1)
		return line{l.x[first:end], l.y[first:end]}
	}
	both := &chart{Title: "Loss", Unit: "nats per target token, both runs"}
	both.add(name, "a", 1, inRange(ours))
	both.add(o.Name, "b dashed", 1, inRange(theirs))
	both.layout(lo, hi)
	difference := &chart{Title: "Difference", Unit: "absolute difference of the losses", log: true}
	difference.add("difference", "c", 1, differences)
	difference.layout(lo, hi)
	c.Charts = []*chart{both, difference}
	return c
}
