package model

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tfm/layer"
	"tfm/mat"
)

// A Tuner has the losses and gradients that Pass.Train has of the last decoder layer, on any number
// of threads, also after its weights have changed; another pair begins with those of the model.
func TestTuner(t *testing.T) {
	twoLayers := func() Config {
		c := small()
		c.EncoderLayers, c.DecoderLayers = 2, 2
		return c
	}
	pairs := [][2][]int32{{{5, 6, 7}, {6, 5}}, {{7, 5, 6, 3, 3, 7}, {5, 3, 8, 8, 6, 7}}, {{5}, {6}}}
	eachVariant(t, twoLayers, func(t *testing.T, c Config) {
		c.LabelSmoothing = 0.1
		m := perturbed(t, c)
		before := slices.Clone(m.Params.W)
		c.Dropout, c.AttentionDropout, c.FFDropout, c.LabelSmoothing, c.Smoothing = 0, 0, 0, 0, SmoothOthers
		for _, threads := range []int{1, 3} {
			whole := newModel(t, c)
			last := slices.DeleteFunc(slices.Clone(whole.Params.List), func(p *layer.Param) bool {
				return !strings.HasPrefix(p.Name, fmt.Sprintf("decoder.%d.", c.DecoderLayers-1))
			})
			pool := mat.NewPool(threads)
			defer pool.Close()
			pass, u := NewPass(whole, nil), NewTuner(m, pool)
			for _, pair := range pairs {
				u.Begin(pair[0], pair[1])
				copy(whole.Params.W, before)
				b := &Batch{Source: c.Source}
				b.Append(pair[0], pair[1])
				for range 3 {
					clear(whole.Params.G)
					if got, want := u.Step(), pass.Train(b, 0, 1); got != want {
						t.Fatalf("loss %+v, want %+v", got, want)
					}
					if len(u.Params) != len(last) {
						t.Fatalf("%d parameters, want %d", len(u.Params), len(last))
					}
					for i, p := range last {
						q := u.Params[i]
						if q.Name != p.Name || !slices.Equal(p.G, q.G) {
							t.Fatalf("gradient of %s %v, want %s %v", q.Name, q.G, p.Name, p.G)
						}
						mat.Axpy(-0.1, p.G, p.W)
						mat.Axpy(-0.1, q.G, q.W)
					}
				}
			}
		}
		if !slices.Equal(m.Params.W, before) {
			t.Error("the model changed")
		}
	})
}
