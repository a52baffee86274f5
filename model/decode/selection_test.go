package decode

import (
	"reflect"
	"testing"

	"tfm/model"
)

// diverseBeam is diverse beam search (Vijayakumar et al., 2018): groups of width hypotheses each,
// which select one after another. A token loses strength for each group before that has selected it
// in the same step.
type diverseBeam struct {
	groups, width int
	strength      float64
}

func (b diverseBeam) Limits() Limits {
	return Limits{Start: b.groups, Width: b.groups * b.width, Candidates: b.groups * b.width * 2}
}

func (b diverseBeam) Select(live []Live, candidates []Candidate, _ Progress, s *Selected) {
	for group := range int32(b.groups) {
		var own []Candidate
		for _, c := range candidates {
			if live[c.Parent].Start == group {
				c.LogP -= b.penalty(c, s)
				own = append(own, c)
			}
		}
		first := len(s.Extend)
		for rank, c := range s.Best(own, 2*b.width) {
			c.LogP += b.penalty(c, &Selected{Extend: s.Extend[:first]})
			if c.Token == model.EOS && rank < b.width {
				s.Finish = append(s.Finish, c)
			} else if c.Token != model.EOS && len(s.Extend) < first+b.width {
				s.Extend = append(s.Extend, c)
			}
		}
	}
}

// penalty returns what the token of c loses for the selected ones.
func (b diverseBeam) penalty(c Candidate, s *Selected) (penalty float64) {
	for _, other := range s.Extend {
		if other.Token == c.Token {
			penalty += b.strength
		}
	}
	return penalty
}

func (b diverseBeam) Ends(p Progress) bool { return p.Finished >= b.groups*b.width }

// Diverse beam search of one group is beam search; more groups have more different first tokens.
func TestDiverseBeamSearch(t *testing.T) {
	different := func(list []Hypothesis) int {
		first := map[int32]bool{}
		for _, h := range list {
			for _, token := range h.Tokens[:min(1, len(h.Tokens))] {
				first[token] = true
			}
		}
		return len(first)
	}
	plain, diverse := 0, 0
	for seed := range uint64(5) {
		m := language(9, seed, 1)
		o := Options{Beam: 4, NBest: 4, Alpha: 0.6}
		want := find(t, m, 10, 8, o)
		o.Selection = diverseBeam{groups: 1, width: 4}
		if got := find(t, m, 10, 8, o); !reflect.DeepEqual(got, want) {
			t.Errorf("seed %d: one group gives %v, want %v", seed, got, want)
		}
		o.Selection = diverseBeam{groups: 4, width: 1, strength: 2}
		for i, list := range find(t, m, 10, 8, o) {
			plain, diverse = plain+different(want[i]), diverse+different(list)
		}
	}
	if diverse <= plain {
		t.Errorf("%d different first tokens in diverse lists, %d in others", diverse, plain)
	}
}
