package align

import (
	"math"
	"testing"
)

// A pair explains itself unless its own counts are left out: the explanations of a pair that was
// learned are those of a Lexicon with the same parameters and without the pair.
func TestScorer(t *testing.T) {
	pairs := dictionary(500, 40, 3)
	// Words of no other pair around a frequent one.
	own := Pair{[]int32{90, 3, 91}, []int32{700, 6, 701}}
	l := learn(append(pairs, own), Options{}, 100)
	l.Expect(append(pairs, own))
	s := l.Scorer()
	with := append([]float64(nil), s.Explain(&own, false)...)
	without := append([]float64(nil), s.Explain(&own, true)...)
	if with[0] < 0.1 || with[2] < 0.1 || without[0] != 0 || without[2] != 0 {
		t.Errorf("explanations %.3f, without own counts %.3f: want 0 for words of no other pair", with, without)
	}
	if without[1] < 0.3 || math.Abs(with[1]-without[1]) > 0.1 {
		t.Errorf("explanations of a frequent word %.3f, without own counts %.3f", with[1], without[1])
	}
	for i, p := range s.Explain(&Pair{[]int32{5, 6}, []int32{10, 13, 999}}, false) {
		if known := i < 2; known != (p > 0.2) || p > 1 {
			t.Errorf("explanation %d = %.3f", i, p)
		}
	}
	if got := s.Explain(&Pair{}, true); len(got) != 0 {
		t.Errorf("explanations of an empty pair: %v", got)
	}
}
