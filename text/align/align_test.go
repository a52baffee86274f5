package align

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The translations reorder words and insert one. The links are those of the grammar.
func TestPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var pairs []Pair
	var want [][]int
	for range 500 {
		n := 1 + r.IntN(5)
		var p Pair
		var links []int
		for i := range n { // phrases of an adjective and a noun, which change places
			adjective, noun := int32(r.IntN(10)), int32(10+r.IntN(10))
			p.Source = append(p.Source, adjective, noun)
			p.Target = append(p.Target, 100+noun, 100+adjective, 999) // 999 translates nothing
			links = append(links, 2*i+1, 2*i, -1)
		}
		pairs, want = append(pairs, p), append(want, links)
	}
	right, missing, words := 0, 0, 0
	for k, links := range Pairs(pairs) {
		for i, j := range links {
			words++
			switch {
			case j == want[k][i]:
				right++
			case j == -1:
				missing++
			}
		}
	}
	if right < words*85/100 || right+missing < words*95/100 {
		t.Errorf("%d of %d words have the right link and %d have none, want 85 %% and few wrong ones", right, words, missing)
	}
}

func TestPairsWithoutWords(t *testing.T) {
	got := Pairs([]Pair{{}, {Source: []int32{1}}, {Target: []int32{1}}, {[]int32{5}, []int32{7}}})
	want := [][]int{{}, {}, {-1}, {0}}
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("Pairs = %v, want %v", got, want)
	}
	if got := Pairs(nil); len(got) != 0 {
		t.Errorf("Pairs of no pairs = %v", got)
	}
}
