package decode

import (
	"cmp"
	"context"
	"math"
	"reflect"
	"slices"
	"testing"

	"tfm/model"
)

// slowHyp is a hypothesis of a slow search, of all tokens so far.
type slowHyp struct {
	tokens []int32
	logP   float64
}

// slowBeam is the oracle of all searches, over the probabilities of m in float64.
func slowBeam(m *table, source int32, maxTokens int, o Options) []slowHyp {
	live, finished := []slowHyp{{}}, []slowHyp(nil)
	score := func(c slowHyp) float64 { return o.score(c.logP, len(c.tokens)) }
	sorted := func(list []slowHyp) []slowHyp {
		slices.SortStableFunc(list, func(a, b slowHyp) int { return cmp.Compare(score(b), score(a)) })
		return list[:min(len(list), o.Beam)]
	}
	ended := 0
	for n := 1; n <= maxTokens && len(live) > 0; n++ {
		var all []slowHyp
		for _, h := range live {
			for id, p := range m.probabilities(source, h.tokens) {
				if p > 0 {
					all = append(all, slowHyp{append(slices.Clone(h.tokens), int32(id)), h.logP + math.Log(p)})
				}
			}
		}
		slices.SortFunc(all, func(a, b slowHyp) int { return cmp.Compare(b.logP, a.logP) })
		live = nil
		width := o.Beam
		if o.Search == SearchShrinking {
			width -= ended
		}
		for rank, c := range all {
			switch isEOS := c.tokens[n-1] == model.EOS; {
			case isEOS && rank < width:
				finished = append(finished, c)
				ended++
			case !isEOS && len(live) < o.Beam && (rank < width || o.Search != SearchShrinking):
				live = append(live, c)
			}
		}
		if o.Search == SearchFinished && ended >= o.Beam {
			return sorted(finished)
		}
		if o.Search == SearchHeuristic && len(live) > 0 {
			list := sorted(slices.Clone(finished))
			if len(list) == o.Beam && score(list[o.Beam-1]) >= score(live[0]) {
				live = nil
			}
		}
	}
	if o.Search == SearchFinished && len(finished) > 0 {
		live = nil
	}
	return sorted(append(finished, live...))
}

// The paper's search and those of other systems have the results of slow ones.
func TestSearches(t *testing.T) {
	differ := map[string]int{}
	for seed := range uint64(40) {
		m := language(7, seed, 1.5)
		for _, name := range []string{SearchFinished, SearchShrinking, SearchHeuristic, SearchExact} {
			for _, penalty := range []string{PenaltyPower, PenaltyWu} {
				o := Options{Beam: 2 + int(seed%3), NBest: 2 + int(seed%3), Alpha: 0.6 * float64(1+seed%2), Penalty: penalty, Search: name}
				paper := o
				paper.Search = ""
				lists, papers := find(t, m, 3, 14, o), find(t, m, 3, 14, paper)
				for i, list := range lists {
					want := slowBeam(m, int32(i), 14, o)
					for k, h := range list {
						if w := want[k]; !h.Truncated && !slices.Equal(h.Tokens, w.tokens[:len(w.tokens)-1]) || !closeTo(h.Score, o.score(w.logP, len(w.tokens))) {
							t.Fatalf("%s, seed %d, source %d, %d of %d: found %v, want %v with score %v", name, seed, i, k, len(list), h, w, o.score(w.logP, len(w.tokens)))
						}
						if h.Truncated {
							break // hypotheses that differ only in their last token count once
						}
					}
					if name != SearchFinished && !reflect.DeepEqual(list, papers[i]) {
						differ[name]++
					}
				}
			}
		}
	}
	for name, n := range differ {
		if n < 20 {
			t.Errorf("%s: %d of 240 lists differ from those of %q", name, n, SearchFinished)
		}
	}
	t.Log(differ)
}

// With a LengthFactor, translations at the limit have a last token, as Marian's have.
func TestLengthFactor(t *testing.T) {
	truncated := 0
	for seed := range uint64(40) {
		m := language(7, seed, 1.5)
		beam := 1 + int(seed%4)
		o := Options{Beam: beam, NBest: beam, Alpha: 0.6, Penalty: PenaltyPower, Search: SearchShrinking, LengthFactor: 4.5}
		const limit = 5 // of sources without tokens, rounded up
		for i, list := range find(t, m, 3, 100, o) {
			want := slowBeam(m, int32(i), limit, o)
			if len(list) != len(want) {
				t.Fatalf("seed %d, source %d: %d translations, want %d", seed, i, len(list), len(want))
			}
			for k, h := range list {
				tokens, isTruncated := want[k].tokens, true
				if n := len(tokens) - 1; tokens[n] == model.EOS {
					tokens, isTruncated = tokens[:n], false
				} else {
					truncated++
				}
				if h.Truncated != isTruncated || !slices.Equal(h.Tokens, tokens) || !closeTo(h.Score, o.score(want[k].logP, len(want[k].tokens))) {
					t.Errorf("seed %d, source %d, %d of %d: found %v, want %v", seed, i, k, len(list), h, want[k])
				}
			}
		}
		// A limit that is not Marian's counts EOS.
		o.MaxTokens = limit - 1
		for i, list := range find(t, m, 3, 100, o) {
			for _, h := range list {
				if len(h.Tokens) > limit-1 {
					t.Errorf("seed %d, source %d: %d tokens, want at most %d", seed, i, len(h.Tokens), limit-1)
				}
			}
		}
	}
	if truncated < 20 {
		t.Errorf("%d translations reach the limit", truncated)
	}
}

// UnnormedKeys changes a pre-norm decoder from the second token on, in float32 and int8, and no
// translation depends on the batch.
func TestUnnormedKeys(t *testing.T) {
	c := toy()
	c.Norm = model.PreNorm
	m := perturbed(t, c, 1)
	srcs := randomSources(9, 1, 1)
	for _, w := range []*Weights{NewWeights(m, nil), NewWeightsInt8(m, nil)} {
		before := nBest(t, New(w, nil), srcs, DefaultOptions())
		w.SetUnnormedKeys(true)
		d := New(w, nil)
		after := nBest(t, d, srcs, DefaultOptions())
		if reflect.DeepEqual(before, after) {
			t.Errorf("%v: the keys make no difference", w.Form())
		}
		for i, src := range srcs {
			alone, err := d.NBest(context.Background(), [][]int32{src}, DefaultOptions())
			if err != nil || !reflect.DeepEqual(alone[0], after[i]) {
				t.Errorf("%v, source %d: %v, %v alone, %v with others", w.Form(), i, alone, err, after[i])
			}
		}
		first, given := New(w, nil).Next(srcs[0], nil), New(w, nil).Next(srcs[0], []int32{4})
		w.SetUnnormedKeys(false)
		if !equalBits(first, New(w, nil).Next(srcs[0], nil)) {
			t.Errorf("%v: the first token differs", w.Form())
		}
		if equalBits(given, New(w, nil).Next(srcs[0], []int32{4})) {
			t.Errorf("%v: the second token does not differ", w.Form())
		}
	}
	post := NewWeights(newModel(t, toy()), nil)
	if post.SetUnnormedKeys(true); post.unnormedKeys {
		t.Error("set in post-norm")
	}
}
