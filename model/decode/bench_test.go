package decode_test

import (
	"context"
	"fmt"
	"math/rand/v2"
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
		}{{1, 1, "float32"}, {1, 32, "float32"}, {4, 1, "float32"}, {4, 32, "float32"}, {1, 1, "int8"}, {1, 32, "int8"}, {4, 1, "int8"}, {4, 32, "int8"}} {
			b.Run(fmt.Sprintf("model=%s/weights=%s/beam=%d/batch=%d", size.name, search.weights, search.beam, search.batch), func(b *testing.B) {
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
				o.Beam, o.MaxExtra = search.beam, 0
				translate := func() {
					if _, err := d.Translate(context.Background(), srcs, o); err != nil {
						b.Fatal(err)
					}
				}
				translate()
				b.ReportAllocs()
				start := userSeconds()
				for b.Loop() {
					translate()
				}
				b.ReportMetric(float64(b.N*tokens)/(userSeconds()-start), "tokens/cpu-s")
			})
		}
	}
}
