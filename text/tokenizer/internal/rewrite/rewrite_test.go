package rewrite

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Each rule does what package regexp does, whatever bytes of the text it needs, and offsets ascend.
func TestApply(t *testing.T) {
	texts := []string{"", "a", "ab ab", "aabb", "B b", "x(y) z", "é–“é”", "a\xff\uFFFDb", "1\u00A02", "...\"", strings.Repeat("ab", 9)}
	for _, rule := range []string{
		"a\t", "ab\tx", "(a)b\t$1", "(a|b)\t<$1>", "(?i)b\tc", "(?:ab|b)+\t-", "a?b\tz", "[ab]b\t$$", "é|–\te", "[“”]\t\"", "\uFFFD+b\t?",
		"([0-9])\u00A0([0-9])\t$1.$2", `(\.+)"` + "\t\"$1", `\(` + "\t (", "^a\tA", "b$\tB", "ab(c)?\t[$1]",
	} {
		rules, err := Parse([]string{rule})
		if err != nil {
			t.Fatal(err)
		}
		pattern, to, _ := strings.Cut(rule, "\t")
		to = regexp.MustCompile(`\$([0-9])`).ReplaceAllString(to, "$${$1}")
		for _, s := range texts {
			want := regexp.MustCompile(pattern).ReplaceAllString(s, to)
			got, origin := rules.Apply(s, true)
			if plain, _ := rules.Apply(s, false); got != want || plain != want {
				t.Errorf("%q of %q = %q and %q, want %q", rule, s, got, plain, want)
			}
			if len(origin) != len(got)+1 || !slices.IsSorted(origin) || origin[len(got)] != len(s) {
				t.Errorf("%q of %q: offsets %v", rule, s, fmt.Sprint(origin))
			}
		}
	}
}
