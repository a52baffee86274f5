package e2e

import (
	"slices"
	"strings"
	"testing"
)

// Translations begin with -prefix or with the lines of -prefix-file, one for each of the input.
func TestTranslateWithPrefix(t *testing.T) {
	m, input := toyModel(t), "the big cat\n\nthe old dog\nthe cat\nthe dog\n"
	plain := strings.Split(mustRun(t, input, "translate", "-model", m).stdout, "\n")
	file := write(t, "prefixes", "un Ze\nx\n\nun\n\n")
	for _, c := range []struct {
		args  []string
		wants []string
	}{
		{[]string{"-prefix", "un Ze"}, []string{"un Ze", "", "un Ze", "un Ze", "un Ze"}},
		{[]string{"-prefix-file", file}, []string{"un Ze", "", "", "un", ""}},
	} {
		lines := strings.Split(mustRun(t, input, append([]string{"translate", "-model", m}, c.args...)...).stdout, "\n")
		if len(lines) != len(plain) {
			t.Fatalf("%q: %q, want %d lines", c.args, lines, len(plain)-1)
		}
		for i, want := range c.wants {
			if !strings.HasPrefix(lines[i], want) || i == 1 && lines[i] != "" || want == "" && len(c.args) == 2 && lines[i] != plain[i] {
				t.Errorf("%q: line %d is %q, want the prefix %q", c.args, i+1, lines[i], want)
			}
		}
	}
	mustFail(t, runTFM(t, "", "translate", "-model", m, "-prefix", "a", "-prefix-file", file), 2, "either -prefix or -prefix-file")
	short := runTFM(t, input, "translate", "-model", m, "-prefix-file", write(t, "short", "un\nun\n"))
	mustFail(t, short, 1, "short: found 2 lines, expected one for each line of the input")
	if got := strings.Split(short.stdout, "\n"); len(got) != len(plain) || got[3] != plain[3] {
		t.Errorf("after the last prefix: %q, want the lines of %q", got, plain)
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
			"tfm: 2 translations reached their length limit before their end\n"
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
	if few := len(words("-set", "max-ratio=0.5")); few >= all {
		t.Errorf("%d words with -set max-ratio=0.5, %d without", few, all)
	}
	many := words("-set", "min-tokens=20", "-set", "no-repeat=1")
	if slices.Sort(many); len(many) <= all || len(slices.Compact(many)) != len(many) {
		t.Errorf("%q with -set min-tokens=20 -set no-repeat=1, %d words without", many, all)
	}
}
