package score

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"tfm/text/internal/parallel"
)

// DefaultResamples is sacreBLEU's number of resamples.
const DefaultResamples = 1000

// bootstrapSeed seeds the random numbers of every bootstrap, so that equal texts have equal
// results.
const bootstrapSeed = 1

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

// Bootstrap returns the score of a baseline with its 95 % confidence interval, then those of the
// systems, with p-values of their differences to the baseline (Koehn 2004, "Statistical
// Significance Tests for Machine Translation Evaluation"). All have the same resamples: segments
// drawn with replacement. It computes what sacreBLEU's --confidence and --paired-bs do, with random
// numbers of its own. The p-value is the share of resamples whose difference, less the mean of the
// differences, exceeds the real one.
func Bootstrap(resamples int, baseline *Statistics, systems ...*Statistics) []Result {
	all := append([]*Statistics{baseline}, systems...)
	check(all, resamples)
	results := make([]Result, len(all))
	scores := resample(resamples, all)
	for i, s := range all {
		r := s.result(fmt.Sprintf("bs:%d|", resamples))
		if i > 0 {
			r.P = pValue(scores[0], scores[i], math.Abs(r.Score-results[0].Score))
		}
		results[i] = r
	}
	for i, r := range results {
		slices.Sort(scores[i])
		outside := resamples / 40 // on each side
		r.Mean, r.Interval = mean(scores[i]), (scores[i][resamples-1-outside]-scores[i][outside])/2
		results[i] = r
	}
	return results
}

// check panics unless there are resamples, and the systems have statistics of the same metric and
// segments.
func check(systems []*Statistics, resamples int) {
	first := systems[0]
	if resamples < 1 || first.segments == 0 {
		panic(fmt.Sprintf("score: %d resamples of %d segments, expected at least 1 of 1", resamples, first.segments))
	}
	for _, s := range systems[1:] {
		if s.segments != first.segments || s.Name() != first.Name() || s.signature("") != first.signature("") {
			panic(fmt.Sprintf("score: %d segments of %s %s and %d of %s %s, expected equal ones",
				first.segments, first.Name(), first.signature(""), s.segments, s.Name(), s.signature("")))
		}
	}
}

// resample returns the scores of each system for the resamples.
func resample(resamples int, systems []*Statistics) [][]float64 {
	scores := make([][]float64, len(systems))
	for i := range scores {
		scores[i] = make([]float64, resamples)
	}
	const grain = 8 // resamples that a goroutine scores at once
	parallel.For(0, resamples, grain, func(_, lo, hi int) {
		chosen := make([]int, systems[0].segments)
		sums := make([]float64, systems[0].metric.columns())
		for k := lo; k < hi; k++ {
			random := rand.New(rand.NewPCG(bootstrapSeed, uint64(k)))
			for i := range chosen {
				chosen[i] = random.IntN(len(chosen))
			}
			for i, s := range systems {
				clear(sums)
				for _, c := range chosen {
					for j, x := range s.row(c) {
						sums[j] += x
					}
				}
				scores[i][k] = s.metric.score(sums)
			}
		}
	})
	return scores
}

// pValue returns the p-value of the difference of two systems with these scores of resamples.
func pValue(baseline, system []float64, difference float64) float64 {
	differences := make([]float64, len(system))
	for k, x := range system {
		differences[k] = math.Abs(x - baseline[k])
	}
	above, center := 0, mean(differences)
	for _, d := range differences {
		if d-center > difference {
			above++
		}
	}
	return float64(above+1) / float64(len(differences)+1)
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, x := range values {
		sum += x
	}
	return sum / float64(len(values))
}
