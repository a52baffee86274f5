package markup

import (
	"sort"
	"unicode"
	"unicode/utf8"

	"tfm/text"
	"tfm/text/script"
)

// unit is a word, a letter of a script without spaces, or a mark of punctuation: what an element is
// placed around. White space is in no unit.
type unit struct {
	text.Range
	word     bool // not punctuation
	isLetter bool // a letter of a script without spaces, which is a word or part of one
}

// units returns the units of s. Each of kept, which are sorted and disjoint, is one.
func units(s string, kept []text.Range) (list []unit) {
	joined := false // the next letter continues the last unit
	for i := 0; i < len(s); {
		if len(kept) > 0 && i >= kept[0].Start {
			if joined = false; kept[0].End > i {
				list = append(list, unit{Range: text.Range{Start: i, End: kept[0].End}, word: true})
				i = kept[0].End
			}
			kept = kept[1:]
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		at := text.Range{Start: i, End: i + size}
		i += size
		last := len(list) - 1
		next, _ := utf8.DecodeRuneInString(s[i:])
		isLast := len(kept) > 0 && i == kept[0].Start // before a kept range
		switch {
		case unicode.IsSpace(r):
			joined = false
		case unicode.Is(unicode.M, r) && last >= 0 && list[last].End == at.Start:
			list[last].End = i
		case unicode.In(r, unicode.L, unicode.N, unicode.M) || r == '_':
			isSpaced := script.OfUnspaced(r) == script.None
			if joined && isSpaced {
				list[last].End = i
			} else {
				list = append(list, unit{at, true, !isSpaced})
			}
			joined = isSpaced
		case joined && !isLast && joins(s[:at.Start], r, next):
			list[last].End = i
		default:
			joined = false
			list = append(list, unit{Range: at})
		}
	}
	return list
}

// join returns the units of a translation with the letters of a script without spaces in one token
// as one unit, because no link tells them apart. It changes list.
func join(list []unit, links []Link) []unit {
	isInside := make([]bool, len(list)) // in the token of the unit before
	for _, l := range links {
		lo, hi := within(list, l.Target)
		for i := lo + 1; i < hi; i++ {
			isInside[i] = true
		}
	}
	joined := list[:0]
	for i, u := range list {
		if last := len(joined) - 1; isInside[i] && u.isLetter && joined[last].isLetter && joined[last].End == u.Start {
			joined[last].End = u.End
		} else {
			joined = append(joined, u)
		}
	}
	return joined
}

// joins reports whether r, after the word before, is within a number or a word, as in 1,000.5 and
// don't.
func joins(before string, r, next rune) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	switch r {
	case '.', ',', ':':
		return unicode.IsDigit(last) && unicode.IsDigit(next)
	case '\'', '’':
		return unicode.IsLetter(last) && unicode.IsLetter(next)
	case '\u00AD', '\u200C', '\u200D': // a soft hyphen, joiners
		return true
	}
	return false
}

// within returns the indices of the units that overlap a range, from lo to hi.
func within(list []unit, r text.Range) (lo, hi int) {
	lo = sort.Search(len(list), func(i int) bool { return list[i].End > r.Start })
	hi = sort.Search(len(list), func(i int) bool { return list[i].Start >= r.End })
	return lo, max(lo, hi)
}

// overlap returns the number of bytes that a and b have in common.
func overlap(a, b text.Range) int { return max(0, min(a.End, b.End)-max(a.Start, b.Start)) }
