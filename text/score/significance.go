package score

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"tfm/text/internal/parallel"
)

// DefaultSeed is sacreBLEU's seed.
const DefaultSeed = 12345

// Numbers of resamples and trials of sacreBLEU.
const (
	DefaultResamples = 1000
	DefaultTrials    = 10_000
)

// Significance configures tests of significance, whose results equal those of sacreBLEU with the
// same numbers and the same SACREBLEU_SEED.
type Significance struct {
	Resamples int // of the bootstrap
	Trials    int // of the randomization
	Seed      uint64
}

// Result is the score of a system and its significance.
type Result struct {
	Score float64

	// Mean and Interval are of the bootstrap: the mean of the scores of the resamples, and half
	// the width of the interval that holds 95 % of them. Both are NaN without a bootstrap.
	Mean, Interval float64

	// P is the p-value of the difference to the baseline; NaN for the baseline.
	P float64

	Signature string // settings in sacreBLEU's notation
}

// scores are the scores of resamples or trials as numpy's array has them.
type scores struct {
	values []float64
	single bool // elements and results are rounded to float32
}

// round rounds a result of arithmetic on elements.
func (s scores) round(x float64) float64 {
	if s.single {
		return float64(float32(x))
	}
	return x
}

// mean returns numpy's mean, whose last bits depend on the order of the sum.
func (s scores) mean() float64 { return s.round(s.sum(s.values) / float64(len(s.values))) }

// exactMean returns the mean of Python's statistics module, which rounds once.
func (s scores) exactMean() float64 {
	const prec = 1100 // bits of an exact sum of scores
	sum := new(big.Float).SetPrec(prec)
	for _, x := range s.values {
		sum.Add(sum, big.NewFloat(x))
	}
	mean, _ := sum.Quo(sum, big.NewFloat(float64(len(s.values)))).Float64()
	return s.round(mean)
}

// sum returns numpy's pairwise sum.
func (s scores) sum(x []float64) float64 {
	const lanes, block = 8, 128
	if len(x) > block {
		half := len(x) / 2
		half -= half % lanes
		return s.round(s.sum(x[:half]) + s.sum(x[half:]))
	}
	var sum float64
	if len(x) >= lanes {
		r := [lanes]float64(x)
		for x = x[lanes:]; len(x) >= lanes; x = x[lanes:] {
			for i := range r {
				r[i] = s.round(r[i] + x[i])
			}
		}
		for width := 1; width < lanes; width *= 2 {
			for i := 0; i < lanes; i += 2 * width {
				r[i] = s.round(r[i] + r[i+width])
			}
		}
		sum = r[0]
	}
	for _, x := range x {
		sum = s.round(sum + x)
	}
	return sum
}

// sorted returns the values in ascending order, that in which sacreBLEU adds them for a mean.
func (s scores) sorted() scores { return scores{slices.Sorted(slices.Values(s.values)), s.single} }

// interval returns half the width of the interval that holds 95 % of the sorted values.
func (s scores) interval() float64 {
	outside := len(s.values) / 40 // on each side
	lower, upper := s.values[outside], s.values[len(s.values)-1-outside]
	return s.round(0.5 * s.round(upper-lower))
}

// differences returns the absolute differences of two systems' scores.
func differences(a, b scores) scores {
	d := scores{make([]float64, len(a.values)), a.single && b.single}
	for i := range d.values {
		d.values[i] = math.Abs(d.round(a.values[i] - b.values[i]))
	}
	return d
}

// pValue returns the probability of a value above the real difference.
func (s scores) pValue(difference float64) float64 {
	above := 0
	for _, x := range s.values {
		if x > s.round(difference) {
			above++
		}
	}
	return float64(above+1) / float64(len(s.values)+1)
}

// inBatches calls score for each of n sets of numbers of a size, on several goroutines. draw fills
// the sets in order, those of a batch before they are scored.
func inBatches[T uint32 | uint64](n, size int, draw func(set []T), score func(k int, set []T)) {
	const (
		maxNumbers = 1 << 20 // in memory, except those of one set
		grain      = 8       // sets that a goroutine scores at once
	)
	batch := make([][]T, min(n, max(1, maxNumbers/size)))
	for i := range batch {
		batch[i] = make([]T, size)
	}
	for done := 0; done < n; done += len(batch) {
		batch = batch[:min(len(batch), n-done)]
		for _, set := range batch {
			draw(set)
		}
		parallel.For(0, len(batch), grain, func(_, lo, hi int) {
			for k := lo; k < hi; k++ {
				score(done+k, batch[k])
			}
		})
	}
}

// check panics unless n, a number of resamples or trials, is above 0 and the systems have
// statistics of the same metric and segments.
func (c Significance) check(systems []*Statistics, n int) {
	first := systems[0]
	if n < 1 || first.segments == 0 {
		panic(fmt.Sprintf("score: %d resamples or trials of %d segments, expected at least 1 of 1", n, first.segments))
	}
	for _, s := range systems[1:] {
		if s.segments != first.segments || s.Name() != first.Name() || s.signature("") != first.signature("") {
			panic(fmt.Sprintf("score: %d segments of %s %s and %d of %s %s, expected equal ones",
				first.segments, first.Name(), first.signature(""), s.segments, s.Name(), s.signature("")))
		}
	}
}

// result returns the score, without a test's results.
func (s *Statistics) result(fields string) Result {
	return Result{Score: s.metric.score(s.sums()), Mean: math.NaN(), Interval: math.NaN(), P: math.NaN(), Signature: s.signature(fields)}
}
