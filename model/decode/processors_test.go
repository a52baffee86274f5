package decode

import (
	"math"
	"slices"
	"testing"
)

// mask changes the logits; the other processors write their own buffers and leave their input
// unchanged.
func TestProcessors(t *testing.T) {
	inf := float32(math.Inf(-1))
	logits := []float32{9, 8, 3, 2, -1, 5}
	var hypotheses tree
	tail := hypotheses.addRoot()
	for _, token := range []int32{3, 4, 3} {
		tail = hypotheses.add(tail, token, 0)
	}
	var b rowBuffers
	for range 2 { // the buffers are used again
		p := Partial{tree: &hypotheses, tail: tail}
		c := b.process(logits, nil, &p, 2, []int32{5})
		for _, x := range []struct {
			name      string
			got, want []float32
		}{
			{"mask", logits, []float32{inf, inf, 3, 2, -1, 5}},
			{"penalizeRepetition", c.logits, []float32{inf, inf, 3, 1, -2, 5}},
			{"suppress", c.selectable, []float32{inf, inf, 3, 1, -2, inf}},
		} {
			if !slices.Equal(x.got, x.want) {
				t.Errorf("%s: %v, want %v", x.name, x.got, x.want)
			}
		}
		if got := c.top(make([]candidate, 0, 2)); !slices.Equal(got, []candidate{{LogP: 3, Token: 2}, {LogP: 1, Token: 3}}) {
			t.Errorf("candidates %v, want tokens 2 and 3", got)
		}
	}
}

// The common node of two hypotheses is the last of their tokens up to which they are equal.
func TestTree(t *testing.T) {
	var h tree
	root, other := h.addRoot(), h.addRoot()
	a := h.add(h.add(root, 5, -1), 6, -2)
	b := h.add(h.add(a, 7, -3), 8, -4)
	c := h.add(a, 7, -5)
	d := h.add(other, 5, -1)
	for _, x := range []struct{ a, b, want int32 }{{b, c, a}, {c, b, a}, {b, b, b}, {a, b, a}, {b, root, root}, {c, d, -1}, {d, root, -1}} {
		if got := h.common(x.a, x.b); got != x.want {
			t.Errorf("common node of %d and %d: %d, want %d", x.a, x.b, got, x.want)
		}
	}
	if got := h.appendTokens([]int32{1}, b); !slices.Equal(got, []int32{1, 5, 6, 7, 8}) {
		t.Errorf("tokens %v", got)
	}
	if got := h.appendTokens(nil, -1); len(got) != 0 {
		t.Errorf("tokens of no node: %v", got)
	}
}
