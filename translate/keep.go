package translate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"tfm/model/decode"
	"tfm/text"
	"tfm/text/script"
)

// standIn is a word that the model translates in the place of a range of a text.
type standIn struct {
	name   string
	gap    string     // a space if a digit follows the range
	at     text.Range // of the name and gap in the text with stand-ins
	source string     // text of the range
	target string     // that replaces the name in translations
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

// standIns replaces the texts of r by texts with stand-ins, and sets r.standIns. The error reports
// invalid ranges of KeepOf.
func (t *Translator) standIns(r *Request) error {
	if r.KeepOf == nil {
		return nil
	}
	r.Texts, r.standIns = slices.Clone(r.Texts), make([][]standIn, len(r.Texts))
	for i, s := range r.Texts {
		_, offset := t.textCode(s)
		end := offset
		var edits []edit
		var list []standIn
		number := 0
		for _, at := range r.KeepOf(i, s) {
			if at.Start < end || at.End <= at.Start || at.End > len(s) {
				return fmt.Errorf("KeepOf: found bytes %d to %d of a text of %d bytes after those up to %d, expected sorted ranges", at.Start, at.End, len(s), end)
			}
			end = at.End
			k := standIn{source: s[at.Start:at.End], target: s[at.Start:at.End]}
			for number++; k.name == "" || strings.Contains(s, k.name); number++ {
				k.name = standInName(number)
			}
			if next, _ := utf8.DecodeRuneInString(s[end:]); unicode.IsDigit(next) {
				k.gap = " "
			}
			list, edits = append(list, k), append(edits, edit{Range: at, with: k.name + k.gap})
		}
		replaced, places := apply(s, edits)
		for k := range list {
			list[k].at = places[k]
		}
		r.Texts[i], r.standIns[i] = replaced, list
	}
	r.KeepOf = nil
	return nil
}

// standInName returns the name of a stand-in.
func standInName(number int) string { return "X" + strconv.Itoa(number) }

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

// find returns the ranges of name in s, without those in a longer number.
func find(s, name string) (found []text.Range) {
	for from := 0; ; {
		i := strings.Index(s[from:], name)
		if i < 0 {
			return found
		}
		at := text.Range{Start: from + i, End: from + i + len(name)}
		from = at.End
		if after, _ := utf8.DecodeRuneInString(s[at.End:]); !unicode.IsDigit(after) {
			found = append(found, at)
		}
	}
}

// located returns list with the places of the names in line, which has each.
func located(list []standIn, line string) []standIn {
	list = slices.Clone(list)
	for k := range list {
		list[k].at = find(line, list[k].name)[0]
		list[k].at.End += len(list[k].gap)
	}
	return list
}

// restore replaces the stand-ins in the translations of results by what they stand for. lists are
// the hypotheses of srcs. Where a translation does not have a stand-in, attention finds a place for
// it; where it has one twice, the first remains.
func (t *Translator) restore(ctx context.Context, r *Request, results []Result, indices []int, srcs [][]int32, around []affixes, lists [][]decode.Hypothesis) error {
	for k, i := range indices {
		if !r.isKept(i) {
			continue
		}
		result, list := &results[i], r.standIns[i]
		misses := func(tr Translation) bool {
			return slices.ContainsFunc(list, func(in standIn) bool { return find(tr.Text, in.name) == nil })
		}
		var attention [][][]float32 // of each translation, if any has no place for a stand-in
		var source []text.Range     // of its columns
		if slices.ContainsFunc(result.Translations, misses) {
			var err error
			if attention, err = t.attend(ctx, srcs[k:k+1], around[k:k+1], lists[k:k+1]); err != nil {
				return err
			}
			_, offset := t.textCode(r.Texts[i])
			_, source = t.tokenizers.Source.EncodeRanges(nil, nil, r.Texts[i][offset:])
			source = shifted(source, offset)
		}
		for n := range result.Translations {
			tr := &result.Translations[n]
			var edits []edit
			for k, in := range list {
				found := find(tr.Text, in.name)
				if found == nil {
					e := insertion(r.Texts[i], in, tr, source, attention[n])
					e.kept = k
					edits = append(edits, e)
					continue
				}
				if strings.HasPrefix(tr.Text[found[0].End:], in.gap) {
					found[0].End += len(in.gap)
				}
				edits = append(edits, edit{Range: found[0], with: in.target, kept: k})
				for _, at := range found[1:] {
					if at.Start > 0 && tr.Text[at.Start-1] == ' ' {
						at.Start--
					}
					edits = append(edits, edit{Range: at})
				}
			}
			tr.replace(edits, len(list))
			if !r.Tokens && !r.Attention {
				tr.Tokens = nil
			}
		}
		_, edits, places := restored(r.Texts[i], list)
		moveTokens(result.Tokens, edits, places)
	}
	return nil
}

// insertion returns the edit that inserts the target of a stand-in that the translation tr of s
// does not have: at the begin or end if it is at that of s, or else before the word with the
// largest weight of its tokens.
func insertion(s string, in standIn, tr *Translation, source []text.Range, weights [][]float32) edit {
	e := edit{with: in.target}
	at := len(strings.TrimRightFunc(tr.Text, func(r rune) bool { return !isAlphanumeric(r) }))
	if strings.ContainsFunc(s[:in.at.Start], isAlphanumeric) {
		if strings.ContainsFunc(s[in.at.End:], isAlphanumeric) {
			best := float32(0)
			for i, k := range tr.Tokens {
				sum := float32(0)
				for j, from := range source[:min(len(source), len(weights[i])-1)] {
					if from.Start < in.at.End && in.at.Start < from.End {
						sum += weights[i][j]
					}
				}
				if sum > best {
					best, at = sum, k.Start
				}
			}
			for at > 0 && at < len(tr.Text) && !isBoundary(tr.Text, at) {
				_, size := utf8.DecodeLastRuneInString(tr.Text[:at])
				at -= size
			}
			for at < len(tr.Text) && tr.Text[at] == ' ' {
				at++
			}
		}
	} else {
		at = 0
	}
	e.Start, e.End = at, at
	before, _ := utf8.DecodeLastRuneInString(tr.Text[:at])
	after, _ := utf8.DecodeRuneInString(tr.Text[at:])
	spaced := func(r rune) bool { return isAlphanumeric(r) && script.OfUnspaced(r) == script.None }
	if spaced(before) || unicode.IsPunct(before) && at == len(tr.Text) {
		e.before = " "
	}
	if spaced(after) {
		e.after = " "
	}
	return e
}

// isBoundary reports whether offset i of s is not within a word.
func isBoundary(s string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i:])
	return !isAlphanumeric(before) || !isAlphanumeric(after) || script.OfUnspaced(after) != script.None
}

// replace applies edits, in any order, to t. n is the number of its kept ranges.
func (t *Translation) replace(edits []edit, n int) {
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Or(a.Start-b.Start, a.End-b.End) })
	for i := 1; i < len(edits); i++ { // an insertion is not within a stand-in
		edits[i].Start = max(edits[i].Start, edits[i-1].End)
		edits[i].End = max(edits[i].End, edits[i].Start)
	}
	s, places := apply(t.Text, edits)
	moveTokens(t.Tokens, edits, places)
	t.Text, t.Kept = s, make([]text.Range, n)
	for i, e := range edits {
		if e.with != "" {
			t.Kept[e.kept] = places[i]
		}
	}
}
