package model

import (
	"math"
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
	cachedStepsEqualTheFullPass(t, newModel(t, toy()))
}

func cachedStepsEqualTheFullPass(t *testing.T, m *Transformer) {
	c := m.Config
	b := randomBatch(c, 5, 0, 7)
	long := make([]int32, c.MaxLen-1) // more than caches begin with room for
	for i := range long {
		long[i] = int32(EOS + 1 + i%(min(c.SrcVocab, c.TgtVocab)-EOS-1))
	}
	b.Append(long, long)
	pass := NewPass(m, nil)
	pass.bind(len(b.Src), len(b.TgtIn), false)
	x := pass.forward(b, dropouts{}, dropouts{})
	want := mat.New(x.Rows, c.TgtVocab)
	m.Output.Logits(nil, want, x)

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

// What Next gives, taken word by word, is the greedy translation with its score, and it is a distribution.
func TestNextIsATurnOfTheSearch(t *testing.T) {
	m := newModel(t, toy())
	d := NewDecoder(m, nil)
	greedy := Search{Beam: 1, MaxExtra: 6}
	srcs := sources(randomBatch(m.Config, 5, 0, 11))
	for i, want := range d.Translate(srcs, greedy) {
		var given []int32
		logP := 0.0
		for t := range len(srcs[i]) + 1 + greedy.MaxExtra { // EOS, or the token that is cut off, has a turn too
			p := d.Next(srcs[i], given)
			best := slices.Max(p)
			logP += math.Log(float64(best))
			id := int32(slices.Index(p, best))
			if id == EOS || t == len(srcs[i])+greedy.MaxExtra {
				break
			}
			given = append(given, id)
		}
		if !slices.Equal(given, want.Tokens) || math.Abs(logP-want.Score) > 1e-5 { // roundings of float32 in some 15 probabilities
			t.Errorf("source %d: %v with %v word by word, %v with %v in the search", i, given, logP, want.Tokens, want.Score)
		}
		p := d.Next(srcs[i], given)
		sum := 0.0
		for _, x := range p {
			sum += float64(x)
		}
		if math.Abs(sum-1) > 1e-6 || p[Pad] != 0 || p[BOS] != 0 {
			t.Errorf("source %d: the probabilities %v come to %v", i, p, sum)
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
	for _, s := range []Search{{Beam: 1, Alpha: 0.6, MaxExtra: 8}, {Beam: 4, Alpha: 0.6, MaxExtra: 8}, {Beam: 5, MaxExtra: 40}} {
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
