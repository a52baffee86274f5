package model

import (
	"fmt"
	"testing"

	"tfm/internal/ref"
	"tfm/mat"
)

// Attention visits every attention once, with the weights of the equations in float64, and returns
// the loss of Evaluate.
func TestAttentionIsThatOfTheEquations(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"paper":        func(*Config) {},
		"pre-norm":     func(c *Config) { c.Norm = PreNorm },
		"other widths": func(c *Config) { c.DK, c.DV = 3, 7 },
	} {
		c := toy()
		change(&c)
		m := newModel(t, c)
		b := randomBatch(c, 5, 1, 3)
		key := func(site, sentence, head int) string {
			return fmt.Sprint("site ", site, ", sentence ", sentence, ", head ", head)
		}
		want := map[string]ref.Matrix{}
		r := reference(m, 0, rates{})
		r.DropWeights = func(site, sentence, head int, w ref.Matrix) { want[key(site, sentence, head)] = w }
		referenceLoss(r, b)

		pass, visits := NewPass(m, nil), 0
		before := pass.Evaluate(b)
		loss := pass.Attention(b, func(attention string, layer, head, sentence int, w mat.Matrix) {
			visits++
			site := map[string]int{EncoderSelf: 1 + 2*layer, DecoderSelf: 2 + 2*c.EncoderLayers + 3*layer, DecoderCross: 3 + 2*c.EncoderLayers + 3*layer}[attention]
			at := key(site, sentence, head)
			if want[at] == nil || w.Rows != len(want[at]) || w.Cols != len(want[at][0]) {
				t.Fatalf("%s: %s %d, head %d, sentence %d: %d × %d weights", name, attention, layer, head, sentence, w.Rows, w.Cols)
			}
			// float32 rounding through two layers
			ref.CheckClose(t, name+": "+at, w, want[at], 1e-5)
		})
		if visits != len(want) {
			t.Errorf("%s: %d visits, want %d", name, visits, len(want))
		}
		if after := pass.Evaluate(b); loss != before || loss != after {
			t.Errorf("%s: loss %+v, want Evaluate's: %+v before and %+v after", name, loss, before, after)
		}
	}
}
