package report

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
)

// line is values over steps. It has no values that are not finite or exceed maxValue.
type line struct {
	x []int // ascending
	y []float64
}

const maxValue = 1e100

// add appends a point, unless its value is not finite or exceeds maxValue.
func (l *line) add(x int, y float64) {
	if math.Abs(y) < maxValue {
		l.x, l.y = append(l.x, x), append(l.y, y)
	}
}

// MarshalJSON writes the points for page.js, the values with five significant digits.
func (l line) MarshalJSON() ([]byte, error) {
	var y []json.Number
	for _, v := range l.y {
		y = append(y, json.Number(strconv.FormatFloat(v, 'g', 5, 64)))
	}
	return json.Marshal(struct {
		X []int         `json:"x"`
		Y []json.Number `json:"y"`
	}{l.x, y})
}

// thin divides the steps into n equal ranges and keeps the minimum and the maximum of each, so that
// outliers stay, and the first and the last point.
func (l line) thin(n int) line {
	if len(l.x) <= 2*n {
		return l
	}
	first, last := l.x[0], l.x[len(l.x)-1]
	bucket := func(x int) int { return int(float64(x-first) / float64(last-first+1) * float64(n)) }
	keep := []int{0}
	for hi := 0; hi < len(l.x); {
		lo, low, high := hi, hi, hi
		for ; hi < len(l.x) && bucket(l.x[hi]) == bucket(l.x[lo]); hi++ {
			if l.y[hi] < l.y[low] {
				low = hi
			}
			if l.y[hi] > l.y[high] {
				high = hi
			}
		}
		keep = append(keep, min(low, high), max(low, high))
	}
	var t line
	for _, i := range slices.Compact(append(keep, len(l.x)-1)) {
		t.x, t.y = append(t.x, l.x[i]), append(t.y, l.y[i])
	}
	return t
}

// smooth returns the moving average over each point and up to radius points on each side. Near the
// beginning both sides are equally short, so that a steep descent is not shifted; near the end
// fewer points follow than precede.
func (l line) smooth(radius int) line {
	sums := make([]float64, len(l.y)+1)
	for i, y := range l.y {
		sums[i+1] = sums[i] + y
	}
	s := line{x: l.x, y: make([]float64, len(l.y))}
	for i := range l.y {
		before := min(radius, i)
		after := min(before, len(l.y)-1-i)
		s.y[i] = (sums[i+after+1] - sums[i-before]) / float64(before+after+1)
	}
	return s
}

// sample returns at most n evenly spread points. Use it on smooth lines.
func (l line) sample(n int) line { return line{evenly(l.x, n), evenly(l.y, n)} }

// evenly returns at most n ≥ 2 evenly spread elements of list, including the first and the last.
func evenly[E any](list []E, n int) []E {
	if len(list) <= n {
		return list
	}
	chosen := make([]E, n)
	for i := range chosen {
		chosen[i] = list[i*(len(list)-1)/(n-1)]
	}
	return chosen
}
