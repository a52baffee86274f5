package translate

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"tfm/model/decode"
	"tfm/text"
	"tfm/text/script"
)

// standIn is a word that the model translates in the place of a range of a text. A number stands
// for itself.
type standIn struct {
	name     string
	gap      string // a space if a digit follows the range
	isGlued  bool   // a letter or digit is before it
	isNumber bool
	isTerm   bool
	accepts  []string   // of a term: forms that may stand in the place of target
	at       text.Range // of the name and gap in the text with stand-ins
	source   string     // text of the range
	target   string     // that replaces the name in translations
	kept     int        // index in Translation.Kept, or -1
}

// standInNames are the candidates of names, which models copy if they know them: of persons and
// places, and of things with one name in all languages. The first ones fit more sentences.
var standInNames = strings.Fields("Tom Mary Maria Anna Peter Paul David Martin Paris London Berlin Madrid Boston Linux Google Windows Python Java Debian Emacs KDE PHP HTML CD X1 X2 X3 X4")

// numberPattern matches a number as it is written with digits, times and dates included.
var numberPattern = regexp.MustCompile(`[0-9]+(?:[.,:/'’-][0-9]+)*`)

// standInOrders are standInNames for ranges that are kept and for terms. Terms are nouns with
// articles, which names of things fit, and which the model says itself beside the name of a person.
type standInOrders struct{ kept, terms []string }

// reliable is the log-probability of a name in two short texts above which a model copies it in
// others too.
const reliable = -0.5

// names returns the names by descending probability, in two short texts; for kept ranges those
// first that are reliable, in the order of standInNames. After them come numbered ones without an
// end.
func (t *Translator) names(ctx context.Context, a *affixes) (standInOrders, error) {
	key := fmt.Sprint(a.Before, a.After, a.Begin)
	t.namesMu.Lock()
	defer t.namesMu.Unlock()
	if orders, ok := t.namesOf[key]; ok {
		return orders, nil
	}
	var srcs, tgts [][]int32
	for i, name := range standInNames {
		next := standInNames[(i+7)%len(standInNames)]
		for _, s := range []string{name + ".", name + " (" + next + ")"} {
			srcs, tgts = append(srcs, a.wrap(t.tokenizers.Source.Encode(nil, s))), append(tgts, slices.Concat(a.Begin, t.tokenizers.Target.Encode(nil, s)))
		}
	}
	var logProbs [][]float64
	err := t.withDecoder(ctx, func(d *decode.Decoder) (err error) {
		logProbs, err = d.LogProbs(ctx, srcs, tgts)
		return err
	})
	if err != nil {
		return standInOrders{}, err
	}
	scores := map[string]float64{}
	for i, list := range logProbs {
		name := standInNames[i/2]
		n := len(t.tokenizers.Target.Encode(nil, name))
		for _, x := range list[len(a.Begin):][:n] {
			scores[name] += x
		}
	}
	sorted := func(enough float64) []string {
		list := slices.Clone(standInNames)
		slices.SortStableFunc(list, func(a, b string) int { return cmp.Compare(min(scores[b], enough), min(scores[a], enough)) })
		return list
	}
	if t.namesOf == nil {
		t.namesOf = map[string]standInOrders{}
	}
	t.namesOf[key] = standInOrders{kept: sorted(reliable), terms: sorted(0)}
	return t.namesOf[key], nil
}

// edit replaces a range of a text by with, between further text.
type edit struct {
	text.Range
	before, with, after string
	kept                int // index in Translation.Kept of with
}

// apply returns s with the edits, which are sorted and disjoint, and the place of each one's with.
func apply(s string, edits []edit) (string, []text.Range) {
	var b strings.Builder
	places := make([]text.Range, len(edits))
	end := 0 // of the previous edit
	for i, e := range edits {
		b.WriteString(s[end:e.Start] + e.before)
		places[i].Start = b.Len()
		b.WriteString(e.with)
		places[i].End = b.Len()
		b.WriteString(e.after)
		end = e.End
	}
	b.WriteString(s[end:])
	return b.String(), places
}

// moved returns the offset in apply's result of an offset of its text: within a replaced range the
// start of what replaces it, and at an insertion, except at offset 0, its end.
func moved(offset int, edits []edit, places []text.Range) int {
	i, _ := slices.BinarySearchFunc(edits, offset, func(e edit, offset int) int {
		if e.End < offset || e.End == offset && offset > 0 {
			return -1
		}
		return 1
	})
	switch {
	case i < len(edits) && edits[i].Start < offset:
		return places[i].Start
	case i == 0:
		return offset
	}
	return offset - edits[i-1].End + places[i-1].End + len(edits[i-1].after)
}

// moveTokens maps the ranges of tokens of a text to those of apply's result.
func moveTokens(tokens []Token, edits []edit, places []text.Range) {
	for i, k := range tokens {
		tokens[i].Range = text.Range{Start: moved(k.Start, edits, places), End: moved(k.End, edits, places)}
	}
}

// namer chooses names for the stand-ins of a text.
type namer struct {
	t        *Translator
	from, to string // languages
	ofTerms  bool
	list     []string
	n        int // number of names that were considered
}

// next returns another name that s does not contain.
func (n *namer) next(ctx context.Context, s string) (name string, err error) {
	if n.list == nil {
		a, err := n.t.affixes(affixesByCodes{}, n.from, n.to)
		if err != nil {
			return "", err
		}
		orders, err := n.t.names(ctx, &a)
		if err != nil {
			return "", err
		}
		if n.list = orders.kept; n.ofTerms {
			n.list = orders.terms
		}
	}
	for name == "" || strings.Contains(s, name) {
		name = "X" + strconv.Itoa(n.n)
		if n.n < len(n.list) {
			name = n.list[n.n]
		}
		n.n++
	}
	return name, nil
}

// replacement is a range of a text whose translation is given.
type replacement struct {
	Term
	kept int // index in Translation.Kept, or -1 for a term
}

// replacements returns the ranges of KeepOf in text i and, where none of these is, the terms of the
// glossary, in order. The text begins at an offset, after the code of a language.
func (r *Request) replacements(i, offset int) (list []replacement, err error) {
	s, end := r.Texts[i], offset
	if r.KeepOf != nil {
		for _, at := range r.KeepOf(i, s) {
			if at.Start < end || at.End <= at.Start || at.End > len(s) {
				return nil, fmt.Errorf("KeepOf: found bytes %d to %d of a text of %d bytes after those up to %d, expected sorted ranges", at.Start, at.End, len(s), end)
			}
			list, end = append(list, replacement{Term{Range: at, Target: s[at.Start:at.End]}, len(list)}), at.End
		}
	}
	if r.Glossary != nil {
		kept := list
		for _, term := range r.Glossary.Match(s) {
			isInside := func(k replacement) bool { return k.Start < term.End && term.Start < k.End }
			if term.Start >= offset && !slices.ContainsFunc(kept, isInside) {
				list = append(list, replacement{term, -1})
			}
		}
		slices.SortFunc(list, func(a, b replacement) int { return a.Start - b.Start })
	}
	return list, nil
}

// standIns replaces the texts of r by texts with stand-ins, and sets r.standIns. The error reports
// invalid ranges of KeepOf, or is that of ctx or a language.
func (t *Translator) standIns(ctx context.Context, r *Request) error {
	if r.KeepOf == nil && r.Glossary == nil {
		return nil
	}
	texts := slices.Clone(r.Texts)
	r.standIns = make([][]standIn, len(texts))
	for i, s := range r.Texts {
		code, offset := t.codeOf(r, i)
		replacements, err := r.replacements(i, offset)
		if err != nil {
			return err
		}
		names := namer{t: t, from: r.From, to: cmp.Or(code, r.To)}
		var edits []edit
		var list []standIn
		for _, at := range replacements {
			k := standIn{name: s[at.Start:at.End], source: s[at.Start:at.End], target: at.Target, accepts: at.Accepts, kept: at.kept}
			k.isTerm = at.kept < 0 && at.Target != k.source
			k.isNumber = !k.isTerm && len(numberPattern.FindString(k.source)) == len(k.source)
			if !k.isNumber && !k.isTerm {
				if k.name, err = names.next(ctx, s); err != nil {
					return err
				}
			}
			k.isGlued = isAlphanumeric(runeBefore(s, at.Start))
			if unicode.IsDigit(runeAfter(s, at.End)) {
				k.gap = " "
			}
			list, edits = append(list, k), append(edits, edit{Range: at.Range, with: k.name + k.gap})
		}
		replaced, places := apply(s, edits)
		for k := range list {
			list[k].at = places[k]
		}
		texts[i], r.standIns[i] = replaced, list
	}
	r.Texts, r.KeepOf, r.Glossary = texts, nil, nil
	return nil
}

// isKept reports whether text i has stand-ins.
func (r *Request) isKept(i int) bool { return i < len(r.standIns) && len(r.standIns[i]) > 0 }

// isWordless reports whether s has neither a letter nor a digit from offset on, outside of list.
func isWordless(s string, offset int, list []standIn) bool {
	for _, k := range list {
		if strings.ContainsFunc(s[offset:k.at.Start], isAlphanumeric) {
			return false
		}
		offset = k.at.End
	}
	return !strings.ContainsFunc(s[offset:], isAlphanumeric)
}

// wordless returns the translation of s[offset:], which isWordless.
func wordless(s string, offset int, list []standIn) Translation {
	tr := Translation{Text: s[offset:]}
	var edits []edit
	for _, in := range list {
		at := text.Range{Start: in.at.Start - offset, End: in.at.End - offset}
		edits = append(edits, edit{Range: at, with: in.target, kept: in.kept})
	}
	tr.replace(edits)
	return tr
}

func isAlphanumeric(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// restored returns s, a text with stand-ins, with the ranges that they stand for.
func restored(s string, list []standIn) (string, []edit, []text.Range) {
	edits := make([]edit, len(list))
	for k, in := range list {
		edits[k] = edit{Range: in.at, with: in.source}
	}
	s, places := apply(s, edits)
	return s, edits, places
}

// find returns the ranges in s, a translation, that are the name of in: for a number those of the
// same digits, for a term its target or another form of it, which may be the begin of a word and of
// a sentence, and else words that may have one letter more.
func (in *standIn) find(s string) (found []text.Range) {
	if in.isTerm {
		for i := range s {
			if isSpaced(runeBefore(s, i)) && isSpaced(runeAfter(s, i)) {
				continue
			}
			for _, form := range append([]string{in.target}, in.accepts...) {
				want, size := utf8.DecodeRuneInString(form)
				got, first := utf8.DecodeRuneInString(s[i:])
				if (got == want || got == unicode.ToUpper(want)) && strings.HasPrefix(s[i+first:], form[size:]) {
					found = append(found, text.Range{Start: i, End: i + first + len(form) - size})
					break
				}
			}
		}
		return found
	}
	if in.isNumber {
		for _, at := range numberPattern.FindAllStringIndex(s, -1) {
			if digitsOf(s[at[0]:at[1]]) == digitsOf(in.source) {
				found = append(found, text.Range{Start: at[0], End: at[1]})
			}
		}
		return found
	}
	for from := 0; ; {
		i := strings.Index(s[from:], in.name)
		if i < 0 {
			return found
		}
		at := text.Range{Start: from + i, End: from + i + len(in.name)}
		from = at.End
		before, _ := utf8.DecodeLastRuneInString(s[:at.Start])
		after, size := utf8.DecodeRuneInString(s[at.End:])
		next, _ := utf8.DecodeRuneInString(s[at.End+size:])
		if (in.isGlued || !isSpaced(before)) && !unicode.IsDigit(after) && !(isSpaced(after) && isSpaced(next)) {
			found = append(found, at)
		}
	}
}

// isSpaced reports whether r is a letter or digit of a script with spaces between words.
func isSpaced(r rune) bool { return isAlphanumeric(r) && script.OfUnspaced(r) == script.None }

// digitsOf returns the digits of a number without its separators.
func digitsOf(number string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return r
		}
		return -1
	}, number)
}

// located returns list with the places of the names in line, a sentence that has each.
func located(list []standIn, line string) []standIn {
	list = slices.Clone(list)
	end := 0
	for k := range list {
		in := &list[k]
		first := end + strings.Index(line[end:], in.name)
		start := first
		for from := end; !in.isAt(line, start); from = start + len(in.name) {
			i := strings.Index(line[from:], in.name)
			if i < 0 { // a line break before it became nothing
				start = first
				break
			}
			start = from + i
		}
		end = start + len(in.name) + len(in.gap)
		in.at = text.Range{Start: start, End: end}
	}
	return list
}

// isAt reports whether the name at an offset of a source is that of in: it is not a part of a
// longer number, and a term not of a longer word.
func (in *standIn) isAt(s string, offset int) bool {
	after := runeAfter(s, offset+len(in.name))
	return isAlphanumeric(runeBefore(s, offset)) == in.isGlued && !(in.isTerm && isSpaced(after)) && !(in.isNumber && unicode.IsDigit(after))
}

// restore replaces the stand-ins in the translations of results by what they stand for. lists are
// the hypotheses of srcs. Where a translation does not have a stand-in, attention finds a place for
// it; where it has a name twice, the first remains.
func (t *Translator) restore(ctx context.Context, r *Request, results []Result, indices []int, srcs [][]int32, around []affixes, lists [][]decode.Hypothesis) error {
	for k, i := range indices {
		if !r.isKept(i) {
			continue
		}
		result, list := &results[i], r.standIns[i]
		p := placer{s: r.Texts[i], list: list}
		for n := range result.Translations {
			tr := &result.Translations[n]
			edits, misses := p.found(tr.Text)
			if len(misses) > 0 {
				if p.attention == nil {
					var err error
					if p.attention, err = t.attend(ctx, srcs[k:k+1], around[k:k+1], lists[k:k+1]); err != nil {
						return err
					}
					_, offset := t.textCode(p.s)
					_, p.source = t.tokenizers.Source.EncodeRanges(nil, nil, p.s[offset:])
					p.source = shifted(p.source, offset)
				}
				for _, k := range misses {
					edits = append(edits, p.place(k, tr, p.attention[n], edits))
				}
			}
			tr.replace(edits)
			if !r.Tokens && !r.Attention {
				tr.Tokens = nil
			}
		}
		_, edits, places := restored(r.Texts[i], list)
		moveTokens(result.Tokens, edits, places)
	}
	return nil
}

// retryTerms translates texts again with names in the place of their terms if a translation does
// not have the translation of a term: models then do not say a word of their own beside it. It sets
// their results, and returns the stand-ins of the others. r is the request before do changes it.
func (t *Translator) retryTerms(ctx context.Context, r Request, results []Result, indices []int) ([][]standIn, error) {
	all, others := r, slices.Clone(r.standIns)
	r.Texts, r.Prefixes, r.codes, r.standIns, r.Certain = nil, nil, nil, nil, nil
	var again []int
	flush := func() error {
		translated, err := t.do(ctx, r)
		for k, i := range again[:len(translated)] {
			results[i] = translated[k]
		}
		again, r.Texts, r.Prefixes, r.codes, r.standIns = nil, nil, nil, nil, nil
		return err
	}
	for k, i := range indices {
		if !all.isKept(i) {
			continue
		}
		missesTerm := func(tr Translation) bool {
			return slices.ContainsFunc(all.standIns[i], func(in standIn) bool { return in.isTerm && in.find(tr.Text) == nil })
		}
		if !slices.ContainsFunc(results[i].Translations, missesTerm) {
			continue
		}
		s := all.Texts[i]
		code, _ := t.codeOf(&all, i)
		names := namer{t: t, from: all.From, to: cmp.Or(code, all.To), ofTerms: true}
		list := slices.Clone(all.standIns[i])
		edits := make([]edit, len(list))
		for k := range list {
			in := &list[k]
			if in.isTerm {
				var err error
				if in.name, err = names.next(ctx, s); err != nil {
					return nil, err
				}
				in.isTerm = false
			}
			edits[k] = edit{Range: in.at, with: in.name + in.gap}
		}
		s, places := apply(s, edits)
		for k := range list {
			list[k].at = places[k]
		}
		others[i] = nil
		again, r.Texts, r.standIns = append(again, i), append(r.Texts, s), append(r.standIns, list)
		r.Prefixes, r.codes = append(r.Prefixes, all.prefix(i)), append(r.codes, code)
		if r.Decode.Sample {
			r.Decode.First = all.Decode.First + uint64(k)
			if err := flush(); err != nil {
				return nil, err
			}
		}
	}
	if len(again) == 0 {
		return others, nil
	}
	return others, flush()
}

// placer finds the places of stand-ins in the translations of a text.
type placer struct {
	s         string // the text with stand-ins
	list      []standIn
	source    []text.Range  // of the tokens of s; nil before they are needed
	attention [][][]float32 // of each translation, to source; nil before it is needed
}

// found returns the edits of the stand-ins that a translation has, and the others.
func (p *placer) found(translation string) (edits []edit, misses []int) {
	for k := range p.list {
		in := &p.list[k]
		n := 0 // places
		for _, at := range in.find(translation) {
			if next := runeAfter(translation, at.End); !in.isNumber && !in.isTerm && isSpaced(next) && (in.kept >= 0 || n > 0) {
				at.End += utf8.RuneLen(next) // a genitive's s, which would change a kept range
			}
			switch isTaken := overlaps(at, edits); {
			case isTaken:
			case n == 0:
				if strings.HasPrefix(translation[at.End:], in.gap) {
					at.End += len(in.gap)
				}
				e := edit{Range: at, with: in.target, kept: in.kept}
				if in.isTerm {
					e.with = translation[at.Start:at.End]
				}
				edits = append(edits, e)
				n++
			case !in.isNumber && !in.isTerm:
				if at.Start > 0 && translation[at.Start-1] == ' ' {
					at.Start--
				}
				edits = append(edits, edit{Range: at, kept: -1})
			}
		}
		if n == 0 {
			misses = append(misses, k)
		}
	}
	return edits, misses
}

func overlaps(at text.Range, edits []edit) bool {
	return slices.ContainsFunc(edits, func(e edit) bool { return at.Start < e.End && e.Start < at.End })
}

// weight returns the sum of attention of the tokens of at in tr to stand-in k.
func (p *placer) weight(k int, at text.Range, tr *Translation, weights [][]float32) (sum float32) {
	for i, token := range tr.Tokens {
		if token.Start < at.End && at.Start < token.End {
			for j, from := range p.source[:min(len(p.source), len(weights[i])-1)] {
				if from.Start < p.list[k].at.End && p.list[k].at.Start < from.End {
					sum += weights[i][j]
				}
			}
		}
	}
	return sum
}

// place returns the edit that puts stand-in k into a translation without it. A number takes the
// place of the one with the most attention to it that is no other's. Others are inserted at the
// begin or end if they are at that of the text, or else before the word with the most attention.
// Brackets and quotation marks around them are inserted too, and marks before them at the end.
func (p *placer) place(k int, tr *Translation, weights [][]float32, edits []edit) edit {
	in := &p.list[k]
	e := edit{with: in.target, kept: in.kept}
	best := float32(0)
	if in.isNumber {
		for _, at := range numberPattern.FindAllStringIndex(tr.Text, -1) {
			at := text.Range{Start: at[0], End: at[1]}
			if w := p.weight(k, at, tr, weights); w > best && !overlaps(at, edits) {
				best, e.Range = w, at
			}
		}
		if best > 0 {
			return e
		}
	}
	isMark := func(r rune) bool { return !isAlphanumeric(r) }
	marksBefore := p.s[len(strings.TrimRightFunc(p.s[:in.at.Start], isMark)):in.at.Start]
	after := p.s[in.at.End:]
	marksAfter := after[:len(after)-len(strings.TrimLeftFunc(after, isMark))]
	offset := 0
	switch {
	case len(marksBefore) == in.at.Start: // at the begin
		marksBefore = ""
	case len(marksAfter) == len(after): // at the end
		offset = len(strings.TrimRightFunc(tr.Text, func(r rune) bool { return isMark(r) && !strings.ContainsRune(`)]}"”»“`, r) }))
		e.before = marksBefore
	default:
		for _, token := range tr.Tokens {
			if w := p.weight(k, token.Range, tr, weights); w > best {
				best, offset = w, token.Start
			}
		}
		for offset > 0 && isSpaced(runeBefore(tr.Text, offset)) && isSpaced(runeAfter(tr.Text, offset)) {
			offset -= utf8.RuneLen(runeBefore(tr.Text, offset))
		}
		offset += len(tr.Text[offset:]) - len(strings.TrimLeft(tr.Text[offset:], " "))
	}
	if pair := strings.TrimSpace(marksBefore); pair != "" && marksAfter != "" {
		open, _ := utf8.DecodeLastRuneInString(pair)
		if closer := closers[open]; strings.HasPrefix(marksAfter, string(closer)) {
			e.after = string(closer)
			if e.before == "" {
				e.before = string(open)
			}
		}
	}
	for _, other := range edits { // not within a name, nor beside one that is removed
		switch removed := other.with == "" && other.kept < 0; {
		case removed && other.Start < offset && offset <= other.End:
			offset = other.Start
		case other.Start < offset && offset < other.End:
			offset = other.End
		}
	}
	e.Start, e.End = offset, offset
	if before := runeBefore(tr.Text, offset); isSpaced(before) && !strings.HasPrefix(e.before, " ") || e.before == "" && unicode.IsPunct(before) && offset == len(tr.Text) {
		e.before = " " + e.before
	}
	if isSpaced(runeAfter(tr.Text, offset)) {
		e.after += " "
	}
	return e
}

// closers has the mark that ends what another begins.
var closers = map[rune]rune{'(': ')', '[': ']', '{': '}', '<': '>', '"': '"', '\'': '\'', '`': '`', '“': '”', '‘': '’', '„': '“', '«': '»', '»': '«', '「': '」', '（': '）', '《': '》', '【': '】'}

func runeBefore(s string, i int) rune { r, _ := utf8.DecodeLastRuneInString(s[:i]); return r }

func runeAfter(s string, i int) rune { r, _ := utf8.DecodeRuneInString(s[i:]); return r }

// replace applies edits, in any order, to t and sets Kept.
func (t *Translation) replace(edits []edit) {
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Or(a.Start-b.Start, a.End-b.End) })
	var kept []int // indices of edits
	for i, e := range edits {
		if i > 0 { // an insertion is not within a stand-in
			edits[i].Start = max(e.Start, edits[i-1].End)
			edits[i].End = max(e.End, edits[i].Start)
		}
		if e.kept >= 0 {
			kept = append(kept, i)
		}
	}
	slices.SortFunc(kept, func(a, b int) int { return edits[a].kept - edits[b].kept })
	s, places := apply(t.Text, edits)
	moveTokens(t.Tokens, edits, places)
	t.Text, t.Kept = s, nil
	for _, i := range kept {
		t.Kept = append(t.Kept, places[i])
	}
}
