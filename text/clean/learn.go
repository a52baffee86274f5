package clean

import (
	"context"
	"math"
	"slices"
	"sort"

	"tfm/internal/hash"
	"tfm/text/align"
	"tfm/text/internal/words"
)

// minLexicalPairs is the number of pairs of a sample from which translations are learned.
const minLexicalPairs = 1000

// iterations is the number of iterations of expectation-maximization.
const iterations = 3

// learn learns from the pairs of the sample of c. It reports whether that is enough to judge pairs.
func (l *lexical) learn(ctx context.Context, c *cleaner) (ok bool, err error) {
	if len(c.sample.pairs) < minLexicalPairs {
		return false, nil
	}
	l.count(c.sample.pairs)
	pairs, decoys := l.withDecoys(c.sample.pairs, c.plausible)
	all := slices.Concat(pairs, decoys)
	for d := range l.directions {
		ids := make([]align.Pair, len(all))
		for i, j := range all {
			ids[i] = j.inDirection(d)
		}
		lexicon := align.NewLexicon(len(l.sides[d].ids), len(l.sides[1-d].ids), align.Options{Limit: 1000, Threads: c.Threads})
		const readings = 1 + iterations // of the pairs, in a direction
		reading := d * readings
		each := func(do func([]align.Pair)) error {
			do(ids)
			if c.Progress != nil {
				c.Progress(Progress{Stage: Learning, Pairs: len(all), Done: float64(reading) / (2 * readings)})
			}
			reading++
			return context.Cause(ctx)
		}
		if err := lexicon.Learn(iterations, each); err != nil {
			return false, err
		}
		lexicon.Expect(ids)
		l.directions[d].lexicon = lexicon
	}
	for d := range l.directions {
		l.directions[d].units.units = make([]odds, len(l.sides[1-d].ids))
	}
	w := l.judge()
	for i, j := range pairs {
		const tries = 32
		other, _ := withOtherTarget(pairs, i, tries, c.plausible)
		w.each(j, true, func(e *evidence, id int32, class, bin int) { e.add(aligned, id, class, bin) })
		w.each(other, false, func(e *evidence, id int32, class, bin int) { e.add(random, id, class, bin) })
	}
	l.directions[0].units.learn()
	l.directions[1].units.learn()
	l.lengths.learn()
	scores := func(pairs []*judged, counted bool) []int {
		list := make([]int, len(pairs))
		for i, j := range pairs {
			list[i] = w.score(j, true, counted)
		}
		return list
	}
	l.limit, ok = misalignedLimit(scores(pairs, true), scores(decoys, false), c.Misaligned)
	return ok, nil
}

// One pair of a large sample in decoyRate becomes a decoy. A smaller one has minDecoys decoys, or
// one for smallDecoyRate pairs, in addition to its pairs.
const (
	decoyRate      = 32
	minDecoys      = 400
	smallDecoyRate = 8
)

// withDecoys returns the pairs of a sample from which translations are learned, and decoys. It sets
// the lines of the pairs.
//
// Translations are learned from the decoys too, as from the misaligned pairs of the corpus. The
// decoys have usual ratios of lengths, as the pairs that the rule of the ratio leaves. Those of a
// large sample are in place of the pairs of their sources, so that as few translations of their
// units are known as of those of misaligned pairs. In a small sample, where units are rare, this
// would misjudge the pairs themselves; decoys in addition have lower scores, which is cautious.
func (l *lexical) withDecoys(sampled []sampledPair, plausible func(x, y int) bool) (pairs, decoys []*judged) {
	rate := max(smallDecoyRate, min(decoyRate, len(sampled)/minDecoys))
	small := rate < decoyRate
	var p pair
	var apart []*judged // from which decoys are made
	for i := range sampled {
		p.RepairedPair = sampled[i].RepairedPair
		p.measure()
		j := l.prepare(&p)
		if !small && isDecoy(i, rate) {
			apart = append(apart, j)
			continue
		}
		pairs = append(pairs, j)
		l.lines = append(l.lines, p.Line)
	}
	if small {
		apart = pairs
	}
	for i := range apart {
		if small && !isDecoy(i, rate) {
			continue
		}
		if decoy, ok := withOtherTarget(apart, i, 1, plausible); ok {
			decoys = append(decoys, decoy)
		}
	}
	return pairs, decoys
}

// isDecoy reports whether a decoy is made of pair i.
func isDecoy(i, rate int) bool { return hash.Mix(^uint64(i))%uint64(rate) == 0 }

// withOtherTarget returns pair i of pairs with the target of another one, the first of several at
// random that gives a plausible ratio of lengths, and reports whether there is one.
func withOtherTarget(pairs []*judged, i, tries int, plausible func(x, y int) bool) (random *judged, ok bool) {
	j, other := pairs[i], pairs[(i+1)%len(pairs)]
	for k := range tries {
		n := int(hash.Mix(uint64(i*tries+k)) % uint64(len(pairs)))
		if ok = n != i && plausible(j.lengths[0], pairs[n].lengths[1]); ok {
			other = pairs[n]
			break
		}
	}
	return j.withTarget(other), ok
}

// count sets the vocabularies.
func (l *lexical) count(pairs []sampledPair) {
	for i := range l.sides {
		v := &l.sides[i]
		var d words.Sentence
		type occurrence struct{ pairs, count, last int }
		occurrences := map[words.Word]occurrence{}
		var order []words.Word
		for k, p := range pairs {
			d.Measure([2]string{p.Source, p.Target}[i])
			for _, unit := range units(&d) {
				n := occurrences[unit]
				if n.count == 0 {
					order = append(order, unit)
				}
				if n.count == 0 || n.last != k {
					n.pairs, n.last = n.pairs+1, k
				}
				n.count++
				occurrences[unit] = n
			}
		}
		v.ids = map[words.Word]int32{}
		for _, unit := range order {
			if n := occurrences[unit]; n.pairs >= 2 {
				v.ids[unit] = int32(len(v.ids))
				v.pairs, v.count = append(v.pairs, n.pairs), append(v.count, n.count)
				v.total += n.count
			}
		}
	}
}

// maxMisaligned limits the estimated share of misaligned pairs. If it is larger, the scores tell
// good pairs hardly from misaligned ones.
const maxMisaligned = 1.0 / 3

// misalignedLimit returns the largest score at which the estimated share of misaligned pairs among
// those with no larger score is at least precision, and reports whether there is an estimate.
//
// The number of misaligned pairs for each decoy is at most the number of pairs up to any score for
// each decoy up to it, because good pairs can only add to it. The estimate is the smallest of these
// ratios, each raised because the smallest of several uncertain ratios is too small: by half a
// standard deviation, and by 1.5 up to scores with less than half of the decoys, where the ratios
// vary most. If no pair is misaligned, the limit is below nearly all scores.
func misalignedLimit(scores, decoys []int, precision float64) (limit int, ok bool) {
	slices.Sort(scores)
	slices.Sort(decoys)
	upTo := func(sorted []int, x int) float64 { return float64(sort.SearchInts(sorted, x+1)) }
	misaligned := math.Inf(1) // pairs for each decoy
	const quantiles = 20
	for k := 1; k < quantiles && len(decoys) >= quantiles; k++ {
		x := decoys[k*len(decoys)/quantiles]
		n, d := upTo(scores, x), upTo(decoys, x)
		deviations := 1.5
		if k >= quantiles/2 {
			deviations = 0.5
		}
		ratio := (n + 1) / d
		ratio += float64(deviations * ratio * math.Sqrt(1/(n+1)+1/d))
		misaligned = min(misaligned, ratio)
	}
	if misaligned*float64(len(decoys)) > maxMisaligned*float64(len(scores)) {
		return 0, false
	}
	limit = math.MinInt
	for i, x := range scores {
		if float64(misaligned*upTo(decoys, x)) >= float64(precision*float64(i+1)) && (i+1 == len(scores) || scores[i+1] > x) {
			limit = x
		}
	}
	return limit, true
}
