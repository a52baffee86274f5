package settings

import (
	"strings"
	"testing"
)

func FuzzSettings(f *testing.F) {
	for _, s := range []string{"", " ", "a b", `"`, `"a" # b`, "a#b", "a #b", "#", "\n", "\xff", "中", `\n`, "\u00a0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, err := parseValue(strings.TrimSpace(formatValue(s))); err != nil || got != s || strings.Contains(formatValue(s), "\n") {
			t.Errorf("%q is written as %s and read as %q, %v", s, formatValue(s), got, err)
		}
		parseValue(s)
	})
}
