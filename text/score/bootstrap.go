package score

import (
	"fmt"
	"math"

	"tfm/text/internal/parallel"
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
	single := make([][]bool, len(systems))
	for i, s := range systems {
		rows[i] = make([]float32, len(s.rows))
		for k, x := range s.rows {
			rows[i][k] = float32(x)
		}
		result[i] = scores{values: make([]float64, resamples), single: true}
		single[i] = make([]bool, resamples)
	}

	// The random numbers of a batch of resamples are drawn before the batch is scored.
	batch := make([][]uint32, min(resamples, max(1, maxBatchNumbers/segments)))
	for i := range batch {
		batch[i] = make([]uint32, segments)
	}
	for done := 0; done < resamples; done += len(batch) {
		batch = batch[:min(len(batch), resamples-done)]
		for _, chosen := range batch {
			random.choose(chosen, uint32(segments))
		}
		parallel.For(0, len(batch), grain, func(_, lo, hi int) {
			sums := make([]float32, columns)
			for k := lo; k < hi; k++ {
				for i, s := range systems {
					addRows(sums, rows[i], batch[k])
					result[i].values[done+k], single[i][done+k] = s.metric.scoreResample(sums)
				}
			}
		})
	}
	for i := range result {
		for _, one := range single[i] {
			result[i].single = result[i].single && one
		}
	}
	return result
}

// maxBatchNumbers limits the random numbers in memory, except those of one resample.
const maxBatchNumbers = 1 << 20

// grain is the number of resamples or trials that a goroutine scores at once.
const grain = 8

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
