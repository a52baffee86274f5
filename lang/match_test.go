package lang

import "testing"

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
