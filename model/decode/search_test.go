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

// In a small language a wide beam covers every translation, so its n-best list must be the best of
// all in order, under every length penalty.
func TestWideBeamFindsTheBestTranslations(t *testing.T) {
	const vocabulary, maxTokens = 5, 4 // two tokens besides EOS: 31 translations
	all := allTranslations(vocabulary, maxTokens)
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
			for source, list := range find(t, m, 3, maxTokens+1, o) {
				order := slices.Clone(all)
				slices.SortStableFunc(order, func(a, b []int32) int {
					return cmp.Compare(score(int32(source), b), score(int32(source), a))
				})
				if len(list) != o.NBest {
					t.Fatalf("%+v: %d translations, want %d", o, len(list), o.NBest)
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
		t.Errorf("best translations by length: %v, want at least 5 of lengths 0 and 4", lengths)
	}
}

// fixed returns a language whose next token depends only on the number of previous tokens.
func fixed(vocabulary int, probability ...map[int32]float64) *table {
	return &table{vocabulary: vocabulary, logits: func(_ int32, prefix []int32, row []float32) {
		for i := range row {
			row[i] = float32(math.Log(probability[min(len(prefix), len(probability)-1)][int32(i)]))
		}
	}}
}

// Greedy and beam search order equal probabilities by hypothesis and token id.
func TestTiesGoToTheSmallestID(t *testing.T) {
	even := &table{vocabulary: 8, logits: func(_ int32, prefix []int32, row []float32) {
		clear(row)
		if row[model.EOS] = -100; len(prefix) == 2 {
			row[model.EOS] = 100
		}
	}}
	for _, beam := range []int{1, 2, 5, 64} {
		if got := find(t, even, 1, 9, Options{Beam: beam})[0][0].Tokens; !slices.Equal(got, []int32{3, 3}) {
			t.Errorf("beam %d: %v, want [3 3]", beam, got)
		}
	}
	var list []string
	for _, h := range find(t, even, 1, 9, Options{Beam: 6, NBest: 6})[0] {
		list = append(list, fmt.Sprint(h.Tokens))
	}
	if want := []string{"[3 3]", "[3 4]", "[3 5]", "[3 6]", "[3 7]", "[4 3]"}; !slices.Equal(list, want) {
		t.Errorf("n-best list %v, want %v", list, want)
	}
}

// N-best lists of any length start with the best translation, are sorted and have no duplicates,
// and each score is that of its tokens.
func TestNBestLists(t *testing.T) {
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
							t.Errorf("%+v: list starts with %+v, want %+v", o, list[0], best[source][0])
						}
						if len(list) > o.NBest || !slices.IsSortedFunc(list, func(a, b Hypothesis) int { return cmp.Compare(b.Score, a.Score) }) {
							t.Errorf("%+v: list %+v, want at most %d by descending score", o, list, o.NBest)
						}
						seen := map[string]bool{}
						for _, h := range list {
							if listed++; h.Truncated {
								truncated++
							}
							if seen[fmt.Sprint(h.Tokens)] {
								t.Errorf("%+v: %v is listed twice", o, h.Tokens)
							}
							seen[fmt.Sprint(h.Tokens)] = true
							if want := o.score(m.logP(int32(source), h.Tokens), len(h.Tokens)+1); !h.Truncated && !closeTo(h.Score, want) {
								t.Errorf("%+v: %v has score %v, want %v", o, h.Tokens, h.Score, want)
							}
							if len(h.Tokens) >= maxTokens || h.Truncated && len(h.Tokens) != maxTokens-1 {
								t.Errorf("%+v: %+v, want at most %d tokens with EOS", o, h, maxTokens)
							}
						}
					}
				}
			}
		}
	}
	if listed < 400 || truncated < 30 {
		t.Errorf("%d translations, %d truncated; want at least 400 and 30", listed, truncated)
	}
}

// With logits of NaN or infinity a search ends, with one empty translation.
func TestNaNAndInfiniteLogits(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		m := &table{vocabulary: 300, logits: func(_ int32, _ []int32, row []float32) {
			for i := range row {
				row[i] = float32(x)
			}
		}}
		for _, o := range []Options{
			{Beam: 1}, {Beam: 1, NoScore: true}, {Beam: 3, NBest: 2}, {Sample: true, Temperature: 1, TopP: 1, NBest: 2},
			{Sample: true, Temperature: 1, TopP: 0.5}, {Sample: true, Temperature: 1, TopP: 1, TopK: 3},
		} {
			for _, list := range find(t, m, 3, 5, o) {
				if len(list) != 1 || len(list[0].Tokens) > 0 || !math.IsInf(list[0].Score, -1) {
					t.Errorf("logits of %v, %+v: %+v, want one empty translation with score -Inf", x, o, list)
				}
			}
		}
	}
}

// A search ends in the step after the one that cancels its context.
func TestCancelledSearchEnds(t *testing.T) {
	for _, o := range []Options{{Beam: 1}, {Beam: 4}, {Sample: true, Temperature: 1, TopP: 1}} {
		ctx, cancel := context.WithCancel(context.Background())
		m := fixed(4, map[int32]float64{3: 1}) // never EOS
		logits := m.logits
		m.logits = func(source int32, prefix []int32, row []float32) {
			if len(prefix) == 5 {
				cancel()
			}
			logits(source, prefix, row)
		}
		s := schedulerOf(m)
		var err error
		s.add(requestOf(ctx, 1, 1000, o, func(int, []Hypothesis) { t.Error("done was called") }, func(e error) { err = e }))
		for !s.idle() {
			s.step()
		}
		if !errors.Is(err, context.Canceled) || m.steps != 6 || !m.removed[0] || s.foreground != (load{}) {
			t.Errorf("%+v: error %v after %d steps, want %v after 6", o, err, m.steps, context.Canceled)
		}
	}
}

// topK orders equal values by index, also across the segments that it may skip.
func TestTopKOrdersEqualValuesByIndex(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 200 {
		row := make([]float32, 1+r.IntN(700))
		for i := range row {
			if row[i] = float32(r.IntN(40)); row[i] < 3 {
				row[i] = float32(math.Inf(-1))
			}
		}
		var want []candidate
		for i, x := range row {
			if x >= 3 {
				want = append(want, candidate{LogP: float64(x), Token: int32(i)})
			}
		}
		slices.SortStableFunc(want, func(a, b candidate) int { return cmp.Compare(b.LogP, a.LogP) })
		k := 1 + r.IntN(16)
		want = want[:min(k, len(want))]
		if got := topK(make([]candidate, 0, k), row, nil, nil); !slices.Equal(got, want) {
			t.Fatalf("topK of %d in %v = %v, want %v", k, row, got, want)
		}
	}
}

// certainFrom returns m, except that after step steps the next token is 3, with probability 1,
// until the length limit.
func certainFrom(m *table, steps, maxTokens int) *table {
	return &table{vocabulary: m.vocabulary, logits: func(source int32, prefix []int32, row []float32) {
		if len(prefix) < steps {
			m.logits(source, prefix, row)
			return
		}
		for i := range row {
			row[i] = -200
		}
		if row[3] = 0; len(prefix) == maxTokens-1 {
			row[3], row[model.EOS] = -200, 0
		}
	}}
}

// Beam search ends exactly when no live hypothesis can enter the n-best list, however the model
// continues: not earlier, because the best possible continuation from then on changes no list, and
// not later, because from one step before it does.
func TestBeamSearchEndsExactly(t *testing.T) {
	const vocabulary, maxTokens = 7, 12
	run := func(m *table, o Options, unend bool) (list []Hypothesis, steps int) {
		m.added, m.removed, m.steps = 0, nil, 0
		s := schedulerOf(m)
		r := requestOf(context.Background(), 1, maxTokens, o, func(_ int, l []Hypothesis) { list = l }, func(error) {})
		if unend {
			r.selection.end = 255 // a rule by which no search ends
		}
		s.add(r)
		for !s.idle() {
			s.step()
		}
		return list, m.steps
	}
	ended := map[int]int{}
	for seed := range uint64(200) {
		m := language(vocabulary, seed, 2)
		random := m.logits
		m.logits = func(source int32, prefix []int32, row []float32) {
			random(source, prefix, row)
			row[model.EOS] += float32(seed % 4)
		}
		for _, o := range []Options{{Beam: 2}, {Beam: 4, Alpha: 0.6}, {Beam: 3, Alpha: 1, Penalty: PenaltyPower, NBest: 2}, {Beam: 5, Alpha: 1, NBest: 3}} {
			o.Search = SearchExact
			list, steps := run(m, o, false)
			if got, _ := run(certainFrom(m, steps, maxTokens), o, true); !reflect.DeepEqual(got, list) {
				t.Errorf("seed %d, %+v: ended after step %d with %+v, but further steps could give %+v", seed, o, steps, list, got)
			}
			if steps == 1 || steps == maxTokens {
				continue
			}
			ended[steps]++
			got, _ := run(certainFrom(m, steps-1, maxTokens), o, true)
			if !slices.ContainsFunc(got, func(h Hypothesis) bool { return len(h.Tokens) == maxTokens-1 && !h.Truncated }) {
				t.Errorf("seed %d, %+v: ended after step %d with %+v, but no step after %d could change that", seed, o, steps, list, steps-1)
			}
		}
	}
	if len(ended) < 6 {
		t.Errorf("searches by number of steps: %v, want at least 6 numbers", ended)
	}
}
