package decode

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"tfm/attn"
	"tfm/mat"
	"tfm/model"
)

// logitsAlone returns the logits after tokens in the translation of src by a State of its own.
func logitsAlone(w *Weights, src, tokens []int32) []float32 {
	s := NewState(w, nil)
	h := s.Add(nil, src)[0]
	y := s.Step([]Row{{h, model.BOS, -1}})
	for _, id := range tokens {
		y = s.Step([]Row{{h, id, 0}})
	}
	return slices.Clone(y.Row(0))
}

func equalBits(x, y []float32) bool {
	return slices.EqualFunc(x, y, func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) })
}

// The logits of a row have the bits of a State of its own while sources come and go, and hypotheses
// fork, end, start, change their order and are left out of steps, for any number of threads.
func TestAnyInterleavingOfAddStepRemove(t *testing.T) {
	wide := toy() // more than a vector of keys, values that are no multiple of 16
	wide.DModel, wide.Heads, wide.DK, wide.DV, wide.Norm = 60, 3, 20, 17, model.PreNorm
	cells, preNorm := toy(), toy()
	cells.Autoreg, preNorm.Autoreg, preNorm.Norm = model.SSRU, model.SSRU, model.PreNorm
	threads := 1
	for _, c := range []model.Config{toy(), wide, cells, preNorm} {
		m := perturbed(t, c, 5)
		for _, w := range []*Weights{NewWeights(m, nil), NewWeightsInt8(m, nil)} {
			pool := mat.NewPool(threads)
			interleave(t, w, pool, uint64(threads))
			pool.Close()
			threads = threads%3 + 1
		}
	}
}

func interleave(t *testing.T, w *Weights, pool *mat.Pool, seed uint64) {
	type prefix = []int32
	type translation struct {
		handle int32
		src    []int32
		hyps   []prefix // of the last step that had rows of the source
	}
	r := rand.New(rand.NewPCG(seed, 6))
	s := NewState(w, pool)
	var current []translation
	known := map[string][]float32{}
	alone := func(src, tokens []int32) []float32 {
		key := fmt.Sprint(src, tokens)
		if known[key] == nil {
			known[key] = logitsAlone(w, src, tokens)
		}
		return known[key]
	}
	longest, removed, steps := 0, 0, 60
	if testing.Short() {
		steps = 40
	}
	for step := range steps {
		if r.IntN(4) == 0 || len(current) == 0 {
			srcs := randomSources(1+r.IntN(3), 0, r.Uint64())
			if r.IntN(3) == 0 { // more than a page
				srcs[0] = slices.Repeat([]int32{3, 5, 4}, 5+r.IntN(10))
			}
			for i, h := range s.Add(nil, srcs...) {
				current = append(current, translation{handle: h, src: srcs[i]})
			}
		}
		for i := len(current) - 1; i > 0; i-- { // the first stays, to become long
			if r.IntN(10) == 0 {
				s.Remove(current[i].handle)
				current = slices.Delete(current, i, i+1)
				removed++
			}
		}
		var rows []Row
		var want [][]float32
		for i := range current {
			q := &current[i]
			if r.IntN(4) == 0 { // left out
				continue
			}
			var next []prefix
			for range 1 + r.IntN(1+r.IntN(20)) {
				row, p := Row{q.handle, model.BOS, -1}, prefix(nil)
				if len(q.hyps) > 0 && r.IntN(8) > 0 {
					row.Parent, row.Token = int32(r.IntN(len(q.hyps))), int32(model.EOS+1+r.IntN(8))
					p = append(slices.Clone(q.hyps[row.Parent]), row.Token)
				}
				if len(p) >= w.model.Config.MaxLen {
					continue
				}
				rows, want, next = append(rows, row), append(want, alone(q.src, p)), append(next, p)
				longest = max(longest, len(p))
			}
			if len(next) > 0 {
				q.hyps = next
			}
		}
		if r.IntN(2) == 0 { // rows of a source need not be adjacent, only in order
			bySource := map[int32][]int{}
			for i, row := range rows {
				bySource[row.Source] = append(bySource[row.Source], i)
			}
			order := r.Perm(len(rows))
			mixed, mixedWant := make([]Row, len(rows)), make([][]float32, len(rows))
			for k, i := range order {
				h := rows[i].Source
				j := bySource[h][0]
				bySource[h] = bySource[h][1:]
				mixed[k], mixedWant[k] = rows[j], want[j]
			}
			rows, want = mixed, mixedWant
		}
		y := s.Step(rows)
		for i := range rows {
			if !equalBits(y.Row(i), want[i]) {
				t.Fatalf("threads %d, step %d, row %d, %+v: logits differ from those of a State of its own", pool.Threads(), step, i, rows[i])
			}
		}
		if !w.recurrent() {
			checkPages(t, s)
		}
	}
	if longest < 10 || removed < 5 {
		t.Errorf("longest hypothesis of %d tokens, %d sources removed; want at least 10 and 5", longest, removed)
	}
	all := len(s.sources.pages.free)
	for i := range s.sources.encoded {
		all += len(s.sources.encoded[i].cross)
		for _, p := range s.sources.encoded[i].pages {
			if p != nil {
				all++
			}
		}
	}
	for _, q := range current {
		s.Remove(q.handle)
	}
	if len(s.sources.pages.free) != all && !w.recurrent() {
		t.Errorf("%d of %d pages are free after all sources are removed", len(s.sources.pages.free), all)
	}
	if c := &s.sources.cells; w.recurrent() && len(c.free) != len(c.c)/(c.layers*c.d) {
		t.Errorf("%d of %d states are free after all sources are removed", len(c.free), len(c.c)/(c.layers*c.d))
	}
}

// checkPages checks that exactly the nodes of current hypotheses are in use, and that no page is
// used twice.
func checkPages(t *testing.T, s *State) {
	t.Helper()
	owners := map[*float32]string{}
	own := func(p page, owner string) {
		if old, ok := owners[&p[0]]; ok {
			t.Fatalf("a page of %s is also one of %s", owner, old)
		}
		owners[&p[0]] = owner
	}
	for _, p := range s.sources.pages.free {
		own(p, "the free list")
	}
	for h := range s.sources.encoded {
		src := s.sources.encoded[h]
		nodes := map[int32]bool{}
		for _, n := range src.tails {
			for ; n >= 0; n = src.nodes[n].parent {
				nodes[src.nodes[n].lane] = true
			}
		}
		used := 0
		for i, p := range src.pages {
			used += bits.OnesCount16(src.used[i])
			if (p == nil) != (src.used[i] == 0) {
				t.Fatalf("source %d, page %d: allocated %t, nodes %b", h, i, p != nil, src.used[i])
			}
			if p != nil {
				own(p, fmt.Sprint("source ", h))
			}
		}
		for _, p := range src.cross {
			own(p, fmt.Sprint("source ", h))
		}
		for n := range nodes {
			if src.used[n/pageTokens]&(1<<(n%pageTokens)) == 0 {
				t.Fatalf("source %d: node %d of a hypothesis is free", h, n)
			}
		}
		if used != len(nodes) {
			t.Fatalf("source %d: %d nodes in use, but its hypotheses have %d", h, used, len(nodes))
		}
	}
}

// A long search with a wide beam keeps few pages, if its hypotheses are all alike and if they are
// all different: nodes without descendants are freed at once.
func TestPagesOfALongBeamAreBounded(t *testing.T) {
	const width, tokens = 64, 250
	for name, c := range map[string]struct {
		parent   func(r *rand.Rand, i int) int
		maxPages int
	}{
		// A hypothesis and its ancestors: each page of a path may be shared by the others.
		"different": {func(_ *rand.Rand, i int) int { return i }, width * (tokens/pageTokens + 2)},
		"reordered": {func(r *rand.Rand, _ int) int { return r.IntN(width) }, 8 * width},
		"one":       {func(*rand.Rand, int) int { return 0 }, tokens/pageTokens + width},
	} {
		r := rand.New(rand.NewPCG(1, 1))
		var src encodedSource
		pool := pagePool{pageLayout: newPageLayout(1, attn.Sizes{Heads: 1, DK: 1, DV: 1})}
		most := 0
		for step := range tokens {
			var tails []int32
			for i := range width {
				if step == 0 {
					tails = append(tails, src.addRoot())
				} else {
					tails = append(tails, src.add(src.tails[c.parent(r, i)], 3, 0))
				}
				src.keep(tails[i])
			}
			src.discard(&pool)
			for _, tail := range tails {
				src.extend(&pool, tail)
			}
			src.advance()
			pages := 0
			for _, p := range src.pages {
				if p != nil {
					pages++
				}
			}
			most = max(most, pages)
		}
		if most > c.maxPages {
			t.Errorf("%s hypotheses: %d pages, want at most %d", name, most, c.maxPages)
		}
		t.Logf("%s hypotheses: %d pages at most", name, most)
	}
}
