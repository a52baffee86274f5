package tally

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// A table keeps its limit, and its counts are those of its strings; those of a large limit are
// exact.
func TestTable(t *testing.T) {
	all, small := Table{}, Table{Limit: 1000, Measure: func(s string) int { return 2 * len(s) }}
	seen := map[string]int64{}
	order := []int{} // of the strings of small, by their numbers
	for i := range 20_000 {
		n := i % (1 + i%700)
		s := fmt.Sprint("n", n)
		seen[s]++
		all.Add([]byte(s))
		if _, added := small.Add([]byte(s)); added {
			order = append(order, n)
		}
		if small.Full() {
			small.Subsample(func(from, to int) { order[to] = order[from] })
			order = order[:len(small.Strings)]
		}
		if small.Size > 1000 {
			t.Fatalf("size %d, want up to 1000", small.Size)
		}
	}
	if all.Threshold() != 1 || len(all.Strings) != len(seen) {
		t.Errorf("threshold %d, %d strings; want 1, %d", all.Threshold(), len(all.Strings), len(seen))
	}
	for i, s := range all.Strings {
		if j := all.index[s]; int(j) != i || all.Counts[i] != seen[s] {
			t.Fatalf("%q has index %d and count %d, want %d and %d", s, j, all.Counts[i], i, seen[s])
		}
	}
	if small.Threshold() < 2 || small.Size < 250 {
		t.Errorf("threshold %d, size %d; want a sample of half the limit or more", small.Threshold(), small.Size)
	}
	if got := all.limit(); got != DefaultLimit {
		t.Errorf("limit %d, want %d", got, DefaultLimit)
	}
	size := 0
	for i, s := range small.Strings {
		size += 2 * len(s)
		if s != fmt.Sprint("n", order[i]) {
			t.Fatalf("string %d is %q, want n%d", i, s, order[i])
		}
	}
	if size != small.Size || slices.Min(small.Counts) < small.Threshold() {
		t.Errorf("size %d, want %d; least count %d, want at least the threshold %d", small.Size, size, slices.Min(small.Counts), small.Threshold())
	}
}

// Merge sums exact counts. Of samples it keeps the limit and the expectation of the sum of counts.
func TestMerge(t *testing.T) {
	for _, limit := range []int{0, 1000, 2000} {
		a, b := Table{Limit: limit}, Table{Limit: 2 * limit}
		var all int64
		for i := range 20_000 {
			for k, table := range []*Table{&a, &b} {
				table.Add(fmt.Append(nil, "n", (k*300+i%(1+i%700))%800))
				if all++; table.Full() {
					table.Subsample(nil)
				}
			}
		}
		a.Merge(&b)
		sum := int64(0)
		for i, s := range a.Strings {
			sum += a.Counts[i]
			if int(a.index[s]) != i || a.Counts[i] < a.Threshold() {
				t.Errorf("limit %d: %q has index %d, want %d, and count %d, want at least %d", limit, s, a.index[s], i, a.Counts[i], a.Threshold())
			}
		}
		// Five standard deviations; 0 for exact counts.
		if off := math.Abs(float64(sum - all)); a.Full() || off > 5*math.Sqrt(float64(all*(a.Threshold()-1))) || limit > 0 == (a.Threshold() == 1) {
			t.Errorf("limit %d: size %d, threshold %d, sum of counts %d, want %d", limit, a.Size, a.Threshold(), sum, all)
		}
	}
}
