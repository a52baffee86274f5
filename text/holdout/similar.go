package holdout

import (
	"cmp"
	"slices"

	"tfm/internal/hash"
	"tfm/text/internal/words"
)

// shingles appends the hashes of the pairs of consecutive words of a sentence to list, in ascending
// order, each once. The first and the last word form pairs with the ends of the sentence, and all
// numbers are equal.
func shingles(list []uint64, sentence []words.Word) []uint64 {
	const end = words.NoWord
	last := end
	start := len(list)
	for _, w := range sentence {
		w = w.WithoutValue()
		list = append(list, hash.Combine(uint64(last), uint64(w)))
		last = w
	}
	list = append(list, hash.Combine(uint64(last), uint64(end)))
	slices.Sort(list[start:])
	return list[:start+len(slices.Compact(list[start:]))]
}

// similarity finds sentences that equal one of a set, or resemble one: the Jaccard index of their
// shingles is at least min. It compares exactly, and only with sentences that share a rare shingle.
type similarity struct {
	words.Sentence // the sentence that is compared
	equal          map[uint64]bool
	min            float64
	sets           [][]uint64 // shingles of the sentences of the set

	// The sentences of the set by their first shingles. A similar sentence has at least min·n
	// of their n shingles, and so one of the first (1-min)·n + 1.
	byShingle map[uint64][]int32

	probe []uint64
	asked []int // by sentence: number of the last question in which it was compared
	asks  int
}

func newSimilarity(min float64) *similarity {
	return &similarity{min: min, equal: map[uint64]bool{}, byShingle: map[uint64][]int32{}}
}

// add adds the measured sentence to the set.
func (s *similarity) add() {
	s.equal[words.Hash(s.Words)] = true
	s.sets = append(s.sets, shingles(nil, s.Words))
	s.asked = append(s.asked, 0)
	s.index(len(s.sets)-1, s.sets[len(s.sets)-1])
}

// rounding exceeds the rounding errors of a number of shingles.
const rounding = 1e-9

// index adds sentence i by the first of its shingles, in any order.
func (s *similarity) index(i int, set []uint64) {
	n := 0
	for n < len(set) && float64(n) <= float64((1-s.min)*float64(len(set)))+rounding {
		s.byShingle[set[n]] = append(s.byShingle[set[n]], int32(i))
		n++
	}
}

// optimize sorts shingles by their frequency in the set, so that rare ones find the sentences.
func (s *similarity) optimize() {
	count := map[uint64]int{}
	for _, set := range s.sets {
		for _, x := range set {
			count[x]++
		}
	}
	clear(s.byShingle)
	for i, set := range s.sets {
		byCount := slices.Clone(set)
		slices.SortFunc(byCount, func(x, y uint64) int { return cmp.Or(count[x]-count[y], cmp.Compare(x, y)) })
		s.index(i, byCount)
	}
}

// hasEqual reports whether the measured sentence equals one of the set.
func (s *similarity) hasEqual() bool { return s.equal[words.Hash(s.Words)] }

// hasSimilar reports whether the measured sentence resembles one of the set.
func (s *similarity) hasSimilar() bool {
	s.asks++
	s.probe = shingles(s.probe[:0], s.Words)
	for _, x := range s.probe {
		for _, i := range s.byShingle[x] {
			if s.asked[i] == s.asks {
				continue
			}
			s.asked[i] = s.asks
			if jaccard(s.probe, s.sets[i]) >= s.min {
				return true
			}
		}
	}
	return false
}

// jaccard returns the size of the intersection of two sorted sets, divided by that of their union.
func jaccard(a, b []uint64) float64 {
	common := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			common, i, j = common+1, i+1, j+1
		}
	}
	return float64(common) / float64(len(a)+len(b)-common)
}
