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

func TestCorpusSize(t *testing.T) {
	train, heldOut := Corpus()
	if len(train) != TrainPairs || len(heldOut) != HeldOutPairs {
		t.Fatalf("%d training and %d held-out pairs, want %d and %d", len(train), len(heldOut), TrainPairs, HeldOutPairs)
	}
}

// The corpus is constant, so that results of tfm demo can be compared.
func TestCorpusIsConstant(t *testing.T) {
	const want = 0x2652bbd4ccb98199
	for range 2 {
		h := fnv.New64a()
		train, heldOut := Corpus()
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
		if len(seen) < 300 {
			t.Errorf("%s: %d distinct words, want at least 300", name, len(seen))
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
		{"我有一把雨伞。", "I have an umbrella."},
		{"谁帮助了你？", "Who helped you?"},
		{"他从来没休息过。", "He has never rested."},
		{"他还没散步。", "He has not walked yet."},
		{"他已经休息了。", "He has already rested."},
		{"他什么时候会教中文？", "When will he teach Chinese?"},
		{"他在哪里？", "Where is he?"},
		{"他有几个包？", "How many bags does he have?"},
		{"她的票比你的票贵。", "Her ticket is more expensive than your ticket."},
		{"他们没有她高。", "They are not as tall as her."},
		{"家里有一只狗。", "There is a dog at home."},
		{"床上没有书。", "There are no books on the bed."},
		{"你们坐火车去了巴黎。", "You went to Paris by train."},
		{"他不是来自法国。", "He does not come from France."},
		{"我给了他们这辆车。", "I gave them this car."},
		{"请打开他的包。", "Please open his bag."},
		{"不要煮汤。", "Do not cook soup."},
		{"这两位经理喝了汤。", "These two managers drank soup."},
		{"她一天后会跑步。", "She will run in a day."},
		{"她有三杯牛奶。", "She has three glasses of milk."},
		{"这是谁的书？", "Whose book is this?"},
		{"他想当一位厨师。", "He wants to be a chef."},
		{"他们会当农民。", "They will become farmers."},
		{"我们都会当作家。", "We will all become writers."},
		{"彼得和李明都散步。", "Peter and Li Ming both walk."},
		{"他不能跳舞。", "He cannot dance."},
		{"他从不跳舞。", "He never dances."},
		{"他喜欢读故事。", "He likes reading stories."},
		{"作家昨天不忙。", "The writer was not busy yesterday."},
		{"你为什么买刀？", "Why do you buy knives?"},
		{"她正在游泳。", "She is swimming."},
		{"他没在散步。", "He is not walking."},
		{"他有七条鱼。", "He has seven fish."},
		{"球是红色的吗？", "Is the ball red?"},
		{"老鼠很小。", "The mouse is small."},
		{"他住在上海。", "He lives in Shanghai."},
		{"刀很脏。", "The knife is dirty."},
		{"下个星期她会在家。", "She will be at home next week."},
		{"孩子们工作了。", "The children worked."},
		{"他是工程师。", "He is an engineer."},
		{"他读了一些书。", "He read some books."},
		{"信在门前面。", "The letter is in front of the door."},
	} {
		if got := english[want.Source]; got != want.Target {
			t.Errorf("%s: %q, want %q", want.Source, got, want.Target)
		}
	}
}

func TestInflection(t *testing.T) {
	for _, c := range []struct {
		row   string
		forms [5]string // base, past, participle, -ing, third person
	}{
		{"x buy/bought/bought", [5]string{"buy", "bought", "bought", "buying", "buys"}},
		{"x study", [5]string{"study", "studied", "studied", "studying", "studies"}},
		{"x write/wrote/written", [5]string{"write", "wrote", "written", "writing", "writes"}},
		{"x swim/swam/swum/swimming", [5]string{"swim", "swam", "swum", "swimming", "swims"}},
		{"x wait_for", [5]string{"wait for", "waited for", "waited for", "waiting for", "waits for"}},
		{"x teach/taught/taught", [5]string{"teach", "taught", "taught", "teaching", "teaches"}},
		{"x go/went/been", [5]string{"go", "went", "been", "going", "goes"}},
		{"x play", [5]string{"play", "played", "played", "playing", "plays"}},
		{"x dance", [5]string{"dance", "danced", "danced", "dancing", "dances"}},
	} {
		w := parse(c.row)[0]
		for f, want := range c.forms {
			if got := w.verb(verbForm(f)); got != want {
				t.Errorf("%s, form %d: %q, want %q", c.row, f, got, want)
			}
		}
	}
	for row, want := range map[string]string{"x knife/knives": "knives", "x sheep/sheep": "sheep", "x city": "cities", "x key": "keys",
		"x watch": "watches", "x potato": "potatoes", "x older_brother": "older brothers"} {
		if got := parse(row)[0].plural(); got != want {
			t.Errorf("plural of %s: %q, want %q", row, got, want)
		}
	}
	for en, want := range map[string]string{"old book": "an old book", "hour": "an hour", "book": "a book", "house": "a house"} {
		if got := article(en); got != want {
			t.Errorf("article(%q) = %q, want %q", en, got, want)
		}
	}
}
