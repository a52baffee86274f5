package score

import (
	"math"
	"slices"
	"strings"
	"testing"

	"tfm/internal/texttest"
)

// benchmarkSystems returns the statistics of two systems of n segments.
func benchmarkSystems(metric Metric, n int) (baseline, system *Statistics) {
	refs := texttest.Lines(n)
	var first, second []string
	for i, r := range refs {
		words := strings.Fields(r)
		first = append(first, strings.Join(words[i%3:], " "))
		second = append(second, strings.Join(append(words[len(words)/2:], words[:len(words)/2]...), " "))
	}
	return Count(metric, first, refs), Count(metric, second, refs)
}

var benchmarkMetrics = []Metric{BLEU{}, CHRF{WordOrder: 2}, TER{}}

// Results are those of all n^n resamples of n segments: means and p-values within five standard
// errors.
func TestBootstrap(t *testing.T) {
	const segments, resamples = 4, 5000
	for _, metric := range benchmarkMetrics {
		baseline, system := benchmarkSystems(metric, segments)
		all := []*Statistics{baseline, system}
		results := Bootstrap(resamples, baseline, system)
		var scores [2][]float64
		chosen := [segments]int{}
		for done := false; !done; {
			for i, s := range all {
				sums := make([]float64, metric.columns())
				for _, c := range chosen {
					for k, x := range s.row(c) {
						sums[k] += x
					}
				}
				scores[i] = append(scores[i], metric.score(sums))
			}
			done = true
			for i := range chosen { // the next resample, as a number with a digit of each segment
				if chosen[i]++; chosen[i] < segments {
					done = false
					break
				}
				chosen[i] = 0
			}
		}
		n := float64(len(scores[0]))
		p := pValue(scores[0], scores[1], math.Abs(results[1].Score-results[0].Score))
		p = (p*(n+1) - 1) / n // of all resamples, pValue adds one
		if allowed := 5*math.Sqrt(p*(1-p)/resamples) + 1./resamples; math.Abs(results[1].P-p) > allowed || !math.IsNaN(results[0].P) {
			t.Errorf("%s: p-values %v and %v, want none and %v ± %v", metric.name(), results[0].P, results[1].P, p, allowed)
		}
		for i, r := range results {
			if r.Score != all[i].Result().Score || !strings.Contains(r.Signature, "|bs:5000|") {
				t.Errorf("%s: score %v, signature %s", metric.name(), r.Score, r.Signature)
			}
			want, variance := mean(scores[i]), 0.0
			for _, x := range scores[i] {
				variance += (x - want) * (x - want) / n
			}
			if allowed := 5 * math.Sqrt(variance/resamples); math.Abs(r.Mean-want) > allowed {
				t.Errorf("%s: mean %v, want %v ± %v", metric.name(), r.Mean, want, allowed)
			}
			slices.Sort(scores[i])
			between := func(lo, hi float64) float64 {
				return (scores[i][int(hi*n)] - scores[i][int(lo*n)]) / 2
			}
			if least, most := between(.035, .965), between(.015, .985); r.Interval < least || r.Interval > most {
				t.Errorf("%s: interval %v, want %v to %v", metric.name(), r.Interval, least, most)
			}
		}
		same := Bootstrap(99, baseline, baseline)[1]
		if same.P != 0.01 {
			t.Errorf("%s: p-value %v of equal systems, want the least of 99 resamples", metric.name(), same.P)
		}
	}
}

// BenchmarkBootstrap compares two systems of 3,000 segments.
func BenchmarkBootstrap(b *testing.B) {
	for _, metric := range benchmarkMetrics {
		b.Run("metric="+metric.name(), func(b *testing.B) {
			baseline, system := benchmarkSystems(metric, 3000)
			for b.Loop() {
				Bootstrap(DefaultResamples, baseline, system)
			}
			b.ReportMetric(float64(DefaultResamples*b.N)/b.Elapsed().Seconds(), "resamples/s")
		})
	}
}
