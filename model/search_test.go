package model

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"tfm/mat"
)

// With so few continuations a wide beam sees every translation there is, so its list must be the best of all in order.
func TestWideBeamListsTheBestTranslations(t *testing.T) {
	c := toy()
	c.SrcVocab, c.TgtVocab = 5, 5 // two words
	type scored struct {
		tokens []int32
		score  float64
	}
	src := []int32{4, 3}
	for seed := range uint64(10) {
		m := opinionated(t, c, seed)
		for _, penalty := range []string{PenaltyWu, PenaltyPower} {
			var all []scored
			var extend func(prefix []int32)
			extend = func(prefix []int32) {
				n := float64(len(prefix) + 1)
				length := (5 + n) / 6
				if penalty == PenaltyPower {
					length = n
				}
				all = append(all, scored{slices.Clone(prefix), score(m, src, prefix) / math.Pow(length, 0.8)})
				for id := int32(3); id < 5 && len(prefix) < 4; id++ {
					extend(append(prefix, id))
				}
			}
			extend(nil)
			slices.SortFunc(all, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
			got := NewDecoder(m, nil).NBest([][]int32{src}, Search{Beam: 64, Alpha: 0.8, Penalty: penalty, MaxExtra: 2, NBest: 20})[0]
			if len(got) != 20 {
				t.Fatalf("%d translations", len(got))
			}
			for i, h := range got {
				if !slices.Equal(h.Tokens, all[i].tokens) || math.Abs(h.Score-all[i].score) > 1e-4 {
					t.Errorf("model %d, %s: translation %d is %v (%.5f), want %v (%.5f)", seed, penalty, i, h.Tokens, h.Score, all[i].tokens, all[i].score)
				}
			}
		}
	}
}

// The first of a list is the translation, bit for bit, however long the list is; the others follow in order, and
// none comes twice.
func TestNBestBeginsWithTheTranslation(t *testing.T) {
	c := toy()
	pool := mat.NewPool(2)
	defer pool.Close()
	listed, truncated := 0, 0
	for seed := range uint64(3) {
		m := opinionated(t, c, seed)
		d := NewDecoder(m, pool)
		srcs := sources(randomBatch(c, 12, 0, seed))
		for _, s := range []Search{DefaultSearch(), {Beam: 8, Alpha: 1, Penalty: PenaltyPower, MaxExtra: 20}, {Beam: 6, MaxExtra: 0}, {Beam: 3, MaxExtra: -50}} {
			best := d.Translate(srcs, s)
			for _, s.NBest = range []int{2, s.Beam} {
				for i, list := range d.NBest(srcs, s) {
					if !slices.Equal(list[0].Tokens, best[i].Tokens) || list[0].Score != best[i].Score || list[0].Truncated != best[i].Truncated {
						t.Errorf("%+v: the first of the list is %+v, the translation %+v", s, list[0], best[i])
					}
					if len(list) > s.NBest || !slices.IsSortedFunc(list, func(a, b Hypothesis) int { return cmp.Compare(b.Score, a.Score) }) {
						t.Errorf("%+v: the list is %+v", s, list)
					}
					texts := map[string]bool{}
					for _, h := range list {
						if listed++; h.Truncated {
							truncated++
						}
						if texts[fmt.Sprint(h.Tokens)] {
							t.Errorf("%+v: %v comes twice", s, h.Tokens)
						}
						texts[fmt.Sprint(h.Tokens)] = true
						if want := s.score(score(m, srcs[i], h.Tokens), len(h.Tokens)+1); !h.Truncated && math.Abs(h.Score-want) > 1e-4*(1+math.Abs(want)) {
							t.Errorf("%+v: %v has the score %v, want %v", s, h.Tokens, h.Score, want)
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

func TestSearchValidate(t *testing.T) {
	if err := DefaultSearch().Validate(); err != nil {
		t.Error(err)
	}
	for says, change := range map[string]func(*Search){
		"beam is 0, expected 1 to 64":                    func(s *Search) { s.Beam = 0 },
		"beam is 65":                                     func(s *Search) { s.Beam = 65 },
		"alpha is -1, expected 0 to 10":                  func(s *Search) { s.Alpha = -1 },
		"alpha is NaN":                                   func(s *Search) { s.Alpha = math.NaN() },
		`length_penalty is "gnmt", expected wu or power`: func(s *Search) { s.Penalty = "gnmt" },
		"nbest is 5, expected at most 4, the beam":       func(s *Search) { s.NBest = 5 },
		"nbest is -1":                                    func(s *Search) { s.NBest = -1 },
		"nbest is 65, expected at most 64":               func(s *Search) { s.Sample, s.NBest = true, 65 },
		"temperature is 0, expected 0.001 to 1000":       func(s *Search) { s.Sample, s.Temperature = true, 0 },
		"temperature is NaN":                             func(s *Search) { s.Sample, s.Temperature = true, math.NaN() },
		"temperature is +Inf":                            func(s *Search) { s.Sample, s.Temperature = true, math.Inf(1) },
		"top_k is -1, expected 1 or more":                func(s *Search) { s.Sample, s.TopK = true, -1 },
		"top_p is 0, expected above 0":                   func(s *Search) { s.Sample, s.TopP = true, 0 },
		"top_p is 1.5":                                   func(s *Search) { s.Sample, s.TopP = true, 1.5 },
	} {
		s := DefaultSearch()
		change(&s)
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}
