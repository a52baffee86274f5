package score

import (
	"fmt"
	"math"
	"sync/atomic"
)

// Confidence returns the score of a system with the 95 % confidence interval of a bootstrap (Koehn
// 2004, "Statistical Significance Tests for Machine Translation Evaluation"), as sacreBLEU's
// --confidence does: that of the scores of resamples.
func (c Significance) Confidence(system *Statistics) Result {
	all := []*Statistics{system}
	c.check(all, c.Resamples)
	r := system.result(c.bootstrapFields())
	sorted := bootstrap(newPCG64(c.Seed), c.Resamples, all)[0].sorted()
	r.Mean, r.Interval = sorted.exactMean(), sorted.interval()
	return r
}

// PairedBootstrap compares systems with a baseline as sacreBLEU's --paired-bs does. The first
// result is the baseline's. All systems have the same resamples. The p-value is the share of
// resamples whose difference, less the mean of the differences, exceeds the real one.
func (c Significance) PairedBootstrap(baseline *Statistics, systems ...*Statistics) []Result {
	all := append([]*Statistics{baseline}, systems...)
	c.check(all, c.Resamples)
	results := make([]Result, len(all))
	resampled := bootstrap(newPCG64(c.Seed), c.Resamples, all)
	for i, s := range all {
		r := s.result(c.bootstrapFields())
		sorted := resampled[i].sorted()
		r.Mean, r.Interval = sorted.mean(), sorted.interval()
		if i > 0 {
			d := differences(resampled[i], resampled[0])
			mean := d.mean()
			for k, x := range d.values {
				d.values[k] = d.round(x - mean)
			}
			r.P = d.pValue(math.Abs(results[0].Score - r.Score))
		}
		results[i] = r
	}
	return results
}

// bootstrapFields returns the fields of a bootstrap in a signature.
func (c Significance) bootstrapFields() string {
	return fmt.Sprintf("bs:%d|seed:%d|", c.Resamples, c.Seed)
}

// bootstrap returns the scores of the systems for resamples of the segments. sacreBLEU adds the
// statistics in float32, in the order of the random numbers.
func bootstrap(random *pcg64, resamples int, systems []*Statistics) []scores {
	segments, columns := systems[0].segments, systems[0].metric.columns()
	rows, result := make([][]float32, len(systems)), make([]scores, len(systems))
	double := make([]atomic.Bool, len(systems)) // has a score that is not a float32
	for i, s := range systems {
		rows[i] = make([]float32, len(s.rows))
		for k, x := range s.rows {
			rows[i][k] = float32(x)
		}
		result[i].values = make([]float64, resamples)
	}
	choose := func(chosen []uint32) { random.choose(chosen, uint32(segments)) }
	inBatches(resamples, segments, choose, func(k int, chosen []uint32) {
		sums := make([]float32, columns)
		for i, s := range systems {
			addRows(sums, rows[i], chosen)
			score, single := s.metric.scoreResample(sums)
			result[i].values[k] = score
			if !single {
				double[i].Store(true)
			}
		}
	})
	for i := range result {
		result[i].single = !double[i].Load()
	}
	return result
}

// addRows sets sums to the sums of the chosen rows.
func addRows(sums, rows []float32, chosen []uint32) {
	clear(sums)
	columns := len(sums)
	for _, c := range chosen {
		row := rows[int(c)*columns:][:columns]
		for k, x := range row {
			sums[k] += x
		}
	}
}
