package split

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"tfm/text"
)

// testCase is a text and its sentences.
type testCase struct {
	line      int
	language  string
	text      string
	sentences []string
}

// readCases reads a file of testdata.
func readCases(t testing.TB, name string) (cases []testCase) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	language := ""
	unescape := strings.NewReplacer(`\n`, "\n", `\t`, "\t")
	for i, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		if comment, ok := strings.CutPrefix(line, "# "); ok {
			if tag, ok := strings.CutPrefix(comment, "language "); ok {
				language = tag
			}
			continue
		}
		c := testCase{line: i + 1, language: language, text: unescape.Replace(strings.ReplaceAll(line, "¦", ""))}
		for _, s := range strings.Split(unescape.Replace(line), "¦") {
			c.sentences = append(c.sentences, strings.TrimFunc(s, isSpace))
		}
		cases = append(cases, c)
	}
	return cases
}

// texts returns the texts of ranges of s.
func texts(s string, ranges []text.Range) (list []string) {
	for _, r := range ranges {
		list = append(list, s[r.Start:r.End])
	}
	return list
}

// hostile are texts that are no prose.
var hostile = []string{
	"", " ", "\n", "\n\n\n", ".", "...", "?!", "。", "\x00", "\xff", "\xe4\xb8", "a\xff. B\xff. C", "\xff. \xff. \xff",
	"\xed\xa0\x80. \xed\xa0\x80", "\u0301. \u0301A. B", "a\x00. B\x00", "\ufeffA. B.", "1. 2. 3. 4. 5. 6. 7. 8. 9.",
	"((((((. A", "))))). A", `"""". "A`, "A.\r\nB.\rC.\u2028D.\u2029E.", "A.\v\fB.", "A.\n \t\nB.", "。。。。", "「「「「。」", "A. . . B",
	"￼. A", "𝒜. ℬ", "e.g.", "e.g. ", "Dr.", "z. B. ", "¹²³", "A.[1", "A.[1]", "😀😀. 😀", "!\u200D! A", "\u202E. A",
	strings.Repeat("1. ", 1000), strings.Repeat("(", 5000), strings.Repeat("。", 3000), strings.Repeat("\"", 3000) + ". A",
	strings.Repeat("x", 5000), strings.Repeat("中", 3000), strings.Repeat("a\u0301", 3000), strings.Repeat(" ", 7000) + "A." + strings.Repeat("\n", 7000),
	strings.Repeat("a, b ", 1000), strings.Repeat("\xff", 10000), strings.Repeat("A\n", 3000), strings.Repeat("「", 700) + "。" + strings.Repeat("」", 700),
}

// check reports a violation of the properties of Sentences.
func check(t *testing.T, s string, o Options) {
	t.Helper()
	ranges := Sentences(s, o)
	unlimited := o
	unlimited.MaxRunes = maxMaxRunes
	uncut := Sentences(s, unlimited)
	c := newScanner(o)
	at := 0
	for i, r := range ranges {
		if r.Start < at || r.End <= r.Start || r.End > len(s) {
			t.Fatalf("Sentences(%.200q)[%d] = %v after %d, want an ascending range within %d bytes", s, i, r, at, len(s))
		}
		sentence := s[r.Start:r.End]
		if strings.TrimFunc(sentence, isSpace) != sentence {
			t.Fatalf("Sentences(%.200q)[%d] = %q, want no white space at its ends", s, i, sentence)
		}
		if gap := s[at:r.Start]; strings.TrimFunc(gap, isSpace) != "" {
			t.Fatalf("Sentences(%.200q): gap %q before %d, want white space", s, gap, i)
		}
		runes := utf8.RuneCountInString(sentence)
		if runes > c.maxRunes {
			t.Fatalf("Sentences(%.200q)[%d] has %d runes, want at most %d", s, i, runes, c.maxRunes)
		}
		if !utf8.ValidString(sentence) && utf8.ValidString(s) {
			t.Fatalf("Sentences(%.200q)[%d] = %.200q, want whole characters", s, i, sentence)
		}
		// The parts of a sentence that was cut can have other sentences.
		if again := Sentences(sentence, o); (len(again) != 1 || again[0].End != len(sentence)) && slices.Contains(uncut, r) && !strings.ContainsAny(sentence, lineBreaks) {
			t.Fatalf("Sentences(%.200q)[%d] = %.200q, which is split into %.200q", s, i, sentence, texts(sentence, again))
		}
		at = r.End
	}
	if gap := s[at:]; strings.TrimFunc(gap, isSpace) != "" {
		t.Fatalf("Sentences(%.200q): %q after the last, want white space", s, gap)
	}
}

var properties = []Options{{}, {Language: "de", Lines: true}, {MaxRunes: 20}}

func TestProperties(t *testing.T) {
	all := slices.Clone(hostile)
	var joined strings.Builder
	for _, c := range readCases(t, "cases.txt") {
		all = append(all, c.text)
		joined.WriteString(c.text + " ")
	}
	all = append(all, joined.String())
	for _, s := range all {
		for _, o := range properties {
			check(t, s, o)
		}
		check(t, s[:min(len(s), 300)], Options{MaxRunes: 1})
	}
}

// Random strings of the characters that have rules.
func TestPropertiesOfRandomText(t *testing.T) {
	parts := strings.Fields(`A B Dr z. . . . ... … ? ! 。 」 「 " “ ” « » ( ) [1] 1 2 12. 1990 Mai he The und 中文 说 と م हो । и г. ; : , - — 😀 e.g i.e ’s iPhone XIV \xff ` + "\u0301 \u200d")
	space := []string{" ", " ", " ", "", "", "\n", "\n\n", "\u3000"}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 1500 {
		var b strings.Builder
		for range 1 + rng.IntN(30) {
			b.WriteString(parts[rng.IntN(len(parts))] + space[rng.IntN(len(space))])
		}
		check(t, b.String(), properties[rng.IntN(len(properties))])
	}
}

func FuzzSentences(f *testing.F) {
	for _, s := range hostile {
		f.Add(s[:min(len(s), 200)], "", uint16(0), false)
	}
	for i, c := range readCases(f, "cases.txt") {
		if i%10 == 0 {
			f.Add(c.text, c.language, uint16(i), i%20 == 0)
		}
	}
	f.Fuzz(func(t *testing.T, s, language string, maxRunes uint16, lines bool) {
		check(t, s, Options{Language: language, MaxRunes: int(maxRunes % 2048), Lines: lines})
	})
}

// A long sentence is cut after a clause, or else at a space, or else between characters.
func TestCutsLongSentences(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"one two, three four five six", []string{"one two,", "three four", "five six"}},
		{"one two three four five", []string{"one two", "three four", "five"}},
		{"一二三四五六，七八九十一二三四", []string{"一二三四五六，", "七八九十一二三四"}},
		{"abcdefghijklmnop", []string{"abcdefghijkl", "mnop"}},
		{"abcdefghijke\u0301mnop", []string{"abcdefghijk", "e\u0301mnop"}},
	} {
		got := texts(c.text, Sentences(c.text, Options{MaxRunes: 12}))
		if !slices.Equal(got, c.want) {
			t.Errorf("Sentences(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}

// Wrapped lines continue a sentence, headings and items end it, and with Lines all lines do.
func TestLineBreaks(t *testing.T) {
	const wrapped = "The first sentence of this text\nends here. The second one is as\nlong as the first."
	if got := texts(wrapped, Sentences(wrapped, Options{})); len(got) != 2 {
		t.Errorf("Sentences(%q) = %q, want 2 sentences", wrapped, got)
	}
	if got := texts(wrapped, Sentences(wrapped, Options{Lines: true})); len(got) != 4 {
		t.Errorf("Sentences(%q) = %q, want 4 sentences with Lines", wrapped, got)
	}
	const german = "Der Vertrag, den wir alle kennen, gilt seit dem\n3. Oktober und endet bald."
	if got := texts(german, Sentences(german, Options{})); len(got) != 1 {
		t.Errorf("Sentences(%q) = %q, want 1 sentence, because no item begins with a date", german, got)
	}
}

func BenchmarkSentences(b *testing.B) {
	var joined strings.Builder
	for _, c := range readCases(b, "cases.txt") {
		joined.WriteString(c.text + " ")
	}
	s := joined.String()
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		Sentences(s, Options{})
	}
}
