package model

import (
	"fmt"
	"testing"

	"tfm/internal/ref"
	"tfm/mat"
)

// Every row of every attention is that of the equations in float64, no other comes, and the loss is
// Evaluate's.
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
		key := func(place, sentence, head int) string {
			return fmt.Sprint("place ", place, ", sentence ", sentence, ", head ", head)
		}
		want := map[string]ref.Matrix{}
		r := reference(m, 0, rates{})
		r.DropWeights = func(place, sentence, head int, w ref.Matrix) { want[key(place, sentence, head)] = w }
		referenceLoss(r, b)

		pass, visits := NewPass(m, nil), 0
		before := pass.Evaluate(b)
		loss := pass.Attention(b, func(attention string, layer, head, sentence int, w mat.Matrix) {
			visits++
			place := map[string]int{EncoderSelf: 1 + 2*layer, DecoderSelf: 2 + 2*c.EncoderLayers + 3*layer, DecoderCross: 3 + 2*c.EncoderLayers + 3*layer}[attention]
			at := key(place, sentence, head)
			if want[at] == nil || w.Rows != len(want[at]) || w.Cols != len(want[at][0]) {
				t.Fatalf("%s: %s %d, head %d, sentence %d: %d × %d weights", name, attention, layer, head, sentence, w.Rows, w.Cols)
			}
			ref.CheckClose(t, name+": "+at, w, want[at], 1e-5) // float32's rounding through two layers
		})
		if visits != len(want) {
			t.Errorf("%s: %d attentions, expected %d", name, visits, len(want))
		}
		if after := pass.Evaluate(b); loss != before || loss != after {
			t.Errorf("%s: loss %+v, Evaluate's before %+v and after %+v", name, loss, before, after)
		}
	}
}

func TestAttentionNeedsNoGradients(t *testing.T) {
	m, err := New(toy())
	if err != nil {
		t.Fatal(err)
	}
	m.AllocWeights()
	m.Init(1)
	visits := 0
	NewPass(m, nil).Attention(randomBatch(m.Config, 2, 0, 1), func(string, int, int, int, mat.Matrix) { visits++ })
	if want := 3 * 2 * 4 * 2; visits != want {
		t.Errorf("%d attentions, expected %d", visits, want)
	}
	if loss := NewPass(m, nil).Attention(new(Batch), nil); loss != (Loss{}) {
		t.Errorf("loss %+v of nothing", loss)
	}
}
