package holdout

import (
	"cmp"
	"slices"
	"strings"

	"tfm/internal/hash"
	"tfm/text"
)

// drawing draws n random pairs without a blank side, or all of fewer, in memory for 2n pairs.
type drawing struct {
	n    int
	seed uint64

	count int // pairs that were added
	list  []drawn
	limit uint64 // of the random numbers that can be among the n smallest ones
}

// drawn is a pair with its random number.
type drawn struct {
	text.Pair
	random uint64
}

func newDrawing(n int, seed uint64) *drawing {
	return &drawing{n: n, seed: hash.Mix(seed), limit: ^uint64(0)}
}

// add adds the next pair of the corpus. The error is always nil.
func (d *drawing) add(p text.Pair) error {
	d.count++
	random := hash.Mix(d.seed ^ uint64(d.count))
	if random > d.limit || text.IsBlank(p.Source) || text.IsBlank(p.Target) {
		return nil
	}
	p.Source, p.Target, p.Line = strings.Clone(p.Source), strings.Clone(p.Target), d.count
	if d.list = append(d.list, drawn{p, random}); len(d.list) >= 2*d.n {
		d.shorten()
	}
	return nil
}

// shorten sorts the list by the random numbers and keeps the first n pairs.
func (d *drawing) shorten() {
	slices.SortFunc(d.list, func(a, b drawn) int { return cmp.Or(cmp.Compare(a.random, b.random), a.Line-b.Line) })
	if len(d.list) > d.n {
		clear(d.list[d.n:])
		d.list = d.list[:d.n]
		d.limit = d.list[d.n-1].random
	}
}

// pairs returns the pairs in random order, and whether they are all pairs without a blank side.
func (d *drawing) pairs() (list []drawn, all bool) {
	d.shorten()
	return d.list, len(d.list) < d.n
}
