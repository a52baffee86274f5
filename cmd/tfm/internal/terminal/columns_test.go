package terminal

import "testing"

func TestColumns(t *testing.T) {
	for s, want := range map[string]int{"": 0, "dog": 3, "狗": 2, "一本书": 6, "é": 1, "e\u0301": 1, "。": 2, "！": 2, "한국": 4, "ｱ": 1, "𠀀": 2, "🙂": 2} {
		if got := Columns(s); got != want {
			t.Errorf("%q: %d, want %d", s, got, want)
		}
	}
}
