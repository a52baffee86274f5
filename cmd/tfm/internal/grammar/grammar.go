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

// ---- Clauses.

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
	forms := map[string][3]string{"do": {"does", "do", "do"}, "have": {"has", "have", "have"}, "be": {"is", "am", "are"},
		"was": {"was", "was", "were"}}
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
	zh, after, notZh, notAfter string // Chinese before and after the verb
	aux                        string // English auxiliary
	form                       verbForm
	lead                       string // English verb that governs that of the clause: want to …
	adv, notAdv, notEnd        string // has already …; has never …; has not … yet
	times                      string // letters of the times
	objects, notObjects        string // kinds of object, see generator.noun
}

var (
	nowTense = tense{notZh: "不", aux: "do"}
	tenses   = []tense{habitTense, habitTense, habitTense, habitTense, habitTense, habitTense, habitTense, habitTense, pastTense, pastTense, pastTense, pastTense,
		perfectTense, perfectTense, alreadyTense, futureTense, futureTense, progressTense, progressTense, progressTense, wantTense, likeTense, canTense, shouldTense, mustTense}
	habitTense    = tense{notZh: "不", aux: "do", times: "h", objects: "bbdp", notObjects: "bbdp"}
	pastTense     = tense{after: "了", notZh: "没", aux: "did", times: "p", objects: "11nndDpq", notObjects: "dDpb"}
	perfectTense  = tense{after: "过", notZh: "从来 没", notAfter: "过", aux: "have", form: participleForm, notAdv: "never", objects: "ndDpb", notObjects: "dDpb"}
	alreadyTense  = tense{zh: "已经", after: "了", notZh: "还 没", aux: "have", form: participleForm, adv: "already", notEnd: "yet", objects: "ndDp", notObjects: "dDp"}
	futureTense   = tense{zh: "会", notZh: "不 会", aux: "will", times: "f", objects: "11ndDpb", notObjects: "dDpb"}
	progressTense = tense{zh: "正在", notZh: "没 在", aux: "be", form: ingForm, times: "n", objects: "11dDpb", notObjects: "dDpb"}
	wantTense     = tense{zh: "想", notZh: "不 想", aux: "do", lead: "want", times: "f", objects: "11ndDpb", notObjects: "dDpb"}
	likeTense     = tense{zh: "喜欢", notZh: "不 喜欢", aux: "do", lead: "like", form: ingForm, objects: "b", notObjects: "b"}
	canTense      = tense{zh: "能", notZh: "不 能", aux: "can", times: "f", objects: "1dDpb", notObjects: "dDpb"}
	shouldTense   = tense{zh: "应该", notZh: "不 应该", aux: "should", objects: "1dDpb", notObjects: "dDpb"}
	mustTense     = tense{zh: "必须", aux: "must", times: "f", objects: "1dDp"}
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

// words returns the words of the tense in a mood: Chinese before and after the verb, the English
// adverb and the English end.
func (t tense) words(mode mood) (marker, after, adv, end string) {
	if mode == deny {
		return t.notZh, t.notAfter, t.notAdv, t.notEnd
	}
	return t.zh, t.after, t.adv, ""
}

// chinese returns the Chinese words without punctuation.
func (c clause) chinese() string {
	marker, after, _, _ := c.tense.words(c.mode)
	place := c.place.zh
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
	t, mode := c.tense, c.mode
	_, _, adv, end := t.words(mode)
	verb, form, tail := c.verb, t.form, ""
	if t.lead != "" {
		verb, form, tail = word{forms: []string{t.lead}}, baseForm, c.verb.verb(t.form)
		if t.form == baseForm {
			tail = "to " + tail
		}
	}
	if c.adv.zh != "" {
		adv = c.adv.en()
	}
	if adv == "never" {
		mode = say
	}
	aux, main := agree(t.aux, c.subj.who), verb.verb(form)
	finite := map[string]verbForm{"do": baseForm, "does": presentForm, "did": pastForm}
	if f, ok := finite[aux]; ok && mode == say { // does buy -> buys
		aux, main = "", verb.verb(f)
	}
	return order(mode, c.wh, c.subj.en, aux, adv, main, tail, c.obj.obj, c.place.en, c.time.en, end)
}

// be returns a sentence with the verb be, whose form or auxiliary is aux. zh is the complete
// Chinese.
func be(mode mood, subj nounPhrase, aux, adv, complement, zh, core string) sentence {
	return finish(mode, "", zh, order(mode, "", subj.en, agree(aux, subj.who), adv, "", complement), core)
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

// ---- Random choices.

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
// this or that, D these or those, p with a possessor, q some or a lot of, t the (bare in Chinese,
// only as subject), c how many. Uncountable nouns are bare, or in a container for 1, n and c.
func (g *generator) noun(w word, kinds string) nounPhrase {
	kind := kinds[g.below(len(kinds))]
	zh, one, many, head := w.zh, w.en(), w.plural(), w.en()
	cl, container, _ := strings.Cut(w.b, ":")
	if cl == "-" || container != "" {
		if container == "" || strings.IndexByte("1nc", kind) < 0 {
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
	case 'q':
		return newNoun(join([]string{"一些", "很多"}[far], zh), join([]string{"some", "a lot of"}[far], many), head, pluralPerson)
	case 't':
		return newNoun(zh, "the "+one, head, third)
	case 'c':
		return newNoun(join("几", cl, zh), "how many "+many, head, pluralPerson)
	}
	return newNoun(zh, many, head, pluralPerson)
}

// possessor draws a name or a pronoun.
func (g *generator) possessor() possessor {
	if g.chance(25) {
		n := pick(g, names)
		return possessor{n.zh, n.en() + "'s", n.en() + "'s"}
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
	n, far := pick(g, numbers[:4]), g.below(2)
	return newNoun(join([]string{"这", "那"}[far], n.zh, w.b, w.zh), join([]string{"these", "those"}[far], n.en(), w.plural()), w.en(), pluralPerson)
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

// time draws a time of the kinds in letters: a word, or a duration before or after now.
func (g *generator) time(letters string) nounPhrase {
	if letters == "" {
		return nounPhrase{}
	}
	if strings.ContainsAny(letters, "pf") && g.chance(30) {
		u, n := pick(g, units), pick(g, numbers)
		span := join(n.en(), pluralOf(u.en()))
		if g.chance(25) {
			n.zh, span = "一", article(u.en())
		}
		if letters == "p" {
			return newNoun(join(n.zh, u.zh, "前"), span+" ago", "", 0)
		}
		return newNoun(join(n.zh, u.zh, "后"), "in "+span, "", 0)
	}
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
	if c.mode == say && c.adv.zh == "" && c.tense.adv == "" && g.chance(10) {
		switch all := c.subj.who == pluralPerson && g.chance(60); {
		case all && (strings.Contains(c.subj.en, " and ") || strings.Contains(c.subj.en, " two ")):
			c.adv = word{zh: "都", forms: []string{"both"}}
		case all:
			c.adv = word{zh: "都", forms: []string{"all"}}
		default:
			c.adv = word{zh: "也", forms: []string{"also"}}
		}
	}
}

// begun draws the mood and the subject of a clause.
func (g *generator) begun(c clause, person func() nounPhrase) clause {
	c.mode = g.mode(c.tense)
	c.subj = g.subject(c.mode, person)
	return c
}

// finished adds the circumstances of a clause and returns its sentence.
func (g *generator) finished(c clause) sentence {
	g.circumstances(&c)
	return c.sentence()
}

// predicate draws a verb of action and a tense that go together.
func (g *generator) predicate(transitive bool) (word, tense) {
	for {
		v, t := pick(g, verbs), pick(g, tenses)
		lasting := t.aux == "be" || t.times == "h" || t.lead == "like"
		unwilled := t.times == "p" || t.aux == "have" || t.aux == "will"
		if transitive != (v.a != "-") || lasting && strings.Contains(v.b, "!") || !unwilled && strings.Contains(v.b, "~") {
			continue
		}
		if strings.Contains(v.b, "+") && t.after == "过" {
			t = alreadyTense
		}
		return v, t
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
	case c.mode == ask:
		// after 了 a bare object is definite: 卖了床
		if kinds = "1" + c.tense.notObjects; c.tense.after == "了" {
			kinds = "1dDp"
		}
	}
	switch {
	case c.verb.a == "P":
		c.obj = g.other(c.subj)
	case transitive:
		c.obj = g.noun(g.of(nouns, c.verb.a), kinds)
	}
	where := strings.Trim(c.verb.b, "-!~+")
	// 没在公园跑步 would be ambiguous.
	if c.tense.notAdv != "" || c.mode == deny && (c.tense.aux == "be" || c.tense.aux == "did") {
		where = ""
	}
	if where != "" && (g.chance(30) || where == "c") {
		c.place = g.place(where)
	}
	g.circumstances(&c)
	return c
}

// ---- Sentence patterns.

var patterns = []struct {
	name   string
	weight int
	make   func(*generator) sentence
}{
	{"action", 36, (*generator).action}, {"activity", 13, (*generator).activity}, {"question word", 7, (*generator).question},
	{"likes and wants", 7, (*generator).likes}, {"having", 5, (*generator).having}, {"how many", 3, (*generator).howMany},
	{"possession", 5, (*generator).possession}, {"profession", 5, (*generator).profession}, {"state", 6, (*generator).state},
	{"quality", 5, (*generator).quality}, {"comparison", 5, (*generator).comparison}, {"place", 5, (*generator).whereabouts},
	{"there is", 4, (*generator).thereIs}, {"way", 6, (*generator).way}, {"home", 2, (*generator).home},
	{"giving", 3, (*generator).giving}, {"request", 2, (*generator).request},
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
	ask := func(tense) mood { return ask }
	c := g.clause(true, ask)
	for c.tense.aux == "have" {
		c = g.clause(true, ask)
	}
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

var statives = parse("喜欢 like ftdalsMSTLc; 爱 love fdaMSTL; 讨厌 hate fdalMSTL; 需要 need ftd; 想要 want ftd; 认识 know P")

// 汤姆不喜欢这只猫。 Tom does not like this cat.
func (g *generator) likes() sentence {
	c := g.begun(clause{verb: pick(g, statives), tense: nowTense}, g.person)
	kinds := "bbdDp"
	if strings.Contains("need want", c.verb.en()) {
		if kinds = "11nd"; c.mode != say {
			kinds = "dp"
		}
	}
	if c.obj = g.other(c.subj); c.verb.a != "P" {
		c.obj = g.noun(g.of(nouns, c.verb.a), kinds)
	}
	return g.finished(c)
}

var (
	have = tense{notZh: "没", aux: "do"}
	own  = word{zh: "有", forms: []string{"have"}}
)

// 他没有车。 He does not have a car.
func (g *generator) having() sentence {
	c := g.begun(clause{verb: own, tense: have}, g.individual)
	w := g.of(nouns, "taK")
	switch {
	case g.chance(25):
		w = g.of(nouns, "K")
	case c.mode != deny && g.chance(15):
		w = g.of(nouns, "d")
	}
	if c.obj = g.noun(w, "1n"); c.mode == deny {
		c.obj = newNoun(w.zh, article(w.en()), w.en(), third)
	}
	return g.finished(c)
}

// 她有几个姐姐？ How many older sisters does she have?
func (g *generator) howMany() sentence {
	c := g.clause(true, func(tense) mood { return ask })
	if !strings.ContainsAny(c.verb.a, "ftcwrpd") || c.tense.times != "p" {
		c = clause{subj: g.subject(ask, g.individual), verb: word{a: "taKd", zh: "有", forms: own.forms}, tense: have, mode: ask}
	}
	c.obj = g.noun(g.of(nouns, c.verb.a), "c")
	c.wh, c.obj.obj, c.front = c.obj.en, "", false
	return c.sentence()
}

var demonstratives = []nounPhrase{newNoun("这", "this", "this", third), newNoun("那", "that", "that", third),
	newNoun("这些", "these", "these", pluralPerson), newNoun("那些", "those", "those", pluralPerson)}

// 这些是我们的书。 These are our books.
// 那把雨伞是玛丽的。 That umbrella is Mary's.
// 这是谁的车？ Whose car is this?
func (g *generator) possession() sentence {
	w, p, mode := g.of(nouns, "ta"), g.possessor(), g.mode(nowTense)
	core, not := coreOf(p.pron, "own", w.en()), map[mood]string{deny: "不"}[mode]
	if g.chance(40) {
		n := g.noun(w, "dD")
		return be(mode, n, "be", "", p.pron, join(n.zh, not, "是", p.zh, "的"), core)
	}
	this, name := pick(g, demonstratives), w.en()
	if this.who == pluralPerson {
		name = w.plural()
	}
	if g.chance(20) {
		return finish(ask, "whose", join(this.zh, "是 谁 的", w.zh),
			join("whose", name, agree("be", this.who), this.en), coreOf("who", "own", w.en()))
	}
	return be(mode, this, "be", "", join(p.det, name), join(this.zh, not, "是", p.zh, "的", w.zh), core)
}

// 他们是医生。 They are doctors.
// 我的妹妹想当一位演员。 My younger sister wants to be an actor.
func (g *generator) profession() sentence {
	c := g.begun(clause{verb: word{zh: "是", forms: []string{"be"}}, tense: nowTense}, g.individual)
	w := g.of(nouns, "N")
	c.obj = g.noun(w, "b")
	if c.subj.who != pluralPerson {
		if c.obj = g.noun(word{zh: w.zh, forms: w.forms, b: w.b}, "1"); g.chance(50) || c.mode == deny {
			c.obj.zh = w.zh
		}
	}
	switch g.below(3) {
	case 0:
		c.tense, c.verb.zh = wantTense, "当"
		c.tense.times = ""
	case 1:
		c.tense, c.verb = futureTense, word{zh: "当", forms: []string{"become"}}
		c.tense.times = "y"
	default:
		not := map[mood]string{deny: "不"}[c.mode]
		return be(c.mode, c.subj, "be", "", c.obj.en, join(c.subj.zh, not, "是", c.obj.zh), coreOf(c.subj.head, "be", w.en()))
	}
	return g.finished(c)
}

// copula returns a sentence with a form of be: yes and not are its Chinese in statements and
// negations.
func (g *generator) copula(mode mood, subj nounPhrase, times string, yes, not, en, core string) sentence {
	aux, adv, will, time := "be", "", "", nounPhrase{}
	switch n := g.below(4); {
	case n == 0 && strings.Contains(times, "p"):
		aux, time = "was", g.time("p")
	case n == 1 && strings.Contains(times, "f"):
		aux, will, time = "will", "会", g.time("f")
		if en = "be " + en; mode == deny {
			not = "不 会 " + yes
			will = ""
		}
	case n == 2 && mode == say:
		adv = "also"
		yes = "也 " + yes
	}
	if mode == deny {
		yes = not
	}
	zh := join(subj.zh, time.zh, will, yes)
	if g.chance(35) {
		zh = join(time.zh, subj.zh, will, yes)
	}
	return be(mode, subj, aux, adv, join(en, time.en), zh, core)
}

// 我昨天很忙。 I was busy yesterday.
// 那位老师非常聪明。 That teacher is very clever.
func (g *generator) state() sentence {
	mode := g.mode(nowTense)
	subj, adj := g.subject(mode, g.person), g.of(adjectives, "P-")
	yes, en, times := "很 "+adj.zh, adj.en(), ""
	if g.chance(30) && mode == say {
		yes, en = "非常 "+adj.zh, "very "+adj.en()
	}
	if adj.a == "-" {
		times = "pf"
	}
	if mode == ask {
		yes = adj.zh
	}
	return g.copula(mode, subj, times, yes, "不 "+adj.zh, en, coreOf(subj.head, "be", adj.en()))
}

// thing draws an adjective and a noun that go together.
func (g *generator) thing() (noun, adj word) {
	adj = g.of(adjectives, "taCz")
	for noun = g.of(nouns, adj.a); strings.Contains(noun.a, "N"); noun = g.of(nouns, adj.a) {
	}
	return noun, adj
}

// 这些花很漂亮。 These flowers are beautiful.
// 我的车不是红色的。 My car is not red.
func (g *generator) quality() sentence {
	w, adj := g.thing()
	n, mode := g.noun(word{zh: w.zh, forms: w.forms, b: w.b}, "dDpt"), g.mode(nowTense)
	yes, not, en := "很 "+adj.zh, "不 "+adj.zh, adj.en()
	switch {
	case endsIn(adj.zh, "色"):
		yes, not = "是 "+adj.zh+" 的", "不 是 "+adj.zh+" 的"
	case mode == ask:
		yes = adj.zh
	case mode == say && g.chance(30):
		yes, en = "非常 "+adj.zh, "very "+adj.en()
	}
	return g.copula(mode, n, "", yes, not, en, coreOf(w.en(), "be", adj.en()))
}

// 汤姆比我高。 Tom is taller than me.
// 这辆车没有那辆车贵。 This car is not as expensive as that car.
func (g *generator) comparison() sentence {
	mode := g.mode(nowTense)
	adj := g.of(adjectives, "P")
	a := g.subject(mode, g.person)
	b := g.other(a)
	if g.chance(50) {
		w, q := g.thing()
		for endsIn(q.zh, "色") {
			w, q = g.thing()
		}
		w.a, adj = "", q
		kind := []string{"d", "D", "p"}[g.below(3)]
		for a, b = g.noun(w, kind), g.noun(w, kind); a.zh == b.zh; {
			b = g.noun(w, kind)
		}
	}
	core := coreOf(a.head, adj.en(), b.head)
	if mode == deny {
		return be(mode, a, "be", "", join("as", adj.en(), "as", b.obj), join(a.zh, "没有", b.zh, adj.zh), core)
	}
	return be(mode, a, "be", "", join(adj.comparative(), "than", b.obj), join(a.zh, "比", b.zh, adj.zh), core)
}

// spot draws a place relative to an object: 桌子 上, on the table.
func (g *generator) spot() nounPhrase {
	for {
		f, p := pick(g, furniture), pick(g, positions)
		if strings.Contains(f.a, string([]rune(p.zh)[:1])) {
			return newNoun(f.zh+" "+p.zh, join(p.en(), "the", f.en()), p.en()+" "+f.en(), third)
		}
	}
}

// 她昨天在家。 She was at home yesterday.
// 书在桌子上。 The book is on the table.
// 你的钥匙在哪里？ Where is your key?
func (g *generator) whereabouts() sentence {
	mode := g.mode(nowTense)
	subj, at, times := g.subject(mode, g.person), g.place("cehqsow"), "pf"
	if g.chance(50) {
		subj, at, times = g.noun(g.of(nouns, "uj"), "dptD"), g.spot(), ""
		at.zh = "在 " + at.zh
	}
	if g.chance(10) {
		return finish(ask, "where", subj.zh+" 在 哪里", join("where", agree("be", subj.who), subj.en), coreOf(subj.head, "be", "where"))
	}
	return g.copula(mode, subj, times, at.zh, "不 "+at.zh, at.en, coreOf(subj.head, "be", at.head))
}

// 桌子上有两本书。 There are two books on the table.
// 花园里没有狗。 There are no dogs in the garden.
func (g *generator) thereIs() sentence {
	w, at, mode := g.of(nouns, "uj"), g.spot(), g.mode(nowTense)
	if g.chance(50) {
		p := g.of(places, "ehqsow")
		w = g.of(nouns, "NGa")
		at = newNoun(p.zh, join(p.b, p.en()), p.en(), third)
		if at.zh += " 里"; p.b == "on" {
			at.zh = p.zh + " 上"
		}
	}
	n, core := g.noun(w, "11nq"), coreOf(w.en(), "exist", at.head)
	if mode == ask {
		n = g.noun(w, "1n")
	}
	there := nounPhrase{en: "there", who: n.who}
	if mode == deny {
		there.who = pluralPerson
		return be(say, there, "be", "", join("no", w.plural(), at.en), join(at.zh, "没 有", w.zh), core)
	}
	return be(mode, there, "be", "", join(n.en, at.en), join(at.zh, "有", n.zh), core)
}

// 我们明天会坐火车去北京。 We will go to Beijing by train tomorrow.
// 他从来没去过博物馆。 He has never been to the museum.
func (g *generator) way() sentence {
	c := clause{verb: word{zh: "去", forms: []string{"go", "went", "been"}}}
	for c.tense = pick(g, tenses); c.tense.adv != "" || c.tense.aux == "be" || c.tense.lead == "like"; {
		c.tense = pick(g, tenses)
	}
	c = g.begun(c, g.person)
	p := g.of(places[1:], []string{"c", "eoqsw"}[g.below(2)])
	c.obj = newNoun(p.zh, "to "+p.en(), p.en(), third)
	if g.chance(40) && c.tense.aux != "have" {
		v := g.of(vehicles, p.a)
		c.place = newNoun("坐 "+v.zh, "by "+v.en(), "", 0)
	}
	return g.finished(c)
}

// 安娜住在上海。 Anna lives in Shanghai.
// 他们来自法国吗？ Do they come from France?
func (g *generator) home() sentence {
	c := clause{verb: word{zh: "住", forms: []string{"live"}}, tense: nowTense, mode: g.mode(nowTense), obj: g.place("c")}
	if g.chance(50) {
		c.verb, c.tense.notZh = word{zh: "来自", forms: []string{"come"}}, "不 是"
		c.obj.zh, c.obj.obj = strings.TrimPrefix(c.obj.zh, "在 "), "from "+c.obj.head
	}
	c.subj = g.subject(c.mode, g.person)
	return g.finished(c)
}

// 我的妈妈给了他一件大衣。 My mother gave him a coat.
func (g *generator) giving() sentence {
	c := clause{verb: word{zh: "给", forms: []string{"give", "gave", "given"}}, tense: []tense{pastTense, pastTense, futureTense, wantTense, alreadyTense}[g.below(5)]}
	c = g.begun(c, g.individual)
	to, kinds := g.other(c.subj), "11nd"
	if c.mode == deny {
		kinds = "d"
	}
	c.obj = g.noun(g.of(nouns, "td"), kinds)
	c.obj.zh, c.obj.obj = to.zh+" "+c.obj.zh, to.obj+" "+c.obj.obj
	return g.finished(c)
}

// 请打开这扇窗户。 Please open this window.
// 不要卖你的车。 Do not sell your car.
func (g *generator) request() sentence {
	v := g.of(verbs, "bmorsxzP")
	for strings.Contains(v.b, "~") {
		v = g.of(verbs, "bmorsxzP")
	}
	o := g.other(nounPhrase{head: "you", en: "you"})
	if v.a != "P" {
		o = g.noun(g.of(nouns, v.a), "dp")
	}
	zh, en := "请", "please"
	if g.chance(50) {
		zh, en = "不 要", "do not"
	}
	return finish(say, "", join(zh, v.zh, o.zh), join(en, v.en(), o.obj), coreOf("you", v.en(), o.head))
}
