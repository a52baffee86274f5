package holdout

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"tfm/internal/texttest"
	"tfm/text"
	"tfm/text/internal/words"
)

// corpus returns pairs as a corpus, and numbers them.
func corpus(pairs []text.Pair) iter.Seq2[text.Pair, error] {
	return func(yield func(text.Pair, error) bool) {
		for i, p := range pairs {
			p.Line = i + 1
			if !yield(p, nil) {
				return
			}
		}
	}
}

// similarPairs returns pairs, some of them similar to others.
func similarPairs(n int) []text.Pair {
	source, target := texttest.Pairs(n)
	pairs := make([]text.Pair, n)
	for i := range pairs {
		pairs[i] = text.Pair{Source: source[i], Target: target[i]}
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range n / 2 {
		p := pairs[r.IntN(n)]
		switch words := strings.Fields(p.Source); r.IntN(5) {
		case 0:
			p.Source = strings.ToUpper(p.Source) + " !"
		case 1:
			words[r.IntN(len(words))] = "xyz"
			p.Source, p.Target = strings.Join(words, " "), pairs[r.IntN(n)].Target
		case 2:
			p.Source = pairs[r.IntN(n)].Source
		case 3:
			p.Source, p.Target = p.Source+" 12", p.Target+" 345"
		default:
			p.Source = ""
		}
		pairs = append(pairs, p)
	}
	return pairs
}

func holdOutOf(t *testing.T, pairs []text.Pair, o Options) (sets []Set, overlaps []Overlap, r *Report) {
	t.Helper()
	r, err := Divide(context.Background(), corpus(pairs), o, func(p text.Pair, s Set, overlap Overlap) error {
		if sets, overlaps = append(sets, s), append(overlaps, overlap); p.Line != len(sets) {
			t.Fatalf("pair %d is that of line %d", len(sets), p.Line)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return sets, overlaps, r
}

// The held-out sentences resemble no others, by a comparison of all with all, and no other pair is
// removed.
func TestDivide(t *testing.T) {
	pairs := similarPairs(1000)
	var sources, targets [][]uint64
	for _, p := range pairs {
		var d words.Sentence
		d.Measure(p.Source)
		sources = append(sources, shingles(nil, d.Words))
		d.Measure(p.Target)
		targets = append(targets, shingles(nil, d.Words))
	}
	for _, o := range []Options{{Valid: 50, Test: 60, Seed: 1, Similarity: 0.7}, {Valid: 30, Seed: 2, Similarity: 0.5}, {Test: 40, Seed: 3, Similarity: 1}} {
		sets, overlaps, r := holdOutOf(t, pairs, o)
		if r.Pairs[Valid] != o.Valid || r.Pairs[Test] != o.Test || r.Pairs[Train]+r.Pairs[Valid]+r.Pairs[Test]+r.Pairs[Removed] != len(pairs) {
			t.Errorf("%+v: report %+v", o, r)
		}
		for i, p := range pairs {
			near := false
			for j := range pairs {
				heldOut := i != j && (sets[j] == Valid || sets[j] == Test)
				near = near || heldOut && max(jaccard(sources[i], sources[j]), jaccard(targets[i], targets[j])) >= o.Similarity
			}
			if near != (sets[i] == Removed) || (overlaps[i] != NoOverlap) != near {
				t.Errorf("%+v: pair %d resembles a held-out one: %v, and is in set %d, overlap %q", o, i, near, sets[i], overlaps[i])
			}
			if (sets[i] == Valid || sets[i] == Test) && p.Source == "" {
				t.Errorf("pair %d without source is held out", i)
			}
		}
		again, _, _ := holdOutOf(t, pairs, o)
		o.Seed++
		other, _, _ := holdOutOf(t, pairs, o)
		if !reflect.DeepEqual(again, sets) || reflect.DeepEqual(other, sets) {
			t.Errorf("%+v: the sets do not depend on the seed alone", o)
		}
	}
}

func TestDivideErrors(t *testing.T) {
	var same []text.Pair
	for i := range 5000 {
		same = append(same, text.Pair{Source: fmt.Sprintf("Version %d.", i), Target: fmt.Sprint("word", strings.Repeat("a", i%7))})
	}
	o := DefaultOptions()
	nop := func(text.Pair, Set, Overlap) error { return nil }
	if _, err := Divide(context.Background(), corpus(same), o, nop); err == nil || !strings.Contains(err.Error(), "found 1 of 5000 pairs that do not resemble each other, expected at least 2000") {
		t.Errorf("error %v", err)
	}
	broken := errors.New("broken")
	ctx, cancel := context.WithCancelCause(context.Background())
	o.Progress = func(reading, pairs int) { cancel(broken) }
	if _, err := Divide(ctx, corpus(same), o, nop); err != broken {
		t.Errorf("error %v, want the cause", err)
	}
	o = DefaultOptions()
	o.Valid, o.Test = 1, 0
	if _, err := Divide(context.Background(), corpus(same), o, func(text.Pair, Set, Overlap) error { return broken }); err != broken {
		t.Errorf("error %v, want that of visit", err)
	}
	for _, o := range []Options{{Valid: -1, Test: 1, Similarity: 1}, {Similarity: 1}, {Valid: 1}, {Test: 1, Similarity: 1.5}, {Test: 1 << 40, Similarity: 1}} {
		if o.Validate() == nil {
			t.Errorf("%+v is valid", o)
		}
	}
}
