package report

import "math"

// line is values over steps. Values that no curve can show, because they are not finite or larger
// than largest, are left out.
type line struct {
	x []int // ascending
	y []float64
}

const largest = 1e100

// add appends a point, if its value can be shown.
func (l *line) add(x int, y float64) {
	if math.Abs(y) < largest {
		l.x, l.y = append(l.x, x), append(l.y, y)
	}
}

// thin returns at most two points of each of n equal ranges of steps, the lowest and the highest,
// and the first and the last of all, so that outliers stay.
func (l line) thin(n int) line {
	if len(l.x) <= 2*n {
		return l
	}
	first, last := l.x[0], l.x[len(l.x)-1]
	bucket := func(x int) int { return int(float64(x-first) / float64(last-first+1) * float64(n)) }
	var t line
	for lo := 0; lo < len(l.x); {
		hi, low, high := lo, lo, lo
		for ; hi < len(l.x) && bucket(l.x[hi]) == bucket(l.x[lo]); hi++ {
			if l.y[hi] < l.y[low] {
				low = hi
			}
			if l.y[hi] > l.y[high] {
				high = hi
			}
		}
		keep := []int{min(low, high), max(low, high)}
		if lo == 0 && keep[0] != 0 {
			keep = append([]int{0}, keep...)
		}
		if hi == len(l.x) && keep[len(keep)-1] != hi-1 {
			keep = append(keep, hi-1)
		}
		for i, k := range keep {
			if i == 0 || k != keep[i-1] {
				t.x, t.y = append(t.x, l.x[k]), append(t.y, l.y[k])
			}
		}
		lo = hi
	}
	return t
}

// smooth returns for each point the mean of it and of up to half points on each side. Near the
// beginning both sides have the same number, so that a steep descent is not shifted; near the
// end fewer points follow.
func (l line) smooth(half int) line {
	sums := make([]float64, len(l.y)+1)
	for i, y := range l.y {
		sums[i+1] = sums[i] + y
	}
	s := line{x: l.x, y: make([]float64, len(l.y))}
	for i := range l.y {
		before := min(half, i)
		after := min(before, len(l.y)-1-i)
		s.y[i] = (sums[i+after+1] - sums[i-before]) / float64(before+after+1)
	}
	return s
}

// sample returns at most n points of a line that is smooth already.
func (l line) sample(n int) line { return line{evenly(l.x, n), evenly(l.y, n)} }

// evenly returns at most n elements, evenly spread, with the first and the last; n is at least 2.
func evenly[E any](list []E, n int) []E {
	if len(list) <= n {
		return list
	}
	some := make([]E, n)
	for i := range some {
		some[i] = list[i*(len(list)-1)/(n-1)]
	}
	return some
}
