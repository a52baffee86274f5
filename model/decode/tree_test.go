package decode

import (
	"slices"
	"testing"
)

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
