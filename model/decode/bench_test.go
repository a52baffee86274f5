package decode_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"tfm/model"
	"tfm/model/decode"
)

// BenchmarkTranslate translates on one thread with random weights, which do not affect the time.
// Translations are as long as their sources because EOS is improbable.
func BenchmarkTranslate(b *testing.B) {
	for _, size := range []struct {
		name    string
		vocab   int
		lengths func(*rand.Rand) int
	}{
		{"tiny", 8000, func(r *rand.Rand) int { return 8 + r.IntN(16) }},
		{"base", 32000, func(*rand.Rand) int { return 31 }},
		{"student-tiny", 32000, func(r *rand.Rand) int { return 8 + r.IntN(40) }},
		{"student-base", 32000, func(r *rand.Rand) int { return 8 + r.IntN(40) }},
	} {
		c, err := model.Preset(size.name)
		if err != nil {
			b.Fatal(err)
		}
		c.SrcVocab, c.TgtVocab, c.OutputBias = size.vocab, size.vocab, true
		m, err := model.New(c)
		if err != nil {
			b.Fatal(err)
		}
		for _, search := range []struct {
			beam, batch int
			weights     string
			lists       bool
		}{
			{1, 1, "float32", false}, {1, 32, "float32", false}, {4, 1, "float32", false}, {4, 32, "float32", false},
			{1, 1, "int8", false}, {1, 32, "int8", false}, {4, 1, "int8", false}, {4, 32, "int8", false},
			{1, 1, "float32", true}, {1, 32, "float32", true}, {4, 1, "float32", true}, {4, 32, "float32", true},
			{1, 1, "int8", true}, {1, 32, "int8", true}, {4, 1, "int8", true}, {4, 32, "int8", true},
		} {
			b.Run(fmt.Sprintf("model=%s/weights=%s/lists=%t/beam=%d/batch=%d", size.name, search.weights, search.lists, search.beam, search.batch), func(b *testing.B) {
				if m.Params.W == nil {
					m.AllocWeights()
					m.Init(1)
					m.Output.Bias.W[model.EOS] = -1e9
				}
				newWeights := decode.NewWeights
				if search.weights == "int8" {
					newWeights = decode.NewWeightsInt8
				}
				d := decode.New(newWeights(m, nil), nil)
				r := rand.New(rand.NewPCG(1, 1))
				srcs, tokens := make([][]int32, search.batch), 0
				for i := range srcs {
					srcs[i] = make([]int32, size.lengths(r))
					for j := range srcs[i] {
						srcs[i][j] = int32(model.EOS + 1 + r.IntN(size.vocab-model.EOS-1))
					}
					tokens += len(srcs[i]) + 1
				}
				o := decode.DefaultOptions()
				o.Beam, o.MaxExtra, o.NoScore = search.beam, 0, true
				if search.lists {
					o.Shortlist = lists(r, size.vocab)
				}
				translate := func() {
					if _, err := d.Translate(context.Background(), srcs, o); err != nil {
						b.Fatal(err)
					}
				}
				translate()
				b.ReportAllocs()
				for b.Loop() {
					translate()
				}
				b.ReportMetric(float64(b.N*tokens)/b.Elapsed().Seconds(), "tokens/s")
			})
		}
	}
}

// lists returns lists of about a thousand pieces for a source of 31 tokens.
func lists(r *rand.Rand, vocabulary int) *decode.Shortlist {
	pieces := func(n int) []int32 {
		ids := []int32{model.EOS}
		for range n {
			ids = append(ids, int32(model.EOS+1+r.IntN(vocabulary-model.EOS-1)))
		}
		slices.Sort(ids)
		return slices.Compact(ids)
	}
	s := &decode.Shortlist{Always: pieces(400), Starts: []int32{0}}
	for range vocabulary {
		s.Pieces = append(s.Pieces, pieces(20)...)
		s.Starts = append(s.Starts, int32(len(s.Pieces)))
	}
	return s
}
