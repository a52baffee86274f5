package terminal

import (
	"slices"
	"testing"
)

func TestColumns(t *testing.T) {
	for s, want := range map[string]int{"": 0, "dog": 3, "狗": 2, "一本书": 6, "é": 1, "e\u0301": 1, "。": 2, "！": 2, "한국": 4, "ｱ": 1, "𠀀": 2, "🙂": 2} {
		if got := Columns(s); got != want {
			t.Errorf("Columns(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	if got, want := Wrap([]string{"one", "two", "狗狗", "longer-than-that", "x"}, 8), []string{"one two", "狗狗", "longer-than-that", "x"}; !slices.Equal(got, want) {
		t.Errorf("Wrap = %q, want %q", got, want)
	}
	if got := Wrap(nil, 8); got != nil {
		t.Errorf("Wrap(nil) = %q, want nil", got)
	}
}
