package text

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestEditsCarryRanges(t *testing.T) {
	s, e := Apply("the %s dog\n barks", []Edit{{Range{0, 0}, ">"}, {Range{4, 6}, "Tom"}, {Range{7, 7}, "big "}, {Range{10, 12}, " "}, {Range{16, 17}, ""}})
	if s != ">the Tom big dog bark" {
		t.Fatalf("got %q", s)
	}
	for _, c := range []struct {
		from        Range
		range_, all string
	}{
		{Range{0, 3}, ">the", "the"},
		{Range{4, 6}, "Tom", "Tom"},
		{Range{4, 5}, "Tom", "Tom"},
		{Range{5, 6}, "", "Tom"},
		{Range{5, 8}, " big d", "Tom big d"},
		{Range{6, 7}, " big ", " "},
		{Range{7, 10}, "dog", "dog"},
		{Range{11, 12}, "", " "},
		{Range{7, 7}, "", ""},
		{Range{16, 17}, "", ""},
		{Range{0, 17}, s, s},
		{Range{1, 17}, s[2:], s[2:]},
	} {
		if r := e.Range(c.from); s[r.Start:r.End] != c.range_ {
			t.Errorf("Range(%v) = %q, want %q", c.from, s[r.Start:r.End], c.range_)
		}
		if r := e.Cover(c.from); s[r.Start:r.End] != c.all && c.from != (Range{0, 17}) {
			t.Errorf("Cover(%v) = %q, want %q", c.from, s[r.Start:r.End], c.all)
		}
	}
	if got := e.Place(2); s[got.Start:got.End] != "big " {
		t.Errorf("Place(2) = %v", got)
	}
}

// randomEdits returns edits of s between its characters.
func randomEdits(r *rand.Rand, s string) (edits []Edit) {
	with := []string{"", " ", "é", "Tom", "世界", "\u00A0\u2028", "𝕏"}
	bounds := []int{}
	for i := range s + "." {
		bounds = append(bounds, i)
	}
	end := 0
	for len(edits) < 6 {
		lo := end + r.IntN(4)
		hi := lo + r.IntN(3)
		if hi >= len(bounds) {
			break
		}
		edits, end = append(edits, Edit{Range{bounds[lo], bounds[hi]}, with[r.IntN(len(with))]}), hi
	}
	return edits
}

func TestEditsKeepTheirLaws(t *testing.T) {
	for seed := range uint64(4_000) {
		r := rand.New(rand.NewPCG(seed, 1))
		var s strings.Builder
		for range r.IntN(10) {
			s.WriteString([]string{"a", "b", " ", "\n", "é", "世", "𝕏", "\u2028"}[r.IntN(8)])
		}
		texts := []string{s.String()}
		var chain []Edits
		var whole Edits
		for range 1 + r.IntN(3) {
			edited, e := Apply(texts[len(texts)-1], randomEdits(r, texts[len(texts)-1]))
			texts, chain, whole = append(texts, edited), append(chain, e), whole.Then(e)
		}
		if err := checkEdits(texts, chain, whole); err != nil {
			t.Fatalf("seed %d: %q: %v", seed, texts, err)
		}
	}
}

// checkEdits checks the laws of whole, the edits of a chain, each of whose texts is made of the one
// before.
func checkEdits(texts []string, chain []Edits, whole Edits) error {
	first, last := texts[0], texts[len(texts)-1]
	back := whole.Reverse()
	for i, c := range whole.list {
		if i > 0 && (c.from.Start < whole.list[i-1].from.End || c.to.Start < whole.list[i-1].to.End) {
			return fmt.Errorf("changes %v", whole.list)
		}
	}
	if r := whole.Range(Range{0, len(first)}); r != (Range{0, len(last)}) && first != "" {
		return fmt.Errorf("the whole text becomes %v", r)
	}
	var bounds []int
	for i := range first + "." {
		bounds = append(bounds, i)
	}
	var ranges []Range
	for k, lo := range bounds {
		for _, hi := range bounds[k:] {
			ranges = append(ranges, Range{lo, hi})
		}
	}
	inside := func(r Range) bool {
		boundary := func(i int) bool { return i == len(last) || utf8.RuneStart(last[i]) }
		return 0 <= r.Start && r.Start <= r.End && r.End <= len(last) && boundary(r.Start) && boundary(r.End)
	}
	for _, r := range ranges {
		to, cover := whole.Range(r), whole.Cover(r)
		if !inside(to) || !inside(cover) {
			return fmt.Errorf("%v becomes %v, %v", r, to, cover)
		}
		// Text between the changes is the same and comes back.
		isEdited := false
		for _, c := range whole.list {
			isEdited = isEdited || c.from.Start <= r.End && r.Start <= c.from.End
		}
		if !isEdited {
			if to != cover || first[r.Start:r.End] != last[to.Start:to.End] || back.Range(to) != r || back.Cover(to) != r {
				return fmt.Errorf("%v becomes %v, %v, and these %v, %v", r, to, cover, back.Range(to), back.Cover(to))
			}
		}
		// A covered range comes back around what it was.
		if there := back.Cover(cover); r.Start < r.End && cover.Start < cover.End && (there.Start > r.Start || there.End < r.End) {
			touches := false // text at an end of r that went
			for _, c := range whole.list {
				touches = touches || c.to.Start == c.to.End
			}
			if !touches {
				return fmt.Errorf("%v becomes %v, and this %v", r, cover, there)
			}
		}
		// Step by step is within the whole.
		step, cov := r, r
		for _, e := range chain {
			step, cov = e.Range(step), e.Cover(cov)
		}
		if !isEdited && step != to {
			return fmt.Errorf("%v becomes %v, step by step %v", r, to, step)
		}
		if r.Start < r.End && cov.Start < cov.End && (cov.Start < cover.Start || cov.End > cover.End) {
			return fmt.Errorf("%v covers %v, step by step %v", r, cover, cov)
		}
	}
	for _, a := range ranges {
		for _, b := range ranges {
			x, y := whole.Range(a), whole.Range(b)
			switch {
			case a.End <= b.Start && x.End > y.Start,
				a.End == b.Start && x.End != y.Start,
				a.Start <= b.Start && b.End <= a.End && (x.Start > y.Start || y.End > x.End):
				return fmt.Errorf("%v and %v become %v and %v", a, b, x, y)
			}
			x, y = whole.Cover(a), whole.Cover(b)
			if a.Start < a.End && b.Start < b.End && (a.Start <= b.Start && x.Start > y.Start || a.End <= b.End && x.End > y.End) {
				return fmt.Errorf("%v and %v cover %v and %v", a, b, x, y)
			}
		}
	}
	return nil
}
