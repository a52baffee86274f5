package scoring

import (
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
	details string // of the last system's score by BLEU
	results []score.Result
}

// metrics returns functions that make BLEU, chrF and, with -ter, TER.
func (o *Options) metrics(sentence bool) []func() score.Metric {
	metrics := []func() score.Metric{
		func() score.Metric { m := o.bleu(sentence); return &m },
		func() score.Metric { m := o.chrf(); return &m },
	}
	if o.useTER {
		metrics = append(metrics, func() score.Metric { m := o.ter; return &m })
	}
	return metrics
}

// measure computes the scores of the systems and the tests of the flags.
func (o *Options) measure(systems []System, references [][]string) (all []measured) {
	references = o.trim(references)
	for _, newMetric := range o.metrics(false) {
		var m measured
		var statistics []*score.Statistics
		for _, s := range systems {
			metric := newMetric()
			statistics = append(statistics, score.AddAll(metric, o.trim([][]string{s.Hypotheses})[0], references...))
			if bleu, ok := metric.(*score.BLEU); ok {
				m.details = bleu.Score().Details()
			}
		}
		m.metric, m.results = statistics[0].Name(), o.test(statistics)
		all = append(all, m)
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
	if !o.chrfSpace {
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
