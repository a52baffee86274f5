package decode

import (
	"context"
	"slices"
	"testing"

	"tfm/mat"
	"tfm/model"
)

// A source with marks is the source of a model without them that has the marks as tokens.
func TestSourceMarks(t *testing.T) {
	srcs := randomSources(20, 1, 3)
	pool := mat.NewPool(2)
	defer pool.Close()
	withMarks := func(marks model.SourceLayout) *Decoder {
		c := toy()
		c.Source = marks
		return newDecoder(perturbed(t, c, 1), pool)
	}
	plain := withMarks(model.NoMarks)
	o := DefaultOptions()
	o.MaxTokens, o.NBest, o.TokenScores = 12, 4, true
	for marks, around := range map[model.SourceLayout][2][]int32{
		model.EOSLast:   {nil, {model.EOS}},
		model.BOSFirst:  {{model.BOS}, nil},
		model.BOSAndEOS: {{model.BOS}, {model.EOS}},
	} {
		d := withMarks(marks)
		var explicit, tgts [][]int32
		for _, src := range srcs {
			explicit = append(explicit, slices.Concat(around[0], src, around[1]))
		}
		got, want := nBest(t, d, srcs, o), nBest(t, plain, explicit, o)
		for i := range srcs {
			for k := range got[i] {
				g, w := got[i][k], want[i][k]
				if !slices.Equal(g.Tokens, w.Tokens) || g.Score != w.Score {
					t.Fatalf("marks %q: translation %d of source %d = %v, want %v", marks, k, i, g, w)
				}
			}
			tgts = append(tgts, got[i][0].Tokens)
		}
		ctx := context.Background()
		attention, err := d.Attention(ctx, srcs, tgts, AlignHeads{})
		if err != nil {
			t.Fatal(err)
		}
		all, err := plain.Attention(ctx, explicit, tgts, AlignHeads{})
		if err != nil {
			t.Fatal(err)
		}
		begin := len(around[0])
		for i, src := range srcs {
			for row := range attention[i] {
				weights := slices.Clone(all[i][row][begin:][:len(src)])
				weights = append(weights, 0)
				for j, w := range all[i][row][:len(explicit[i])] {
					if j < begin || j >= begin+len(src) {
						weights[len(src)] += w
					}
				}
				if !slices.EqualFunc(attention[i][row], weights, func(a, b float32) bool { return a-b < 1e-6 && b-a < 1e-6 }) {
					t.Fatalf("marks %q: attention %v of row %d of pair %d, want %v", marks, attention[i][row], row, i, weights)
				}
			}
		}
	}
}

func TestMaxSource(t *testing.T) {
	for marks, want := range map[model.SourceLayout]int{model.EOSLast: 63, model.NoMarks: 63, model.BOSFirst: 63, model.BOSAndEOS: 62} {
		c := toy()
		c.Source = marks
		if got := c.MaxSource(); got != want {
			t.Errorf("marks %q: MaxSource = %d, want %d", marks, got, want)
		}
		pool := mat.NewPool(1)
		o := DefaultOptions()
		o.MaxTokens = 2
		translate(t, newDecoder(newModel(t, c), pool), [][]int32{make([]int32, want)}, o)
		pool.Close()
	}
}
