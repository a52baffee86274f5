package score

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// match counts what maps of all n-grams count, in any order of sizes.
func TestNgramMatcher(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var m ngramMatcher
	for i := range 300 {
		length := 30
		if i%50 == 0 {
			length = 2000
		}
		text := func() []uint32 {
			s := make([]uint32, rng.IntN(length))
			for i := range s {
				s[i] = rng.Uint32N(5) << (rng.Uint32N(2) * 30)
			}
			return s
		}
		hyp, refs := text(), [][]uint32{text()}
		for range rng.IntN(3) {
			refs = append(refs, text())
		}
		for n, got := range m.match(4, hyp, refs...) {
			most := map[string]int{}
			for _, r := range refs {
				for g, count := range countNgrams(r, n+1) {
					most[g] = max(most[g], count)
				}
			}
			want := 0
			for g, count := range countNgrams(hyp, n+1) {
				want += min(count, most[g])
			}
			if got != want {
				t.Fatalf("%d matches of order %d in %v from %v, want %d", got, n+1, hyp, refs, want)
			}
		}
	}
}

func countNgrams(tokens []uint32, n int) map[string]int {
	counts := map[string]int{}
	for i := range ngrams(len(tokens), n) {
		counts[fmt.Sprint(tokens[i:i+n])]++
	}
	return counts
}
