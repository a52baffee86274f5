package decode

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tfm/mat"
	"tfm/model"
)

// A wide beam finds the best of all translations by the score with the coverage penalty, which
// greedy search and sampling report too.
func TestCoverageAgainstAllTranslations(t *testing.T) {
	const vocabulary, maxTokens, sourceLen, sources = 5, 5, 3, 4
	all := allTranslations(vocabulary, maxTokens-1)
	changed := 0
	for seed := range uint64(6) {
		m := language(vocabulary, seed, 1.5)
		m.sourceLen = sourceLen
		for _, o := range []Options{
			{Beam: 1 << 12, NBest: 10}, {Beam: 1 << 12, NBest: 10, Alpha: 1}, {Beam: 1}, {Sample: true, Temperature: 1, TopP: 1, NBest: 3}, {Beam: 2, NBest: 2, Alpha: 0.6},
		} {
			o.MaxExtra = maxTokens - 1 - sourceLen
			for _, o.Coverage = range []float64{0.3, 2} {
				score := func(source int32, tokens []int32) float64 {
					total, row := make([]float64, sourceLen+1), make([]float32, sourceLen+1)
					for i := range len(tokens) + 1 {
						m.attention(source, tokens[:i], row)
						for j, a := range row {
							total[j] += float64(a)
						}
					}
					penalty := 0.0
					for _, a := range total[:sourceLen] {
						penalty += o.Coverage * math.Log(min(a, 1))
					}
					return o.score(m.logP(source, tokens), len(tokens)+1) + penalty
				}
				m.added, m.removed = 0, nil
				s := schedulerOf(m)
				srcs := make([][]int32, sources)
				for i := range srcs {
					srcs[i] = make([]int32, sourceLen)
				}
				s.add(newRequest(context.Background(), srcs, o, func(i int, list []Hypothesis) {
					source := int32(i)
					for k, h := range list {
						if want := score(source, h.Tokens); !h.Truncated && !closeTo(h.Score, want) {
							t.Errorf("%+v: %+v, want score %v", o, h, want)
						}
						if k > 0 && h.Score > list[k-1].Score {
							t.Errorf("%+v: list %+v, want descending scores", o, list)
						}
					}
					if o.Beam < 1<<12 {
						return
					}
					order := slices.Clone(all)
					slices.SortStableFunc(order, func(a, b []int32) int { return cmp.Compare(score(source, b), score(source, a)) })
					for k, h := range list {
						if len(list) != o.NBest || !slices.Equal(h.Tokens, order[k]) {
							t.Fatalf("%+v: translation %d is %+v, want %v with %v", o, k, h, order[k], score(source, order[k]))
						}
					}
					free := o
					free.Coverage = 0
					best := slices.MaxFunc(all, func(a, b []int32) int {
						return cmp.Compare(free.score(m.logP(source, a), len(a)+1), free.score(m.logP(source, b), len(b)+1))
					})
					if !slices.Equal(best, order[0]) {
						changed++
					}
				}, func(error) {}))
				for !s.idle() {
					s.step()
				}
			}
		}
	}
	if changed < 20 {
		t.Errorf("the penalty changes %d best translations, want at least 20", changed)
	}
}

// The weights of StepWeights are those of Decoder.Attention, bit for bit, and its logits those of
// Step, for any threads and rows.
func TestStepWeights(t *testing.T) {
	w := NewWeights(perturbed(t, toy(), 3), nil)
	srcs := append(randomSources(9, 0, 4), slices.Repeat([]int32{3, 5, 4}, 7))
	r := rand.New(rand.NewPCG(1, 1))
	tgts := make([][]int32, len(srcs))
	for i := range tgts {
		for range 6 {
			tgts[i] = append(tgts[i], int32(3+r.IntN(8)))
		}
	}
	want, err := New(w, nil).Attention(context.Background(), srcs, tgts, model.AlignHeads{})
	if err != nil {
		t.Fatal(err)
	}
	for threads := 1; threads <= 3; threads++ {
		pool := mat.NewPool(threads)
		s, plain := NewState(w, pool), NewState(w, pool)
		handles := s.Add(nil, srcs...)
		plain.Add(nil, srcs...)
		for k := range 7 {
			var rows []Row
			for i, h := range handles {
				row := Row{Source: h, Token: 1, Parent: -1}
				if k > 0 {
					row.Token, row.Parent = tgts[i][k-1], 0
				}
				rows = append(rows, row)
			}
			logits, weights := s.StepWeights(rows)
			if !equalBits(logits.Data, plain.Step(rows).Data) {
				t.Errorf("step %d, %d threads: logits differ from those of Step", k, threads)
			}
			for i := range rows {
				if got := weights.Row(i)[:len(srcs[i])+1]; !equalBits(got, want[i][k]) {
					t.Errorf("step %d, source %d, %d threads: weights %v, want %v", k, i, threads, got, want[i][k])
				}
			}
		}
		pool.Close()
	}
}
