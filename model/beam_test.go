package model

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tfm/mat"
)

// score is log P of a translation with EOS, from the full pass.
func score(m *Transformer, src, tgt []int32) float64 {
	b := new(Batch)
	b.Append(src, tgt)
	pass := NewPass(m, nil)
	pass.bind(len(b.Src), len(b.TgtIn), false)
	x := pass.forward(b, dropouts{}, dropouts{})
	logits := mat.New(x.Rows, m.Config.TgtVocab)
	m.Output.Logits(nil, logits, x)
	var logP float64
	for i, want := range b.TgtOut {
		row := logits.Row(i)
		row[Pad], row[BOS] = float32(math.Inf(-1)), float32(math.Inf(-1)) // never said
		var z float64
		for _, v := range row {
			z += math.Exp(float64(v))
		}
		logP += float64(row[want]) - math.Log(z)
	}
	return logP
}

// opinionated is a model away from its start, where all translations are about equally probable.
func opinionated(t *testing.T, c Config, seed uint64) *Transformer {
	m := newModel(t, c)
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range m.Params.W {
		m.Params.W[i] += float32(0.4 * r.NormFloat64())
	}
	return m
}

// With so few continuations a wide beam sees every translation there is, so it must find the best of all.
func TestWideBeamFindsTheBestTranslation(t *testing.T) {
	c := toy()
	c.SrcVocab, c.TgtVocab = 5, 5 // two words
	var all [][]int32
	var extend func(prefix []int32)
	extend = func(prefix []int32) {
		all = append(all, slices.Clone(prefix))
		if len(prefix) < 4 {
			for id := int32(3); id < 5; id++ {
				extend(append(prefix, id))
			}
		}
	}
	extend(nil)
	var lengths [5]int
	for seed := range uint64(20) {
		m := opinionated(t, c, seed)
		for _, src := range [][]int32{{3}, {4, 3}, {3, 3, 4}} {
			best, bestScore := []int32(nil), math.Inf(-1)
			for _, tgt := range all {
				if s := score(m, src, tgt) / math.Pow(float64(5+len(tgt)+1)/6, 1); s > bestScore {
					best, bestScore = tgt, s
				}
			}
			lengths[len(best)]++
			got := NewDecoder(m, nil).Translate([][]int32{src}, Search{Beam: 64, Alpha: 1, MaxExtra: 4 - len(src)})[0]
			if !slices.Equal(got.Tokens, best) || math.Abs(got.Score-bestScore) > 1e-4 {
				t.Errorf("model %d, source %v: found %v (%.5f), the best is %v (%.5f)", seed, src, got.Tokens, got.Score, best, bestScore)
			}
		}
	}
	if lengths[0] < 5 || lengths[4] < 5 {
		t.Errorf("best translations of 0 to 4 words: %v; there should be short and long ones", lengths)
	}
}

// Hypotheses fork and end, and their caches go from slot to slot: the score must still be that of the tokens.
func TestScoreIsThatOfTheTranslation(t *testing.T) {
	c := toy()
	words := 0
	for seed := range uint64(4) {
		m := opinionated(t, c, seed)
		d := NewDecoder(m, nil)
		srcs := sources(randomBatch(c, 12, 1, seed))
		for _, s := range []Search{{Beam: 1, Alpha: 1, MaxExtra: 30}, {Beam: 8, Alpha: 2, MaxExtra: 30}, {Beam: 20, Alpha: 2, MaxExtra: 30}, {Beam: 8, Alpha: 1, Penalty: PenaltyPower, MaxExtra: 30}} {
			for i, h := range d.Translate(srcs, s) {
				if h.Truncated {
					continue
				}
				words += len(h.Tokens)
				want := s.score(score(m, srcs[i], h.Tokens), len(h.Tokens)+1)
				// Tens of roundings of logits that are some tens large.
				if math.Abs(h.Score-want) > 1e-4*(1+math.Abs(want)) {
					t.Errorf("model %d, %+v: %v has the score %v, want %v", seed, s, h.Tokens, h.Score, want)
				}
			}
		}
	}
	if words < 50 {
		t.Errorf("only %d words, too few for hypotheses to fork", words)
	}
}

// Each hypothesis has a slot of its own among those of its sentence, and the first child of a parent goes on in the
// parent's.
func TestForkedHypothesesHaveSlotsOfTheirOwn(t *testing.T) {
	const beam = 9
	m := newModel(t, toy())
	d := NewDecoder(m, nil)
	d.begin(randomBatch(m.Config, 3, 3, 1), beam, 64)
	r := rand.New(rand.NewPCG(7, 7))
	sb := sentenceBeam{source: 2, alive: []alive{{slot: 2 * beam}}}
	for range 300 {
		next := make([]alive, 1+r.IntN(beam))
		for i := range next {
			next[i].slot = int32(r.IntN(len(sb.alive))) // its parent
		}
		d.search.next = slices.Clone(next)
		d.assignSlots(&sb, Search{Beam: beam}, 0)
		used, inherited := map[int32]bool{}, map[int32]bool{}
		for i, a := range d.search.next {
			if parent := next[i].slot; !inherited[parent] {
				if inherited[parent] = true; a.slot != sb.alive[parent].slot {
					t.Fatalf("the first child of slot %d has slot %d", sb.alive[parent].slot, a.slot)
				}
			}
			if used[a.slot] || a.slot < 2*beam || a.slot >= 3*beam {
				t.Fatalf("slots %v of sentence 2 with a beam of %d", d.search.next, beam)
			}
			used[a.slot] = true
		}
		sb.alive = slices.Clone(d.search.next)
	}
}

func TestGreedyTakesTheMostProbableToken(t *testing.T) {
	c := toy()
	m := newModel(t, c)
	d := NewDecoder(m, nil)
	for _, src := range sources(randomBatch(c, 20, 0, 9)) {
		got := d.Translate([][]int32{src}, Search{Beam: 1, MaxExtra: 5})[0]
		b := new(Batch)
		b.Append(src, got.Tokens)
		pass := NewPass(m, nil)
		pass.bind(len(b.Src), len(b.TgtIn), false)
		x := pass.forward(b, dropouts{}, dropouts{})
		logits := mat.New(x.Rows, c.TgtVocab)
		m.Output.Logits(nil, logits, x)
		for i, id := range got.Tokens {
			row := logits.Row(i)[EOS:]
			if top := mat.Max(row); row[id-EOS] != top {
				t.Fatalf("token %d of %v is %d with %v, the best has %v", i, got.Tokens, id, row[id-EOS], top)
			}
		}
		if !got.Truncated && mat.Max(logits.Row(len(got.Tokens))[EOS:]) != logits.Row(len(got.Tokens))[EOS] {
			t.Fatal("ended where the end was not the most probable")
		}
	}
}

// An ending counts if it is among the Beam best of all continuations.
func TestEndingsOfLowRankDoNotCount(t *testing.T) {
	m := newModel(t, toy())
	d := NewDecoder(m, nil)
	d.begin(randomBatch(m.Config, 1, 3, 1), 2, 64)
	sb := sentenceBeam{most: 64, alive: []alive{{-1, -1, 0}, {-2, -1, 1}}}
	d.search.merged = []candidate{{-3, 7, 0}, {-4, EOS, 1}, {-5, EOS, 0}, {-6, 8, 1}}
	d.advance(&sb, Search{Beam: 2}, 0)
	if sb.finished != 1 || len(sb.ended) != 1 || sb.ended[0].score != -4 || len(sb.alive) != 2 || sb.alive[0].logP != -3 || sb.alive[1].logP != -6 {
		t.Errorf("%+v", sb)
	}
}

func TestSearchEndsWhenNothingBetterCanCome(t *testing.T) {
	s := Search{Beam: 4, Alpha: 1} // the penalty of 19 tokens is 4
	for _, c := range []struct {
		finished, step, most int
		best, alive          float64
		want                 bool
	}{
		{0, 3, 19, math.Inf(-1), -40, false},
		{1, 3, 19, -10.1, -40, false}, // -40 with 19 tokens is -10
		{1, 3, 19, -10, -40, true},
		{1, 3, 1 << 10, -10, -40, false}, // more tokens, more of a chance
		{4, 3, 19, -100, -1, true},
		{0, 18, 19, math.Inf(-1), -40, true},
		{0, 17, 19, math.Inf(-1), -40, false},
	} {
		sb := sentenceBeam{finished: c.finished, most: c.most, alive: []alive{{logP: c.alive}}}
		sb.end(s, ending{score: c.best})
		if got := sb.isDone(s, c.step); got != c.want {
			t.Errorf("%+v: done %v", c, got)
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
		var want []candidate
		for i, x := range row {
			if x >= 3 {
				want = append(want, candidate{logP: float64(x), id: int32(i)})
			}
		}
		slices.SortStableFunc(want, func(a, b candidate) int { return cmp.Compare(b.logP, a.logP) })
		k := 1 + r.IntN(16)
		want = want[:min(k, len(want))]
		if got := topK(make([]candidate, 0, k), row); !slices.Equal(got, want) {
			t.Fatalf("the best %d of %v: %v, want %v", k, row, got, want)
		}
	}
}

// The limits of length: the table of positions, and the tokens more than the source, however many or few.
func TestLengthLimits(t *testing.T) {
	c := toy()
	c.MaxLen = 8
	m := newModel(t, c)
	d := NewDecoder(m, nil)
	long := []int32{3, 4, 5, 6, 7, 8, 9}
	truncated := 0
	for _, limit := range []struct{ source, extra, most int }{
		{7, 0, 7}, {7, 50, 7}, {7, math.MaxInt, 7}, {3, 2, 5}, {0, 3, 3}, {0, 0, 0}, {5, -2, 3}, {5, -50, 0}, {5, math.MinInt, 0},
	} {
		for first := range int32(8) { // eight sources each
			src := append([]int32{3 + first}, long...)[:limit.source]
			for _, beam := range []int{1, 4} {
				h := d.Translate([][]int32{src}, Search{Beam: beam, Alpha: 0.6, MaxExtra: limit.extra})[0]
				if len(h.Tokens) > limit.most || h.Truncated && len(h.Tokens) < limit.most {
					t.Errorf("%+v, beam %d: %+v", limit, beam, h)
				}
				if slices.Contains(h.Tokens, EOS) || slices.Contains(h.Tokens, BOS) || slices.Contains(h.Tokens, Pad) {
					t.Errorf("%+v, beam %d: a mark among %v", limit, beam, h.Tokens)
				}
				if h.Truncated {
					truncated++
				}
			}
		}
	}
	if truncated == 0 {
		t.Error("no translation came to its limit")
	}
}

// Long sentences are decoded few at a time, for the sake of memory.
func TestSentencesTogether(t *testing.T) {
	for _, c := range []struct{ beam, tokens, want int }{
		{1, 80, 256}, {4, 80, 64}, {64, 80, 4}, {4, 1024, 8}, {1, 1 << 16, 1}, {64, 1 << 16, 1},
	} {
		if got := (Search{Beam: c.beam}).together(c.tokens); got != c.want {
			t.Errorf("beam %d, %d tokens: %d sentences, want %d", c.beam, c.tokens, got, c.want)
		}
	}
}
