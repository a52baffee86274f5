package report

import (
	"fmt"
	"math"

	"tfm/internal/format"
	"tfm/train/runlog"
)

// Other is a run whose losses are compared with those of the page's run.
type Other struct {
	Name string
	Run  *runlog.Run
}

// comparison is the comparison of a run with another one.
type comparison struct {
	Name   string
	Text   string // the largest difference, in a sentence
	Common int    // steps that both have
	Charts []chart
}

// compare compares the losses of run r, which is called name, with those of another run.
func compare(r *runlog.Run, name string, o Other) comparison {
	c := comparison{Name: o.Name}
	var ours, theirs, differences line
	other := map[int]float64{}
	for _, s := range o.Run.Steps {
		theirs.add(s.Step, float64(s.Loss))
		other[s.Step] = float64(s.Loss)
	}
	most, at, sum := -1.0, 0, 0.0
	for _, s := range r.Steps {
		ours.add(s.Step, float64(s.Loss))
		y, ok := other[s.Step]
		d := math.Abs(float64(s.Loss) - y)
		if !ok || !(d < largest) {
			continue
		}
		c.Common++
		sum += d
		differences.add(s.Step, d)
		if d > most {
			most, at = d, s.Step
		}
	}
	if c.Common == 0 {
		c.Text = "The two have no step in common of which both tell a finite loss."
		return c
	}
	c.Text = fmt.Sprintf("Largest difference of the losses: %s, at step %s; mean %s, over %s common steps.",
		figure(most), format.Thousands(at), figure(sum/float64(c.Common)), format.Thousands(c.Common))
	lo, hi := differences.x[0], differences.x[len(differences.x)-1]
	within := func(l line) (w line) {
		for i, x := range l.x {
			if lo <= x && x <= hi {
				w.add(x, l.y[i])
			}
		}
		return w.thin(buckets)
	}
	both := chart{Title: "Loss of both", Unit: "nats a target token"}
	both.add(name, "a", within(ours))
	both.add(o.Name, "b dashed", within(theirs))
	difference := chart{Title: "Difference", Unit: "of the losses, absolute"}
	difference.add("difference", "c", differences.thin(buckets))
	for _, chart := range []chart{both, difference} {
		chart.layout(lo, hi, false, chart.Title == "Difference")
		chart.describe()
		c.Charts = append(c.Charts, chart)
	}
	return c
}
