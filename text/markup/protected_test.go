package markup

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// The texts between « and » are protected, and nothing else is.
var protectedCases = []string{
	// Placeholders.
	"«%s» of «%d» files", "«%1$s» and «%2$-5d»", "Hello «%(name)s», you have «%(count)d»", "«%-5.2f»kg, «%lu», «%zu», «%@»",
	"«%1» of «%2», «%L1», «%n» file(s)", "«%d»MB, «%d»x«%d»", "«%PATH%» is set", "«100%%»", "«%5» is «%5.1f»",
	"«{name}» has «{0}» of «{1:N2}»", "«{}» and «{user.name!r:>10}»", "«{{x}}» and «{{ user.name }}»", "«${x}», «#{y}», «%{z}»",
	"«{n, plural, one {# file} other {# files}}» left", "On «{d, date, short}»", "«$HOME» and «$user_name» cost $«5» or US$A", "«[X0X]» and «[NAME_1]», «[1]»",
	"a «<ph/>» b «<x id=\"1\"/>» c «<b>»bold«</b>»", "«__NAME__» and «@VERSION@»", "Tom «&amp;» Jerry«&#160;»here", "one«\\n»Two«{a}{b}»",
	// Files, addresses and commands.
	"See «https://example.com/a?b=c#d», or «www.example.org».", "(«http://x.y/z».)", "Write to «a.b+c@mail.example.com».", "at «docs.python.org/3/» and «debian.org»",
	"open «/etc/hosts», «~/.bashrc», «./run.sh» and «src/main.go»", "in «C:\\Users\\me» or «/etc»", "Edit «notes.txt» with «--no-wrap».", "访问«www.example.com»网站",
	// Identifiers.
	"version «1.2.3-rc1», «v2.0» and «3.10.1».", "commit «deadbeef01» of «0x1F»", "id «123e4567-e89b-12d3-a456-426614174000»", "call «foo_bar» and «std::sort()».",
	// Messages.
	"Hi «:smile:» «:+1:»", "thanks «@user» for «#GoLang»", "great «😀👍🏽»!", "「«{a}»」",
	// Numbers and prose.
	"«50»% of «100» % and «5»%, «20»%discount", "at «10:30» or «10:30:15», «16:9», km/h and/or he/she «1/2»", "smile :-) ;) :D :p", "#«1» costs $«5.00» (€«3,50»)", "i.e. e.g. U.S. a.m. «3.14» «1,000.50»",
	"the 5th, 1.5GB, 3D, the 80s, mp3 and «3»-year-old", "A < B and c > d, x<«3»", "AT&T; R&D", "facade «1234567» defaced", "end.Next sentence... wait - what -- really?", "C# and F# [sic] {a b}", "well-known mother-in-law", "a_ _b_ *c*",
}

func TestProtected(t *testing.T) {
	for _, c := range protectedCases {
		s := strings.NewReplacer("«", "", "»", "").Replace(c)
		marked, end := "", 0
		for _, r := range Protected(s) {
			marked += s[end:r.Start] + "«" + s[r.Start:r.End] + "»"
			end = r.End
		}
		if marked += s[end:]; marked != c {
			t.Errorf("%q, want %q", marked, c)
		}
	}
}

// Ranges are sorted, apart, and neither empty nor within a character.
func FuzzProtected(f *testing.F) {
	for _, c := range protectedCases {
		f.Add(c)
	}
	f.Add("\xff%s\xff")
	f.Fuzz(func(t *testing.T, s string) {
		end := -1
		for _, r := range Protected(s) {
			if r.Start <= end || r.End <= r.Start || r.End > len(s) {
				t.Fatalf("%q: range %v after one that ends at %d", s, r, end)
			}
			if utf8.ValidString(s) && !(utf8.ValidString(s[:r.Start]) && utf8.ValidString(s[:r.End])) {
				t.Fatalf("%q: range %v is within a character", s, r)
			}
			end = r.End
		}
		if strings.ContainsFunc(s, func(r rune) bool { return !('a' <= r && r <= 'z' || r == ' ' || r == ',') }) {
			return
		}
		if found := Protected(s); len(found) > 0 {
			t.Errorf("%q: found %v in words", s, slices.Clone(found))
		}
	})
}
