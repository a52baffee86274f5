package split

import (
	"slices"
	"strings"
	"testing"
)

// Of the hand-made cases at least 98 of 100 are right, with and without the language of the text,
// of the held-out ones at least 96.
func TestCases(t *testing.T) {
	for file, percent := range map[string]int{"cases.txt": 98, "heldout.txt": 96} {
		cases := readCases(t, file)
		for _, known := range []bool{true, false} {
			right := 0
			for _, c := range cases {
				o := Options{}
				if known {
					o.Language = c.language
				}
				got := texts(c.text, Sentences(c.text, o))
				if slices.Equal(got, c.sentences) {
					right++
				} else {
					t.Logf("%s:%d: language %q:\ngot  %s\nwant %s", file, c.line, o.Language, strings.Join(got, " ¦ "), strings.Join(c.sentences, " ¦ "))
				}
			}
			t.Logf("%s, language known %v: %d of %d right", file, known, right, len(cases))
			if 100*right < percent*len(cases) {
				t.Errorf("%s, language known %v: %d of %d right, want at least %d %%", file, known, right, len(cases), percent)
			}
		}
	}
}
