package grammar

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// words counts the words of one side.
func words(s []sentence, side func(sentence) string) map[string]int {
	n := map[string]int{}
	for _, s := range s {
		for _, w := range strings.Fields(strings.ToLower(strings.Trim(side(s), " 。？.?"))) {
			n[w]++
		}
	}
	return n
}

// The corpus is constant, so that results of tfm demo can be compared.
func TestCorpusIsConstant(t *testing.T) {
	const want = 0xa8bdbef4ff494372
	for range 2 {
		h := fnv.New64a()
		train, heldOut := Corpus()
		if len(train) != TrainPairs || len(heldOut) != HeldOutPairs {
			t.Fatalf("%d training and %d held-out pairs, want %d and %d", len(train), len(heldOut), TrainPairs, HeldOutPairs)
		}
		for _, p := range append(train, heldOut...) {
			fmt.Fprintf(h, "%s\t%s\n", p.Source, p.Target)
		}
		if got := h.Sum64(); got != want {
			t.Fatalf("hash %#x, want %#x (update it after a change of the grammar)", got, uint64(want))
		}
	}
}

func TestWordTypes(t *testing.T) {
	train, heldOut := sentences()
	for name, side := range map[string]func(sentence) string{
		"Chinese": func(s sentence) string { return s.zh },
		"English": func(s sentence) string { return s.en },
	} {
		seen := words(train, side)
		if len(seen) < 280 {
			t.Errorf("%s: %d distinct words, want at least 280", name, len(seen))
		}
		for w, n := range seen {
			if n < 30 {
				t.Errorf("%s: %q occurs %d times in training, want at least 30", name, w, n)
			}
		}
		for w := range words(heldOut, side) {
			if seen[w] == 0 {
				t.Errorf("%s: %q occurs only in held-out sentences", name, w)
			}
		}
	}
}

func TestHeldOutIsNotInTraining(t *testing.T) {
	train, heldOut := sentences()
	src, tgt, core := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, s := range train {
		p := s.pair()
		if src[p.Source] {
			t.Errorf("%s is in training twice", p.Source)
		}
		src[p.Source], tgt[p.Target], core[s.core] = true, true, true
	}
	again := map[string]bool{}
	for _, s := range heldOut {
		p := s.pair()
		if src[p.Source] || tgt[p.Target] || core[s.core] {
			t.Errorf("held-out %s %s (%s) is in training", p.Source, p.Target, s.core)
		}
		if again[p.Source] {
			t.Errorf("%s is held out twice", p.Source)
		}
		again[p.Source] = true
	}
}

// A Chinese sentence has one translation, so that exact match is a fair measure. A translation has
// one core, so that a held-out English sentence is not in training. The test draws more sentences
// from another seed.
func TestGrammarIsAFunction(t *testing.T) {
	g := &generator{rand.NewPCG(3, 4)}
	train, heldOut := sentences()
	all := append(train, heldOut...)
	for range 60000 {
		all = append(all, g.sentence())
	}
	english, core := map[string]string{}, map[string]string{}
	for _, s := range all {
		p := s.pair()
		if e, ok := english[p.Source]; ok && e != p.Target {
			t.Errorf("%s has the translations %q and %q", p.Source, e, p.Target)
		}
		if c, ok := core[p.Target]; ok && c != s.core {
			t.Errorf("%s has the cores %q and %q", p.Target, c, s.core)
		}
		english[p.Source], core[p.Target] = p.Target, s.core
	}
}

func TestEveryPatternOccurs(t *testing.T) {
	train, heldOut := sentences()
	for _, p := range patterns {
		is := func(s sentence) bool { return s.pattern == p.name }
		if !slices.ContainsFunc(train, is) || !slices.ContainsFunc(heldOut, is) {
			t.Errorf("pattern %q is not in both training and held-out sentences", p.name)
		}
	}
}

// No sentence has an error of agreement, inflection or punctuation.
func TestSentencesAreWellFormed(t *testing.T) {
	if raceDetector {
		t.Skip("race detector: one goroutine, and thirty times as slow")
	}
	wrong := []*regexp.Regexp{
		regexp.MustCompile(`\b[Aa] ([aeiou]|hour)`), regexp.MustCompile(`\b[Aa]n [^aeiouh]`), regexp.MustCompile(`\ban h[^o]`),
		regexp.MustCompile(`^(He|She|This \w+|Tom|Mary) (do|have|are|were|am)\b`),
		regexp.MustCompile(`^(You|We|They|These \w+|Those \w+ \w+) (does|has|is|was|am)\b`), regexp.MustCompile(`^I (does|has|is|were|are)\b`),
		regexp.MustCompile(`^(Do|Have|Are|Were) (he|she|this|that)\b`), regexp.MustCompile(`^(Does|Has|Is|Was) (you|they|these|those)\b`),
		regexp.MustCompile(`\b(for for|to to|the the|not not)\b`), regexp.MustCompile(`\b(goed|buyed|childs|mans|haves|buies)\b`),
		regexp.MustCompile(`\b(does|will|cannot|must|should) not (went|bought|was|is|has|does)\b`),
	}
	train, heldOut := sentences()
	for _, s := range append(train, heldOut...) {
		p := s.pair()
		for _, w := range wrong {
			if w.MatchString(p.Target) {
				t.Errorf("%s %s matches %s", p.Source, p.Target, w)
			}
		}
		question := strings.HasSuffix(p.Target, "?")
		if question != strings.HasSuffix(p.Source, "？") || !question && !(strings.HasSuffix(p.Target, ".") && strings.HasSuffix(p.Source, "。")) {
			t.Errorf("%s %s: the final punctuation differs", p.Source, p.Target)
		}
		if strings.Contains(p.Target, "  ") || !unicode.IsUpper(rune(p.Target[0])) || len(strings.Fields(p.Target)) > 17 {
			t.Errorf("%s: two spaces, no capital, or more than 17 words", p.Target)
		}
		for _, r := range p.Source {
			if !unicode.Is(unicode.Han, r) && r != '。' && r != '？' {
				t.Errorf("%s: unexpected %q", p.Source, r)
			}
		}
	}
}

// Pairs of the corpus for each rule of the grammar, checked by hand.
func TestTranslations(t *testing.T) {
	train, heldOut := Corpus()
	english := map[string]string{}
	for _, p := range append(train, heldOut...) {
		english[p.Source] = p.Target
	}
	for _, want := range []Pair{
		{"他们没有手机。", "They do not have a phone."},
		{"他有七个朋友。", "He has seven friends."},
		{"谁上个星期打破了这些灯？", "Who broke these lamps last week?"},
		{"九个学生会在公园打什么？", "What will nine students play in the park?"},
		{"那位厨师下午在哪里用一张便宜的票？", "Where does that chef use a cheap ticket in the afternoon?"},
		{"这些工程师为什么做露西的蛋糕？", "Why do these engineers make Lucy's cake?"},
		{"五位律师下午不在机场帮助那些女人。", "Five lawyers do not help those women at the airport in the afternoon."},
		{"他们今天早上很生气。", "They were angry this morning."},
		{"玛丽和彼得是消防员。", "Mary and Peter are firemen."},
		{"老师们星期一会看见三条鱼。", "The teachers will see three fish on Monday."},
		{"那些女人有时候吃他的鸡蛋。", "Those women sometimes eat his egg."},
		{"男孩工作吗？", "Does the boy work?"},
		{"现在作家没在骑这头白色的大象。", "The writer is not riding this white elephant now."},
		{"他今晚想在花园煮牛肉。", "He wants to cook beef in the garden tonight."},
	} {
		if got := english[want.Source]; got != want.Target {
			t.Errorf("%s: %q, want %q", want.Source, got, want.Target)
		}
	}
}
