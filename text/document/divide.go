package document

import (
	"math"
	"strings"
	"unicode"

	"tfm/text"
	"tfm/text/script"
)

// target is the wanted length of a part of a text: its share of the whole, and a limit in cells
// that it should not exceed.
type target struct{ share, limit int }

// cells returns the width of s: that of a character of a script without spaces is two.
func cells(s string) int {
	n := 0
	for _, r := range s {
		n++
		if script.OfUnspaced(r) != script.None {
			n++
		}
	}
	return n
}

// division is a place where a text can be divided: the white space there, and the width before it.
type division struct {
	text.Range
	cells int
	cost  int // 0 after a punctuation mark
}

// wordCost is the cost of a division that is not after a punctuation mark, in squared cells.
const wordCost = 30

// divisions returns those of s, from its begin to its end: at spaces, and between characters of
// scripts without them.
func divisions(s string) []division {
	found := []division{{}}
	width := 0
	last := ' '
	for i, r := range s {
		unspaced := script.OfUnspaced(r) != script.None
		switch {
		case r == ' ':
			g := division{Range: text.Range{Start: i, End: i + 1}, cells: width, cost: wordCost}
			if unicode.IsPunct(last) {
				g.cost = 0
			}
			found = append(found, g)
		case unspaced && last != ' ' && i > 0:
			found = append(found, division{Range: text.Range{Start: i, End: i}, cells: width, cost: wordCost})
		case !unspaced && script.OfUnspaced(last) != script.None && unicode.IsLetter(r):
			found = append(found, division{Range: text.Range{Start: i, End: i}, cells: width, cost: wordCost})
		case strings.ContainsRune("\u3001\u3002\uFF0C\uFF01\uFF1F\uFF1B\uFF1A", last) && last != 0 && !unicode.IsPunct(r):
			found = append(found, division{Range: text.Range{Start: i, End: i}, cells: width})
		}
		width += cells(string(r))
		last = r
	}
	return append(found, division{Range: text.Range{Start: len(s), End: len(s)}, cells: width})
}

// divide divides s into a part for each target, at the divisions with the least cost: the squares
// of the differences from the share of each, four times those of the excess over the limit, and the
// costs of the divisions. A text with too few of them has empty parts at the end.
func divide(s string, targets []target) []text.Range {
	ds := divisions(s)
	total, width := 0, ds[len(ds)-1].cells
	for _, t := range targets {
		total += t.share
	}
	parts := make([]text.Range, len(targets))
	if len(ds) <= len(targets) || total == 0 {
		last := len(ds) - 1
		for i := range parts {
			parts[i] = text.Range{Start: ds[min(i, last)].End, End: ds[min(i+1, last)].Start}
		}
		parts[len(parts)-1].End = len(s)
		return parts
	}
	// best[j] is the least cost of the parts so far if they end at division j; from[i][j] is the
	// division at which part i begins then.
	best := make([]int, len(ds))
	for j := range best[1:] {
		best[j+1] = math.MaxInt / 2
	}
	from := make([][]int, len(targets))
	for i, t := range targets {
		next := make([]int, len(ds))
		from[i] = make([]int, len(ds))
		for j := range ds {
			next[j] = math.MaxInt / 2
			for k := range ds[:j] {
				n := ds[j].cells - ds[k].cells
				off, over := n-width*t.share/total, max(0, n-t.limit)
				if c := best[k] + off*off + 4*over*over + ds[j].cost; c < next[j] {
					next[j], from[i][j] = c, k
				}
			}
		}
		best = next
	}
	j := len(ds) - 1
	for i := len(parts) - 1; i >= 0; i-- {
		k := from[i][j]
		parts[i] = text.Range{Start: ds[k].End, End: ds[j].Start}
		j = k
	}
	return parts
}
