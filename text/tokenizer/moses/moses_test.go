package moses

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"tfm/internal/texttest"
	"tfm/text/tokenizer/internal/rewrite"
)

// golden returns the lines of golden.json: language, text, and the outputs of sacremoses; or of
// scripts.json: language, text, and the output of Moses' scripts.
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
		c := NewChain(language)
		l := newLine(s)
		c.tokenizer.tokenize(l)
		var words []string
		l.words(func(word []char) { words = append(words, textOf(word)) })
		normalized, _ := c.punctuation.Apply(s, false)
		for i, got := range []string{
			strings.Join(words, " "),
			c.Text(strings.Join(words, " ")),
			c.Text(strings.Join(strings.Fields(s), " ")),
			strings.TrimFunc(normalized, isSpace),
		} {
			if want := x[2+i]; got != want {
				name := []string{"words", "text", "text of the line", "normalized"}[i]
				t.Errorf("%s, %s of %q:\n got %q\nwant %q", language, name, s, got, want)
			}
		}
	}
}

// The rules of Moses' scripts do to a text what the scripts do.
func TestScriptRules(t *testing.T) {
	for _, x := range golden(t, "scripts.json") {
		var rules []string
		for _, script := range []string{"replace-unicode-punctuation", "remove-non-printing-char", "normalize-punctuation"} {
			list, ok := ScriptRules(script, x[0])
			if !ok {
				t.Fatalf("no rules of %s", script)
			}
			rules = append(rules, list...)
		}
		parsed, err := rewrite.Parse(rules)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := parsed.Apply(x[1], false); got != x[2] {
			t.Errorf("%s: %q:\n got %q\nwant %q", x[0], x[1], got, x[2])
		}
	}
	if rules, ok := ScriptRules("lowercase", "en"); ok {
		t.Errorf("found %q of another script", rules)
	}
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

// chains are languages of chains.
var chains = []string{"en", "de", "fr", "zh", "ru", "cs", ""}

// checkChain reports a violation of the rules of Chain for s.
func checkChain(t *testing.T, c *Chain, s string) {
	t.Helper()
	words, at := c.WordsAt(s)
	if want := c.Words(s); words != want || len(at) != len(words) {
		t.Fatalf("%s: WordsAt(%.100q) = %.100q and %d offsets, want %.100q", c.Language(), s, words, len(at), want)
	}
	if strings.Join(strings.Fields(words), " ") != words || !utf8.ValidString(words) {
		t.Fatalf("%s: Words(%.100q) = %.100q, want words with single spaces", c.Language(), s, words)
	}
	if !slices.IsSorted(at) {
		t.Fatalf("%s: WordsAt(%.100q) has offsets %v, want ascending ones", c.Language(), s, at)
	}
	for _, offset := range at {
		if int(offset) >= len(s) || utf8.ValidString(s) && !utf8.RuneStart(s[offset]) {
			t.Fatalf("%s: WordsAt(%.100q) has offset %d, want the begin of a character", c.Language(), s, offset)
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
		t.Fatalf("%s: TextOf(%.200q) = %.100q with ends %v, want %.100q", c.Language(), pieces, text, ends, want)
	}
	for n := range min(len(pieces), 50) {
		begun := strings.Join(pieces[:n], "")
		if begin := c.Begin(begun); !strings.HasPrefix(text, begin) {
			t.Fatalf("%s: Begin(%.100q) = %.100q, want the begin of %.100q", c.Language(), begun, begin, text)
		}
	}
}

var hostile = []string{
	"", " ", "\x00", "\xff\xfe", "\xed\xa0\x80 \xff", "\u00a0", "\u3000.\u3000", ".", "..", "'", ",", "-", ".'", "\"", "@-@", " @-@ @-@ ", "&amp", "&amp;amp;",
	"DOT", "DOTMULTI", "MULTI", "D", "a.b.c. D.", "dogs ' @-@ x", "\U0010FFFF\U0001E922.", "l ' a", "…\u00a0…",
}

func TestChain(t *testing.T) {
	for _, language := range chains {
		c := NewChain(language)
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
		c := NewChain("fr")
		c.Text(c.Words(s))
	}
}

// Offsets and ends are those of the characters that were replaced.
func TestPositions(t *testing.T) {
	c := NewChain("en")
	words, at := c.WordsAt("It’s  a-b & c.")
	if want := "It &apos;s a-b &amp; c ."; words != want {
		t.Fatalf("%q, want %q", words, want)
	}
	for word, want := range map[string]int32{"It": 0, "&apos;": 2, "s a": 5, "a-": 8, "-b": 9, "b ": 10, "&amp;": 12, "c": 14, ".": 15} {
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
	for _, language := range chains {
		list = append(list, NewChain(language))
	}
	f.Fuzz(func(t *testing.T, s string, i uint8) {
		checkChain(t, list[int(i)%len(list)], s)
	})
}

func BenchmarkWords(b *testing.B) {
	for _, language := range []string{"en", "zh"} {
		b.Run("language="+language, func(b *testing.B) {
			c, lines, size := NewChain(language), texttest.Lines(1000), 0
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
