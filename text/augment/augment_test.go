package augment

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"tfm/text"
)

// mustNew returns a modifier of settings, as NAME=VALUE.
func mustNew(t *testing.T, name string, probability float64, settings ...string) Modifier {
	t.Helper()
	values := map[string]string{}
	for _, s := range settings {
		key, value, _ := strings.Cut(s, "=")
		values[key] = value
	}
	m, err := New(name, probability, values)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// apply returns what modifiers make of pairs, as lines of a TSV file.
func apply(seed uint64, list []Modifier, pairs ...text.Pair) (lines []string) {
	r := rand.New(rand.NewPCG(seed, 0))
	next := func() (p text.Pair, ok bool) {
		if ok = len(pairs) > 0; ok {
			p, pairs = pairs[0], pairs[1:]
		}
		return p, ok
	}
	for p, ok := next(); ok; p, ok = next() {
		changed := Apply(list, r, p, next)
		lines = append(lines, changed.Source+"\t"+changed.Target)
	}
	return lines
}

func TestModifiers(t *testing.T) {
	pair := text.Pair{Source: "the old straße of Ulm, twice.", Target: "Die alte Straße von Ulm!"}
	for _, c := range []struct {
		m    Modifier
		want string
	}{
		{mustNew(t, "UpperCase", 1), "THE OLD STRASSE OF ULM, TWICE.\tDIE ALTE STRASSE VON ULM!"},
		{mustNew(t, "UpperCase", 0), "the old straße of Ulm, twice.\tDie alte Straße von Ulm!"},
		{mustNew(t, "TitleCase", 1), "The Old Straße Of Ulm, Twice.\tDie Alte Straße Von Ulm!"},
		{mustNew(t, "RemoveEndPunct", 1), "the old straße of Ulm, twice\tDie alte Straße von Ulm"},
	} {
		if got := apply(1, []Modifier{c.m}, pair); len(got) != 1 || got[0] != c.want {
			t.Errorf("%s: %q, want %q", c.m.Name, got, c.want)
		}
	}
	if got := apply(1, []Modifier{mustNew(t, "RemoveEndPunct", 1)}, text.Pair{Source: "what ?", Target: "was "}, text.Pair{Source: ".", Target: "."}, text.Pair{Source: "你好。", Target: "Hi!"}); !slices.Equal(got, []string{"what ?\twas ", ".\t.", "你好\tHi"}) {
		t.Errorf("punctuation: %q", got)
	}
}

// The description is the same in every process, because it is a part of fingerprints.
func TestString(t *testing.T) {
	m := mustNew(t, "Merge", 0.25, "max_lines=3")
	if got, want := m.String(), "Merge 0.25 map[max_lines:3 min_lines:2]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestMerge(t *testing.T) {
	var pairs []text.Pair
	for i := range 7 {
		pairs = append(pairs, text.Pair{Source: fmt.Sprintf("a%d.", i), Target: fmt.Sprintf("第%d。", i)})
	}
	got := apply(1, []Modifier{mustNew(t, "Merge", 1, "min_lines=3", "max_lines=3")}, pairs...)
	if want := []string{"a0. a1. a2.\t第0。第1。第2。", "a3. a4. a5.\t第3。第4。第5。", "a6.\t第6。"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	// Those before it change all sentences, those after it the whole.
	list := []Modifier{mustNew(t, "UpperCase", 1), mustNew(t, "Merge", 1, "min_lines=3", "max_lines=3"), mustNew(t, "RemoveEndPunct", 1)}
	got = apply(1, list, text.Pair{Source: "a.", Target: "b."}, text.Pair{Source: "c.", Target: "d."}, text.Pair{Source: "e.", Target: "f."})
	if want := "A. C. E\tB. D. F"; len(got) != 1 || got[0] != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Each modifier changes its share of the pairs, valid UTF-8 stays so, and the same draws make the
// same text.
func TestShares(t *testing.T) {
	pairs := slices.Repeat([]text.Pair{{Source: "der alte Hund sieht 27 Bäume an, jaja.", Target: "the old dog sees 27 trees."}}, 10_000)
	same := pairs[0].Source + "\t" + pairs[0].Target
	for _, name := range Names() {
		m := []Modifier{mustNew(t, name, 0.2)}
		got := apply(7, m, pairs...)
		if !slices.Equal(got, apply(7, m, pairs...)) {
			t.Errorf("%s differs when applied again", name)
		}
		changed := 0
		for _, line := range got {
			if line != same {
				changed++
			}
			if strings.Count(line, "\t") != 1 || !utf8.ValidString(line) || strings.ContainsAny(line, "\r\n") {
				t.Errorf("%s makes %q", name, line)
			}
		}
		lo, hi := 1900, 2100
		switch name {
		case "Typos": // most have at least one of nine classes
			lo, hi = 1150, 1300
		case "Merge":
			lo, hi = 1350, 1500 // of 7,143, because each takes two more on average
		}
		if changed < lo || changed > hi {
			t.Errorf("%s changes %d of 10,000 pairs, want %d to %d", name, changed, lo, hi)
		}
	}
}

// Each class of typing errors, and only those that are set.
func TestTypos(t *testing.T) {
	const source = "all oxen see 27 trees"
	for class, check := range map[string]func(s string) bool{
		"char_swap":     func(s string) bool { return len(s) == len(source) && sorted(s) == sorted(source) },
		"extra_char":    func(s string) bool { return len(s) == len(source)+1 },
		"missing_char":  func(s string) bool { return len(s) == len(source)-1 && strings.Count(s, " ") == 4 },
		"nearby_char":   func(s string) bool { return len(s) == len(source) && sorted(s) != sorted(source) },
		"random_space":  func(s string) bool { return strings.Count(s, " ") == 5 },
		"repeated_char": func(s string) bool { return len(s) == len(source)+1 && strings.Count(s, " ") == 4 },
		"similar_char":  func(s string) bool { return utf8.RuneCountInString(s) == len(source) },
		"skipped_space": func(s string) bool { return strings.Count(s, " ") == 3 },
		"unichar": func(s string) bool {
			return strings.Contains("al oxen see 27 trees|all oxen se 27 trees|all oxen see 27 tres", s)
		},
	} {
		m := mustNew(t, "Typos", 1, class+"=1")
		for seed := range uint64(100) {
			got, _, _ := strings.Cut(apply(seed, []Modifier{m}, text.Pair{Source: source, Target: "x"})[0], "\t")
			if got == source || !check(got) {
				t.Errorf("%s makes %q of %q", class, got, source)
			}
		}
		if got := apply(1, []Modifier{m}, text.Pair{}); got[0] != "\t" {
			t.Errorf("%s makes %q of nothing", class, got)
		}
	}
}

func sorted(s string) string { return string(slices.Sorted(slices.Values([]byte(s)))) }

// Both sides have the same sign, beside a shared word or at an end.
func TestCopy(t *testing.T) {
	m := []Modifier{mustNew(t, "Copy", 1)}
	beside := 0
	for seed := range uint64(400) {
		got := apply(seed, m, text.Pair{Source: "Anna sees a man", Target: "Anna sieht einen Mann"})[0]
		source, target, _ := strings.Cut(got, "\t")
		sign := strings.TrimSpace(strings.NewReplacer("Anna", "", "sees a man", "").Replace(source))
		if strings.HasPrefix(source, "Anna "+sign) {
			beside++
		}
		for _, side := range []string{source, target} {
			if sign == "" || !strings.Contains(side, sign) {
				t.Errorf("%q has not %q on both sides", got, sign)
			}
		}
		if strings.HasPrefix(source, "Anna "+sign) != strings.HasPrefix(target, "Anna "+sign) || strings.HasPrefix(source, sign) != strings.HasPrefix(target, sign) {
			t.Errorf("%q has %q at other places", got, sign)
		}
	}
	if beside < 250 || beside > 350 {
		t.Errorf("%d of 400 signs are beside the name, want about 300", beside)
	}
}

func TestNewErrors(t *testing.T) {
	for _, c := range []struct {
		name        string
		probability float64
		key, value  string
		want        string
	}{
		{"Noise", 0.1, "", "", "found the modifier Noise, expected one of Copy, Merge, RemoveEndPunct,"},
		{"Typos", 1.5, "", "", "found the probability 1.5"},
		{"Typos", 0.1, "swap", "1", "found the setting swap of Typos, expected one of char_swap,"},
		{"UpperCase", 0.1, "x", "1", "found the setting x of UpperCase, expected none"},
		{"Typos", 0.1, "char_swap", "5", "found char_swap: \"5\", expected a number from 0 to 1"},
		{"Merge", 0.1, "min_lines", "x", "found min_lines: \"x\", expected a number"},
		{"Merge", 0.1, "min_lines", "5", "found min_lines: 5, expected at most max_lines, 4"},
	} {
		settings := map[string]string{}
		if c.key != "" {
			settings[c.key] = c.value
		}
		if _, err := New(c.name, c.probability, settings); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%+v: error %v", c, err)
		}
	}
}
