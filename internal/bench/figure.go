package bench

import (
	"slices"
	"time"
)

// Figure is what was measured in several rounds: the machine's other work can make single ones much worse.
type Figure struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Rounds int     `json:"rounds"`
}

func figureOf(x []float64) Figure {
	x = slices.Sorted(slices.Values(x))
	n := len(x)
	return Figure{(x[(n-1)/2] + x[n/2]) / 2, x[0], x[n-1], n}
}

// Effort is how long to measure: that many rounds, or as many as fit in the time, but one at least.
type Effort struct {
	Rounds int
	Time   time.Duration
}

// measure is the figures that the rounds give. A round before them warms up, unless there is to be only one.
func (e Effort) measure(round func() float64) Figure {
	if e.Rounds > 1 {
		round()
	}
	var x []float64
	for begun := time.Now(); len(x) == 0 || len(x) < e.Rounds && time.Since(begun) < e.Time; {
		x = append(x, round())
	}
	return figureOf(x)
}

// part is how much of a limit is reached, 0 if the limit is not known.
func part(of, limit Figure) float64 {
	if limit.Median == 0 {
		return 0
	}
	return of.Median / limit.Median
}
