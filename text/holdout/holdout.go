package holdout

import (
	"context"
	"fmt"
	"iter"

	"tfm/text"
)

// Set is a part of a corpus.
type Set int

// The sets of Divide. Removed are pairs that resemble held-out ones.
const (
	Train Set = iota
	Valid
	Test
	Removed
	numSets
)

// Overlap is the reason to remove a pair from training.
type Overlap int

// The overlaps of a pair with a held-out one. Sentences are equal up to case, punctuation, white
// space and the values of numbers.
const (
	NoOverlap Overlap = iota
	EqualSource
	EqualTarget
	SimilarSource
	SimilarTarget
	NumOverlaps
)

// String returns the name of o, such as "equal source".
func (o Overlap) String() string {
	return [NumOverlaps]string{"", "equal source", "equal target", "similar source", "similar target"}[o]
}

// Options are the options of Divide.
type Options struct {
	Valid, Test int // pairs
	Seed        uint64

	// Similarity is the Jaccard index of the pairs of consecutive words (characters in scripts
	// without spaces) of two sentences from which they are similar.
	Similarity float64

	// Progress, if not nil, is called from time to time with the number of the reading, from
	// 1, and of its pairs.
	Progress func(reading, pairs int)
}

// DefaultOptions returns the options that suit most corpora: with this similarity, sentences
// of eleven words are similar if they differ in one of them.
func DefaultOptions() Options {
	return Options{Valid: 1000, Test: 1000, Seed: 1, Similarity: 0.7}
}

// Validate reports the first option that is out of range.
func (o *Options) Validate() error {
	const limit = 1_000_000
	switch {
	case o.Valid < 0 || o.Valid > limit:
		return fmt.Errorf("-valid is %d, expected 0 to %d", o.Valid, limit)
	case o.Test < 0 || o.Test > limit:
		return fmt.Errorf("-test is %d, expected 0 to %d", o.Test, limit)
	case o.Valid+o.Test == 0:
		return fmt.Errorf("-valid is 0, expected 1 or more, or such a -test")
	case !(o.Similarity > 0 && o.Similarity <= 1):
		return fmt.Errorf("-similarity is %v, expected a number above 0 and up to 1", o.Similarity)
	}
	return nil
}

// Report is the result of Divide.
type Report struct {
	Pairs   [numSets]int     // by set
	Removed [NumOverlaps]int // by overlap
}

// Divide divides the pairs of a corpus into training, validation and test pairs. It draws the
// validation and test pairs at random, so that no source and no target resembles that of another
// one of them, and removes the training pairs that resemble them. Pairs with a blank side are not
// drawn.
//
// It iterates over pairs twice, or more often if many pairs resemble each other, and calls visit
// with each pair in order in the last reading. Its memory is proportional to the validation and
// test pairs. The result depends on pairs and options only.
//
// Errors are those of pairs, of visit, that the corpus has not enough different pairs, or the cause
// of the end of ctx.
func Divide(ctx context.Context, pairs iter.Seq2[text.Pair, error], o Options, visit func(text.Pair, Set, Overlap) error) (*Report, error) {
	h := &division{Options: o, pairs: pairs}
	if err := h.choose(ctx); err != nil {
		return nil, err
	}
	return h.divide(ctx, visit)
}

// division is the state of Divide.
type division struct {
	Options
	pairs iter.Seq2[text.Pair, error]

	readings int
	sets     map[int]Set // of the held-out pairs, by line
	src, tgt *similarity // to their sentences
}

// overlap returns the overlap of a pair with the held-out ones, and measures it.
func (h *division) overlap(p text.Pair) Overlap {
	h.src.Measure(p.Source)
	h.tgt.Measure(p.Target)
	switch {
	case h.src.hasEqual():
		return EqualSource
	case h.tgt.hasEqual():
		return EqualTarget
	case h.src.hasSimilar():
		return SimilarSource
	case h.tgt.hasSimilar():
		return SimilarTarget
	}
	return NoOverlap
}

// choose chooses the held-out pairs.
func (h *division) choose(ctx context.Context) error {
	for n := 2*(h.Valid+h.Test) + drawnMargin; ; n *= 8 {
		d := newDrawing(n, h.Seed)
		if err := h.each(ctx, d.add); err != nil {
			return err
		}
		candidates, all := d.pairs()
		found := h.assign(candidates)
		if found == h.Valid+h.Test {
			break
		}
		if all {
			return fmt.Errorf("found %d of %d pairs that do not resemble each other, expected at least %d to hold out", found, d.count, h.Valid+h.Test)
		}
	}
	h.src.optimize()
	h.tgt.optimize()
	return nil
}

// assign assigns candidates to the sets, and returns the number of those that it assigned.
func (h *division) assign(candidates []drawn) (n int) {
	h.sets = map[int]Set{}
	h.src, h.tgt = newSimilarity(h.Similarity), newSimilarity(h.Similarity)
	for _, c := range candidates {
		if n == h.Valid+h.Test {
			break
		}
		if h.overlap(c.Pair) != NoOverlap {
			continue
		}
		h.src.add()
		h.tgt.add()
		h.sets[c.Line] = Valid
		if n >= h.Valid {
			h.sets[c.Line] = Test
		}
		n++
	}
	return n
}

// each calls do with each pair, and Progress from time to time.
func (h *division) each(ctx context.Context, do func(text.Pair) error) error {
	h.readings++
	const progressEvery = 1 << 10 // pairs
	n := 0
	return text.Each(ctx, h.pairs, func(p text.Pair) error {
		if n++; n%progressEvery == 0 && h.Progress != nil {
			h.Progress(h.readings, n)
		}
		return do(p)
	})
}

// divide calls visit with all pairs.
func (h *division) divide(ctx context.Context, visit func(text.Pair, Set, Overlap) error) (*Report, error) {
	r := new(Report)
	err := h.each(ctx, func(p text.Pair) error {
		set, overlap := h.sets[p.Line], NoOverlap
		if set == Train {
			if overlap = h.overlap(p); overlap != NoOverlap {
				set = Removed
			}
		}
		r.Pairs[set]++
		r.Removed[overlap]++
		return visit(p, set, overlap)
	})
	r.Removed[NoOverlap] = 0
	return r, err
}
