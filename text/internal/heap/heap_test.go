package heap

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestHeap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	h := Keys()
	var want []int64 // sorted
	for range 10000 {
		if len(want) > 0 && r.IntN(5) < 2 {
			first := h.FirstKey()
			if got, _ := h.Pop(); first != got || got != want[0] {
				t.Fatalf("Pop() = %d, want %d", got, want[0])
			}
			want = want[1:]
			continue
		}
		x := r.Int64N(500)
		h.Push(x, struct{}{})
		i, _ := slices.BinarySearch(want, x)
		want = slices.Insert(want, i, x)
	}
	for ; len(want) > 0; want = want[1:] {
		if got, _ := h.Pop(); got != want[0] {
			t.Fatalf("Pop() = %d, want %d", got, want[0])
		}
	}
	if h.Len() > 0 {
		t.Errorf("%d numbers remain, want none", h.Len())
	}
}
