package markup

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"tfm/text"
)

// Alignment says how a text and its translation correspond.
type Alignment struct {
	// Links are those of tokens, hard or soft. Their ranges may have white space.
	Links []Link

	// Gaps are the white space between the sentences, in order; its ranges may be empty. Weight
	// is ignored.
	Gaps []Link

	// Kept are the ranges that are copied, in the order of the text, among them those of kept
	// spans. Weight is ignored.
	Kept []Link
}

// Link says that a token of a translation translates a token of the text.
type Link struct {
	Source, Target text.Range

	// Weight is compared with those of the other links of the target token, for example that of
	// attention. It is at most MaxWeight.
	Weight int
}

// MaxWeight is the largest weight of a link.
const MaxWeight = 1 << 12

// Place returns the translation of s with its spans around the words that translate what they
// enclose. Each span is there once, within the span that it is within in s, so that they are well
// nested; none begins or ends in a word, or in a token of letters without spaces between words.
//
// Of the words that translate a span, which may be apart, the range has those for which most words
// are right: it maximizes the sum over its words of the share of its links from the span's words,
// minus one half. A link counts less than the strongest one of its source word. Words that are the
// same in both, such as names and numbers, are linked to each other. An empty span stays beside the
// word that it is beside, the next one if it is beside none. A translation equal to the text has
// its spans.
func (s Text) Place(target string, a Alignment) Text {
	if target == s.Plain {
		return Text{Plain: s.Plain, Spans: slices.Clone(s.Spans)}
	}
	p := newPlacer(s, target, a)
	p.children(-1, text.Range{Start: 0, End: len(target)})
	out := Text{Plain: target}
	p.collect(-1, &out.Spans)
	slices.SortStableFunc(out.Spans, func(a, b Span) int { return a.Start - b.Start })
	return out
}

// cell is the weight of a unit of the other side.
type cell struct{ unit, weight int }

// placer places the spans of a text.
type placer struct {
	Text
	translation string
	source      []unit
	target      []unit
	targets     [][]cell // of each source unit
	total       []int    // of each target unit: sum of its weights before sharpen
	sharp       []int    // of each target unit: sum of its weights
	gaps        []Link
	parent      []int    // of each span: the span around it, or -1
	inner       [][]int  // of span i-1: those within it
	gains       [][]cell // of each span: gain of target units, sorted
	owner       []int    // of each target unit: the innermost span placed around it, or -1
	placed      []text.Range
	kept        map[int]text.Range // by span
	value       []int              // scratch, of each target unit
}

func newPlacer(s Text, target string, a Alignment) *placer {
	kept := map[int]text.Range{}
	var keptSource, keptTarget []text.Range
	for _, l := range a.Kept {
		if l.Target.Start == l.Target.End {
			continue
		}
		keptSource, keptTarget = append(keptSource, l.Source), append(keptTarget, l.Target)
		for i, span := range s.Spans {
			if span.Keep && span.Range == l.Source {
				kept[i] = l.Target
			}
		}
	}
	sorted := slices.Clone(keptTarget)
	slices.SortFunc(sorted, func(a, b text.Range) int { return a.Start - b.Start })
	p := &placer{Text: s, translation: target, kept: kept, gaps: a.Gaps, source: units(s.Plain, keptSource), target: join(units(target, sorted), a.Links)}
	p.targets, p.total, p.sharp = make([][]cell, len(p.source)), make([]int, len(p.target)), make([]int, len(p.target))
	p.value, p.owner = make([]int, len(p.target)), make([]int, len(p.target))
	for i := range p.owner {
		p.owner[i] = -1
	}
	p.link(a.Links, keptSource, keptTarget)
	p.tree()
	p.gain()
	return p
}

// link sets the weights of units from those of tokens. Kept ranges and equal words are linked to
// one another only.
func (p *placer) link(links []Link, keptSource, keptTarget []text.Range) {
	single := make([]bool, len(p.source)) // linked to one target unit only
	isFixed := make([]bool, len(p.target))
	fix := func(src, tgt int) {
		single[src], isFixed[tgt] = true, true
		p.targets[src] = append(p.targets[src], cell{tgt, MaxWeight})
		p.total[tgt] = MaxWeight
	}
	for i, r := range keptSource {
		src, srcEnd := within(p.source, r)
		tgt, tgtEnd := within(p.target, keptTarget[i])
		if src < srcEnd && tgt < tgtEnd {
			fix(src, tgt)
		}
	}
	p.linkEqual(single, isFixed, fix)
	weights := make([]map[int]int, len(p.source))
	for _, l := range links {
		srcLo, srcHi := within(p.source, l.Source)
		tgtLo, tgtHi := within(p.target, l.Target)
		bytes := 0
		for i := srcLo; i < srcHi; i++ {
			bytes += overlap(p.source[i].Range, l.Source)
		}
		for i := srcLo; i < srcHi; i++ {
			for j := tgtLo; j < tgtHi; j++ {
				if single[i] || isFixed[j] || bytes == 0 {
					continue
				}
				if weights[i] == nil {
					weights[i] = map[int]int{}
				}
				weights[i][j] += l.Weight * overlap(p.target[j].Range, l.Target) * overlap(p.source[i].Range, l.Source) / bytes
			}
		}
	}
	for i, m := range weights {
		for j, w := range m {
			p.targets[i] = append(p.targets[i], cell{j, w})
			p.total[j] += w
		}
		slices.SortFunc(p.targets[i], func(a, b cell) int { return a.unit - b.unit })
	}
	p.sharpen()
}

// sharpen multiplies each weight by its ratio to the largest one of its source unit, so that a word
// that attends to the source of another word, as an article to that of its noun, counts less.
func (p *placer) sharpen() {
	for _, cells := range p.targets {
		largest := 1
		for _, c := range cells {
			largest = max(largest, c.weight)
		}
		for k := range cells {
			c := &cells[k]
			c.weight = c.weight * c.weight / largest
			p.sharp[c.unit] += c.weight
		}
	}
}

// minEqual is the least number of characters of a word without a digit or an upper-case letter that
// is linked to the same word of the translation. Shorter ones often mean something else.
const minEqual = 5

// linkEqual calls fix for the words that are there as often in the text as in the translation.
func (p *placer) linkEqual(single, isFixed []bool, fix func(src, tgt int)) {
	type places struct{ source, target []int }
	words := map[string]*places{}
	for i, u := range p.source {
		w := p.Plain[u.Start:u.End]
		first, _ := utf8.DecodeRuneInString(w)
		if !u.word || single[i] || !unicode.IsUpper(first) && !strings.ContainsFunc(w, unicode.IsDigit) && utf8.RuneCountInString(w) < minEqual {
			continue
		}
		if words[w] == nil {
			words[w] = new(places)
		}
		words[w].source = append(words[w].source, i)
	}
	for j, u := range p.target {
		if of := words[p.translation[u.Start:u.End]]; of != nil && !isFixed[j] {
			of.target = append(of.target, j)
		}
	}
	for j, u := range p.target {
		if of := words[p.translation[u.Start:u.End]]; of != nil && !isFixed[j] && len(of.source) == len(of.target) {
			k, _ := slices.BinarySearch(of.target, j)
			fix(of.source[k], j)
		}
	}
}

// tree finds the span around each span.
func (p *placer) tree() {
	p.parent, p.inner = make([]int, len(p.Spans)), make([][]int, len(p.Spans)+1)
	p.placed = make([]text.Range, len(p.Spans))
	around := -1
	for i, s := range p.Spans {
		for around >= 0 {
			if o := p.Spans[around]; o.Start <= s.Start && s.End <= o.End && s.Start < o.End {
				break
			}
			around = p.parent[around]
		}
		p.parent[i] = around
		p.inner[around+1] = append(p.inner[around+1], i)
		if s.Start < s.End {
			around = i
		}
	}
}

const (
	// unitGain is the gain of a target unit whose weights are all from a span.
	unitGain = 1 << 12

	// singleCost is the least gain of a target unit for a span of one word, which mostly has one
	// translation, so that a further unit needs more than half of its weights from the span. The
	// value is a choice: 65 % of the weights.
	singleCost = unitGain * 13 / 10
)

// gain sets the gains of all spans: for each target unit that has weights from the span twice their
// share minus one, and the gains of the spans within it.
func (p *placer) gain() {
	p.gains = make([][]cell, len(p.Spans))
	for i := len(p.Spans) - 1; i >= 0; i-- {
		s := p.Spans[i]
		if s.Start == s.End {
			continue
		}
		var touched []int
		lo, hi := within(p.source, s.Range)
		for src := lo; src < hi; src++ {
			u := p.source[src]
			for _, c := range p.targets[src] {
				if p.value[c.unit] == 0 {
					touched = append(touched, c.unit)
				}
				p.value[c.unit] += 1 + c.weight*overlap(u.Range, s.Range)/(u.End-u.Start)
			}
		}
		slices.Sort(touched)
		total, least := p.sharp, unitGain
		if hi-lo == 1 {
			total, least = p.total, singleCost
		}
		for _, j := range touched {
			if g := 2*unitGain*p.value[j]/max(total[j], 1) - least; p.target[j].word {
				p.gains[i] = append(p.gains[i], cell{j, min(g, unitGain)})
			}
			p.value[j] = 0
		}
		// The spans within this one should find their words in it.
		for _, inner := range p.inner[i+1] {
			for _, c := range p.gains[inner] {
				if c.weight > 0 {
					p.gains[i] = append(p.gains[i], c)
				}
			}
		}
		slices.SortFunc(p.gains[i], func(a, b cell) int { return a.unit - b.unit })
		merged := p.gains[i][:0]
		for _, c := range p.gains[i] {
			if n := len(merged); n > 0 && merged[n-1].unit == c.unit {
				merged[n-1].weight += c.weight
			} else {
				merged = append(merged, c)
			}
		}
		if p.gains[i] = merged; s.Keep {
			for k := range merged {
				merged[k].weight *= len(p.target) // no other words matter more
			}
		}
	}
}

// best returns the range of target units with the largest gain for span i among those that its
// parent owns, and the gain. The range is empty without any.
func (p *placer) best(i int) (lo, hi, gain int) {
	gains := p.gains[i]
	if len(gains) == 0 {
		return 0, 0, 0
	}
	sum, from, k := 0, 0, 0
	for j := gains[0].unit; j <= gains[len(gains)-1].unit; j++ {
		g := 0
		if gains[k].unit == j {
			g = gains[k].weight
			k++
		} else if p.target[j].word && p.total[j] > 0 {
			g = -unitGain
		}
		isFree := p.owner[j] == p.parent[i]
		if sum <= 0 || !isFree {
			sum, from = 0, j
		}
		if isFree {
			sum += g
		}
		if sum > gain {
			lo, hi, gain = from, j+1, sum
		}
	}
	if gain > 0 {
		return lo, hi, gain
	}
	for _, c := range gains {
		if p.owner[c.unit] == p.parent[i] && (lo == hi || c.weight > gain) {
			lo, hi, gain = c.unit, c.unit+1, c.weight
		}
	}
	return lo, hi, gain
}

// children places the spans within a span, or those within no other one, whose range in the
// translation is r.
func (p *placer) children(parent int, r text.Range) {
	type choice struct{ span, gain int }
	var order []choice
	for _, i := range p.inner[parent+1] {
		if s := p.Spans[i]; s.Start < s.End {
			_, _, gain := p.best(i)
			order = append(order, choice{i, gain})
		}
	}
	slices.SortStableFunc(order, func(a, b choice) int { return cmp.Compare(b.gain, a.gain) })
	for _, c := range order {
		lo, hi, _ := p.best(c.span)
		if lo == hi {
			p.placed[c.span] = p.kept[c.span] // within another span, if it is kept
			continue
		}
		lo, hi = p.withPunctuation(c.span, lo, hi)
		for j := lo; j < hi; j++ {
			p.owner[j] = c.span
		}
		p.placed[c.span] = text.Range{Start: p.target[lo].Start, End: p.target[hi-1].End}
	}
	for _, i := range p.inner[parent+1] {
		if p.placed[i].End == 0 {
			at := p.position(i, r)
			p.placed[i] = text.Range{Start: at, End: at}
		}
		p.children(i, p.placed[i])
	}
}

// withPunctuation extends the range of span i by the punctuation that the span begins and ends
// with.
func (p *placer) withPunctuation(i, lo, hi int) (from, to int) {
	src, srcEnd := within(p.source, p.Spans[i].Range)
	isFree := func(j int) bool {
		return j >= 0 && j < len(p.target) && !p.target[j].word && p.owner[j] == p.parent[i]
	}
	for ; src < srcEnd && !p.source[src].word && isFree(lo-1) && p.target[lo-1].End == p.target[lo].Start; src++ {
		lo--
	}
	for ; srcEnd > src && !p.source[srcEnd-1].word && isFree(hi); srcEnd-- {
		last, next := p.source[srcEnd-1], p.target[hi]
		if p.target[hi-1].End != next.Start && p.Plain[last.Start:last.End] != p.translation[next.Start:next.End] {
			break
		}
		hi++
	}
	return lo, hi
}

// position returns the position of span i, which is empty or has no words in the translation,
// within a span with range r there.
func (p *placer) position(i int, r text.Range) int {
	at, parent := p.Spans[i].Start, p.parent[i]
	for _, gap := range p.gaps[sort.Search(len(p.gaps), func(k int) bool { return p.gaps[k].Source.End >= at }):] {
		if gap.Source.Start > at {
			break
		}
		if at == gap.Source.Start {
			return min(max(gap.Target.Start, r.Start), r.End)
		}
		return min(max(gap.Target.End, r.Start), r.End)
	}
	around := text.Range{Start: 0, End: len(p.Plain)}
	if parent >= 0 {
		around = p.Spans[parent].Range
	}
	lo, hi := within(p.source, around)
	next := sort.Search(len(p.source), func(k int) bool { return p.source[k].Start >= at })
	if next <= lo {
		return r.Start
	}
	if next >= hi {
		return r.End
	}
	before := p.source[next].Start == at || p.source[next-1].End != at
	src := next
	if !before {
		src = next - 1
	}
	to := p.translated(src, parent)
	if to.End == 0 {
		if before = !before; before {
			src = next
		} else {
			src = next - 1
		}
		if to = p.translated(src, parent); to.End == 0 {
			return r.End
		}
	}
	pos := to.End
	if before {
		pos = to.Start
	}
	return min(max(pos, r.Start), r.End)
}

// translated returns the range in the translation of a source unit within a span, or of the span
// that they are in if that is further in.
func (p *placer) translated(src, parent int) (r text.Range) {
	siblings := p.inner[parent+1]
	u := p.source[src]
	k := sort.Search(len(siblings), func(k int) bool { return p.Spans[siblings[k]].End >= u.End })
	for ; k < len(siblings) && p.Spans[siblings[k]].Start <= u.Start; k++ {
		if s := p.Spans[siblings[k]]; s.Start < s.End && p.placed[siblings[k]].End > 0 {
			return p.placed[siblings[k]]
		}
	}
	best := cell{-1, 0}
	for _, c := range p.targets[src] {
		if share := unitGain * c.weight / max(p.total[c.unit], 1); share > best.weight {
			best = cell{c.unit, share}
		}
	}
	if best.unit < 0 {
		return r
	}
	r = p.target[best.unit].Range
	for i := p.owner[best.unit]; i >= 0; i = p.parent[i] {
		if p.parent[i] == parent {
			return p.placed[i]
		}
	}
	return r
}

// collect appends the placed spans within a span in the order of the translation.
func (p *placer) collect(parent int, spans *[]Span) {
	inner := slices.Clone(p.inner[parent+1])
	slices.SortStableFunc(inner, func(a, b int) int {
		return cmp.Or(cmp.Compare(p.placed[a].Start, p.placed[b].Start), cmp.Compare(p.placed[a].End, p.placed[b].End))
	})
	for _, i := range inner {
		s := p.Spans[i]
		s.Range = p.placed[i]
		*spans = append(*spans, s)
		p.collect(i, spans)
	}
}
