package scoring

import (
	"slices"

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
		metrics = append(metrics, score.TER{})
	}
	return metrics
}

// measure computes the scores of the systems and the tests of the flags.
func (o *Options) measure(systems []System, references [][]string) (all []measured) {
	for _, metric := range o.chosen(false) {
		var statistics []*score.Statistics
		for _, s := range systems {
			statistics = append(statistics, score.Count(metric, s.Hypotheses, references...))
		}
		all = append(all, measured{statistics[0].Name(), statistics[0].Details(), o.test(statistics)})
	}
	return all
}

// test returns the scores of the systems, with the test of the flags.
func (o *Options) test(systems []*score.Statistics) (results []score.Result) {
	if o.paired {
		return score.Bootstrap(o.resamples, systems[0], systems[1:]...)
	}
	for _, s := range systems {
		if o.confidence {
			results = append(results, score.Bootstrap(o.resamples, s)...)
		} else {
			results = append(results, s.Result())
		}
	}
	return results
}
