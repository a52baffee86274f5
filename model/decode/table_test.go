package decode

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"tfm/mat"
	"tfm/model"
)

// table is a toy model: the logits of the next token are a function of the source and of the
// previous tokens.
type table struct {
	vocabulary int
	logits     func(source int32, prefix []int32, row []float32)

	trees   map[int32]*tree // by handle
	added   int32           // number of sources; their handles are 0, 1, …
	removed map[int32]bool
	steps   int
	maxRows int // of a step

	lists map[int32][]int32 // of the sources that are restricted
}

// Restrict keeps the list of a source, whose rows have only its logits.
func (m *table) Restrict(handle int32, ids []int32) {
	if m.lists == nil {
		m.lists = map[int32][]int32{}
	}
	m.lists[handle] = slices.Clone(ids)
}

func (m *table) Add(handles []int32, sources ...[]int32) []int32 {
	if m.trees == nil {
		m.trees = map[int32]*tree{}
	}
	for range sources {
		handles = append(handles, m.added)
		m.trees[m.added] = new(tree)
		m.added++
	}
	return handles
}

func (m *table) Remove(handle int32) {
	if m.removed == nil {
		m.removed = map[int32]bool{}
	}
	if handle >= m.added || m.removed[handle] {
		panic(fmt.Sprintf("source %d removed, but it was not added or is removed already", handle))
	}
	m.removed[handle] = true
}

func (m *table) list(handle int32) rowIDs { return m.lists[handle] }

func (m *table) hypotheses(handle int32) *tree { return m.trees[handle] }

func (m *table) refine(int, int32) (float32, bool) { return 0, false }

func (m *table) step(rows []treeRow, _ bool) (logits mat.Matrix) {
	m.steps++
	m.maxRows = max(m.maxRows, len(rows))
	logits = mat.New(len(rows), m.vocabulary)
	for i, r := range rows {
		if m.removed[r.source] {
			panic(fmt.Sprintf("row of source %d, which is removed", r.source))
		}
		prefix := m.trees[r.source].appendTokens(nil, r.node)
		m.logits(r.source, prefix, logits.Row(i))
		compact(logits.Row(i), m.list(r.source))
	}
	return logits
}

// language returns a table of random logits that are a function of seed. EOS has the distribution
// of the other tokens.
func language(vocabulary int, seed uint64, spread float64) *table {
	return &table{vocabulary: vocabulary, logits: func(source int32, prefix []int32, row []float32) {
		h := fnv.New64a()
		fmt.Fprint(h, source, prefix)
		r := rand.New(rand.NewPCG(seed, h.Sum64()))
		for i := range row {
			row[i] = float32(spread * r.NormFloat64())
		}
	}}
}

// probabilities returns the distribution of the next token after prefix. Pad and BOS have 0.
func (m *table) probabilities(source int32, prefix []int32) []float64 {
	row, p, total := make([]float32, m.vocabulary), make([]float64, m.vocabulary), 0.0
	m.logits(source, prefix, row)
	for id := model.EOS; id < m.vocabulary; id++ {
		p[id] = math.Exp(float64(row[id]))
		total += p[id]
	}
	for id := range p {
		p[id] /= total
	}
	return p
}

// logP returns the log-probability of a translation with EOS.
func (m *table) logP(source int32, tokens []int32) float64 {
	logP := 0.0
	for i, id := range append(slices.Clone(tokens), model.EOS) {
		logP += math.Log(m.probabilities(source, tokens[:i])[id])
	}
	return logP
}

// schedulerOf returns a scheduler of m.
func schedulerOf(m stepper) *scheduler {
	return &scheduler{model: m, maxLen: 1 << 20, maxRows: maxRows, minFree: minFreeRows, now: time.Now}
}

// requestOf returns a request for the translations of n sources of up to maxTokens tokens, EOS
// counted.
func requestOf(ctx context.Context, n, maxTokens int, o Options, done func(int, []Hypothesis), end func(error)) *request {
	o.MaxExtra = maxTokens - 1
	return newRequest(ctx, make([][]int32, n), o, done, end)
}

// find returns the translations of sources 0 to n-1, of up to maxTokens tokens, EOS counted.
func find(t *testing.T, m *table, n, maxTokens int, o Options) [][]Hypothesis {
	t.Helper()
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	return findAny(t, m, n, maxTokens, o)
}

// findAny is find for options that Validate does not accept, such as a beam that never drops a
// hypothesis.
func findAny(t *testing.T, m *table, n, maxTokens int, o Options) [][]Hypothesis {
	t.Helper()
	lists := make([][]Hypothesis, n)
	m.added, m.removed, m.lists = 0, nil, nil
	s := schedulerOf(m)
	s.add(requestOf(context.Background(), n, maxTokens, o, func(i int, list []Hypothesis) { lists[i] = list }, func(err error) {
		if err != nil {
			t.Error(err)
		}
	}))
	for !s.idle() {
		s.step()
	}
	if len(m.removed) != n {
		t.Errorf("%d of %d sources removed", len(m.removed), n)
	}
	return lists
}

// allTranslations returns every translation of up to maxTokens tokens, EOS not counted.
func allTranslations(vocabulary, maxTokens int) [][]int32 {
	all := [][]int32{nil}
	for lo := 0; maxTokens > 0; maxTokens-- {
		hi := len(all)
		for _, prefix := range all[lo:hi] {
			for id := int32(model.EOS + 1); id < int32(vocabulary); id++ {
				all = append(all, append(slices.Clone(prefix), id))
			}
		}
		lo = hi
	}
	return all
}

// closeTo reports whether scores are equal up to a few float32 roundings in log Z.
func closeTo(a, b float64) bool { return math.Abs(a-b) <= 1e-5*(1+math.Abs(b)) }
