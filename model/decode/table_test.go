package decode

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tfm/mat"
	"tfm/model"
)

// table is a toy language: the logits of the next token are a function of the source and of the
// tokens before it.
type table struct {
	vocabulary int
	logits     func(source int32, prefix []int32, row []float32)

	prefixes [][]int32 // of the rows of the last step
	steps    int
}

func (m *table) Step(rows []Row) mat.Matrix {
	m.steps++
	var next [][]int32
	y := mat.New(len(rows), m.vocabulary)
	for i, r := range rows {
		var prefix []int32
		if r.Parent >= 0 {
			prefix = append(slices.Clone(m.prefixes[r.Parent]), r.Token)
		} else if r.Token != model.BOS {
			panic(fmt.Sprintf("a hypothesis begins with token %d", r.Token))
		}
		next = append(next, prefix)
		m.logits(r.Source, prefix, y.Row(i))
	}
	m.prefixes = next
	return y
}

// language is a table of random numbers, the same for the same seed. EOS is as probable as the
// words.
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

// probabilities are those of a prefix's next token; Pad and BOS have none.
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

// logP is the log-probability of a translation with EOS.
func (m *table) logP(source int32, tokens []int32) float64 {
	logP := 0.0
	for i, id := range append(slices.Clone(tokens), model.EOS) {
		logP += math.Log(m.probabilities(source, tokens[:i])[id])
	}
	return logP
}

// find returns the translations of sources 0 to n-1, of at most maxTokens, EOS counted.
func find(t *testing.T, m stepper, n, maxTokens int, o Options) [][]Hypothesis {
	t.Helper()
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	var s search
	s.reset()
	for i := range n {
		s.add(i, o.First+uint64(i), maxTokens, &o, strategyOf(&o))
	}
	lists := make([][]Hypothesis, n)
	if err := s.run(context.Background(), nil, m, func(i int, list []Hypothesis) { lists[i] = list }); err != nil {
		t.Fatal(err)
	}
	return lists
}

// each is every translation of at most words words of a vocabulary.
func each(vocabulary, words int) [][]int32 {
	all := [][]int32{nil}
	for lo := 0; words > 0; words-- {
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

// close reports that scores are the same up to some roundings of float32 in log Z.
func closeTo(a, b float64) bool { return math.Abs(a-b) <= 1e-5*(1+math.Abs(b)) }
