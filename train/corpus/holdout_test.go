package corpus

import "testing"

func TestHoldout(t *testing.T) {
	for n, want := range map[int]int{0: 0, 1: 0, 19: 0, 20: 1, 101: 5, 5000: 250, 29_000: 500, 60_000: 600, 99_999: 999, 1_000_000: 1000} {
		h := newHoldout(n)
		held := 0
		for i := range n {
			if h.has(i) {
				held++
			}
		}
		if held != want {
			t.Errorf("%d of %d pairs are held out, want %d", held, n, want)
		}
	}
}
