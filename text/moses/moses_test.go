package moses

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"tfm/internal/texttest"
)

// golden returns the lines of golden.json: language, text, and the outputs of sacremoses; or of
// perl.json: language, text, its words, their text, and the text as words.
func golden(t testing.TB, name string) (list [][]string) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err == nil {
		err = json.Unmarshal(data, &list)
	}
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestGolden(t *testing.T) {
	for _, x := range golden(t, "golden.json") {
		language, s := x[0], x[1]
		words := NewTokenizer(language, TokenizerOptions{}).Tokenize(s)
		split := NewTokenizer(language, TokenizerOptions{SplitDashes: true, NoEscape: true}).Tokenize(s)
		d := NewDetokenizer(language, DetokenizerOptions{})
		for i, got := range []string{
			strings.Join(words, " "),
			strings.Join(split, " "),
			d.Detokenize(words),
			d.Detokenize(strings.Fields(s)),
			NewNormalizer(language, NormalizerOptions{}).Normalize(s),
			NewNormalizer(language, NormalizerOptions{KeepBackquotes: true, ReplaceWide: true, RemoveControl: true}).Normalize(s),
		} {
			if want := x[2+i]; got != want {
				name := []string{"words", "words split", "text", "text of the line", "normalized", "normalized further"}[i]
				t.Errorf("%s, %s of %q:\n got %q\nwant %q", language, name, s, got, want)
			}
		}
	}
}

// perlSettings returns the settings of a preprocess.sh of OPUS-MT.
func perlSettings(t testing.TB, language string) Settings {
	t.Helper()
	var rules []string
	for _, script := range []string{"replace-unicode-punctuation", "remove-non-printing-char", "normalize-punctuation"} {
		list, ok := ScriptRules(script, language)
		if !ok {
			t.Fatalf("no rules of %s", script)
		}
		rules = append(rules, list...)
	}
	return Settings{Language: language, SplitDashes: true, Perl: true, Before: strings.Join(rules, "\n")}
}

func TestPerl(t *testing.T) {
	for _, x := range golden(t, "perl.json") {
		c := newChain(t, perlSettings(t, x[0]))
		words := strings.Join(strings.Fields(x[2]), " ")
		for i, got := range []string{c.Words(x[1]), c.Text(words), c.Text(x[1])} {
			if want := []string{words, x[3], x[4]}[i]; got != want {
				t.Errorf("%s, %s of %q:\n got %q\nwant %q", x[0], []string{"words", "text", "text of the line"}[i], x[1], got, want)
			}
		}
	}
	s := perlSettings(t, "en")
	s.After = ` *\$$` + "\t"
	if got := newChain(t, s).Words("No. 5 $"); got != "No. 5" {
		t.Errorf("%q", got)
	}
	s.After = "a*\tb"
	if _, err := NewChain(s); err == nil {
		t.Errorf("a rule that matches no text: no error")
	}
}

func newChain(t testing.TB, s Settings) *Chain {
	t.Helper()
	c, err := NewChain(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Each language of the lists of prefixes has its own.
func TestPrefixes(t *testing.T) {
	for _, x := range []struct {
		language, word string
		numeric, ok    bool
	}{{"en", "No", true, true}, {"en", "Z", false, true}, {"en", "Ä", false, false}, {"de", "bzw", false, true}, {"ru", "Я", false, true}, {"xx", "Mr", false, true}} {
		if numeric, ok := prefixesOf(x.language)[x.word]; ok != x.ok || numeric != x.numeric {
			t.Errorf("%s: prefix %q: %t, %t, want %t, %t", x.language, x.word, numeric, ok, x.numeric, x.ok)
		}
	}
}

var chains = []Settings{
	{Language: "en", Normalize: true}, {Language: "de", Normalize: true, SplitDashes: true}, {Language: "fr", SplitDashes: true}, {Language: "zh", Normalize: true}, {Language: "ru"}, {Language: "cs", Normalize: true}, {Language: ""},
}

// checkChain reports a violation of the rules of Chain for s.
func checkChain(t *testing.T, c *Chain, s string) {
	t.Helper()
	words, at := c.WordsAt(s)
	if want := c.Words(s); words != want || len(at) != len(words) {
		t.Fatalf("%+v: WordsAt(%.100q) = %.100q and %d offsets, want %.100q", c.Settings(), s, words, len(at), want)
	}
	if strings.Join(strings.Fields(words), " ") != words || !utf8.ValidString(words) {
		t.Fatalf("%+v: Words(%.100q) = %.100q, want words with single spaces", c.Settings(), s, words)
	}
	if !slices.IsSorted(at) {
		t.Fatalf("%+v: WordsAt(%.100q) has offsets %v, want ascending ones", c.Settings(), s, at)
	}
	for _, offset := range at {
		if int(offset) >= len(s) || utf8.ValidString(s) && !utf8.RuneStart(s[offset]) {
			t.Fatalf("%+v: WordsAt(%.100q) has offset %d, want the begin of a character", c.Settings(), s, offset)
		}
	}
	var pieces []string
	for i, word := range strings.Fields(words) {
		for n := range word {
			if n > 0 && (n+i)%3 == 0 {
				pieces = append(pieces, word[:n], word[n:]+" ")
				break
			}
		}
		if len(pieces) == 0 || !strings.HasSuffix(pieces[len(pieces)-1], word+" ") && !strings.HasSuffix(strings.Join(pieces[max(0, len(pieces)-2):], ""), word+" ") {
			pieces = append(pieces, word+" ")
		}
	}
	joined := strings.Join(pieces, "")
	text, ends := c.TextOf(pieces)
	if want := c.Text(joined); text != want || len(ends) != len(pieces) || !slices.IsSorted(ends) || len(ends) > 0 && ends[len(ends)-1] != len(text) {
		t.Fatalf("%+v: TextOf(%.200q) = %.100q with ends %v, want %.100q", c.Settings(), pieces, text, ends, want)
	}
	for n := range min(len(pieces), 50) {
		begun := strings.Join(pieces[:n], "")
		if begin := c.Begin(begun); !strings.HasPrefix(text, begin) {
			t.Fatalf("%+v: Begin(%.100q) = %.100q, want the begin of %.100q", c.Settings(), begun, begin, text)
		}
	}
}

var hostile = []string{
	"", " ", "\x00", "\xff\xfe", "\xed\xa0\x80 \xff", "\u00a0", "\u3000.\u3000", ".", "..", "'", ",", "-", ".'", "\"", "@-@", " @-@ @-@ ", "&amp", "&amp;amp;",
	"DOT", "DOTMULTI", "MULTI", "D", "a.b.c. D.", "dogs ' @-@ x", "\U0010FFFF\U0001E922.", "l ' a", "…\u00a0…",
}

func TestChain(t *testing.T) {
	all := chains
	for _, language := range []string{"en", "fr", "cs", "fi", "xx"} {
		s := perlSettings(t, language)
		s.After = "a\tbc"
		all = append(all, s)
	}
	for _, s := range all {
		c := newChain(t, s)
		for _, x := range golden(t, "golden.json") {
			checkChain(t, c, x[1])
		}
		for _, s := range slices.Concat(hostile, texttest.Lines(20)) {
			checkChain(t, c, s)
		}
	}
}

// Long lines of anything that rules look for take linear time: with quadratic time this test would
// take minutes.
func TestLongLines(t *testing.T) {
	for _, unit := range []string{".", "DOT", ",", "'", "\"", "-", " ", "a", "a.", ".\"", "(", "\u00a0", "&", "@-@ ", "。 ", ". ' ", "é'é-"} {
		s := strings.Repeat(unit, 1<<16/len(unit))
		c := newChain(t, Settings{Language: "fr", Normalize: true, SplitDashes: true})
		c.Text(c.Words(s))
		NewNormalizer("en", NormalizerOptions{ReplaceWide: true}).Normalize(s)
	}
}

// Offsets and ends are those of the characters that were replaced.
func TestPositions(t *testing.T) {
	c := newChain(t, Settings{Language: "en", Normalize: true, SplitDashes: true})
	words, at := c.WordsAt("It’s  a-b & c.")
	if want := "It &apos;s a @-@ b &amp; c ."; words != want {
		t.Fatalf("%q, want %q", words, want)
	}
	for word, want := range map[string]int32{"It": 0, "&apos;": 2, "s a": 5, "a @": 8, "@-@": 9, "b ": 10, "&amp;": 12, "c": 14, ".": 15} {
		if got := at[strings.Index(words, word)]; got != want {
			t.Errorf("offset of %q is %d, want %d", word, got, want)
		}
	}
	text, ends := c.TextOf([]string{"It ", "&ap", "os;s ", "a ", "@-@ ", "b ", "&amp; ", "c "})
	if want := []int{2, 2, 5, 6, 7, 9, 11, 11}; text != "It's a-b & c" || len(ends) != len(want) {
		t.Errorf("%q with ends %v", text, ends)
	}
}

func FuzzChain(f *testing.F) {
	for _, x := range golden(f, "golden.json") {
		f.Add(x[1], uint8(len(x[1])))
	}
	for i, s := range hostile {
		f.Add(s, uint8(i))
	}
	var list []*Chain
	for _, s := range append(chains, perlSettings(f, "cs"), perlSettings(f, "fi")) {
		list = append(list, newChain(f, s))
	}
	f.Fuzz(func(t *testing.T, s string, i uint8) {
		checkChain(t, list[int(i)%len(list)], s)
		NewNormalizer("de", NormalizerOptions{ReplaceWide: true, RemoveControl: true}).Normalize(s)
		NewTokenizer("cjk", TokenizerOptions{NoEscape: true}).Tokenize(s)
	})
}

func BenchmarkWords(b *testing.B) {
	for _, language := range []string{"en", "zh"} {
		b.Run("language="+language, func(b *testing.B) {
			c, lines, size := newChain(b, Settings{Language: language, Normalize: true}), texttest.Lines(1000), 0
			for _, s := range lines {
				size += len(s)
			}
			b.SetBytes(int64(size))
			for b.Loop() {
				for _, s := range lines {
					c.Words(s)
				}
			}
		})
	}
}
