package model

import (
	"cmp"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"tfm/mat"
)

// bitsEqual holds for NaN too.
func bitsEqual(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}

// The promise of package mat carries through: a step with caches computes the very numbers of the pass over
// the whole sentence.
func TestCachedStepsEqualTheFullPassBitForBit(t *testing.T) {
	c := toy()
	m := newModel(t, c)
	b := randomBatch(c, 5, 0, 7)
	long := make([]int32, c.MaxLen-1) // more than caches begin with room for
	for i := range long {
		long[i] = int32(EOS + 1 + i%(c.TgtVocab-EOS-1))
	}
	b.Append(long, long)
	pass := NewPass(m, nil)
	pass.bind(len(b.Src), len(b.TgtIn), false)
	x := pass.forward(b, dropouts{}, dropouts{})
	want := mat.New(x.Rows, c.TgtVocab)
	m.project.Logits(nil, want, x)

	d := NewDecoder(m, nil)
	sentences := b.Sentences()
	for _, most := range []int{c.MaxLen, 1, c.MaxLen} { // the second and third time the caches have room already
		d.begin(b, 2, most)
		for pos := range c.MaxLen {
			var ids, slots, sources []int32
			var rows []int
			for s := range sentences {
				if row := int(b.TgtStarts[s]) + pos; row < int(b.TgtStarts[s+1]) {
					slot := s + pos/3%2*sentences // a sentence moves to its other slot every third step
					if pos > 0 && pos%3 == 0 {
						for l := range d.caches {
							d.caches[l].Copy(slot, s+(pos/3+1)%2*sentences, pos)
						}
					}
					ids, slots, sources, rows = append(ids, b.TgtIn[row]), append(slots, int32(slot)), append(sources, int32(s)), append(rows, row)
				}
			}
			logits := d.step(ids, slots, sources, pos)
			for i, row := range rows {
				if !bitsEqual(logits.Row(i), want.Row(row)) {
					t.Fatalf("sentence %d, position %d:\n%v, want\n%v", sources[i], pos, logits.Row(i), want.Row(row))
				}
			}
		}
	}
}

// sources has the ids of a batch's sources without their end marks.
func sources(b *Batch) [][]int32 {
	var srcs [][]int32
	for i := range b.Sentences() {
		srcs = append(srcs, b.Src[b.SrcStarts[i]:b.SrcStarts[i+1]-1])
	}
	return srcs
}

func TestTranslationDependsOnNothingButTheSentence(t *testing.T) {
	c := toy()
	m := newModel(t, c)
	srcs := sources(randomBatch(c, 300, 0, 5))
	pool := mat.NewPool(3)
	defer pool.Close()
	for _, s := range []Search{{1, 0.6, 8}, {4, 0.6, 8}, {5, 0, 40}} {
		all := NewDecoder(m, pool).Translate(srcs, s)
		alone := NewDecoder(m, nil)
		for i, src := range srcs[:40] {
			one := alone.Translate([][]int32{src}, s)[0]
			if !slices.Equal(one.Tokens, all[i].Tokens) || one.Score != all[i].Score || one.Truncated != all[i].Truncated {
				t.Fatalf("%+v: sentence %d is %v alone and %v among others", s, i, one, all[i])
			}
			if len(one.Tokens) > len(src)+s.MaxExtra {
				t.Fatalf("%+v: %d tokens for a source of %d", s, len(one.Tokens), len(src))
			}
		}
	}
}

// score is log P of a translation with EOS, from the full pass.
func score(m *Transformer, src, tgt []int32) float64 {
	b := new(Batch)
	b.Append(src, tgt)
	pass := NewPass(m, nil)
	pass.bind(len(b.Src), len(b.TgtIn), false)
	x := pass.forward(b, dropouts{}, dropouts{})
	logits := mat.New(x.Rows, m.Config.TgtVocab)
	m.project.Logits(nil, logits, x)
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
		for _, s := range []Search{{1, 1, 30}, {3, 2, 30}, {8, 2, 30}} {
			for i, h := range d.Translate(srcs, s) {
				words += len(h.Tokens)
				want := score(m, srcs[i], h.Tokens) / lengthPenalty(len(h.Tokens)+1, s.Alpha)
				// Tens of roundings of logits that are some tens large.
				if !h.Truncated && math.Abs(h.Score-want) > 1e-4*(1+math.Abs(want)) {
					t.Errorf("model %d, %+v: %v has the score %v, want %v", seed, s, h.Tokens, h.Score, want)
				}
			}
		}
	}
	if words < 4*3*12*3 {
		t.Errorf("only %d words, too few for hypotheses to fork", words)
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
		m.project.Logits(nil, logits, x)
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

func TestRefreshTakesTheNewWeights(t *testing.T) {
	m := newModel(t, toy())
	d := NewDecoder(m, nil)
	srcs := sources(randomBatch(m.Config, 20, 3, 1))
	search := Search{Beam: 2, MaxExtra: 5}
	old := d.Translate(srcs, search)
	m.Init(2)
	d.Refresh()
	got, want := d.Translate(srcs, search), NewDecoder(m, nil).Translate(srcs, search)
	if !reflect.DeepEqual(got, want) || reflect.DeepEqual(got, old) {
		t.Error("a refreshed decoder does not translate as a new one")
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

func TestAttentionRowsSumToOne(t *testing.T) {
	m := newModel(t, toy())
	w := NewDecoder(m, nil).Attention([]int32{3, 4, 5}, []int32{6, 7})
	if len(w) != 3 || len(w[0]) != 4 {
		t.Fatalf("%d × %d weights, want 3 × 4", len(w), len(w[0]))
	}
	for _, row := range w {
		if s := mat.Sum(row); math.Abs(float64(s)-1) > 1e-6 {
			t.Errorf("weights sum to %v", s)
		}
	}
}

func TestDecodingAllocatesNothingAStep(t *testing.T) {
	if raceDetector {
		t.Skip("allocations cannot be counted under the race detector")
	}
	m := newModel(t, toy())
	d := NewDecoder(m, nil)
	b := randomBatch(m.Config, 8, 3, 2)
	step := func() {
		d.begin(b, 4, 64)
		r := &d.search
		r.start(b, Search{Beam: 4, Alpha: 0.6, MaxExtra: 3}, 64)
		r.gather()
		logits := d.step(r.ids, r.slots, r.sources, 0)
		r.size(logits.Rows, 8)
		mat.Each(nil, logits.Rows, 4, bestTokens{logits, 8, r})
		r.merge(&r.sentences[0], 0, 8)
		d.advance(&r.sentences[0], Search{Beam: 4, Alpha: 0.6}, 0)
	}
	step()
	if n := testing.AllocsPerRun(20, step); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
