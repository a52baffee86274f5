package corpus

import "testing"

func TestHoldout(t *testing.T) {
	for _, n := range []int{0, 1, 99, 100, 101, 199, 5000, 99_999, 1_000_000} {
		h := newHoldout(n)
		held := 0
		for i := range n {
			if h.has(i) {
				held++
			}
		}
		if want := min(n/100, 1000); held != want {
			t.Errorf("%d of %d pairs are held out, want %d", held, n, want)
		}
	}
}
