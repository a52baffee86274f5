// Package tally counts strings in bounded memory, for the training of tokenizers. It imports only
// the standard library.
package tally

import (
	"cmp"
	"math/rand/v2"
)

// DefaultLimit is the limit of the size of a Table.
const DefaultLimit = 16 << 20

// Table counts occurrences of strings. The zero value is ready to use.
//
// While the distinct strings fit into the limit, their counts are exact and the order of the
// occurrences has no effect. Beyond that the table is a sample (adaptive sample and hold: Estan and
// Varghese 2002, "New Directions in Traffic Measurement and Accounting", section 3; with unbiased
// counts: Cohen, Duffield, Kaplan, Lund and Thorup 2007, "Sketching Unaggregated Data Streams for
// Subpopulation-Size Queries"). With threshold T a new string enters the table with probability 1/T
// and the count T, and each further occurrence adds 1. The expected count of a string that occurs n
// times is n, with a standard deviation of at most √(n(T-1)). The sequence of draws is fixed: the
// same occurrences in the same order give the same table.
type Table struct {
	Strings []string
	Counts  []int64 // of Strings
	Size    int     // sum of the sizes of Strings

	Limit   int              // of Size; 0 is DefaultLimit
	Measure func(string) int // size of a string; nil is its length in bytes

	index     map[string]int32 // inverse of Strings
	threshold int64            // a power of two; 0 while the table holds all strings
	random    rand.PCG
}

// Add counts one occurrence of s. It returns the index of s, or -1 if s is not in the sample, and
// whether s is new in the table. The table may exceed its limit: see Full.
func (t *Table) Add(s []byte) (i int32, added bool) {
	if i, ok := t.index[string(s)]; ok {
		t.Counts[i]++
		return i, false
	}
	if t.draw() > 0 {
		return -1, false
	}
	return t.insert(string(s), t.Threshold()), true
}

// insert adds a string that is not in the table with a count, and returns its index.
func (t *Table) insert(s string, count int64) int32 {
	if t.index == nil {
		t.index = make(map[string]int32)
	}
	i := int32(len(t.Strings))
	t.index[s] = i
	t.Strings = append(t.Strings, s)
	t.Counts = append(t.Counts, count)
	if t.Measure == nil {
		t.Size += len(s)
	} else {
		t.Size += t.Measure(s)
	}
	return i
}

// draw returns a uniform random number from 0 to Threshold()-1.
func (t *Table) draw() int64 {
	if t.threshold == 0 {
		return 0
	}
	return int64(t.random.Uint64() & uint64(t.threshold-1))
}

// Full reports whether the table exceeds its limit.
func (t *Table) Full() bool { return t.Size > t.limit() }

func (t *Table) limit() int { return cmp.Or(t.Limit, DefaultLimit) }

// Subsample doubles the threshold until a quarter of the table is free. A string with a count c
// less than the threshold T is kept with probability c/T and the count T, which preserves its
// expectation. Indices change: moved, which may be nil, is called with the old and the new one of
// each string that is kept, in ascending order, for each threshold.
func (t *Table) Subsample(moved func(from, to int)) {
	for t.Size > t.limit()/4*3 {
		t.double(moved)
	}
}

// double doubles the threshold.
func (t *Table) double(moved func(from, to int)) {
	t.threshold = 2 * t.Threshold()
	all, counts := t.Strings, t.Counts
	t.Strings, t.Counts, t.Size = all[:0], counts[:0], 0
	clear(t.index)
	for i, s := range all {
		if c := counts[i]; c >= t.threshold || t.draw() < c {
			to := t.insert(s, max(c, t.threshold))
			if moved != nil {
				moved(i, int(to))
			}
		}
	}
	clear(all[len(t.Strings):]) // frees the strings
}

// Merge adds the strings of another table and their counts, and keeps the limit. It gives both
// tables the larger one of their thresholds.
func (t *Table) Merge(other *Table) {
	for t.Threshold() < other.Threshold() {
		t.double(nil)
	}
	for other.Threshold() < t.Threshold() {
		other.double(nil)
	}
	for i, s := range other.Strings {
		if j, ok := t.index[s]; ok {
			t.Counts[j] += other.Counts[i]
		} else {
			t.insert(s, other.Counts[i])
		}
	}
	if t.Full() {
		t.Subsample(nil)
	}
}

// Threshold returns T, which is 1 if all counts are exact.
func (t *Table) Threshold() int64 { return max(t.threshold, 1) }
