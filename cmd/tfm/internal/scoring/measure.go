package scoring

import (
	"slices"
	"strings"
	"unicode"

	"tfm/text/score"
)

// System is the output of a translation system for a test set.
type System struct {
	Name       string
	Hypotheses []string
}

// measured are the results of all systems by one metric.
type measured struct {
	metric  string
	details string // of the first system's score by BLEU
	results []score.Result
}

// uses reports whether a metric is one of -m, which are BLEU and chrF by default, or TER with -ter.
func (o *Options) uses(metric string) bool {
	if metric == metricTER && o.useTER || slices.Contains(o.metrics, metric) {
		return true
	}
	return len(o.metrics) == 0 && metric != metricTER
}

// chosen returns the metrics in use.
func (o *Options) chosen(sentence bool) (metrics []score.Metric) {
	if o.uses(metricBLEU) {
		m := o.bleu
		m.EffectiveOrder = sentence
		metrics = append(metrics, m)
	}
	if o.uses(metricCHRF) {
		metrics = append(metrics, o.chrf)
	}
	if o.uses(metricTER) {
		metrics = append(metrics, o.ter)
	}
	return metrics
}

// measure computes the scores of the systems and the tests of the flags.
func (o *Options) measure(systems []System, references [][]string) (all []measured) {
	references = o.trim(references)
	for _, metric := range o.chosen(false) {
		var statistics []*score.Statistics
		for _, s := range systems {
			statistics = append(statistics, score.Count(metric, o.trim([][]string{s.Hypotheses})[0], references...))
		}
		all = append(all, measured{statistics[0].Name(), statistics[0].Details(), o.test(statistics)})
	}
	return all
}

// test returns the scores of the systems, with the test of the flags.
func (o *Options) test(systems []*score.Statistics) (results []score.Result) {
	test := score.Significance{Resamples: o.resamples, Trials: o.trials, Seed: o.seed}
	switch o.paired {
	case bootstrap:
		return test.PairedBootstrap(systems[0], systems[1:]...)
	case randomization:
		if !o.confidence {
			test.Resamples = 0
		}
		return test.PairedRandomization(systems[0], systems[1:]...)
	}
	for _, s := range systems {
		if o.confidence {
			results = append(results, test.Confidence(s))
		} else {
			results = append(results, s.Result())
		}
	}
	return results
}

// trim removes white space at the ends of lines, as sacreBLEU's command does, if it would change a
// score.
func (o *Options) trim(files [][]string) [][]string {
	if !o.chrf.Whitespace {
		return files
	}
	trimmed := make([][]string, len(files))
	for i, lines := range files {
		for _, l := range lines {
			trimmed[i] = append(trimmed[i], strings.TrimRightFunc(l, func(r rune) bool {
				return unicode.IsSpace(r) || 0x1C <= r && r <= 0x1F // Python's white space
			}))
		}
	}
	return trimmed
}
