package serve

import (
	"net/url"
	"testing"
)

// Forms that url.ParseQuery reads are read as there; others keep their text.
func TestParseForm(t *testing.T) {
	for _, s := range []string{"", "q=a+b&q=%C3%A9%2B", "a&b=&=c&d==e", "q=%41%42%43"} {
		want, err := url.ParseQuery(s)
		if got := parseForm(s); err != nil || got.Encode() != want.Encode() {
			t.Errorf("parseForm(%q) = %v, want %v, %v", s, got, want, err)
		}
	}
	for s, want := range map[string]string{"q=100%": "100%", "q=100%+sure": "100% sure", "q=a;b": "a;b", "q=%zz%41%4": "%zzA%4", "q=%": "%", "q=%%41": "%A"} {
		if got := parseForm(s).Get("q"); got != want {
			t.Errorf("parseForm(%q) has q %q, want %q", s, got, want)
		}
	}
}

// Clients name a language by LibreTranslate's codes, with its region, or in another script.
func TestFind(t *testing.T) {
	for _, c := range []struct {
		list []string
		code string
		want string
	}{
		{[]string{"en", "en-GB"}, "en-gb", "en-GB"}, {[]string{"en", "zh-Hans", "zh-Hant"}, "zh", "zh-Hans"}, {[]string{"zh-Hans", "zh-Hant"}, "zt", "zh-Hant"},
		{[]string{"zh"}, "zh_TW", "zh"}, {[]string{"zh-Hant"}, "zh", "zh-Hant"}, {[]string{"pt-BR", "pt-PT"}, "pt-AO", ""}, {[]string{"nb"}, "no", "nb"},
		{[]string{"pt", "pt-BR"}, "pb", "pt-BR"}, {[]string{"en"}, "de", ""}, {[]string{"en"}, "", ""},
	} {
		if got, ok := find(c.list, c.code); got != c.want || ok != (c.want != "") {
			t.Errorf("%s of %q is %q, %v, want %q", c.code, c.list, got, ok, c.want)
		}
	}
}
