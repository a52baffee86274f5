package decode

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"tfm/mat"
	"tfm/model"
)

// randomShortlist returns lists of up to n target pieces for each source piece.
func randomShortlist(c model.Config, n int, seed uint64) *Shortlist {
	r := rand.New(rand.NewPCG(seed, 3))
	draw := func(n int) []int32 {
		var ids []int32
		for range n {
			ids = append(ids, int32(model.EOS+r.IntN(c.TgtVocab-model.EOS)))
		}
		slices.Sort(ids)
		return slices.Compact(ids)
	}
	s := &Shortlist{Always: draw(n), Starts: []int32{0}}
	if s.Always[0] != model.EOS {
		s.Always = slices.Insert(s.Always, 0, model.EOS)
	}
	for range c.SrcVocab {
		s.Pieces = append(s.Pieces, draw(r.IntN(n+1))...)
		s.Starts = append(s.Starts, int32(len(s.Pieces)))
	}
	return s
}

// keepOnly sets the logits of pieces outside list to -Inf.
func keepOnly(logits []float32, list []int32) {
	for id := range logits {
		if !slices.Contains(list, int32(id)) {
			logits[id] = float32(math.Inf(-1))
		}
	}
}

// compact moves the logits of ids, if there are any, to the front.
func compact(logits []float32, ids rowIDs) {
	for i, id := range ids {
		logits[i] = logits[id]
	}
}

// maskedState is the oracle of lists: a State that computes all logits.
type maskedState struct {
	*State
	lists map[int32][]int32
}

func (m *maskedState) Restrict(handle int32, ids []int32) { m.lists[handle] = slices.Clone(ids) }

func (m *maskedState) list(handle int32) rowIDs { return m.lists[handle] }

func (m *maskedState) Remove(handle int32) {
	delete(m.lists, handle)
	m.State.Remove(handle)
}

func (m *maskedState) step(rows []treeRow, _ bool) (logits mat.Matrix) {
	logits = m.State.step(rows, false)
	for i, r := range rows {
		compact(logits.Row(i), m.list(r.source))
	}
	return logits
}

// byteLevelModel returns a model with a byte-level target vocabulary, and its Pieces.
func byteLevelModel(t *testing.T, seed uint64) (*model.Transformer, *Pieces) {
	pieces := byteLevel(seed, mixedText, 41)
	c := toy()
	c.Tie, c.TgtVocab, c.OutputBias = model.TieDecoder, len(pieces.bytes), true
	return perturbed(t, c, seed), pieces
}

// Every search has the translations and scores of one that computes all logits and keeps those of
// the lists, bit for bit: in float32 and int8, whether the columns of lists are gathered or not,
// together with sources without a list, and alone.
func TestListsAgainstAllLogits(t *testing.T) {
	m, pieces := byteLevelModel(t, 3)
	list := randomShortlist(m.Config, 20, 1)
	srcs := randomSources(12, 0, 8)
	prefixes := make([][]int32, len(srcs))
	for i := range srcs {
		prefixes[i] = []int32{int32(3 + 'A' + i%20), 3 + ' ', 3 + 'X'}
	}
	pool := mat.NewPool(3)
	defer pool.Close()
	for _, w := range []*Weights{NewWeights(m, nil), NewWeightsInt8(m, nil)} {
		for i, o := range []Options{
			{Beam: 1, MaxExtra: 6}, {Beam: 1, MaxExtra: 6, NoScore: true, Pieces: pieces}, {Beam: 4, Alpha: 0.6, MaxExtra: 6, NBest: 4, Pieces: pieces, TokenScores: true, Alternatives: 9},
			{Beam: 20, Alpha: 1, MaxExtra: 4, NBest: 20}, {Beam: 3, MaxExtra: 6, NoRepeat: 1, MinTokens: 5, RepetitionPenalty: 1.5, Pieces: pieces},
			{Beam: 2, MaxExtra: 8, Pieces: pieces, Prefixes: &Begins{prefixes}},
			{Sample: true, Temperature: 1, TopP: 1, MaxExtra: 6, NBest: 3, Seed: 7, Pieces: pieces, Alternatives: 3}, {Sample: true, Temperature: 3, TopP: 0.9, MaxExtra: 6, Seed: 7},
			{Sample: true, Temperature: 1, TopP: 1, TopK: 5, MaxExtra: 6, Seed: 7, Pieces: pieces},
		} {
			o.Shortlist = list
			if err := o.Validate(); err != nil {
				t.Fatal(err)
			}
			run := func(m stepper, p *mat.Pool) (lists, others [][]Hypothesis) {
				lists, others = make([][]Hypothesis, len(srcs)), make([][]Hypothesis, len(srcs))
				s, free := newScheduler(w, m, p), o
				free.Shortlist = nil
				s.add(newRequest(context.Background(), srcs, o, func(i int, list []Hypothesis) { lists[i] = list }, func(error) {}))
				if i%2 == 0 {
					s.add(newRequest(context.Background(), srcs[:9], free, func(i int, list []Hypothesis) { others[i] = list }, func(error) {}))
				}
				for !s.idle() {
					s.step()
				}
				return lists, others
			}
			want, wantOthers := run(&maskedState{NewState(w, nil), map[int32][]int32{}}, nil)
			for k, bytes := range []int{maxListBytes, 20_000, 0} {
				p := []*mat.Pool{nil, pool}[(i+k)%2]
				s := NewState(w, p)
				s.limits.maxBytes, s.limits.alwaysGather = bytes, bytes > 0
				if got, others := run(s, p); !reflect.DeepEqual(got, want) || !reflect.DeepEqual(others, wantOthers) {
					t.Fatalf("%v, options %d, %d bytes: translations differ from those with all logits", w.form, i, bytes)
				}
				if s.sources.lists.bytes > bytes {
					t.Errorf("%d bytes of columns, limit %d", s.sources.lists.bytes, bytes)
				}
			}
			alone := New(w, nil)
			for k, src := range srcs[:5] {
				one := o
				one.First += uint64(k)
				if one.Prefixes != nil {
					continue // its sources have other indices
				}
				if got := nBest(t, alone, [][]int32{src}, one)[0]; !reflect.DeepEqual(got, want[k]) {
					t.Errorf("%v, options %d: sentence %d gives %v alone and %v with others", w.form, i, k, got, want[k])
				}
			}
			var set []uint64
			for k, hyps := range want {
				allowed := list.List(nil, srcs[k], nil, &set)
				for _, h := range hyps {
					for _, id := range h.Tokens {
						if !slices.Contains(allowed, id) && o.Prefixes == nil && (o.Pieces == nil || !slices.Contains(pieces.completing, id)) {
							t.Errorf("options %d: token %d is not in the list of source %d", i, id, k)
						}
					}
				}
			}
		}
	}
}

// What constraints demand is possible although no list contains it.
func TestListsContainWhatConstraintsRequire(t *testing.T) {
	m, pieces := byteLevelModel(t, 5)
	d := newDecoder(m, nil)
	srcs := randomSources(12, 1, 4)
	none := &Shortlist{Always: []int32{model.EOS, 3 + 0xE6, 3 + 0xF0}, Starts: make([]int32, m.Config.SrcVocab+1)}
	for _, o := range []Options{{Beam: 1}, {Beam: 4, NBest: 4}, {Sample: true, Temperature: 1, TopP: 1, NBest: 4}} {
		o.MaxExtra, o.Shortlist, o.Pieces = 12, none, pieces
		for constraint, c := range map[string]*Begins{
			"prefix": {slices.Repeat([][]int32{{3 + 'a', 3 + ' ', 3 + 'b', 3 + 'c'}}, len(srcs))},
			"text":   nil,
		} {
			o.Prefixes = c
			for _, list := range nBest(t, d, srcs, o) {
				for _, h := range list {
					s := pieces.text(h.Tokens)
					switch {
					case math.IsInf(h.Score, -1) || !utf8.ValidString(s):
						t.Errorf("%s: %+v, text %q", constraint, h, s)
					case constraint == "prefix" && !strings.HasPrefix(s, "a bc"):
						t.Errorf("%q, want a prefix %q", s, "a bc")
					}
				}
			}
		}
	}
}

// Rows of a step may have lists or none, in any order, and lists may come and go.
func TestAnyInterleavingOfLists(t *testing.T) {
	c := variants()["two vocabularies, pre-norm, biases"]
	m := perturbed(t, c, 6)
	pool := mat.NewPool(2)
	defer pool.Close()
	for _, w := range []*Weights{NewWeights(m, nil), NewWeightsInt8(m, nil)} {
		r := rand.New(rand.NewPCG(7, 8))
		s := NewState(w, pool)
		s.limits.maxBytes = 5 * matrixBytes(w.form, c.DModel, 20)
		gathered, whole := 0, 0
		type translation struct {
			handle int32
			src    []int32
			list   []int32 // nil for all pieces
			hyp    []int32
		}
		var current []translation
		for range 150 {
			if len(current) < 12 {
				q := translation{src: randomSources(1, 0, r.Uint64())[0]}
				q.handle = s.Add(nil, q.src)[0]
				if r.IntN(3) > 0 {
					q.list = randomShortlist(c, 1+r.IntN(30), r.Uint64()).Always
					if r.IntN(10) == 0 {
						q.list = []int32{}
					}
					s.Restrict(q.handle, q.list)
				}
				current = append(current, q)
			}
			var rows []Row
			for i := range current {
				if q := &current[i]; len(q.hyp) == 0 {
					q.hyp = []int32{model.BOS}
					rows = append(rows, Row{q.handle, model.BOS, -1})
				} else {
					q.hyp = append(q.hyp, int32(r.IntN(c.TgtVocab)))
					rows = append(rows, Row{q.handle, q.hyp[len(q.hyp)-1], 0})
				}
			}
			s.limits.alwaysGather = r.IntN(2) == 0
			y := s.Step(rows)
			gathered, whole = gathered+len(s.threads[0].output.listGroups), whole+len(s.threads[0].output.allRows)
			for i, q := range current {
				want := logitsAlone(w, q.src, q.hyp[1:])
				if q.list != nil {
					keepOnly(want, q.list)
				}
				if !equalBits(y.Row(i), want) {
					t.Fatalf("%v: logits of row %d with list %v: %v, want %v", w.form, i, q.list, y.Row(i), want)
				}
			}
			current = slices.DeleteFunc(current, func(q translation) bool {
				remove := len(q.hyp) > 8 || r.IntN(8) == 0
				if remove {
					s.Remove(q.handle)
				}
				return remove
			})
			r.Shuffle(len(current), func(i, j int) { current[i], current[j] = current[j], current[i] })
		}
		if gathered < 200 || whole < 200 {
			t.Errorf("%v: products of %d groups with lists and of %d rows with all pieces", w.form, gathered, whole)
		}
	}
}
