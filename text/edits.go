package text

import (
	"cmp"
	"slices"
	"strings"
)

// Edit replaces a range of a text, which may be empty, by With, which may be "".
type Edit struct {
	Range
	With string
}

// Edits carry ranges from a text to one that was made of it by replacing ranges. The text between
// these is the same in both. The zero value carries each range to itself. Edits are immutable.
//
// The way back is that of Reverse, and a chain of edits is one, see Then. Ranges stay within the
// text, begin and end between two characters if they did, and keep their order. There and back is
// the identity on what was not edited.
type Edits struct {
	list []change // sorted and disjoint on both sides
}

// change is a range that was replaced, on both sides.
type change struct{ from, to Range }

// Apply returns s with edits, which are sorted and disjoint, and what carries ranges of s to it.
func Apply(s string, edits []Edit) (string, Edits) {
	if len(edits) == 0 {
		return s, Edits{}
	}
	var b strings.Builder
	e := Edits{list: make([]change, len(edits))}
	end := 0 // of the previous edit
	for i, edit := range edits {
		b.WriteString(s[end:edit.Start])
		start := b.Len()
		b.WriteString(edit.With)
		e.list[i] = change{edit.Range, Range{start, b.Len()}}
		end = edit.End
	}
	b.WriteString(s[end:])
	return b.String(), e
}

// Place returns the range that edit i of Apply made.
func (e Edits) Place(i int) Range { return e.list[i].to }

// Range carries a range. Of several ranges, adjacent ones stay adjacent, disjoint ones disjoint,
// and one within another stays within it. What an edit made belongs to the first of the ranges that
// begin in the replaced text, and what it inserted to the range before it, if there is one. The
// whole text, unless it is empty, becomes the whole text.
func (e Edits) Range(r Range) Range { return Range{e.offset(r.Start), e.offset(r.End)} }

// offset carries an offset: within replaced text, and at an insertion, to the end of what was made,
// but 0 to 0.
func (e Edits) offset(i int) int {
	n, _ := slices.BinarySearchFunc(e.list, i, func(c change, i int) int {
		if c.from.Start < i || c.from.End == i && i > 0 {
			return -1
		}
		return 1
	})
	if n == 0 {
		return i
	}
	last := e.list[n-1]
	return last.to.End + max(0, i-last.from.End)
}

// Cover carries a range to the least one with all that was made of its text, without insertions at
// its ends. Disjoint ranges may overlap then. An empty range is carried as by Range.
func (e Edits) Cover(r Range) Range {
	if r.Start == r.End {
		return e.Range(r)
	}
	// The first change that ends after the begin of r, and the first that begins at its end.
	lo, _ := slices.BinarySearchFunc(e.list, r.Start, func(c change, i int) int { return cmp.Or(cmp.Compare(c.from.End, i), -1) })
	hi, _ := slices.BinarySearchFunc(e.list, r.End, func(c change, i int) int { return cmp.Compare(c.from.Start, i) })
	var before, last change
	if lo > 0 {
		before = e.list[lo-1]
	}
	if hi > 0 {
		last = e.list[hi-1]
	}
	start := before.to.End + r.Start - before.from.End
	if lo < len(e.list) && e.list[lo].from.Start < r.Start {
		start = e.list[lo].to.Start
	}
	return Range{start, last.to.End + max(0, r.End-last.from.End)}
}

// Reverse returns the edits that carry ranges back.
func (e Edits) Reverse() Edits {
	back := make([]change, len(e.list))
	for i, c := range e.list {
		back[i] = change{c.to, c.from}
	}
	return Edits{back}
}

// Then returns the edits that carry ranges as e does and then as next, except that edits that
// overlap in the text between are one.
func (e Edits) Then(next Edits) Edits {
	var joined []change
	a, b := e.list, next.list
	var lastA, lastB change // that are behind
	for len(a) > 0 || len(b) > 0 {
		// The range, in the text between, of the next edits that overlap.
		var between Range
		if len(b) == 0 || len(a) > 0 && compareRanges(a[0].to, b[0].from) <= 0 {
			between = a[0].to
		} else {
			between = b[0].from
		}
		startA := lastA.from.End + between.Start - lastA.to.End
		startB := lastB.to.End + between.Start - lastB.from.End
		isIn := func(r Range) bool { return r.Start < between.End || r == between }
		for isMore := true; isMore; {
			switch {
			case len(a) > 0 && isIn(a[0].to):
				lastA, a = a[0], a[1:]
				between.End = max(between.End, lastA.to.End)
			case len(b) > 0 && isIn(b[0].from):
				lastB, b = b[0], b[1:]
				between.End = max(between.End, lastB.from.End)
			default:
				isMore = false
			}
		}
		joined = append(joined, change{
			Range{startA, lastA.from.End + between.End - lastA.to.End},
			Range{startB, lastB.to.End + between.End - lastB.from.End}})
	}
	return Edits{joined}
}

func compareRanges(a, b Range) int { return cmp.Or(a.Start-b.Start, a.End-b.End) }
