package decode

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"tfm/mat"
	"tfm/model"
)

// compareSuppressed returns the number of lists that differ without suppressed pieces.
// It reports differences to the oracle, whose token at the length limit is free, so that lists with
// a truncated hypothesis are not compared.
func compareSuppressed(t *testing.T, o Options, got, oracle, free [][]Hypothesis) (differ int) {
	t.Helper()
	truncated := func(h Hypothesis) bool { return h.Truncated }
	for i := range got {
		if slices.ContainsFunc(slices.Concat(got[i], oracle[i]), truncated) {
			continue
		}
		if !reflect.DeepEqual(got[i], oracle[i]) {
			t.Errorf("beam %d, %+v: found %.300v, want %.300v", o.Beam, o, fmt.Sprint(got[i]), fmt.Sprint(oracle[i]))
		}
		if !reflect.DeepEqual(got[i], free[i]) {
			differ++
		}
	}
	return differ
}

// Samples are those of a model in which the suppressed pieces are impossible, with the scores of
// the model in which they are not.
func TestSampleSuppressed(t *testing.T) {
	suppressedIDs := []int32{0, 3, 7}
	for seed := range uint64(10) {
		m := language(11, seed, 2)
		masked := *m
		masked.logits = func(source int32, prefix []int32, row []float32) {
			m.logits(source, prefix, row)
			for _, id := range suppressedIDs {
				row[id] = float32(math.Inf(-1))
			}
		}
		for k, o := range []Options{
			{Sample: true, Temperature: 1, TopP: 1, NBest: 3}, {Sample: true, Temperature: 2, TopP: 0.9, NBest: 3},
			{Sample: true, Temperature: 1, TopK: 3, TopP: 0.9, NBest: 3, Alternatives: 11}, {Sample: true, Temperature: 1, TopP: 1, Pieces: onlyIDs(11, 3, 5, 7, 9)},
		} {
			want := find(t, &masked, 4, 8, o)
			o.Suppressed = FormatSuppressed(suppressedIDs)
			for i, list := range find(t, m, 4, 8, o) {
				tokens := func(list []Hypothesis) (all [][]int32) {
					for _, h := range list {
						all = append(all, h.Tokens)
					}
					slices.SortFunc(all, slices.Compare)
					return all
				}
				if !reflect.DeepEqual(tokens(list), tokens(want[i])) {
					t.Errorf("seed %d, %d: found %.200v, want the tokens of %.200v", seed, k, list, want[i])
				}
				for _, h := range list {
					if logP := m.logP(int32(i), h.Tokens); !h.Truncated && !closeTo(h.Score, logP) {
						t.Errorf("%+v: score %v, want %v", o, h.Score, logP)
					}
					for _, alternatives := range h.Alternatives {
						if slices.ContainsFunc(alternatives, func(a Alternative) bool { return slices.Contains(suppressedIDs, a.Token) }) {
							t.Errorf("alternatives %v have a suppressed piece", alternatives)
						}
					}
				}
			}
		}
	}
}

// A prefix that has only suppressed pieces is satisfied nevertheless.
func TestForcedSuppressed(t *testing.T) {
	m := language(11, 1, 2)
	for _, o := range []Options{
		{Beam: 1}, {Beam: 1, NoScore: true}, {Beam: 4}, {Sample: true, Temperature: 1, TopP: 1},
	} {
		o.Suppressed, o.Prefixes = "3 7", &Begins{[][]int32{{7, 5, 3}}}
		h := find(t, m, 1, 9, o)[0][0]
		if len(h.Tokens) < 3 || !slices.Equal(h.Tokens[:3], []int32{7, 5, 3}) || slices.Contains(h.Tokens[3:], 3) || slices.Contains(h.Tokens[3:], 7) {
			t.Errorf("%+v: found %v", o, h)
		}
	}
}

// Searches never select suppressed pieces, and have the scores of the model with them, which are
// those of pieces that are no text: with bounds, lists and int8, with others beside, and with
// pieces whose bias is -Inf.
func TestSuppressed(t *testing.T) {
	var ids []int32
	for id := int32(10); id < 400; id += 7 {
		ids = append(ids, id)
	}
	differ, least, biases := 0, 50, []float32{0, 8, 16} // of EOS
	if testing.Short() {
		least, biases = 40, biases[2:]
	}
	for _, eos := range biases {
		m := boundedModel(t, 1, func(r *rand.Rand, w mat.Matrix, b []float32) { suppressible(w, b, eos) })
		differ += testSuppressed(t, m, ids)
	}
	if differ < least {
		t.Errorf("%d lists differ from those without suppressed pieces", differ)
	}
}

// suppressible changes an output projection: some pieces are impossible, some probable.
func suppressible(w mat.Matrix, b []float32, eos float32) {
	for _, id := range []int{model.Pad, model.BOS, 9, 500} {
		clear(w.Row(id))
		b[id] = float32(math.Inf(-1))
	}
	b[model.EOS] = eos
	for id := 10; id < 990; id += 7 {
		mat.Scal(2, w.Row(id))
	}
}

func testSuppressed(t *testing.T, m *model.Transformer, ids []int32) (differ int) {
	srcs := randomSources(12, 0, 1)
	without := NewPieces(m.Config.TgtVocab, func(id int32) string {
		if slices.Contains(ids, id) {
			return "\xFF"
		}
		return "a"
	})
	for _, w := range []*Weights{NewWeights(m, nil), NewWeightsInt8(m, nil)} {
		for _, list := range []*Shortlist{nil, randomShortlist(m.Config, 60, 1)} {
			for _, o := range []Options{
				{Beam: 1}, {Beam: 1, NoScore: true}, {Beam: 3}, {Beam: 4, NBest: 4, Alternatives: 11, TokenScores: true},
				{Beam: 1, RepetitionPenalty: 3}, {Beam: 4, NoRepeat: 1, MinTokens: 4},
			} {
				o.MaxExtra, o.Shortlist = 6, list
				suppressed, constrained := o, o
				suppressed.Suppressed, constrained.Pieces = FormatSuppressed(ids), without
				d := New(w, nil)
				differ += compareSuppressed(t, o, nBest(t, d, srcs, suppressed), nBest(t, d, srcs, constrained), nBest(t, d, srcs, o))
			}
		}
	}
	return differ
}

// Impossible pieces, whose bias is -Inf, leave the bounds of all others.
func TestBoundsOfImpossiblePieces(t *testing.T) {
	m := boundedModel(t, 1, func(r *rand.Rand, w mat.Matrix, b []float32) {
		b[model.Pad], b[model.BOS] = float32(math.Inf(-1)), float32(math.Inf(-1))
	})
	s := NewState(NewWeights(m, nil), nil)
	handles := s.Add(nil, randomSources(9, 0, 1)...)
	for _, h := range handles {
		s.step(s.treeRows([]Row{{h, model.BOS, -1}}), true)
		if s.threads[0].output.isWhole[0] || s.threads[0].output.refined[0] == nil {
			t.Errorf("source %d: all logits computed", h)
		}
	}
}
