package e2e

import (
	"slices"
	"strings"
	"testing"
)

// Translations begin with -prefix.
func TestTranslateWithPrefix(t *testing.T) {
	m := toyModel(t)
	lines := strings.Split(mustRun(t, "the big cat\n\nthe old dog\n", "translate", "-model", m, "-prefix", "un Ze").stdout, "\n")
	if len(lines) != 4 || !strings.HasPrefix(lines[0], "un Ze") || lines[1] != "" || !strings.HasPrefix(lines[2], "un Ze") {
		t.Errorf("%q, want the prefix un Ze", lines)
	}
	mustFail(t, runTFM(t, "a\n", "translate", "-model", m, "-prefix", "a\xff"), 2, "-prefix", "valid UTF-8")
}

// A line that has a term of -glossary has its translation once, in every form of input.
func TestTranslateWithGlossary(t *testing.T) {
	m := toyModel(t)
	file := write(t, "terms.tsv", "cat|cats\tlion|lions\nbig cat\ttigre\ndog\n")
	for _, c := range []struct{ args, input, want string }{
		{"-glossary " + file, "the big cat", "tigre"}, {"-glossary " + file, "The Cats", "lions"}, {"-glossary " + file + " -stream", "the old cat", "lion"},
		{"-glossary " + file + " -column 2 -beam 1", "1\tthe old cat", "lion"}, {"-glossary " + file + " -split -sample", "the old cat. the dog", "lion"},
		{"-glossary " + file + " -nbest 1 -prefix le -protect", "the old cat {cat}", "lion"}, {"-glossary " + file, "cat", "lion"},
	} {
		out := mustRun(t, c.input+"\n", append([]string{"translate", "-model", m}, strings.Fields(c.args)...)...).stdout
		if strings.Count(out, c.want) != 1 || strings.Contains(c.input, "big") && strings.Contains(out, "lion") || strings.Contains(c.input, "dog") && !strings.Contains(out, "dog") {
			t.Errorf("%q of %q: %q, want %s once", c.args, c.input, out, c.want)
		}
	}
	for content, want := range map[string]string{"cat\tlion\n\t\tx\n": "terms.tsv:2: term", "cat\t.\n": "terms.tsv:1: translation", "<tbx>": "terms.tsv:1: found XML"} {
		mustFail(t, runTFM(t, "a\n", "translate", "-model", m, "-glossary", write(t, "terms.tsv", content)), 1, want)
	}
}

// -stream writes the lines of a translation without it, and the warnings.
func TestTranslateStream(t *testing.T) {
	m, input := toyModel(t), "the big cat\n\nthe \xff dog\nthe cat the cat the cat the cat\n"
	for _, args := range [][]string{{"-beam", "1"}, {"-beam", "4"}, {"-sample", "-seed", "4"}, {"-set", "max-source=3", "-set", "max-tokens=9"}} {
		args = append([]string{"translate", "-model", m}, args...)
		want, got := mustRun(t, input, args...), mustRun(t, input, append(args, "-stream")...)
		if got.stdout != want.stdout || got.stderr != want.stderr {
			t.Errorf("%q: %+v, want %+v", args, got, want)
		}
	}
}

// A translation that reaches its length limit is reported, and flags that allow none are a failure
// of the line.
func TestTranslateReportsMissingEnds(t *testing.T) {
	m, input := toyModel(t), "the big cat\n\nthe old dog\n"
	args := []string{"translate", "-model", m, "-beam", "1"}
	for _, stream := range []string{"-stream=false", "-stream"} {
		o := mustRun(t, input, append(args, "-set", "max-tokens=1", stream)...)
		want := "tfm: standard input:1: the translation reached its length limit before its end\n" +
			"tfm: standard input:3: the translation reached its length limit before its end\n"
		if o.stderr != want {
			t.Errorf("%s: standard error %q, want %q", stream, o.stderr, want)
		}
	}
	for _, flag := range []string{"-json=false", "-json", "-stream"} {
		line := "the big cat\n"
		if flag == "-json" {
			line = `{"text":"the big cat"}` + "\n"
		}
		// A character of four bytes does not fit.
		o := runTFM(t, line, append(args, "-set", "max-tokens=2", "-prefix", "🙂🙂", flag)...)
		mustFail(t, o, 1, "1 of 1 line not translated")
		if !strings.Contains(o.stderr, "tfm: standard input:1: no translation: the prefix, the glossary or another limit allows none") || flag == "-json" != strings.Contains(o.stdout, `"error":`) {
			t.Errorf("%s: %q, %q", flag, o.stdout, o.stderr)
		}
	}
}

// -protect copies placeholders and URLs, in every form of input and output.
func TestTranslateProtected(t *testing.T) {
	m, url := toyModel(t), "https://example.com/a?b=%20"
	text := "the {name} cat. the dog " + url
	for _, c := range []struct {
		args, input string
		times       int // in the output
	}{
		{"", text, 1}, {"-stream -beam 1", text, 1}, {"-split", text, 1}, {"-nbest 2", text, 2}, {"-sample", "{name}: " + url, 1}, {"-column 2", "1\t" + text, 2},
		{"-json -align words", `{"text":"` + text + `"}`, 2}, {"-prefix le -set no-repeat=2", text, 1},
	} {
		out := mustRun(t, c.input+"\n", append([]string{"translate", "-model", m, "-protect"}, strings.Fields(c.args)...)...).stdout
		if n := strings.Count(out, "{name}"); n != c.times || strings.Count(out, url) != c.times {
			t.Errorf("%q: %q, want {name} and the URL %d times", c.args, out, c.times)
		}
	}
}

// Limits of lengths and repetitions hold.
func TestTranslateLimits(t *testing.T) {
	words := func(args ...string) []string {
		return strings.Fields(mustRun(t, "the big cat\n", append([]string{"translate", "-model", toyModel(t)}, args...)...).stdout)
	}
	all := len(words())
	if few := len(words("-set", "max-tokens=2")); few >= all {
		t.Errorf("%d words with -set max-tokens=2, %d without", few, all)
	}
	many := words("-set", "min-tokens=20", "-set", "no-repeat=1")
	if slices.Sort(many); len(many) <= all || len(slices.Compact(many)) != len(many) {
		t.Errorf("%q with -set min-tokens=20 -set no-repeat=1, %d words without", many, all)
	}
}
