package lang

import (
	"slices"
	"testing"
)

// Same does not depend on the order, in which a language may lack the script or the region.
func TestSame(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"en", "en-US", true}, {"en-GB", "en-US", false}, {"en", "eng_Latn", true}, {"en", "de", false}, {"zh-CN", "zh-Hans", true}, {"zh-TW", "zh-Hant", true},
		{"zh-TW", "zh-CN", false}, {"zh", "zh-Hant", true}, {"no", "nb-NO", true}, {"no", "nn", false}, {"sr", "sr-Latn", true}, {"sr-Latn", "sr-Cyrl", false},
		{"iw", "he", true}, {"zt", "zh-HK", true}, {"pb", "pt", true}, {"pt-BR", "pt-PT", false}, {"", "", false}, {"", "en", false}, {"xx", "xx-YY", true},
	} {
		if a, b := Parse(c.a), Parse(c.b); a.Same(b) != c.want || b.Same(a) != c.want {
			t.Errorf("%s and %s: %v and %v, want %v", c.a, c.b, a.Same(b), b.Same(a), c.want)
		}
	}
}

// The best answer has the script and the region of the request, or the usual script and no region.
func TestBest(t *testing.T) {
	for _, c := range []struct {
		code  string
		among []string
		want  []int
	}{
		{"en-GB", []string{"en", "en-GB", "en-US"}, []int{1}}, {"en", []string{"en-GB", "en-US", "en"}, []int{2}}, {"en", []string{"en-GB", "en-US"}, []int{0, 1}},
		{"en-AU", []string{"en-GB", "en"}, []int{1}}, {"en-AU", []string{"en-GB"}, nil}, {"zh", []string{"zh-Hant", "zh-Hans"}, []int{1}}, {"zh", []string{"zh-Hant"}, []int{0}},
		{"zh-Hant", []string{"zh"}, nil}, {"sr", []string{"sr-Latn", "sr"}, []int{1}}, {"sr-Latn", []string{"sr"}, nil}, {"", []string{""}, nil},
	} {
		if got := Best(c.code, c.among); !slices.Equal(got, c.want) {
			t.Errorf("%q of %q: %v, want %v", c.code, c.among, got, c.want)
		}
	}
}

func TestDiffer(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"en", "de", true}, {"eng_Latn", "fra", true}, {"sr", "hr", true}, {"ja", "zh", true},
		{"en", "en-GB", false}, {"zh", "zho_Hant", false}, {"zh-Hant", "zh", false}, {"pt-BR", "pt-PT", false}, {"pob", "pt", false}, {"nn", "no", false}, {"nb", "nn", false},
		{"", "de", false}, {"en", "", false}, {"ary", "ar", false}, {"formal", "de", false}, {"yue", "zh", false},
	} {
		if got := Differ(c.a, c.b); got != c.want || Differ(c.b, c.a) != c.want {
			t.Errorf("%s and %s: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
