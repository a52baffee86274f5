package merges

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestQueue(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	q := Queue[struct{}]{Before: func(a, b struct{}) bool { return false }}
	var want []int64 // sorted
	for range 10000 {
		if len(want) > 0 && r.IntN(5) < 2 {
			first := q.FirstKey()
			if got, _ := q.Pop(); first != got || got != want[0] {
				t.Fatalf("Pop() = %d, want %d", got, want[0])
			}
			want = want[1:]
			continue
		}
		x := r.Int64N(500)
		q.Push(x, struct{}{})
		i, _ := slices.BinarySearch(want, x)
		want = slices.Insert(want, i, x)
	}
	for ; len(want) > 0; want = want[1:] {
		if got, _ := q.Pop(); got != want[0] {
			t.Fatalf("Pop() = %d, want %d", got, want[0])
		}
	}
	if q.Len() > 0 {
		t.Errorf("%d numbers remain, want none", q.Len())
	}
}
