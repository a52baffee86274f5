package decode

import (
	"math/rand/v2"
	"slices"
	"testing"

	"tfm/model"
)

// The states of SSRUs follow their hypotheses when a beam reorders them, and are freed with them.
func TestStatesOfSSRUs(t *testing.T) {
	for _, norm := range []model.Placement{model.PostNorm, model.PreNorm} {
		c := toy()
		c.Norm, c.Autoreg, c.DecoderLayers = norm, model.SSRU, 2
		w := NewWeights(perturbed(t, c, 3), nil)
		src := []int32{3, 5, 4}
		alone := func(tokens []int32) []float32 {
			s := NewState(w, nil)
			h := s.Add(nil, src)[0]
			y := s.Step([]Row{{h, model.BOS, -1}})
			for _, id := range tokens {
				y = s.Step([]Row{{h, id, 0}})
			}
			return y.Row(0)
		}
		s := NewState(w, nil)
		handles := s.Add(nil, src, src)
		r := rand.New(rand.NewPCG(1, 2))
		hypotheses := [][][]int32{{nil}, {nil}}
		for step := range 12 {
			var rows []Row
			var next [2][][]int32
			for k, h := range handles {
				for range 1 + r.IntN(6) {
					if step == 0 {
						rows, next[k] = append(rows, Row{h, model.BOS, -1}), append(next[k], nil)
						continue
					}
					parent, token := r.IntN(len(hypotheses[k])), int32(3+r.IntN(8))
					rows = append(rows, Row{h, token, int32(parent)})
					next[k] = append(next[k], append(slices.Clone(hypotheses[k][parent]), token))
				}
			}
			y := s.Step(rows)
			for i, tokens := range slices.Concat(next[0], next[1]) {
				if !equalBits(y.Row(i), alone(tokens)) {
					t.Fatalf("norm %v, step %d: logits after %v differ from those of the hypothesis alone", norm, step, tokens)
				}
			}
			hypotheses = next[:]
		}
		for _, h := range handles {
			s.Remove(h)
		}
		if c := &s.sources.cells; len(c.free) != len(c.c)/(c.layers*c.d) {
			t.Errorf("norm %v: %d of %d states are free without sources", norm, len(c.free), len(c.c)/(c.layers*c.d))
		}
	}
}
