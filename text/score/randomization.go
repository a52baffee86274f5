package score

import (
	"fmt"
	"math"
	"math/bits"
)

// PairedRandomization compares systems with a baseline by approximate randomization (Riezler and
// Maxwell 2005, "On Some Pitfalls in Automatic Evaluation and Significance Testing for MT"), as
// sacreBLEU's --paired-ar does. The first result is the baseline's. Each trial exchanges the
// translations of random segments between the baseline and a system. The p-value is the share of
// trials whose difference exceeds the real one. If c.Resamples is above 0, the results have
// confidence intervals, those of sacreBLEU's PairedTest with n_ar_confidence.
//
// Trials whose difference equals the real one do not count. For TER with three references
// sacreBLEU counts some of them, because it rounds sums of mean reference lengths as its BLAS
// library does.
func (c Significance) PairedRandomization(baseline *Statistics, systems ...*Statistics) []Result {
	all := append([]*Statistics{baseline}, systems...)
	c.check(all, c.Trials)
	fields := fmt.Sprintf("ar:%d|seed:%d|", c.Trials, c.Seed)
	if c.Resamples > 0 {
		fields = fmt.Sprintf("bs:%d|%s", c.Resamples, fields)
	}
	results := make([]Result, len(all))
	for i, s := range all {
		results[i] = s.result(fields)
	}
	random := newPCG64(c.Seed)
	for i, d := range trials(random, c.Trials, baseline, systems) {
		r := &results[i+1]
		r.P = d.pValue(math.Abs(results[0].Score - r.Score))
	}
	if c.Resamples > 0 {
		// sacreBLEU begins the baseline's random numbers with the seed, and continues those
		// of the trials for the others.
		resampled := bootstrap(newPCG64(c.Seed), c.Resamples, all[:1])
		if len(systems) > 0 {
			resampled = append(resampled, bootstrap(random, c.Resamples, systems)...)
		}
		for i := range results {
			sorted := resampled[i].sorted()
			results[i].Mean, results[i].Interval = sorted.mean(), sorted.interval()
		}
	}
	return results
}

// trials returns for each system the absolute differences between its score and the baseline's
// after exchanges of segments.
func trials(random *pcg64, n int, baseline *Statistics, systems []*Statistics) []scores {
	segments, columns := baseline.segments, baseline.metric.columns()
	result := make([]scores, len(systems))
	exchanges := make([]exchange, len(systems))
	for i, s := range systems {
		result[i] = scores{values: make([]float64, n)}
		exchanges[i] = newExchange(baseline, s)
	}
	heads := coins{from: random}
	flip := func(fromBaseline []uint64) { heads.flip(fromBaseline, segments) }
	inBatches(n, (segments+63)/64, flip, func(k int, fromBaseline []uint64) {
		a, b := make([]float64, columns), make([]float64, columns)
		for i, s := range systems {
			exchanges[i].sums(a, b, fromBaseline)
			result[i].values[k] = math.Abs(s.metric.scoreTrial(a) - s.metric.scoreTrial(b))
		}
	})
	return result
}

// exchange computes the sums of statistics after exchanges of segments between a baseline and a
// system.
type exchange struct {
	rows        []float64 // statistics of the baseline less those of the system
	system, all []float64 // sums of the system, and of both
}

func newExchange(baseline, system *Statistics) exchange {
	e := exchange{rows: make([]float64, len(system.rows)), system: system.sums(), all: system.sums()}
	for i, x := range baseline.rows {
		e.rows[i] = x - system.rows[i]
	}
	for k, x := range baseline.sums() {
		e.all[k] += x
	}
	return e
}

// sums sets a to the sums of the segments in fromBaseline of the baseline and the others of the
// system, and b to those of the remaining translations.
func (e *exchange) sums(a, b []float64, fromBaseline []uint64) {
	copy(a, e.system)
	for w, set := range fromBaseline {
		for ; set != 0; set &= set - 1 {
			i := 64*w + bits.TrailingZeros64(set)
			row := e.rows[i*len(a):][:len(a)]
			for k, x := range row {
				a[k] += x
			}
		}
	}
	for k, x := range e.all {
		b[k] = x - a[k]
	}
}
