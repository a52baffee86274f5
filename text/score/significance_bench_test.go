package score

import (
	"strings"
	"testing"

	"tfm/internal/texttest"
)

// benchmarkSystems returns the statistics of two systems of 3,000 segments.
func benchmarkSystems(metric Metric) (baseline, system *Statistics) {
	refs := texttest.Lines(3000)
	var first, second []string
	for i, r := range refs {
		words := strings.Fields(r)
		first = append(first, strings.Join(words[i%3:], " "))
		second = append(second, strings.Join(append(words[len(words)/2:], words[:len(words)/2]...), " "))
	}
	return Count(metric, first, refs), Count(metric, second, refs)
}

var benchmarkMetrics = []Metric{BLEU{}, CHRF{WordOrder: 2}, TER{}}

// BenchmarkPairedBootstrap compares two systems, with the 1,000 resamples of sacreBLEU's default.
func BenchmarkPairedBootstrap(b *testing.B) {
	for _, metric := range benchmarkMetrics {
		b.Run("metric="+metric.name(), func(b *testing.B) {
			baseline, system := benchmarkSystems(metric)
			for b.Loop() {
				Significance{Resamples: DefaultResamples, Seed: DefaultSeed}.PairedBootstrap(baseline, system)
			}
			b.ReportMetric(float64(DefaultResamples*b.N)/b.Elapsed().Seconds(), "resamples/s")
		})
	}
}

// BenchmarkPairedRandomization compares two systems, with the 10,000 trials of sacreBLEU's default.
func BenchmarkPairedRandomization(b *testing.B) {
	for _, metric := range benchmarkMetrics {
		b.Run("metric="+metric.name(), func(b *testing.B) {
			baseline, system := benchmarkSystems(metric)
			for b.Loop() {
				Significance{Trials: DefaultTrials, Seed: DefaultSeed}.PairedRandomization(baseline, system)
			}
			b.ReportMetric(float64(DefaultTrials*b.N)/b.Elapsed().Seconds(), "trials/s")
		})
	}
}
