package main

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
)

// The task of tfm demo: Chinese to English, by a grammar that writes both sides of a sentence at once. The two languages
// differ in what they leave unsaid. Chinese marks neither number, person, tense nor (in)definiteness on the word, but
// has particles, classifiers, numbers and times from which the English forms follow; so each Chinese sentence has exactly
// one English one, and finding it takes word order, agreement, articles and tense.

// demoPair is a Chinese sentence and its translation.
type demoPair struct{ src, tgt string }

// demoSentence is a pair whose words are still apart ("他 买 了 一 本 书"), with its pattern and its core: who does what to
// what, whatever the tense, the number, the place and the words around.
type demoSentence struct{ zh, en, pattern, core string }

const (
	demoTrainPairs   = 40000
	demoHeldOutPairs = 1000
	demoHeldOutOneIn = 32 // share of the cores kept out of training
)

// demoCorpus returns the training pairs and 1,000 held-out pairs, always the same. The core of a sentence (subject,
// predicate, object: "she, buy, umbrella") decides by its hash which side it is on, so a held-out core occurs in no
// training sentence at all, in no tense and no pattern, while each of its words does.
func demoCorpus() (train, heldOut []demoPair) {
	t, h := demoSentences()
	return demoPairs(t), demoPairs(h)
}

func demoPairs(s []demoSentence) []demoPair {
	p := make([]demoPair, len(s))
	for i, s := range s {
		p[i] = s.pair()
	}
	return p
}

func (s demoSentence) pair() demoPair {
	return demoPair{strings.ReplaceAll(s.zh, " ", ""), strings.ToUpper(s.en[:1]) + s.en[1:]}
}

func demoSentences() (train, heldOut []demoSentence) {
	g := &demoGrammar{rand.NewPCG(2017, 1706)}
	seen := map[string]bool{}
	for len(train) < demoTrainPairs || len(heldOut) < demoHeldOutPairs {
		s := g.sentence()
		src := s.pair().src
		if seen[src] {
			continue
		}
		seen[src] = true
		h := fnv.New32a()
		h.Write([]byte(s.core))
		switch heldOutCore := h.Sum32()%demoHeldOutOneIn == 0; {
		case heldOutCore && len(heldOut) < demoHeldOutPairs:
			heldOut = append(heldOut, s)
		case !heldOutCore && len(train) < demoTrainPairs:
			train = append(train, s)
		}
	}
	return train, heldOut
}

// ---- Clauses.

type demoWho int

const (
	demoThird demoWho = iota
	demoFirst
	demoSecond
	demoPlural
)

// demoNP is a noun phrase: its English as subject and as object, and the head that cores are made of.
type demoNP struct {
	zh, en, obj, head string
	who               demoWho
}

func demoAgree(aux string, who demoWho) string {
	forms := map[string][3]string{"do": {"does", "do", "do"}, "have": {"has", "have", "have"}, "be": {"is", "am", "are"},
		"was": {"was", "was", "were"}}
	if f, ok := forms[aux]; ok {
		return f[min(who, 2)]
	}
	return aux
}

type demoMode int

const (
	demoSay demoMode = iota
	demoDeny
	demoAsk
)

// demoTense is a way to put a verb: the Chinese around it and the English auxiliary and form, for statements and
// negations; the times that go with it, and the kinds of object (see demoGrammar.noun).
type demoTense struct {
	zh, after, notZh, notAfter string
	aux                        string
	form                       demoForm
	lead                       string // verb that takes the one of the clause: want to …
	adv, notAdv, notEnd        string // has already …; has never …; has not … yet
	times                      string
	objects, notObjects        string
}

var (
	demoNow    = demoTense{notZh: "不", aux: "do"}
	demoTenses = []demoTense{demoHabit, demoHabit, demoHabit, demoHabit, demoHabit, demoHabit, demoHabit, demoHabit, demoPastT, demoPastT, demoPastT, demoPastT,
		demoPerfect, demoPerfect, demoAlready, demoFuture, demoFuture, demoProgress, demoProgress, demoProgress, demoWant, demoLike, demoCan, demoShould, demoMust}
	demoHabit    = demoTense{notZh: "不", aux: "do", times: "h", objects: "bbdp", notObjects: "bbdp"}
	demoPastT    = demoTense{after: "了", notZh: "没", aux: "did", times: "p", objects: "11nndDpq", notObjects: "dDpb"}
	demoPerfect  = demoTense{after: "过", notZh: "从来 没", notAfter: "过", aux: "have", form: demoParticiple, notAdv: "never", objects: "ndDpb", notObjects: "dDpb"}
	demoAlready  = demoTense{zh: "已经", after: "了", notZh: "还 没", aux: "have", form: demoParticiple, adv: "already", notEnd: "yet", objects: "ndDp", notObjects: "dDp"}
	demoFuture   = demoTense{zh: "会", notZh: "不 会", aux: "will", times: "f", objects: "11ndDpb", notObjects: "dDpb"}
	demoProgress = demoTense{zh: "正在", notZh: "没 在", aux: "be", form: demoIng, times: "n", objects: "11dDpb", notObjects: "dDpb"}
	demoWant     = demoTense{zh: "想", notZh: "不 想", aux: "do", lead: "want", times: "f", objects: "11ndDpb", notObjects: "dDpb"}
	demoLike     = demoTense{zh: "喜欢", notZh: "不 喜欢", aux: "do", lead: "like", form: demoIng, objects: "b", notObjects: "b"}
	demoCan      = demoTense{zh: "能", notZh: "不 能", aux: "can", times: "f", objects: "1dDpb", notObjects: "dDpb"}
	demoShould   = demoTense{zh: "应该", notZh: "不 应该", aux: "should", objects: "1dDpb", notObjects: "dDpb"}
	demoMust     = demoTense{zh: "必须", aux: "must", times: "f", objects: "1dDp"}
)

// demoClause is somebody doing something, perhaps somewhere at some time.
type demoClause struct {
	subj, obj   demoNP
	verb        demoWord
	tense       demoTense
	mode        demoMode
	adv         demoWord // between subject and verb in both languages
	place, time demoNP
	front       bool   // the Chinese time word comes first
	wh          string // English question word; the Chinese one stands where the answer would
}

func (c demoClause) sentence() demoSentence {
	t := c.tense
	marker, after, notEnd := t.zh, t.after, ""
	if c.mode == demoDeny {
		marker, after, notEnd, t.adv = t.notZh, t.notAfter, t.notEnd, t.notAdv
	}
	place := c.place.zh
	if demoEnds(marker, "在") {
		place = strings.TrimPrefix(place, "在 ")
	}
	zh := []string{c.subj.zh, c.time.zh}
	if c.front {
		slices.Reverse(zh)
	}
	zh = append(zh, c.adv.zh, marker, place, c.verb.zh, after, c.obj.zh)

	verb, tail := c.verb, ""
	if t.lead != "" {
		verb, tail = demoWord{forms: []string{t.lead}}, c.verb.verb(t.form)
		if t.form == demoBase {
			tail = "to " + tail
		}
	}
	form := t.form
	if tail != "" {
		form = demoBase
	}
	mode, adv := c.mode, t.adv
	if c.adv.zh != "" {
		adv = c.adv.en()
	}
	if adv == "never" {
		mode = demoSay
	}
	aux, main := demoAgree(t.aux, c.subj.who), verb.verb(form)
	if mode == demoSay { // does buy -> buys
		switch aux {
		case "does":
			aux, main = "", verb.verb(demoPresent)
		case "do":
			aux = ""
		case "did":
			aux, main = "", verb.verb(demoPast)
		}
	}
	en := demoOrder(mode, c.wh, c.subj.en, aux, adv, main, tail, c.obj.obj, c.place.en, c.time.en, notEnd)
	return demoFinish(c.mode, c.wh, demoJoin(zh...), en, demoCore(c.subj.head, c.verb.en(), c.obj.head))
}

// demoBe is a sentence whose verb is be (or was, or will with an adverb be): zh is all of the Chinese.
func demoBe(mode demoMode, subj demoNP, aux, adv, complement, zh, core string) demoSentence {
	return demoFinish(mode, "", zh, demoOrder(mode, "", subj.en, demoAgree(aux, subj.who), adv, "", complement), core)
}

func demoCore(subject, predicate, object string) string {
	return subject + ", " + predicate + ", " + object
}

// demoOrder puts the English words in order.
func demoOrder(mode demoMode, wh, subj, aux, adv, main string, rest ...string) string {
	end := demoJoin(rest...)
	switch mode {
	case demoAsk:
		return demoJoin(wh, aux, subj, adv, main, end)
	case demoDeny:
		return strings.Replace(demoJoin(subj, aux, "not", adv, main, end), "can not", "cannot", 1)
	}
	return demoJoin(wh, subj, aux, adv, main, end)
}

// demoFinish adds what ends the sentence.
func demoFinish(mode demoMode, wh, zh, en, core string) demoSentence {
	switch {
	case wh != "":
		return demoSentence{zh: zh + " ？", en: en + "?", core: core}
	case mode == demoAsk:
		return demoSentence{zh: zh + " 吗 ？", en: en + "?", core: core}
	}
	return demoSentence{zh: zh + " 。", en: en + ".", core: core}
}

// ---- Choosing: everything drawn at random goes through below.

type demoGrammar struct{ rng *rand.PCG }

func (g *demoGrammar) below(n int) int { return int(g.rng.Uint64() >> 32 * uint64(n) >> 32) }

func (g *demoGrammar) chance(percent int) bool { return g.below(100) < percent }

func demoPick[T any](g *demoGrammar, from []T) T { return from[g.below(len(from))] }

// of draws a word whose first field has one of the letters.
func (g *demoGrammar) of(words []demoWord, letters string) demoWord {
	for {
		if w := demoPick(g, words); strings.ContainsAny(w.a, letters) {
			return w
		}
	}
}

func (g *demoGrammar) mode(t demoTense) demoMode {
	if t.notZh == "" || g.chance(64) {
		return demoSay
	}
	return demoMode(1 + g.below(2))
}

func demoNoun(zh, en, head string, who demoWho) demoNP { return demoNP{zh, en, en, head, who} }

// noun puts w in one of these ways, drawn from kinds: b bare (tea, dogs), 1 one, n two to ten, d this or that, D these or
// those, p somebody's, q some or a lot of, t the (the bare subject), c how many. What is not counted stays bare if it must.
func (g *demoGrammar) noun(w demoWord, kinds string) demoNP {
	kind := kinds[g.below(len(kinds))]
	zh, one, many, head := w.zh, w.en(), w.plural(), w.en()
	cl, container, _ := strings.Cut(w.b, ":")
	if cl == "-" || container != "" {
		if container == "" || strings.IndexByte("1nc", kind) < 0 {
			return demoNoun(zh, one, head, demoThird)
		}
		one, many = container+" of "+one, demoS(container)+" of "+one
	}
	if adj := demoPick(g, demoAdjectives); kind != 'b' && (kind == '1' || g.chance(40)) && strings.ContainsAny(adj.a, w.a) {
		zh, one, many = adj.zh+" 的 "+zh, demoJoin(adj.en(), one), demoJoin(adj.en(), many)
	}
	far := g.below(2)
	switch kind {
	case '1':
		return demoNoun(demoJoin("一", cl, zh), demoArticle(one), head, demoThird)
	case 'n':
		n := demoPick(g, demoNumbers)
		return demoNoun(demoJoin(n.zh, cl, zh), demoJoin(n.en(), many), head, demoPlural)
	case 'd':
		return demoNoun(demoJoin([]string{"这", "那"}[far], cl, zh), demoJoin([]string{"this", "that"}[far], one), head, demoThird)
	case 'D':
		return demoNoun(demoJoin([]string{"这些", "那些"}[far], zh), demoJoin([]string{"these", "those"}[far], many), head, demoPlural)
	case 'p':
		p := g.possessor()
		return demoNoun(demoJoin(p.zh, "的", zh), demoJoin(p.det, one), head, demoThird)
	case 'q':
		return demoNoun(demoJoin([]string{"一些", "很多"}[far], zh), demoJoin([]string{"some", "a lot of"}[far], many), head, demoPlural)
	case 't':
		return demoNoun(zh, "the "+one, head, demoThird)
	case 'c':
		return demoNoun(demoJoin("几", cl, zh), "how many "+many, head, demoPlural)
	}
	return demoNoun(zh, many, head, demoPlural)
}

func (g *demoGrammar) possessor() demoPossessor {
	if g.chance(25) {
		n := demoPick(g, demoNames)
		return demoPossessor{n.zh, n.en() + "'s", n.en() + "'s"}
	}
	return demoPick(g, demoPossessors)
}

// individual is a pronoun, a name or a relative; person may also be somebody by profession, or several.
func (g *demoGrammar) individual() demoNP {
	switch n := g.below(10); {
	case n < 4:
		return demoPick(g, demoPronouns)
	case n < 6:
		n := demoPick(g, demoNames)
		return demoNoun(n.zh, n.en(), n.en(), demoThird)
	case n < 8:
		a, b := demoPick(g, demoNames), demoPick(g, demoNames)
		if a.zh == b.zh {
			return g.individual()
		}
		both := a.en() + " and " + b.en()
		return demoNoun(a.zh+" 和 "+b.zh, both, both, demoPlural)
	}
	w := g.of(demoNouns, "H")
	p := g.possessor()
	return demoNoun(demoJoin(p.zh, "的", w.zh), demoJoin(p.det, w.en()), w.en(), demoThird)
}

func (g *demoGrammar) person() demoNP {
	if g.chance(50) {
		return g.individual()
	}
	w := g.of(demoNouns, "NG")
	switch n := g.below(8); {
	case n < 5:
		return g.noun(w, "ttdD")
	case n < 6:
		return demoNoun(w.zh+" 们", "the "+w.plural(), w.en(), demoPlural)
	}
	n, far := demoPick(g, demoNumbers[:4]), g.below(2)
	return demoNoun(demoJoin([]string{"这", "那"}[far], n.zh, w.b, w.zh), demoJoin([]string{"these", "those"}[far], n.en(), w.plural()), w.en(), demoPlural)
}

// other is a person who can be the object of what p does: I do not help us.
func (g *demoGrammar) other(p demoNP) demoNP {
	first := func(p demoNP) bool { return p.head == "I" || p.head == "we" }
	for {
		o := g.person()
		if o.head != p.head && !(first(p) && first(o)) && !strings.Contains(o.head, p.head) && !strings.Contains(p.head, o.head) &&
			!strings.Contains(o.en, p.head+"'s") && !strings.Contains(p.en, o.head+"'s") {
			return o
		}
	}
}

// subject is a person of whom m can be said: one does not ask what one does oneself.
func (g *demoGrammar) subject(m demoMode, person func() demoNP) demoNP {
	for {
		if p := person(); m != demoAsk || p.head != "I" && p.head != "we" {
			return p
		}
	}
}

func (g *demoGrammar) place(letters string) demoNP {
	w := g.of(demoPlaces, letters)
	return demoNoun("在 "+w.zh, demoJoin(w.b, w.en()), w.en(), demoThird)
}

// time is a time word, or so long ago, or in so long.
func (g *demoGrammar) time(letters string) demoNP {
	if letters == "" {
		return demoNP{}
	}
	if strings.ContainsAny(letters, "pf") && g.chance(30) {
		u, n := demoPick(g, demoUnits), demoPick(g, demoNumbers)
		span := demoJoin(n.en(), demoS(u.en()))
		if g.chance(25) {
			n.zh, span = "一", demoArticle(u.en())
		}
		if letters == "p" {
			return demoNoun(demoJoin(n.zh, u.zh, "前"), span+" ago", "", 0)
		}
		return demoNoun(demoJoin(n.zh, u.zh, "后"), "in "+span, "", 0)
	}
	w := g.of(demoTimes, letters)
	return demoNoun(w.zh, w.en(), "", 0)
}

// circumstances adds a time or an adverb.
func (g *demoGrammar) circumstances(c *demoClause) {
	switch {
	case c.tense.times == "h" && c.mode == demoSay && g.chance(35):
		c.adv = demoPick(g, demoAdverbs)
	case c.tense.times == "h" && c.mode == demoDeny && g.chance(55):
		c.time, c.front = g.time("w"), g.chance(35)
	case c.tense.times != "" && g.chance(55):
		c.time, c.front = g.time(c.tense.times), g.chance(35)
	}
	if c.mode == demoSay && c.adv.zh == "" && c.tense.adv == "" && g.chance(10) {
		switch all := c.subj.who == demoPlural && g.chance(60); {
		case all && (strings.Contains(c.subj.en, " and ") || strings.Contains(c.subj.en, " two ")):
			c.adv = demoWord{zh: "都", forms: []string{"both"}}
		case all:
			c.adv = demoWord{zh: "都", forms: []string{"all"}}
		default:
			c.adv = demoWord{zh: "也", forms: []string{"also"}}
		}
	}
}

// clause is a person doing something in any tense.
func (g *demoGrammar) clause(transitive bool, mode func(demoTense) demoMode) (c demoClause) {
	for {
		c.verb, c.tense = demoPick(g, demoVerbs), demoPick(g, demoTenses)
		lasting := c.tense.aux == "be" || c.tense.times == "h" || c.tense.lead == "like"
		unwilled := c.tense.times == "p" || c.tense.aux == "have" || c.tense.aux == "will"
		if transitive == (c.verb.a != "-") && !(lasting && strings.Contains(c.verb.b, "!")) && (unwilled || !strings.Contains(c.verb.b, "~")) {
			break
		}
	}
	if strings.Contains(c.verb.b, "+") && c.tense.after == "过" {
		c.tense = demoAlready
	}
	c.mode = mode(c.tense)
	c.subj = g.subject(c.mode, g.person)
	kinds := c.tense.objects
	switch {
	case c.mode == demoDeny:
		kinds = c.tense.notObjects
	case c.mode == demoAsk:
		if kinds = "1" + c.tense.notObjects; c.tense.after == "了" { // 卖了床 would be the bed
			kinds = "1dDp"
		}
	}
	switch {
	case c.verb.a == "P":
		c.obj = g.other(c.subj)
	case transitive:
		c.obj = g.noun(g.of(demoNouns, c.verb.a), kinds)
	}
	where := strings.Trim(c.verb.b, "-!~+")
	if c.tense.notAdv != "" || c.mode == demoDeny && (c.tense.aux == "be" || c.tense.aux == "did") { // 没在公园跑步 could be either
		where = ""
	}
	if where != "" && (g.chance(30) || where == "c") {
		c.place = g.place(where)
	}
	g.circumstances(&c)
	return c
}

// ---- Sentence patterns.

var demoPatterns = []struct {
	name   string
	weight int
	make   func(*demoGrammar) demoSentence
}{
	{"action", 36, (*demoGrammar).action}, {"activity", 13, (*demoGrammar).activity}, {"question word", 7, (*demoGrammar).question},
	{"likes and wants", 7, (*demoGrammar).likes}, {"having", 5, (*demoGrammar).having}, {"how many", 3, (*demoGrammar).howMany},
	{"possession", 5, (*demoGrammar).possession}, {"profession", 5, (*demoGrammar).profession}, {"state", 6, (*demoGrammar).state},
	{"quality", 5, (*demoGrammar).quality}, {"comparison", 5, (*demoGrammar).comparison}, {"place", 5, (*demoGrammar).whereabouts},
	{"there is", 4, (*demoGrammar).thereIs}, {"way", 6, (*demoGrammar).way}, {"home", 2, (*demoGrammar).home},
	{"giving", 3, (*demoGrammar).giving}, {"request", 2, (*demoGrammar).request},
}

func (g *demoGrammar) sentence() demoSentence {
	total := 0
	for _, p := range demoPatterns {
		total += p.weight
	}
	n := g.below(total)
	for _, p := range demoPatterns {
		if n -= p.weight; n < 0 {
			s := p.make(g)
			s.pattern = p.name
			return s
		}
	}
	panic("unreachable")
}

// 她昨天在商店买了两本书。 She bought two books at the shop yesterday.
func (g *demoGrammar) action() demoSentence { return g.clause(true, g.mode).sentence() }

// 孩子们正在花园睡觉。 The children are sleeping in the garden.
func (g *demoGrammar) activity() demoSentence { return g.clause(false, g.mode).sentence() }

// 你什么时候会买那辆车？ When will you buy that car?
func (g *demoGrammar) question() demoSentence {
	ask := func(demoTense) demoMode { return demoAsk }
	c := g.clause(true, ask)
	for c.tense.aux == "have" {
		c = g.clause(true, ask)
	}
	c.adv, c.front = demoWord{}, false
	switch n := g.below(5); {
	case n == 0:
		c.wh, c.mode, c.subj = "who", demoSay, demoNP{"谁", "", "", "who", demoThird}
	case n == 1 && c.verb.a == "P":
		c.wh, c.obj = "who", demoNP{zh: "谁", head: "who"}
	case n == 1:
		c.wh, c.obj = "what", demoNP{zh: "什么", head: "what"}
	case n == 2 && c.tense.times == "f":
		c.wh, c.time = "when", demoNP{zh: "什么 时候"}
	case n == 3 && c.tense.times != "" && c.tense.aux != "be":
		c.wh, c.place = "where", demoNP{zh: "在 哪里"}
	default:
		c.wh = "why"
		c.adv = demoWord{zh: "为什么", forms: []string{""}}
	}
	return c.sentence()
}

var demoStatives = demoParse("喜欢 like ftdalsMSTLc; 爱 love fdaMSTL; 讨厌 hate fdalMSTL; 需要 need ftd; 想要 want ftd; 认识 know P")

// 汤姆不喜欢这只猫。 Tom does not like this cat.
func (g *demoGrammar) likes() demoSentence {
	c := demoClause{verb: demoPick(g, demoStatives), tense: demoNow, mode: g.mode(demoNow)}
	c.subj = g.subject(c.mode, g.person)
	kinds := "bbdDp"
	if strings.Contains("need want", c.verb.en()) {
		if kinds = "11nd"; c.mode != demoSay {
			kinds = "dp"
		}
	}
	if c.obj = g.other(c.subj); c.verb.a != "P" {
		c.obj = g.noun(g.of(demoNouns, c.verb.a), kinds)
	}
	g.circumstances(&c)
	return c.sentence()
}

var (
	demoHave = demoTense{notZh: "没", aux: "do"}
	demoOwn  = demoWord{zh: "有", forms: []string{"have"}}
)

// 他没有车。 He does not have a car.
func (g *demoGrammar) having() demoSentence {
	c := demoClause{verb: demoOwn, tense: demoHave, mode: g.mode(demoHave)}
	c.subj = g.subject(c.mode, g.individual)
	w := g.of(demoNouns, "taK")
	switch {
	case g.chance(25):
		w = g.of(demoNouns, "K")
	case c.mode != demoDeny && g.chance(15):
		w = g.of(demoNouns, "d")
	}
	if c.obj = g.noun(w, "1n"); c.mode == demoDeny {
		c.obj = demoNoun(w.zh, demoArticle(w.en()), w.en(), demoThird)
	}
	g.circumstances(&c)
	return c.sentence()
}

// 她有几个姐姐？ How many older sisters does she have?
func (g *demoGrammar) howMany() demoSentence {
	c := g.clause(true, func(demoTense) demoMode { return demoAsk })
	if !strings.ContainsAny(c.verb.a, "ftcwrpd") || c.tense.times != "p" {
		c = demoClause{subj: g.subject(demoAsk, g.individual), verb: demoWord{a: "taKd", zh: "有", forms: demoOwn.forms}, tense: demoHave, mode: demoAsk}
	}
	c.obj = g.noun(g.of(demoNouns, c.verb.a), "c")
	c.wh, c.obj.obj, c.front = c.obj.en, "", false
	return c.sentence()
}

var demoDemonstratives = []demoNP{demoNoun("这", "this", "this", demoThird), demoNoun("那", "that", "that", demoThird),
	demoNoun("这些", "these", "these", demoPlural), demoNoun("那些", "those", "those", demoPlural)}

// 这些是我们的书。 These are our books. 那把雨伞是玛丽的。 That umbrella is Mary's. 这是谁的车？ Whose car is this?
func (g *demoGrammar) possession() demoSentence {
	w, p, mode := g.of(demoNouns, "ta"), g.possessor(), g.mode(demoNow)
	core, not := demoCore(p.pron, "own", w.en()), map[demoMode]string{demoDeny: "不"}[mode]
	if g.chance(40) {
		n := g.noun(w, "dD")
		return demoBe(mode, n, "be", "", p.pron, demoJoin(n.zh, not, "是", p.zh, "的"), core)
	}
	this, name := demoPick(g, demoDemonstratives), w.en()
	if this.who == demoPlural {
		name = w.plural()
	}
	if g.chance(20) {
		return demoFinish(demoAsk, "whose", demoJoin(this.zh, "是 谁 的", w.zh),
			demoJoin("whose", name, demoAgree("be", this.who), this.en), demoCore("who", "own", w.en()))
	}
	return demoBe(mode, this, "be", "", demoJoin(p.det, name), demoJoin(this.zh, not, "是", p.zh, "的", w.zh), core)
}

// 他们是医生。 They are doctors. 我的妹妹想当一位演员。 My younger sister wants to be an actor.
func (g *demoGrammar) profession() demoSentence {
	c := demoClause{verb: demoWord{zh: "是", forms: []string{"be"}}, tense: demoNow}
	c.mode = g.mode(c.tense)
	c.subj = g.subject(c.mode, g.individual)
	w := g.of(demoNouns, "N")
	c.obj = g.noun(w, "b")
	if c.subj.who != demoPlural {
		if c.obj = g.noun(demoWord{zh: w.zh, forms: w.forms, b: w.b}, "1"); g.chance(50) || c.mode == demoDeny {
			c.obj.zh = w.zh
		}
	}
	switch g.below(3) {
	case 0:
		c.tense, c.verb.zh = demoWant, "当"
		c.tense.times = ""
	case 1:
		c.tense, c.verb = demoFuture, demoWord{zh: "当", forms: []string{"become"}}
		c.tense.times = "y"
	default:
		not := map[demoMode]string{demoDeny: "不"}[c.mode]
		return demoBe(c.mode, c.subj, "be", "", c.obj.en, demoJoin(c.subj.zh, not, "是", c.obj.zh), demoCore(c.subj.head, "be", w.en()))
	}
	g.circumstances(&c)
	return c.sentence()
}

// copula says that subj was, is or will be something: zh is its Chinese, affirmed and denied.
func (g *demoGrammar) copula(mode demoMode, subj demoNP, times string, yes, not, en, core string) demoSentence {
	aux, adv, will, time := "be", "", "", demoNP{}
	switch n := g.below(4); {
	case n == 0 && strings.Contains(times, "p"):
		aux, time = "was", g.time("p")
	case n == 1 && strings.Contains(times, "f"):
		aux, will, time = "will", "会", g.time("f")
		if en = "be " + en; mode == demoDeny {
			not = "不 会 " + yes
			will = ""
		}
	case n == 2 && mode == demoSay:
		adv = "also"
		yes = "也 " + yes
	}
	if mode == demoDeny {
		yes = not
	}
	zh := demoJoin(subj.zh, time.zh, will, yes)
	if g.chance(35) {
		zh = demoJoin(time.zh, subj.zh, will, yes)
	}
	return demoBe(mode, subj, aux, adv, demoJoin(en, time.en), zh, core)
}

// 我昨天很忙。 I was busy yesterday. 那位老师非常聪明。 That teacher is very clever.
func (g *demoGrammar) state() demoSentence {
	mode := g.mode(demoNow)
	subj, adj := g.subject(mode, g.person), g.of(demoAdjectives, "P-")
	yes, en, times := "很 "+adj.zh, adj.en(), ""
	if g.chance(30) && mode == demoSay {
		yes, en = "非常 "+adj.zh, "very "+adj.en()
	}
	if adj.a == "-" {
		times = "pf"
	}
	if mode == demoAsk {
		yes = adj.zh
	}
	return g.copula(mode, subj, times, yes, "不 "+adj.zh, en, demoCore(subj.head, "be", adj.en()))
}

// thing draws an adjective and a noun that it can be said of.
func (g *demoGrammar) thing() (noun, adj demoWord) {
	adj = g.of(demoAdjectives, "taCz")
	for noun = g.of(demoNouns, adj.a); strings.Contains(noun.a, "N"); noun = g.of(demoNouns, adj.a) {
	}
	return noun, adj
}

// 这些花很漂亮。 These flowers are beautiful. 我的车不是红色的。 My car is not red.
func (g *demoGrammar) quality() demoSentence {
	w, adj := g.thing()
	n, mode := g.noun(demoWord{zh: w.zh, forms: w.forms, b: w.b}, "dDpt"), g.mode(demoNow)
	yes, not, en := "很 "+adj.zh, "不 "+adj.zh, adj.en()
	switch {
	case demoEnds(adj.zh, "色"):
		yes, not = "是 "+adj.zh+" 的", "不 是 "+adj.zh+" 的"
	case mode == demoAsk:
		yes = adj.zh
	case mode == demoSay && g.chance(30):
		yes, en = "非常 "+adj.zh, "very "+adj.en()
	}
	return g.copula(mode, n, "", yes, not, en, demoCore(w.en(), "be", adj.en()))
}

// 汤姆比我高。 Tom is taller than me. 这辆车没有那辆车贵。 This car is not as expensive as that car.
func (g *demoGrammar) comparison() demoSentence {
	mode := g.mode(demoNow)
	adj := g.of(demoAdjectives, "P")
	a := g.subject(mode, g.person)
	b := g.other(a)
	if g.chance(50) {
		w, q := g.thing()
		for demoEnds(q.zh, "色") {
			w, q = g.thing()
		}
		w.a, adj = "", q
		kind := []string{"d", "D", "p"}[g.below(3)]
		for a, b = g.noun(w, kind), g.noun(w, kind); a.zh == b.zh; {
			b = g.noun(w, kind)
		}
	}
	core := demoCore(a.head, adj.en(), b.head)
	if mode == demoDeny {
		return demoBe(mode, a, "be", "", demoJoin("as", adj.en(), "as", b.obj), demoJoin(a.zh, "没有", b.zh, adj.zh), core)
	}
	return demoBe(mode, a, "be", "", demoJoin(adj.comparative(), "than", b.obj), demoJoin(a.zh, "比", b.zh, adj.zh), core)
}

// spot is a place relative to a piece of furniture: 桌子 上, on the table.
func (g *demoGrammar) spot() demoNP {
	for {
		f, p := demoPick(g, demoFurniture), demoPick(g, demoPositions)
		if strings.Contains(f.a, string([]rune(p.zh)[:1])) {
			return demoNoun(f.zh+" "+p.zh, demoJoin(p.en(), "the", f.en()), p.en()+" "+f.en(), demoThird)
		}
	}
}

// 她昨天在家。 She was at home yesterday. 书在桌子上。 The book is on the table. 你的钥匙在哪里？ Where is your key?
func (g *demoGrammar) whereabouts() demoSentence {
	mode := g.mode(demoNow)
	subj, at, times := g.subject(mode, g.person), g.place("cehqsow"), "pf"
	if g.chance(50) {
		subj, at, times = g.noun(g.of(demoNouns, "uj"), "dptD"), g.spot(), ""
		at.zh = "在 " + at.zh
	}
	if g.chance(10) {
		return demoFinish(demoAsk, "where", subj.zh+" 在 哪里", demoJoin("where", demoAgree("be", subj.who), subj.en), demoCore(subj.head, "be", "where"))
	}
	return g.copula(mode, subj, times, at.zh, "不 "+at.zh, at.en, demoCore(subj.head, "be", at.head))
}

// 桌子上有两本书。 There are two books on the table. 花园里没有狗。 There are no dogs in the garden.
func (g *demoGrammar) thereIs() demoSentence {
	w, at, mode := g.of(demoNouns, "uj"), g.spot(), g.mode(demoNow)
	if g.chance(50) {
		p := g.of(demoPlaces, "ehqsow")
		w = g.of(demoNouns, "NGa")
		at = demoNoun(p.zh, demoJoin(p.b, p.en()), p.en(), demoThird)
		if at.zh += " 里"; p.b == "on" {
			at.zh = p.zh + " 上"
		}
	}
	n, core := g.noun(w, "11nq"), demoCore(w.en(), "exist", at.head)
	if mode == demoAsk {
		n = g.noun(w, "1n")
	}
	there := demoNP{en: "there", who: n.who}
	if mode == demoDeny {
		there.who = demoPlural
		return demoBe(demoSay, there, "be", "", demoJoin("no", w.plural(), at.en), demoJoin(at.zh, "没 有", w.zh), core)
	}
	return demoBe(mode, there, "be", "", demoJoin(n.en, at.en), demoJoin(at.zh, "有", n.zh), core)
}

// 我们明天会坐火车去北京。 We will go to Beijing by train tomorrow. 他从来没去过博物馆。 He has never been to the museum.
func (g *demoGrammar) way() demoSentence {
	c := demoClause{verb: demoWord{zh: "去", forms: []string{"go", "went", "been"}}}
	for c.tense = demoPick(g, demoTenses); c.tense.adv != "" || c.tense.aux == "be" || c.tense.lead == "like"; {
		c.tense = demoPick(g, demoTenses)
	}
	c.mode = g.mode(c.tense)
	c.subj = g.subject(c.mode, g.person)
	p := g.of(demoPlaces[1:], []string{"c", "eoqsw"}[g.below(2)])
	c.obj = demoNoun(p.zh, "to "+p.en(), p.en(), demoThird)
	if g.chance(40) && c.tense.aux != "have" {
		v := g.of(demoVehicles, p.a)
		c.place = demoNoun("坐 "+v.zh, "by "+v.en(), "", 0)
	}
	g.circumstances(&c)
	return c.sentence()
}

// 安娜住在上海。 Anna lives in Shanghai. 他们来自法国吗？ Do they come from France?
func (g *demoGrammar) home() demoSentence {
	c := demoClause{verb: demoWord{zh: "住", forms: []string{"live"}}, tense: demoNow, mode: g.mode(demoNow), obj: g.place("c")}
	if g.chance(50) {
		c.verb, c.tense.notZh = demoWord{zh: "来自", forms: []string{"come"}}, "不 是"
		c.obj.zh, c.obj.obj = strings.TrimPrefix(c.obj.zh, "在 "), "from "+c.obj.head
	}
	c.subj = g.subject(c.mode, g.person)
	g.circumstances(&c)
	return c.sentence()
}

// 我的妈妈给了他一件大衣。 My mother gave him a coat.
func (g *demoGrammar) giving() demoSentence {
	c := demoClause{verb: demoWord{zh: "给", forms: []string{"give", "gave", "given"}}, tense: []demoTense{demoPastT, demoPastT, demoFuture, demoWant, demoAlready}[g.below(5)]}
	c.mode = g.mode(c.tense)
	c.subj = g.subject(c.mode, g.individual)
	to, kinds := g.other(c.subj), "11nd"
	if c.mode == demoDeny {
		kinds = "d"
	}
	c.obj = g.noun(g.of(demoNouns, "td"), kinds)
	c.obj.zh, c.obj.obj = to.zh+" "+c.obj.zh, to.obj+" "+c.obj.obj
	g.circumstances(&c)
	return c.sentence()
}

// 请打开这扇窗户。 Please open this window. 不要卖你的车。 Do not sell your car.
func (g *demoGrammar) request() demoSentence {
	v := g.of(demoVerbs, "bmorsxzP")
	for strings.Contains(v.b, "~") {
		v = g.of(demoVerbs, "bmorsxzP")
	}
	o := g.other(demoNP{head: "you", en: "you"})
	if v.a != "P" {
		o = g.noun(g.of(demoNouns, v.a), "dp")
	}
	zh, en := "请", "please"
	if g.chance(50) {
		zh, en = "不 要", "do not"
	}
	return demoFinish(demoSay, "", demoJoin(zh, v.zh, o.zh), demoJoin(en, v.en(), o.obj), demoCore("you", v.en(), o.head))
}
