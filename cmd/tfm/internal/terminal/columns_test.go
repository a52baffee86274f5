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

func TestTruncate(t *testing.T) {
	for _, c := range []struct {
		s       string
		columns int
		want    string
	}{
		{"", 1, ""}, {"dog", 3, "dog"}, {"dogs", 3, "do…"}, {"一本书", 6, "一本书"}, {"一本书", 5, "一本…"}, {"一本书", 4, "一…"}, {"a一本", 4, "a一…"},
		{"e\u0301e\u0301e", 3, "e\u0301e\u0301e"}, {"e\u0301e\u0301e", 2, "e\u0301…"}, {"狗", 1, "…"}, {"\xff\xff\xff", 2, "\xff…"},
	} {
		got := Truncate(c.s, c.columns)
		if got != c.want || Columns(got) > c.columns {
			t.Errorf("Truncate(%q, %d) = %q of %d columns, want %q", c.s, c.columns, got, Columns(got), c.want)
		}
	}
}

func TestPrintable(t *testing.T) {
	if got, want := Printable("a\tb\x1b[2J狗\xff"), "a b [2J狗\ufffd"; got != want {
		t.Errorf("Printable = %q, want %q", got, want)
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
