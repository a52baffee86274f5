package bench

import (
	"slices"
	"time"
)

// Figure summarises the measurements of several rounds. Other work on the machine can slow down
// single rounds considerably; the median is robust against it.
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

// Effort limits a measurement to a number of rounds and a time. At least one round is measured.
type Effort struct {
	Rounds int
	Time   time.Duration
}

// measure calls round until e is used up and returns the figures. With more than one round, a
// warm-up call comes first, which does not count.
func (e Effort) measure(round func() float64) Figure {
	if e.Rounds > 1 {
		round()
	}
	var x []float64
	for start := time.Now(); len(x) == 0 || len(x) < e.Rounds && time.Since(start) < e.Time; {
		x = append(x, round())
	}
	return figureOf(x)
}

// ratio returns the ratio of the medians of f and limit, 0 if the limit is unknown.
func ratio(f, limit Figure) float64 {
	if limit.Median == 0 {
		return 0
	}
	return f.Median / limit.Median
}
