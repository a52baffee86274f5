package decode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"tfm/model"
)

func TestGreedyTakesTheMostProbableToken(t *testing.T) {
	lengths := map[int]int{}
	for seed := range uint64(10) {
		m := language(6, seed, 2)
		for source, list := range find(t, m, 20, 8, Options{Beam: 1}) {
			var tokens []int32
			logP, truncated := 0.0, true
			for range 8 {
				p := m.probabilities(int32(source), tokens)
				best := slices.Index(p, slices.Max(p))
				logP += math.Log(p[best])
				if truncated = best != model.EOS; !truncated {
					break
				}
				tokens = append(tokens, int32(best))
			}
			tokens = tokens[:min(len(tokens), 7)] // the last is where EOS should be
			if got := list[0]; len(list) != 1 || !slices.Equal(got.Tokens, tokens) || !closeTo(got.Score, logP) || got.Truncated != truncated {
				t.Fatalf("language %d, source %d: %+v, want %v with %v, truncated %v", seed, source, list, tokens, logP, truncated)
			}
			lengths[len(tokens)]++
		}
	}
	if lengths[0] == 0 || lengths[3] == 0 || lengths[7] == 0 {
		t.Errorf("translations of each length: %v; there should be short and long ones", lengths)
	}
}

// With so few continuations a wide beam sees every translation there is, so its list must be the
// best of all in order, under every length penalty.
func TestWideBeamFindsTheBestTranslations(t *testing.T) {
	const vocabulary, words = 5, 4 // two words: 31 translations
	all := each(vocabulary, words)
	lengths := map[int]int{}
	for seed := range uint64(20) {
		m := language(vocabulary, seed, 1.5)
		for _, o := range []Options{
			{Alpha: 0}, {Alpha: 0.6}, {Alpha: 1}, {Alpha: 3, Penalty: PenaltyWu}, {Alpha: 0.8, Penalty: PenaltyPower}, {Alpha: 1, Penalty: PenaltyPower},
		} {
			o.Beam, o.NBest = 64, 20
			score := func(source int32, tokens []int32) float64 {
				n := float64(len(tokens) + 1)
				if o.Penalty == PenaltyPower {
					return m.logP(source, tokens) / math.Pow(n, o.Alpha)
				}
				return m.logP(source, tokens) / math.Pow((5+n)/6, o.Alpha)
			}
			for source, list := range find(t, m, 3, words+1, o) {
				order := slices.Clone(all)
				slices.SortStableFunc(order, func(a, b []int32) int {
					return cmp.Compare(score(int32(source), b), score(int32(source), a))
				})
				if len(list) != o.NBest {
					t.Fatalf("%+v: %d translations", o, len(list))
				}
				for i, h := range list {
					if !slices.Equal(h.Tokens, order[i]) || !closeTo(h.Score, score(int32(source), order[i])) || h.Truncated {
						t.Fatalf("language %d, source %d, %+v: translation %d is %+v, want %v with %v", seed, source, o, i, h, order[i], score(int32(source), order[i]))
					}
				}
				lengths[len(list[0].Tokens)]++
			}
		}
	}
	if lengths[0] < 5 || lengths[4] < 5 {
		t.Errorf("best translations of each length: %v; there should be short and long ones", lengths)
	}
}

// fixed is a language whose next token depends on the number of tokens so far alone.
func fixed(vocabulary int, probability ...map[int32]float64) *table {
	return &table{vocabulary: vocabulary, logits: func(_ int32, prefix []int32, row []float32) {
		for i := range row {
			row[i] = float32(math.Log(probability[min(len(prefix), len(probability)-1)][int32(i)]))
		}
	}}
}

// A sentence of one word has a log-probability of ln 0.36 and one of two words, which are 0.6·0.5
// probable, less. The longer one wins when length counts enough.
func TestLengthPenaltyChooses(t *testing.T) {
	const word = 3
	m := fixed(4, map[int32]float64{word: 0.9, model.EOS: 0.1}, map[int32]float64{word: 0.6, model.EOS: 0.4}, map[int32]float64{word: 0.5, model.EOS: 0.5}, map[int32]float64{model.EOS: 1})
	// ln 0.36 = -1.022 of 2 tokens, ln 0.27 = -1.309 of 3: with n^alpha the second is the better
	// from alpha = ln(1.309/1.022)/ln(3/2) = 0.611 on; with ((5+n)/6)^alpha from 1.856. Three
	// words are as probable as two and longer, so they win where two would.
	for _, c := range []struct {
		o     Options
		words int
	}{
		{Options{Alpha: 0}, 1}, {Options{Alpha: 0.3, Penalty: PenaltyPower}, 1}, {Options{Alpha: 0.62, Penalty: PenaltyPower}, 3},
		{Options{Alpha: 0.62}, 1}, {Options{Alpha: 2}, 3},
	} {
		c.o.Beam = 4
		if got := find(t, m, 1, 10, c.o)[0][0]; len(got.Tokens) != c.words {
			t.Errorf("%+v: %+v, want %d words", c.o, got, c.words)
		}
	}
}

// Equation 14 of Wu et al. (2016) by hand: ((5+n)/6)^alpha is 1 for one token, 2 for seven and 10
// for 55.
func TestLengthPenalty(t *testing.T) {
	for _, c := range []struct {
		n           int
		alpha, want float64
	}{{1, 0.6, 1}, {7, 1, 2}, {7, 0.5, math.Sqrt2}, {55, 1, 10}, {55, 2, 100}, {30, 0, 1}, {19, 0.6, math.Pow(4, 0.6)}} {
		if got := -1 / (&Options{Alpha: c.alpha}).score(-1, c.n); math.Abs(got/c.want-1) > 1e-14 { // a few roundings of float64
			t.Errorf("%d tokens, alpha %v: %v, want %v", c.n, c.alpha, got, c.want)
		}
	}
}

// Equal probabilities are ordered by hypothesis and token id, in every strategy that does not draw.
func TestTiesGoToTheSmallestID(t *testing.T) {
	even := &table{vocabulary: 8, logits: func(_ int32, prefix []int32, row []float32) {
		clear(row)
		if row[model.EOS] = -100; len(prefix) == 2 {
			row[model.EOS] = 100
		}
	}}
	for _, beam := range []int{1, 2, 5, 64} {
		if got := find(t, even, 1, 9, Options{Beam: beam})[0][0].Tokens; !slices.Equal(got, []int32{3, 3}) {
			t.Errorf("beam %d: %v", beam, got)
		}
	}
	var list []string
	for _, h := range find(t, even, 1, 9, Options{Beam: 6, NBest: 6})[0] {
		list = append(list, fmt.Sprint(h.Tokens))
	}
	if want := []string{"[3 3]", "[3 4]", "[3 5]", "[3 6]", "[3 7]", "[4 3]"}; !slices.Equal(list, want) {
		t.Errorf("listed %v, want %v", list, want)
	}
}

// Every score is that of the tokens beside it, whatever forked and ended meanwhile; lists are in
// order and without repetition, and however long they are, they begin with the translation.
func TestListsBeginWithTheTranslation(t *testing.T) {
	listed, truncated := 0, 0
	for seed := range uint64(5) {
		m := language(9, seed, 1.5)
		for _, o := range []Options{DefaultOptions(), {Beam: 1, Alpha: 1}, {Beam: 8, Alpha: 1, Penalty: PenaltyPower}, {Beam: 6}, {Beam: 20, Alpha: 2}} {
			for _, maxTokens := range []int{1, 2, 4, 12} {
				o.NBest = 1
				best := find(t, m, 6, maxTokens, o)
				for _, o.NBest = range []int{min(2, o.Beam), o.Beam} {
					for source, list := range find(t, m, 6, maxTokens, o) {
						if !reflect.DeepEqual(list[0], best[source][0]) {
							t.Errorf("%+v: the first of the list is %+v, the translation %+v", o, list[0], best[source][0])
						}
						if len(list) > o.NBest || !slices.IsSortedFunc(list, func(a, b Hypothesis) int { return cmp.Compare(b.Score, a.Score) }) {
							t.Errorf("%+v: the list is %+v", o, list)
						}
						seen := map[string]bool{}
						for _, h := range list {
							if listed++; h.Truncated {
								truncated++
							}
							if seen[fmt.Sprint(h.Tokens)] {
								t.Errorf("%+v: %v comes twice", o, h.Tokens)
							}
							seen[fmt.Sprint(h.Tokens)] = true
							if want := o.score(m.logP(int32(source), h.Tokens), len(h.Tokens)+1); !h.Truncated && !closeTo(h.Score, want) {
								t.Errorf("%+v: %v has the score %v, want %v", o, h.Tokens, h.Score, want)
							}
							if len(h.Tokens) >= maxTokens || h.Truncated && len(h.Tokens) != maxTokens-1 {
								t.Errorf("%+v: %+v of at most %d tokens", o, h, maxTokens)
							}
						}
					}
				}
			}
		}
	}
	if listed < 400 || truncated < 30 {
		t.Errorf("%d translations, %d of them cut: too few", listed, truncated)
	}
}

// A source's translations are the same alone and among others, which end sooner and later.
func TestSourcesDoNotMeet(t *testing.T) {
	m := language(9, 3, 1)
	for _, o := range []Options{{Beam: 1}, DefaultOptions(), {Beam: 5, NBest: 5}, {Sample: true, Temperature: 1, TopP: 1, NBest: 3, Seed: 4}} {
		all := find(t, m, 30, 12, o)
		for i := range all {
			only := &table{vocabulary: 9, logits: func(_ int32, prefix []int32, row []float32) { m.logits(int32(i), prefix, row) }}
			alone := o
			alone.First += uint64(i)
			if got := find(t, only, 1, 12, alone)[0]; !reflect.DeepEqual(got, all[i]) {
				t.Errorf("%+v: source %d gives %v alone and %v among others", o, i, got, all[i])
			}
		}
	}
}

// An ending counts if it is among the best of all continuations, as many as the beam is wide.
func TestEndingsOfLowRankDoNotCount(t *testing.T) {
	o, s := Options{Beam: 2}, search{}
	s.reset()
	s.add(0, 0, 64, &o, beam{2})
	b := &s.sentences[0]
	b.live = []live{{logP: -1, tail: -1, row: 0}, {logP: -2, tail: -1, row: 1}}
	s.expanded = []continuation{{-2, 7, 0}, {-4, model.EOS, 0}, {0, 0, 0}, {0, 0, 0}, {-2, model.EOS, 0}, {-4, 8, 0}, {0, 0, 0}, {0, 0, 0}}
	s.counts = []int{2, 2}
	s.advance(b, 0) // -3 goes on, -4 is an ending of rank 1, -5 one of rank 2, -6 goes on
	if b.finished != 1 || len(b.nBest) != 1 || b.nBest[0].score != -4 || len(b.live) != 2 || b.live[0].logP != -3 || b.live[1].logP != -6 || b.live[1].row != 1 {
		t.Errorf("%+v", b)
	}
}

func TestSearchEndsWhenNothingBetterCanCome(t *testing.T) {
	o := Options{Beam: 4, Alpha: 1} // the penalty of 19 tokens is 4
	for _, c := range []struct {
		finished, most int
		best, live     float64
		want           bool
	}{
		{0, 19, math.Inf(-1), -40, false},
		{1, 19, -10.1, -40, false}, // -40 with 19 tokens is -10
		{1, 19, -10, -40, true},
		{1, 1 << 10, -10, -40, false}, // more tokens, more of a chance
		{4, 19, -100, -1, true},
	} {
		b := sentence{options: &o, finished: c.finished, maxTokens: c.most, live: []live{{logP: c.live}}}
		b.finish(finishedHyp{score: c.best})
		if got := (beam{o.Beam}).isDone(&b); got != c.want {
			t.Errorf("%+v: done %v", c, got)
		}
	}
}

// Logits that are not numbers make no sense, but no crash and no endless search either: there is
// one empty translation.
func TestLogitsThatAreNotNumbers(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		m := &table{vocabulary: 300, logits: func(_ int32, _ []int32, row []float32) {
			for i := range row {
				row[i] = float32(x)
			}
		}}
		for _, o := range []Options{
			{Beam: 1}, {Beam: 3, NBest: 2}, {Sample: true, Temperature: 1, TopP: 1, NBest: 2},
			{Sample: true, Temperature: 1, TopP: 0.5}, {Sample: true, Temperature: 1, TopP: 1, TopK: 3},
		} {
			for _, list := range find(t, m, 3, 5, o) {
				if len(list) != 1 || len(list[0].Tokens) > 0 || !math.IsInf(list[0].Score, -1) {
					t.Errorf("logits of %v, %+v: %+v", x, o, list)
				}
			}
		}
	}
}

// A search ends at the step after its context.
func TestCancelledSearchEnds(t *testing.T) {
	for _, o := range []Options{{Beam: 1}, {Beam: 4}, {Sample: true, Temperature: 1, TopP: 1}} {
		ctx, cancel := context.WithCancel(context.Background())
		m := fixed(4, map[int32]float64{3: 1}) // never says EOS
		words := m.logits
		m.logits = func(source int32, prefix []int32, row []float32) {
			if len(prefix) == 5 {
				cancel()
			}
			words(source, prefix, row)
		}
		var s search
		s.reset()
		s.add(0, 0, 1000, &o, strategyOf(&o))
		err := s.run(ctx, nil, m, func(int, []Hypothesis) { t.Error("a result") })
		if !errors.Is(err, context.Canceled) || m.steps != 6 {
			t.Errorf("%+v: %v after %d steps, want 6", o, err, m.steps)
		}
	}
}

// Equal numbers stand in the order of their ids, also across the runs that topK may skip.
func TestTopKOrdersEqualNumbersByID(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 200 {
		row := make([]float32, 1+r.IntN(700))
		for i := range row {
			if row[i] = float32(r.IntN(40)); row[i] < 3 {
				row[i] = float32(math.Inf(-1))
			}
		}
		var want []continuation
		for i, x := range row {
			if x >= 3 {
				want = append(want, continuation{logP: float64(x), token: int32(i)})
			}
		}
		slices.SortStableFunc(want, func(a, b continuation) int { return cmp.Compare(b.logP, a.logP) })
		k := 1 + r.IntN(16)
		want = want[:min(k, len(want))]
		if got := topK(make([]continuation, 0, k), row); !slices.Equal(got, want) {
			t.Fatalf("the best %d of %v: %v, want %v", k, row, got, want)
		}
	}
}
