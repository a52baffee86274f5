package grammar

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
)

// Pair is a Chinese sentence and its translation.
type Pair struct{ Source, Target string }

// sentence is a pair with spaces between its words ("他 买 了 一 本 书"), its pattern and its
// core: subject, predicate and object without tense, number, place or modifiers.
type sentence struct{ zh, en, pattern, core string }

// Sizes of the corpus.
const (
	TrainPairs   = 40000
	HeldOutPairs = 1000
	heldOutOneIn = 32 // the hash of one core in 32 holds it out
)

// Corpus returns TrainPairs training pairs and HeldOutPairs held-out pairs, the same in every call.
// The hash of a sentence's core, such as "she, buy, umbrella", decides whether it is held out.
// Therefore a held-out core occurs in no training sentence of any tense or pattern, while each of
// its words does.
func Corpus() (train, heldOut []Pair) {
	t, h := sentences()
	return pairs(t), pairs(h)
}

// pairs returns the pairs of sentences.
func pairs(s []sentence) []Pair {
	p := make([]Pair, len(s))
	for i, s := range s {
		p[i] = s.pair()
	}
	return p
}

// pair returns the sentence without spaces in Chinese and with a capital in English.
func (s sentence) pair() Pair {
	return Pair{strings.ReplaceAll(s.zh, " ", ""), strings.ToUpper(s.en[:1]) + s.en[1:]}
}

// sentences returns the sentences of Corpus.
func sentences() (train, heldOut []sentence) {
	g := &generator{rand.NewPCG(2017, 1706)}
	seen := map[string]bool{}
	for len(train) < TrainPairs || len(heldOut) < HeldOutPairs {
		s := g.sentence()
		src := s.pair().Source
		if seen[src] {
			continue
		}
		seen[src] = true
		h := fnv.New32a()
		h.Write([]byte(s.core))
		switch heldOutCore := h.Sum32()%heldOutOneIn == 0; {
		case heldOutCore && len(heldOut) < HeldOutPairs:
			heldOut = append(heldOut, s)
		case !heldOutCore && len(train) < TrainPairs:
			train = append(train, s)
		}
	}
	return train, heldOut
}

type person int

const (
	third person = iota
	first
	second
	pluralPerson
)

// nounPhrase is a noun phrase: its Chinese, its English as subject and as object, and its head,
// which is part of the core.
type nounPhrase struct {
	zh, en, obj, head string
	who               person
}

// agree returns the form of an auxiliary verb for a person.
func agree(aux string, who person) string {
	forms := map[string][3]string{"do": {"does", "do", "do"}, "be": {"is", "am", "are"}, "was": {"was", "was", "were"}}
	if f, ok := forms[aux]; ok {
		return f[min(who, 2)]
	}
	return aux
}

type mood int

const (
	say mood = iota
	deny
	ask
)

// tense is a tense or modality: its words in both languages for statements and, with not, for
// negations, and what it combines with.
type tense struct {
	zh, after, notZh    string // Chinese before and after the verb
	aux                 string // English auxiliary
	form                verbForm
	lead                string // English verb that governs that of the clause: want to …
	times               string // letters of the times
	objects, notObjects string // kinds of object, see generator.noun
}

var (
	tenses = []tense{habitTense, habitTense, habitTense, pastTense, pastTense, futureTense, progressTense, wantTense, canTense}

	nowTense      = tense{notZh: "不", aux: "do"}
	habitTense    = tense{notZh: "不", aux: "do", times: "h", objects: "bbdp", notObjects: "bbdp"}
	pastTense     = tense{after: "了", notZh: "没", aux: "did", times: "p", objects: "11nndDp", notObjects: "dDpb"}
	futureTense   = tense{zh: "会", notZh: "不 会", aux: "will", times: "f", objects: "11ndDpb", notObjects: "dDpb"}
	progressTense = tense{zh: "正在", notZh: "没 在", aux: "be", form: ingForm, times: "n", objects: "11dDpb", notObjects: "dDpb"}
	wantTense     = tense{zh: "想", notZh: "不 想", aux: "do", lead: "want", times: "f", objects: "11ndDpb", notObjects: "dDpb"}
	canTense      = tense{zh: "能", notZh: "不 能", aux: "can", times: "f", objects: "1dDpb", notObjects: "dDpb"}
)

// clause is a subject, a verb and optionally an object, a place and a time.
type clause struct {
	subj, obj   nounPhrase
	verb        word
	tense       tense
	mode        mood
	adv         word // between subject and verb in both languages
	place, time nounPhrase
	front       bool   // the Chinese time word comes first
	wh          string // English question word; the Chinese one is in the place of the answer
}

// sentence returns the clause in both languages.
func (c clause) sentence() sentence {
	return finish(c.mode, c.wh, c.chinese(), c.english(), coreOf(c.subj.head, c.verb.en(), c.obj.head))
}

// chinese returns the Chinese words without punctuation.
func (c clause) chinese() string {
	marker, after, place := c.tense.zh, c.tense.after, c.place.zh
	if c.mode == deny {
		marker, after = c.tense.notZh, ""
	}
	if endsIn(marker, "在") {
		place = strings.TrimPrefix(place, "在 ")
	}
	zh := []string{c.subj.zh, c.time.zh}
	if c.front {
		slices.Reverse(zh)
	}
	return join(append(zh, c.adv.zh, marker, place, c.verb.zh, after, c.obj.zh)...)
}

// english returns the English words without punctuation.
func (c clause) english() string {
	t, verb, tail := c.tense, c.verb, ""
	if t.lead != "" {
		verb, tail = word{forms: []string{t.lead}}, "to "+c.verb.verb(t.form)
	}
	aux, main := agree(t.aux, c.subj.who), verb.verb(t.form)
	finite := map[string]verbForm{"do": baseForm, "does": presentForm, "did": pastForm}
	if f, ok := finite[aux]; ok && c.mode == say { // does buy -> buys
		aux, main = "", verb.verb(f)
	}
	return order(c.mode, c.wh, c.subj.en, aux, c.adv.en(), main, tail, c.obj.obj, c.place.en, c.time.en)
}

// be returns a sentence with the verb be, whose form or auxiliary is aux. zh is the complete
// Chinese.
func be(mode mood, subj nounPhrase, aux, complement, zh, core string) sentence {
	return finish(mode, "", zh, order(mode, "", subj.en, agree(aux, subj.who), "", "", complement), core)
}

// coreOf returns the core of a sentence.
func coreOf(subject, predicate, object string) string {
	return subject + ", " + predicate + ", " + object
}

// order returns the English words in the order of a statement, negation or question.
func order(mode mood, wh, subj, aux, adv, main string, rest ...string) string {
	end := join(rest...)
	switch mode {
	case ask:
		return join(wh, aux, subj, adv, main, end)
	case deny:
		return strings.Replace(join(subj, aux, "not", adv, main, end), "can not", "cannot", 1)
	}
	return join(wh, subj, aux, adv, main, end)
}

// finish adds the final punctuation, and 吗 to yes-no questions.
func finish(mode mood, wh, zh, en, core string) sentence {
	switch {
	case wh != "":
		return sentence{zh: zh + " ？", en: en + "?", core: core}
	case mode == ask:
		return sentence{zh: zh + " 吗 ？", en: en + "?", core: core}
	}
	return sentence{zh: zh + " 。", en: en + ".", core: core}
}

// generator draws sentences. All draws use below.
type generator struct{ rng *rand.PCG }

// below returns a random number from 0 to n-1.
func (g *generator) below(n int) int { return int(g.rng.Uint64() >> 32 * uint64(n) >> 32) }

// chance returns true with a probability in percent.
func (g *generator) chance(percent int) bool { return g.below(100) < percent }

// pick returns a random element.
func pick[T any](g *generator, from []T) T { return from[g.below(len(from))] }

// of draws a word whose field a has one of the letters.
func (g *generator) of(words []word, letters string) word {
	for {
		if w := pick(g, words); strings.ContainsAny(w.a, letters) {
			return w
		}
	}
}

// mode draws a mood that the tense allows.
func (g *generator) mode(t tense) mood {
	if t.notZh == "" || g.chance(64) {
		return say
	}
	return mood(1 + g.below(2))
}

// newNoun returns a noun phrase whose English is the same as subject and object.
func newNoun(zh, en, head string, who person) nounPhrase { return nounPhrase{zh, en, en, head, who} }

// noun returns w as a phrase of a kind drawn from kinds: b bare (tea, dogs), 1 one, n two to ten, d
// this or that, D these or those, p with a possessor, t the (bare in Chinese, only as subject).
// Uncountable nouns are bare, or in a container for 1 and n.
func (g *generator) noun(w word, kinds string) nounPhrase {
	kind := kinds[g.below(len(kinds))]
	zh, one, many, head := w.zh, w.en(), w.plural(), w.en()
	cl, container, _ := strings.Cut(w.b, ":")
	if cl == "-" || container != "" {
		if container == "" || kind != '1' && kind != 'n' {
			return newNoun(zh, one, head, third)
		}
		one, many = container+" of "+one, pluralOf(container)+" of "+one
	}
	if adj := pick(g, adjectives); kind != 'b' && (kind == '1' || g.chance(40)) && strings.ContainsAny(adj.a, w.a) {
		zh, one, many = adj.zh+" 的 "+zh, join(adj.en(), one), join(adj.en(), many)
	}
	far := g.below(2)
	switch kind {
	case '1':
		return newNoun(join("一", cl, zh), article(one), head, third)
	case 'n':
		n := pick(g, numbers)
		return newNoun(join(n.zh, cl, zh), join(n.en(), many), head, pluralPerson)
	case 'd':
		return newNoun(join([]string{"这", "那"}[far], cl, zh), join([]string{"this", "that"}[far], one), head, third)
	case 'D':
		return newNoun(join([]string{"这些", "那些"}[far], zh), join([]string{"these", "those"}[far], many), head, pluralPerson)
	case 'p':
		p := g.possessor()
		return newNoun(join(p.zh, "的", zh), join(p.det, one), head, third)
	case 't':
		return newNoun(zh, "the "+one, head, third)
	}
	return newNoun(zh, many, head, pluralPerson)
}

// possessor draws a name or a pronoun.
func (g *generator) possessor() possessor {
	if g.chance(25) {
		n := pick(g, names)
		return possessor{n.zh, n.en() + "'s"}
	}
	return pick(g, possessors)
}

// individual draws a pronoun, one or two names, or a relative.
func (g *generator) individual() nounPhrase {
	switch n := g.below(10); {
	case n < 4:
		return pick(g, pronouns)
	case n < 6:
		n := pick(g, names)
		return newNoun(n.zh, n.en(), n.en(), third)
	case n < 8:
		a, b := pick(g, names), pick(g, names)
		if a.zh == b.zh {
			return g.individual()
		}
		both := a.en() + " and " + b.en()
		return newNoun(a.zh+" 和 "+b.zh, both, both, pluralPerson)
	}
	w := g.of(nouns, "H")
	p := g.possessor()
	return newNoun(join(p.zh, "的", w.zh), join(p.det, w.en()), w.en(), third)
}

// person draws an individual, or persons by profession, age or role.
func (g *generator) person() nounPhrase {
	if g.chance(50) {
		return g.individual()
	}
	w := g.of(nouns, "NG")
	switch n := g.below(8); {
	case n < 5:
		return g.noun(w, "ttdD")
	case n < 6:
		return newNoun(w.zh+" 们", "the "+w.plural(), w.en(), pluralPerson)
	}
	return g.noun(w, "n")
}

// other draws a person who can be the object of a clause with the subject p (not "I help us").
func (g *generator) other(p nounPhrase) nounPhrase {
	first := func(p nounPhrase) bool { return p.head == "I" || p.head == "we" }
	for {
		o := g.person()
		if o.head != p.head && !(first(p) && first(o)) && !strings.Contains(o.head, p.head) && !strings.Contains(p.head, o.head) &&
			!strings.Contains(o.en, p.head+"'s") && !strings.Contains(p.en, o.head+"'s") {
			return o
		}
	}
}

// subject draws a subject for a mood: questions have no first person.
func (g *generator) subject(m mood, person func() nounPhrase) nounPhrase {
	for {
		if p := person(); m != ask || p.head != "I" && p.head != "we" {
			return p
		}
	}
}

// place draws a place of the kinds in letters.
func (g *generator) place(letters string) nounPhrase {
	w := g.of(places, letters)
	return newNoun("在 "+w.zh, join(w.b, w.en()), w.en(), third)
}

// time draws a time of the kinds in letters.
func (g *generator) time(letters string) nounPhrase {
	w := g.of(times, letters)
	return newNoun(w.zh, w.en(), "", 0)
}

// circumstances adds a time or an adverb to some clauses.
func (g *generator) circumstances(c *clause) {
	switch {
	case c.tense.times == "h" && c.mode == say && g.chance(35):
		c.adv = pick(g, adverbs)
	case c.tense.times == "h" && c.mode == deny && g.chance(55):
		c.time, c.front = g.time("w"), g.chance(35)
	case c.tense.times != "" && g.chance(55):
		c.time, c.front = g.time(c.tense.times), g.chance(35)
	}
}

// predicate draws a verb of action and a tense that go together.
func (g *generator) predicate(transitive bool) (word, tense) {
	for {
		v, t := pick(g, verbs), pick(g, tenses)
		lasting, unwilled := t.aux == "be" || t.times == "h", t.times == "p" || t.aux == "will"
		if transitive == (v.a != "-") && !(lasting && strings.Contains(v.b, "!")) && (unwilled || !strings.Contains(v.b, "~")) {
			return v, t
		}
	}
}

// clause draws a clause with a verb of action in any tense.
func (g *generator) clause(transitive bool, mode func(tense) mood) (c clause) {
	c.verb, c.tense = g.predicate(transitive)
	c.mode = mode(c.tense)
	c.subj = g.subject(c.mode, g.person)
	kinds := c.tense.objects
	switch {
	case c.mode == deny:
		kinds = c.tense.notObjects
	case c.mode == ask && c.tense.after == "了": // a bare object is definite after it: 卖了床
		kinds = "1dDp"
	case c.mode == ask:
		kinds = "1" + c.tense.notObjects
	}
	switch {
	case c.verb.a == "P":
		c.obj = g.other(c.subj)
	case transitive:
		c.obj = g.noun(g.of(nouns, c.verb.a), kinds)
	}
	where := strings.Trim(c.verb.b, "-!~")
	// 没在公园跑步 would be ambiguous.
	ambiguous := c.mode == deny && (c.tense.aux == "be" || c.tense.aux == "did")
	if where != "" && !ambiguous && (g.chance(30) || where == "c") {
		c.place = g.place(where)
	}
	g.circumstances(&c)
	return c
}

var patterns = []struct {
	name   string
	weight int
	make   func(*generator) sentence
}{
	{"action", 40, (*generator).action}, {"activity", 14, (*generator).activity}, {"question word", 10, (*generator).question},
	{"having", 8, (*generator).having}, {"profession", 6, (*generator).profession}, {"state", 20, (*generator).state},
}

// sentence draws a sentence of a pattern drawn by weight.
func (g *generator) sentence() sentence {
	total := 0
	for _, p := range patterns {
		total += p.weight
	}
	n := g.below(total)
	for _, p := range patterns {
		if n -= p.weight; n < 0 {
			s := p.make(g)
			s.pattern = p.name
			return s
		}
	}
	panic("unreachable")
}

// 她昨天在商店买了两本书。 She bought two books at the shop yesterday.
func (g *generator) action() sentence { return g.clause(true, g.mode).sentence() }

// 孩子们正在花园睡觉。 The children are sleeping in the garden.
func (g *generator) activity() sentence { return g.clause(false, g.mode).sentence() }

// 你什么时候会买那辆车？ When will you buy that car?
func (g *generator) question() sentence {
	c := g.clause(true, func(tense) mood { return ask })
	c.adv, c.front = word{}, false
	switch n := g.below(5); {
	case n == 0:
		c.wh, c.mode, c.subj = "who", say, nounPhrase{"谁", "", "", "who", third}
	case n == 1 && c.verb.a == "P":
		c.wh, c.obj = "who", nounPhrase{zh: "谁", head: "who"}
	case n == 1:
		c.wh, c.obj = "what", nounPhrase{zh: "什么", head: "what"}
	case n == 2 && c.tense.times == "f":
		c.wh, c.time = "when", nounPhrase{zh: "什么 时候"}
	case n == 3 && c.tense.times != "" && c.tense.aux != "be":
		c.wh, c.place = "where", nounPhrase{zh: "在 哪里"}
	default:
		c.wh = "why"
		c.adv = word{zh: "为什么", forms: []string{""}}
	}
	return c.sentence()
}

// 他没有车。 He does not have a car.
func (g *generator) having() sentence {
	c := clause{verb: word{zh: "有", forms: []string{"have"}}, tense: tense{notZh: "没", aux: "do"}}
	c.mode = g.mode(c.tense)
	c.subj = g.subject(c.mode, g.individual)
	w := g.of(nouns, "taK")
	switch {
	case g.chance(25):
		w = g.of(nouns, "K")
	case c.mode != deny && g.chance(20):
		w = g.of(nouns, "d")
	}
	if c.obj = g.noun(w, "1n"); c.mode == deny {
		c.obj = newNoun(w.zh, article(w.en()), w.en(), third)
	}
	return c.sentence()
}

// 他们是医生。 They are doctors.
func (g *generator) profession() sentence {
	mode, w, not := g.mode(nowTense), g.of(nouns, "N"), ""
	subj := g.subject(mode, g.individual)
	what := article(w.en())
	if subj.who == pluralPerson {
		what = w.plural()
	}
	if mode == deny {
		not = "不"
	}
	return be(mode, subj, "be", what, join(subj.zh, not, "是", w.zh), coreOf(subj.head, "be", w.en()))
}

// 我昨天很忙。 I was busy yesterday.
// 这些花非常漂亮。 These flowers are very beautiful.
// 我的车不是红色的。 My car is not red.
func (g *generator) state() sentence {
	mode := g.mode(nowTense)
	subj, adj := g.subject(mode, g.person), g.of(adjectives, "P-")
	if g.chance(50) {
		adj = g.of(adjectives, "taCz")
		w := g.of(nouns, adj.a)
		subj = g.noun(word{zh: w.zh, forms: w.forms, b: w.b}, "dDpt")
	}
	yes, not, en := "很 "+adj.zh, "不 "+adj.zh, adj.en()
	switch {
	case endsIn(adj.zh, "色"):
		yes, not = "是 "+adj.zh+" 的", "不 是 "+adj.zh+" 的"
	case mode == ask:
		yes = adj.zh
	case mode == say && g.chance(30):
		yes, en = "非常 "+adj.zh, "very "+en
	}
	if mode == deny {
		yes = not
	}
	aux, time := "be", nounPhrase{}
	if adj.a == "-" && g.chance(40) {
		aux, time = "was", g.time("p")
	}
	return be(mode, subj, aux, join(en, time.en), join(subj.zh, time.zh, yes), coreOf(subj.head, "be", adj.en()))
}
