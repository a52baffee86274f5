package holdout

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"tfm/text"
)

// validationSetOf chooses n pairs.
func validationSetOf(t *testing.T, pairs []text.Pair, n int) *ValidationSet {
	t.Helper()
	h := NewValidationSet(n, 1)
	for i := range pairs {
		h.Draw(pairs[i], 0)
	}
	if err := h.Choose(context.Background(), corpus(pairs), []int{n}); err != nil {
		t.Fatal(err)
	}
	if len(h.Pairs) > n {
		t.Fatalf("%d pairs are held out, want up to %d", len(h.Pairs), n)
	}
	for i, p := range h.Pairs {
		if i > 0 && p.Line <= h.Pairs[i-1].Line {
			t.Fatalf("line %d follows line %d", p.Line, h.Pairs[i-1].Line)
		}
		if q := pairs[p.Line-1]; p.Source != q.Source || p.Target != q.Target {
			t.Fatalf("pair of line %d is %q, want %q", p.Line, p, q)
		}
		if text.IsBlank(p.Source) || text.IsBlank(p.Target) {
			t.Errorf("pair of line %d with a blank side is held out", p.Line)
		}
	}
	return h
}

// folded returns a sentence in lower case, without punctuation, and with all digits equal.
func folded(s string) string {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return strings.ContainsRune(" .,!?", r) })
	for i, w := range words {
		if strings.Trim(w, "0123456789") == "" {
			words[i] = "0"
		}
	}
	return strings.Join(words, " ")
}

// No held-out pair has the source or the target of another pair, up to case, punctuation and
// digits. The choice is the same in every run.
func TestValidationSet(t *testing.T) {
	pairs := similarPairs(1000)
	sources, targets := map[string]int{}, map[string]int{}
	for _, p := range pairs {
		sources[folded(p.Source)]++
		targets[folded(p.Target)]++
	}
	for _, n := range []int{1, 50, 400} {
		h := validationSetOf(t, pairs, n)
		if len(h.Pairs) != n || h.Near != 0 || h.Repeated != 0 {
			t.Errorf("%d pairs are held out, %d near, %d repeated; want %d, 0, 0", len(h.Pairs), h.Near, h.Repeated, n)
		}
		for _, p := range h.Pairs {
			if sources[folded(p.Source)] > 1 || targets[folded(p.Target)] > 1 {
				t.Errorf("%q of line %d is a near-duplicate", p, p.Line)
			}
		}
		if n == 400 && (h.Moved < 100 || h.Moved > 1000) {
			t.Errorf("%d pairs were moved, want some of the %d near-duplicates", h.Moved, len(pairs))
		}
		again := validationSetOf(t, pairs, n)
		if !reflect.DeepEqual(again.Pairs, h.Pairs) || again.Moved != h.Moved {
			t.Error("other pairs are held out in a second run")
		}
	}
	h := validationSetOf(t, pairs, 0)
	if len(h.Pairs) != 0 {
		t.Errorf("%d pairs are held out, want 0", len(h.Pairs))
	}
}

// A corpus with few pairs that are no near-duplicates is read again until they are found, however
// rare they are.
func TestValidationSetOfManyNearDuplicates(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var pairs []text.Pair
	for i := range 20_000 {
		p := text.Pair{Source: fmt.Sprintf("Version %d!", i), Target: fmt.Sprintf("version %d", i%7)}
		if i%100 == 0 {
			p.Source, p.Target = fmt.Sprintf("w%x of %d", r.Uint64(), i), fmt.Sprintf("v%x", r.Uint64())
		}
		p.Line = i + 1
		pairs = append(pairs, p)
	}
	h := validationSetOf(t, pairs, 150)
	if len(h.Pairs) != 150 || h.Near != 0 || h.Moved < 10_000 {
		t.Errorf("%d pairs are held out, %d near, %d moved; want 150, 0, most of 20,000", len(h.Pairs), h.Near, h.Moved)
	}
	// Fewer than wanted, if at least a tenth is found.
	if h := validationSetOf(t, pairs, 1000); len(h.Pairs) != 200 || h.Near != 0 {
		t.Errorf("%d pairs are held out, %d near; want the 200 that are no near-duplicates", len(h.Pairs), h.Near)
	}
}

// Near-duplicates are held out of a corpus that has nothing else, and repeated pairs of one that
// has only these.
func TestValidationSetFallsBack(t *testing.T) {
	var dates, repeated []text.Pair
	for i := range 2000 {
		day := fmt.Sprintf("%d/%d", 1+i%28, i)
		dates = append(dates, text.Pair{Source: day, Target: strings.ReplaceAll(day, "/", "."), Line: i + 1})
		repeated = append(repeated, text.Pair{Source: "a dog", Target: "ein Hund", Line: i + 1})
	}
	if h := validationSetOf(t, dates, 100); len(h.Pairs) != 100 || h.Near != 100 || h.Repeated != 0 {
		t.Errorf("dates: %d held out, %d near, %d repeated; want 100, 100, 0", len(h.Pairs), h.Near, h.Repeated)
	}
	if h := validationSetOf(t, append(dates, dates...), 100); len(h.Pairs) != 100 || h.Repeated != 100 {
		t.Errorf("repeated dates: %d held out, %d repeated; want 100, 100", len(h.Pairs), h.Repeated)
	}
	if h := validationSetOf(t, repeated, 100); len(h.Pairs) != 100 || h.Repeated != 100 {
		t.Errorf("one pair: %d held out, %d repeated; want 100, 100", len(h.Pairs), h.Repeated)
	}
	blank := make([]text.Pair, 100)
	for i := range blank {
		blank[i].Line = i + 1
	}
	if h := validationSetOf(t, blank, 5); len(h.Pairs) != 0 {
		t.Errorf("%d blank pairs are held out", len(h.Pairs))
	}
}

// As many pairs of each part are held out as are wanted, none with near-duplicates in its part or
// in another one. A part of many near-duplicates is drawn again.
func TestValidationSetOfParts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	unique := func() text.Pair {
		return text.Pair{Source: fmt.Sprintf("w%x", r.Uint64()), Target: fmt.Sprintf("v%x", r.Uint64())}
	}
	var parts [3][]text.Pair
	for i := range 20_000 {
		p := text.Pair{Source: fmt.Sprintf("Version %d!", i), Target: fmt.Sprintf("version %d", i%7)}
		if i%100 == 0 {
			p = unique()
		}
		parts[0] = append(parts[0], p)
	}
	for range 1000 {
		parts[1] = append(parts[1], unique())
	}
	for i := range 1000 {
		p := unique()
		if i%2 == 0 {
			p.Source = strings.ToUpper(parts[1][i].Source)
		}
		parts[2] = append(parts[2], p)
	}
	h := NewValidationSet(150, len(parts))
	var pairs []text.Pair
	var partOf []int
	for i, list := range parts {
		for _, p := range list {
			p.Line = len(pairs) + 1
			pairs, partOf = append(pairs, p), append(partOf, i)
			h.Draw(p, i)
		}
	}
	if err := h.Choose(context.Background(), corpus(pairs), []int{150, 100, 50}); err != nil {
		t.Fatal(err)
	}
	counts, repeats := [3]int{}, 0
	for _, p := range h.Pairs {
		if p.Source != pairs[p.Line-1].Source {
			t.Fatalf("line %d is %q, want %q", p.Line, p.Source, pairs[p.Line-1].Source)
		}
		counts[partOf[p.Line-1]]++
		if i := p.Line - 1 - len(parts[0]); i >= 0 && i%2 == 0 {
			repeats++
		}
	}
	if counts != [3]int{150, 100, 50} || h.Near != 0 || repeats != 0 {
		t.Errorf("%v pairs are held out, %d near, %d repeated in another part; want 150, 100, 50, 0 and 0", counts, h.Near, repeats)
	}
}

// Of a part whose pairs another one has too, none is held out that would be trained on.
func TestValidationSetOfASubset(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	h := NewValidationSet(50, 2)
	var all []text.Pair
	for i := range 1500 {
		p := text.Pair{Source: fmt.Sprintf("w%x", r.Uint64()), Target: fmt.Sprintf("v%x", r.Uint64()), Line: i + 1}
		if i >= 1000 {
			p.Source, p.Target = all[i-1000].Source, all[i-1000].Target
		}
		all = append(all, p)
		h.Draw(p, i/1000)
	}
	if err := h.Choose(context.Background(), corpus(all), []int{50, 50}); err != nil {
		t.Fatal(err)
	}
	if len(h.Pairs) != 50 || h.Repeated != 0 || h.Pairs[0].Line <= 500 || h.Pairs[49].Line > 1000 {
		t.Errorf("%d pairs are held out, %d repeated, lines %d to %d; want 50, none, of those of one part only", len(h.Pairs), h.Repeated, h.Pairs[0].Line, h.Pairs[len(h.Pairs)-1].Line)
	}
}

func TestValidationSetErrors(t *testing.T) {
	pairs := similarPairs(2000)
	h := NewValidationSet(10, 1)
	for _, p := range pairs {
		h.Draw(p, 0)
	}
	broken := errors.New("broken")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(broken)
	if err := h.Choose(ctx, corpus(pairs), []int{10}); err != broken {
		t.Errorf("error %v, want the cause", err)
	}
	failing := func(yield func(text.Pair, error) bool) { yield(text.Pair{}, broken) }
	if err := h.Choose(context.Background(), failing, []int{10}); err != broken {
		t.Errorf("error %v, want that of the pairs", err)
	}
}
