package holdout

import (
	"context"
	"iter"
	"slices"

	"tfm/internal/hash"
	"tfm/text"
	"tfm/text/internal/words"
)

// ValidationSet chooses pairs of a corpus for validation at random, so that all other pairs can be
// trained on: a pair with near-duplicates among the others is not chosen. Near-duplicates have the
// same source or the same target up to case, punctuation, white space and the values of numbers.
//
// A corpus can have several parts, one after another: some pairs of each are chosen, unless other
// parts have them all. Draw must have all pairs of the corpus before Choose. Memory is bounded for
// corpora of any size. The choice depends on the pairs and their order only.
type ValidationSet struct {
	Pairs []text.Pair // in the order of the corpus, which Line numbers from 1
	Moved int         // pairs that were drawn and stay with the others as near-duplicates of one

	// Pairs that are near-duplicates of others, and those of them that repeat another pair.
	// Near is 0 unless less than a tenth of the pairs to hold out of a part have no
	// near-duplicates, Repeated unless less than a tenth of all do not repeat another pair.
	Near, Repeated int

	parts []part
}

// part is a part of the corpus while its pairs are chosen.
type part struct {
	*drawing
	before int // pairs of the parts before it
	list   []drawn
}

const (
	validationSeed = 1
	drawnMargin    = 1000    // pairs that are drawn for those that are not chosen
	maxDrawn       = 1 << 18 // pairs that are drawn if too few of these were chosen
	minChosen      = 10      // 1/minChosen of the pairs to hold out are enough
)

// similarityRank orders pairs by how much they resemble others. Lower ones are held out first.
type similarityRank int

const (
	uniquePair   similarityRank = iota // without near-duplicates
	nearPair                           // with near-duplicates
	repeatedPair                       // the same as another pair
)

// NewValidationSet returns a ValidationSet for the choice of up to maxPairs pairs of each part.
func NewValidationSet(maxPairs, parts int) *ValidationSet {
	h := &ValidationSet{parts: make([]part, parts)}
	for i := range h.parts {
		h.parts[i].drawing = newDrawing(2*maxPairs+drawnMargin, validationSeed)
	}
	return h
}

// Draw considers the next pair, of a part from 0. It does not retain the strings.
func (h *ValidationSet) Draw(p text.Pair, part int) { h.parts[part].add(p) }

// Choose chooses n[i] pairs of part i, or fewer if it has not enough of them. It iterates over the
// pairs of the corpus once, or three times if many are near-duplicates. Errors are those of pairs,
// or the cause of the end of ctx.
func (h *ValidationSet) Choose(ctx context.Context, pairs iter.Seq2[text.Pair, error], n []int) error {
	for {
		var list []drawn
		before := 0
		for i := range h.parts {
			p := &h.parts[i]
			p.list, _ = p.pairs()
			p.before = before
			before += p.count
			list = append(list, p.list...)
		}
		ranks, err := rankAll(ctx, pairs, list)
		if err != nil {
			return err
		}
		// If another part has all pairs of a part, the pairs of the others are enough.
		again, total := h.assignAll(ranks, n, nearPair), 0
		for _, n := range n {
			total += n
		}
		if minChosen*len(h.Pairs) < total {
			again = h.assignAll(ranks, n, repeatedPair)
		}
		if again == nil {
			h.parts = nil
			return nil
		}
		if err := redraw(ctx, pairs, again); err != nil {
			return err
		}
	}
}

// redraw draws more pairs of parts.
func redraw(ctx context.Context, pairs iter.Seq2[text.Pair, error], parts []*part) error {
	counts := make([]int, len(parts))
	for i, p := range parts {
		counts[i] = p.count
		p.drawing = newDrawing(maxDrawn, validationSeed)
	}
	at := 0
	return text.Each(ctx, pairs, func(pair text.Pair) error {
		for i, p := range parts {
			if p.before <= at && at < p.before+counts[i] {
				p.add(pair)
			}
		}
		at++
		return nil
	})
}

// foldedKeys are the hashes of a pair by which near-duplicates and repetitions are found: of the
// words of the source and of the target, and of the text of both.
type foldedKeys [3]uint64

func foldedKeysOf(p text.Pair, d *words.Sentence) foldedKeys {
	d.Measure(p.Source)
	source := words.Hash(d.Words)
	d.Measure(p.Target)
	return foldedKeys{source, words.Hash(d.Words), hash.Pair(p.Source, p.Target)}
}

// rankAll returns the rank of each drawn pair among all pairs.
func rankAll(ctx context.Context, pairs iter.Seq2[text.Pair, error], list []drawn) ([]similarityRank, error) {
	var d words.Sentence
	counts := [3]map[uint64]int{{}, {}, {}} // of the keys of list
	keys := make([]foldedKeys, len(list))
	for i, p := range list {
		keys[i] = foldedKeysOf(p.Pair, &d)
		for j, key := range keys[i] {
			counts[j][key] = 0
		}
	}
	err := text.Each(ctx, pairs, func(p text.Pair) error {
		for j, key := range foldedKeysOf(p, &d) {
			if _, ok := counts[j][key]; ok {
				counts[j][key]++
			}
		}
		return nil
	})
	ranks := make([]similarityRank, len(list))
	for i, k := range keys {
		switch {
		case counts[2][k[2]] > 1:
			ranks[i] = repeatedPair
		case counts[0][k[0]] > 1 || counts[1][k[1]] > 1:
			ranks[i] = nearPair
		}
	}
	return ranks, err
}

// assignAll makes a result of n[i] pairs of part i, up to a rank among all pairs. It returns the
// parts that should be drawn again.
func (h *ValidationSet) assignAll(ranks []similarityRank, n []int, last similarityRank) (again []*part) {
	h.Pairs, h.Moved, h.Near, h.Repeated = nil, 0, 0, 0
	for i := range h.parts {
		p := &h.parts[i]
		if unique := h.assign(p, ranks[:len(p.list)], n[i], last); unique < n[i] && len(p.list) == p.n && p.n < maxDrawn {
			again = append(again, p)
		}
		ranks = ranks[len(p.list):]
	}
	return again
}

// assign adds n pairs of a part to the result. It returns how many of them have no near-duplicates.
func (h *ValidationSet) assign(p *part, ranks []similarityRank, n int, last similarityRank) (unique int) {
	first, moved := len(h.Pairs), 0
	for rank := uniquePair; rank <= last; rank++ {
		moved = 0
		for i := 0; i < len(p.list) && len(h.Pairs)-first < n; i++ {
			switch {
			case ranks[i] > rank:
				moved++
			case ranks[i] == rank:
				pair := p.list[i].Pair
				pair.Line += p.before
				h.Pairs = append(h.Pairs, pair)
				if rank >= nearPair {
					h.Near++
				} else {
					unique++
				}
				if rank == repeatedPair {
					h.Repeated++
				}
			}
		}
		if minChosen*(len(h.Pairs)-first) >= n {
			break
		}
	}
	h.Moved += moved
	slices.SortFunc(h.Pairs[first:], func(a, b text.Pair) int { return a.Line - b.Line })
	return unique
}
